# SPDX-License-Identifier: LGPL-2.1-or-later
"""Terminals: colours only there and only when wanted, other locales, narrow ones, and text from outside that wants to take them over."""

import json

from harness import case, check, contains, ctl, equal, fake, lacks, plain, terminal
from scenarios import BLOCKERS, NOW, current, failed, history_entry, pending, processors

VERBS = [["status"], ["explain"], ["processors"], ["stall"], ["stall", "--per-cpu"], ["stall", "--sort=entry"], ["history"], ["windows"]]


def rich(**more):
    return failed(replies={"NextWindows": [[[NOW - 10**9, NOW + 10**9, ""]]], "ListProcessors": [processors(lag=(3,))],
                           "ListHistory": [[history_entry(Result="mixed-revisions", Laggards="3")]], "Explain": [BLOCKERS, 2, 1, 2], **more})


@case
def colours_on_a_terminal_and_nowhere_else():
    with fake(rich()):
        for args in VERBS:
            check("\x1b[" in terminal(*args).out, args)
            for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
                lacks(terminal(*args, **env).out, "\x1b")
            check("\x1b[" in terminal(*args, NO_COLOR="").out, "an empty NO_COLOR is none", args)
            lacks(ctl(*args).out, "\x1b")
            if "--per-cpu" not in args:
                lacks(terminal(*args, "--json=pretty").out, "\x1b")


@case
def the_text_is_the_same_with_and_without_colours():
    with fake(rich()):
        for args in VERBS:
            equal(plain(terminal(*args).out), terminal(*args, NO_COLOR="1").out, args)


@case
def only_ascii_without_utf8():
    with fake(rich()):
        for args in VERBS:
            for locale in ("C", "POSIX", "no_SUCH"):
                out = terminal(*args, LC_ALL=locale).out
                check(out.isascii(), args, locale, out)
                lacks(out, "?")
            check(ctl(*args, LC_ALL="C").out.isascii(), args)
        contains(ctl(LC_ALL="C").out, "* failed", "->", " to ")
        contains(ctl("stall", LC_ALL="C").out, "##")
        check(not ctl(LC_ALL="C.UTF-8").out.isascii())
        check(ctl("--help", LC_ALL="C").out.isascii())


@case
def json_is_the_same_in_every_locale():
    with fake(pending(manager={"CandidatePath": "/lib/firmware/µcode"})):
        equal(ctl("--json=short", LC_ALL="C").json["candidate_path"], "/lib/firmware/µcode")


@case
def narrow_terminals_wrap_and_do_not_cut():
    with fake(rich()):
        wide = " ".join(plain(terminal("status", columns=1000).out).split())
        for columns in (20, 37, 40, 60, 80, 132):
            out = plain(terminal("status", columns=columns).out)
            equal(" ".join(out.split()), wide, f"{columns} columns")
            for line in out.splitlines():
                longest = max(map(len, line.split()), default=0)
                check(len(line) <= max(columns, 13 + 24) or longest > 20, columns, line)
        for args in (["stall", "--per-cpu"], ["history"]):
            for columns in (20, 40, 60, 100, 200):
                check(terminal(*args, columns=columns).code == 0)
        check(max(map(len, plain(terminal("status", columns=200, COLUMNS="50").out).splitlines())) <= 50, "COLUMNS counts")
        contains(ctl().out, "Mixed: some CPUs run something newer than that, 'ucodectl processors' names them\n")


HOSTILE = ["\x1b]0;pwned\x07", "\x1b[2J\x1b[1;1H", "a\rb\nc\td\x7f", "\u009b31m", "\u202egnp.x", "\u2066x\u2069", "\u2028", "\U000e0041", "é→●", "\x01\x02\x03\x04\x05\x06"]


@case
def hostile_strings_reach_no_terminal():
    for text in HOSTILE:
        s = rich()
        s["manager"].update(CandidatePath=text, CandidateDate=text, Vendor=text, State="failed", LoadMetric=text, Version=text, CandidateRevision=1,
                            SupportReason=text, Blockers=[[text, text, 0], ["window", text, NOW]])
        s["stall"].update(Witness=text)
        s["replies"]["ListHistory"] = [[history_entry(Result=text, Note=text, Laggards=text, Witness=text, Path=text)]]
        s["replies"]["NextWindows"] = [[[NOW, NOW + 10**9, text]]]
        s["replies"]["Explain"] = [[[text, text, 0]], 0, 1, 2]
        s["log_level"] = text
        with fake(s):
            for args in [*VERBS, ["check"], ["log-level"]]:
                out = terminal(*args, NO_COLOR="1").out
                bad = [c for c in out if c != "\n" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u2066\u2069\u2028\U000e0041")]
                equal(bad, [], (args, text))
                # with colours: what is left when our own are taken out
                check("\x1b" not in plain(terminal(*args).out), args, text)
            for args in [*VERBS, ["log-level"]]:
                out = ctl(*args, "--json=short").out
                equal([c for c in out[:-1] if not c.isprintable()], [], (args, text))
                json.loads(out)
            equal(ctl("--json=short").json["candidate_path"], text)
            equal(ctl("history", "--json=pretty").json[0]["note"], text)


@case
def a_newline_forges_no_row():
    with fake(pending(manager={"CandidatePath": "/x\n\n    Running  0xffffffff"})):
        out = ctl().out
        equal(sum(line.strip().startswith("Running") for line in out.splitlines()), 1)


@case
def errors_are_harmless_too():
    with fake(current(errors={"Apply": ["org.ucodesync1.Error.Blocked", "no\x1b[2J\u202e\nucodectl: yes"]})):
        r = terminal("apply", NO_COLOR="1")
        equal(r.out, "ucodectl: Apply: no?[2J??ucodectl: yes\n")

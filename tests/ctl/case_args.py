# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line: options before and behind the verb, mistakes in one line with a hint, --help as the source of completions and man page."""

import re
import subprocess

from harness import TOP, case, check, contains, ctl, equal, error, fake
from scenarios import pending

WRONG = [
    (["stats"], "unknown verb 'stats', did you mean 'status'?"),
    (["procesors"], "did you mean 'processors'?"),
    (["frobnicate"], "unknown verb 'frobnicate'"),
    (["--jsn"], "unknown option '--jsn', did you mean '--json'?"),
    (["--frobnicate=3"], "unknown option '--frobnicate'"),
    (["-x"], "unknown option '-x'"),
    (["-qx"], "unknown option '-x'"),
    (["--root"], "option '--root' needs a value"),
    (["history", "-n"], "option '-n' needs a value"),
    (["--quiet=yes"], "option '--quiet' takes no value"),
    (["status", "--now"], "'status' takes no option --now"),
    (["--wait", "explain"], "'explain' takes no option --wait"),
    (["status", "more"], "'status' does not take 'more'"),
    (["log-level", "info", "debug"], "'log-level' does not take 'debug'"),
    (["cancel"], "'cancel' needs ID"),
    (["cancel", "seven"], "'seven' is not a number from 1 to 4294967295"),
    (["cancel", "0"], "not a number from 1"),
    (["cancel", "4294967296"], "not a number"),
    (["cancel", "--", "-1"], "'-1' is not a number"),
    (["acknowledge", "c0ffee"], "no SHA-256 of 64 hexadecimal digits"),
    (["acknowledge", "g" * 64], "no SHA-256"),
    (["log-level", "loud"], "'loud' is none of emerg, alert, crit, err, warning, notice, info, debug"),
    (["apply", "--force=everything"], "'everything' is none of ignore-schedule, ignore-load, ignore-inhibitors, ignore-hold, ignore-trust, despite-prediction, ignore-health"),
    (["apply", "--force=dry-run"], "'dry-run' is none of"),
    (["apply", "--force="], "'' is none of"),
    (["apply", "--force=ignore-trust,,ignore-load"], "'' is none of"),
    (["windows", "--next=0"], "--next: '0' is not a number from 1 to 1000"),
    (["windows", "--next=1001"], "not a number"),
    (["windows", "--next=-3"], "not a number"),
    (["windows", "--after=tomorrow"], "'tomorrow' is no moment such as"),
    (["stall", "--sort=size"], "--sort: 'size' is none of cpu, entry, cluster"),
    (["stall", "--sort="], "'' is none of"),
    (["history", "--sort=cpu"], "'history' takes no option --sort"),
    (["history", "--lines=0"], "--lines: '0' is not a number"),
]


@case
def mistakes_are_one_line_with_a_hint():
    for args, sentence in WRONG:
        r = ctl(*args)
        equal((r.code, r.out), (1, ""), args)
        equal(r.err.count("\n"), 1, args)
        contains(r.err, "ucodectl: ", sentence)


@case
def mistakes_are_json_wherever_json_stands():
    for args, sentence in WRONG:
        for command in (["--json=short", *args], [*args, "--json=short"] if "--" not in args and args[-1] not in ("--root", "-n") else None):
            if command:
                contains(error(ctl(*command), "InvalidArgument"), sentence)
    contains(error(ctl("--json=yaml"), "InvalidArgument"), "--json: 'yaml' is none of pretty, short, off")


@case
def options_stand_before_and_behind_the_verb():
    with fake(pending()) as f:
        for command in (["--json=short", "--now", "--force", "ignore-trust", "explain"], ["explain", "--json=short", "--now", "--force=ignore-trust"],
                        ["--now", "explain", "--force=ignore-trust", "--json=short"], ["--now", "--force=ignore-trust", "--json=short", "--", "explain"]):
            r = ctl(*command)
            equal((r.code, r.json["flags"]), (2, ["ignore-schedule", "ignore-load", "ignore-trust"]), command)
        equal([c["args"] for c in f.stop()], [[1 + 2 + 16]] * 4)


@case
def the_last_of_an_option_counts_and_abbreviations_are_taken():
    with fake(pending()):
        equal(ctl("--json=pretty", "--json=short", "log-level").out, '{"log_level":"info"}\n')
        equal(ctl("--json=short", "--json=off", "log-level").out, "info\n")
        equal(ctl("--js=short", "log-level").out, '{"log_level":"info"}\n')
        equal(ctl("--json", "log-level").out, '{\n  "log_level": "info"\n}\n')
        equal(ctl("log-level", "--root", "--json=short").out, "info\n", "it was the value of --root")


@case
def no_verb_is_status():
    with fake(pending()):
        equal(ctl().out, ctl("status").out)
        contains(ctl("--json=short").out, '"state":"pending"')


@case
def help_and_version_need_no_daemon():
    r = ctl("--help")
    equal((r.code, r.err), (0, ""))
    contains(r.out, "apply", "--force=FLAG,...", "Exit: 0 done")
    check(max(map(len, r.out.splitlines())) <= 100, "a line of --help is long")
    one = ctl("windows", "-h")
    equal(one.code, 0)
    contains(one.out, "--check=EXPRESSION", "--json")
    check("--force" not in one.out)
    equal(ctl("--version").out.split()[0], "ucodectl")
    equal(ctl("--help", "frobnicate").code, 0)


def help_names():
    """Verbs and long options as --help lists them."""
    out = ctl("--help").out
    verbs = re.findall(r"^  ([a-z][a-z-]*)\b", out.split("Options:")[0].split("Verbs:")[1], re.M)
    return verbs, sorted(set(re.findall(r"--([a-z][a-z-]+)", out)) - {"help"} | {"help"})


@case
def man_page_and_completions_know_every_verb_and_option():
    verbs, options = help_names()
    check(len(verbs) >= 14 and len(options) >= 17, verbs, options)
    man = (TOP / "docs/man/ucodectl.8.scd").read_text()
    bash = (TOP / "src/ctl/completion/ucodectl.bash").read_text()
    zsh = (TOP / "src/ctl/completion/_ucodectl").read_text()
    for v in verbs:
        check(re.search(rf"^\*{v}\*", man, re.M), f"ucodectl(8) has no entry for {v}")
        for name, text in (("bash", bash), ("zsh", zsh)):
            check(re.search(rf"(?<![\w-]){v}(?![\w-])", text), f"the completion for {name} lacks {v}")
    for o in options:
        for name, text in (("ucodectl(8)", man), ("bash", bash), ("zsh", zsh)):
            check(re.search(rf"--{o}(?![\w-])", text), f"{name} lacks --{o}")


@case
def bash_completes():
    def complete(*words):
        script = (f"source {TOP}/src/ctl/completion/ucodectl.bash; COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; "
                  "_ucodectl; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    equal(complete("ucodectl", "st"), ["status", "stall"])
    equal(complete("ucodectl", "--json=", "apply", "--for"), ["--force="])
    check("--next=" in complete("ucodectl", "windows", "--") and "--now" not in complete("ucodectl", "windows", "--"))
    equal(complete("ucodectl", "apply", "--force", "=", "ignore-tr"), ["ignore-trust"])
    equal(complete("ucodectl", "--json", "=", "s"), ["short"])
    equal(complete("ucodectl", "log-level", "de"), ["debug"])
    equal(complete("ucodectl", "stall", "--s"), ["--sort=", "--svg="])
    equal(complete("ucodectl", "stall", "--sort", "=", "c"), ["cpu", "cluster"])

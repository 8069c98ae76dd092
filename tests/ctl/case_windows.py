# SPDX-License-Identifier: LGPL-2.1-or-later
"""windows: what the daemon says comes next, and --check without one: normal forms, zones, moments, mistakes."""

import tempfile
from pathlib import Path

from harness import case, check, contains, ctl, equal, error, fake, lacks, state
from scenarios import DAY, HOUR, NOW, UNKNOWN, current


@case
def windows_of_the_daemon():
    list_ = [[NOW - HOUR, NOW + HOUR, ""], [NOW + DAY, NOW + DAY + 2 * HOUR, "blackout"], [NOW + 2 * DAY, UNKNOWN, ""]]
    with fake(current(replies={"NextWindows": [list_]})) as f:
        r = ctl("windows")
        lines = r.out.splitlines()
        equal((r.code, len(lines)), (0, 4))
        equal(lines[0].split(), ["START", "END", "LENGTH", "LEFT", "REMARK"])
        contains(lines[1], " open", " 2h ")
        contains(lines[2], " in 23h 5", "blackout")
        contains(lines[3], "no end", "for ever")
        o = ctl("windows", "--json=short", "--next=9").json
        equal(o[0], {"start_usec": NOW - HOUR, "end_usec": NOW + HOUR, "expression": None})
        equal((o[1]["expression"], o[2]["end_usec"]), ("blackout", None))
        ctl("windows", "--after=@1800000000", "--next", "1")
        ctl("windows", "--after=2026-03-29 02:30 Europe/Berlin")
        equal([c["args"] for c in f.stop()], [[0, 5], [0, 9], [1800000000 * 10**6, 1], [1774746000 * 10**6, 5]])


def occurrences(*args, **env):
    return ctl("windows", "--json=short", *args, **env).json


@case
def check_says_the_normal_form_and_what_comes():
    o = occurrences("--check=Sat,Sun 02:00 for 90min", "--after=@1796000000", "--next=2")
    equal((o["normalized"], o["length_usec"], o["zone"]), ("Sat,Sun *-*-* 02:00:00 for 1h 30min", 5400 * 10**6, "UTC"))
    equal([(w["start_usec"], w["end_usec"]) for w in o["occurrences"]],
          [(s * 10**6, (s + 5400) * 10**6) for s in (1796436000, 1796522400)])
    r = ctl("windows", "--check=Sat,Sun 02:00 for 90min", "--after=@1796000000", "--next=2")
    equal(r.code, 0)
    contains(r.out, "Normal form  Sat,Sun *-*-* 02:00:00 for 1h 30min", "Sat 2026-12-05 02:00:00 UTC", "03:30:00 UTC", "1h 30min")


@case
def check_knows_gaps_and_overlaps():
    def starts(*args, **env):
        return [w["start_usec"] // 10**6 for w in occurrences(*args, **env)["occurrences"]]
    equal(starts("--check=*-*-* 02:30 Europe/Berlin for 1h", "--after=2026-03-28 12:00 UTC", "--next=1"), [1774746000])
    equal(starts("--check=*-*-* 02:30 Europe/Berlin for 1h", "--after=2026-10-24 12:00 UTC", "--next=1"), [1792888200])
    equal(starts("--check=*-*-* 02:30 for 1h", "--after=2026-03-28 12:00", "--next=1", TZ="Europe/Berlin"), [1774746000])
    equal(starts("--check=*-*-* 02:30", "--after=2026-10-25 00:00", "--next=1", TZ=":Europe/Berlin"), [1792888200])


@case
def check_without_a_length_shows_moments_and_says_what_is_missing():
    r = ctl("windows", "--check=daily", "--after=2026-12-01", "--next=3")
    equal(r.code, 0)
    contains(r.out, "*-*-* 00:00:00", "Wed 2026-12-02 00:00:00 UTC", "need a length too, such as 'daily for 2h'")
    equal(occurrences("--check=daily", "--after=2026-12-01")["length_usec"], None)


@case
def check_of_what_never_comes_is_two():
    for expression in ("2020-01-01 02:00 for 1h", "2020-01-01 02:00", "*-02-30 00:00 for 1h"):
        r = ctl("windows", f"--check={expression}")
        equal(r.code, 2, expression)
        contains(r.out, "never again")
        r = ctl("windows", f"--check={expression}", "--json=short")
        equal((r.code, r.json["occurrences"]), (2, []), expression)


@case
def check_of_always_has_one_window_without_end():
    o = occurrences("--check=*-*-* *:00 for 1h", "--next=5")
    equal([w["end_usec"] for w in o["occurrences"]], [None])
    contains(ctl("windows", "--check=*-*-* *:00 for 1h").out, "for ever")
    for zone in ("UTC", "Europe/Berlin", "Pacific/Auckland"):
        for expression in ("daily for 25h", "hourly for 2h", "monthly for 40d", "yearly for 366d"):
            row = ctl("windows", f"--check={expression}", TZ=zone).out.splitlines()[-1]
            equal(row.split(), ["always", "no", "end", "for", "ever", "open"], f"{zone} {expression}")
    contains(ctl("windows", "--check=2026..2199-*-* for 25h", TZ="UTC").out, "2026-01-01 00:00:00 UTC", "for ever")


@case
def check_of_nonsense_says_where():
    for expression in ("Sat,02:00 for 1h", "frobnicate", "daily for ", "daily for never", "daily for 0", "daily Nope/Zone for 1h", "", "25:00 for 1h"):
        r = ctl("windows", f"--check={expression}")
        equal((r.code, r.out), (1, ""), expression)
        check(r.err.startswith("ucodectl: --check: ") and r.err.count("\n") == 1, r.err)
        error(ctl("windows", f"--check={expression}", "--json=short"), "InvalidArgument")
    r = ctl("windows", "--check=\x1b[31mdaily\n for 1h")
    lacks(r.err, "\x1b", "\n\n")


@case
def moments_of_after():
    def first(after, **env):
        return occurrences("--check=*-*-* *:*:00", f"--after={after}", "--next=1", **env)["occurrences"][0]["start_usec"] // 10**6
    equal(first("2026-12-05 02:00:30 UTC"), 1796436060)
    equal(first("2026-12-05T02:00:30Z"), 1796436060)
    equal(first("2026-12-05 03:00:30 Europe/Berlin"), 1796436060)
    equal(first("2026-12-05 03:00:30", TZ="Europe/Berlin"), 1796436060)
    equal(first("2026-12-05"), 1796428860)
    equal(first("@1796436030"), 1796436060)
    for wrong in ("2026-13-01", "2026-02-29", "2026-12-05 24:00", "2026-12-05 02:60", "2026-12-05 2:00", "2026-12-05 02:00 Nope/Zone", "@", "@-1", "@1e9",
                  "@99999999999999999999", "1969-12-31 23:00 UTC", "2026-12-05  02:00:00:00", "2026-12-05 02:00 ../../etc/passwd", "12-05"):
        equal(ctl("windows", "--check=daily", f"--after={wrong}").code, 1, wrong)


@case
def check_takes_zones_and_the_machines_own_from_below_the_root():
    root = Path(tempfile.mkdtemp(dir=state["tmp"]))
    (root / "usr/share/zoneinfo").mkdir(parents=True)
    (root / "etc").mkdir()
    for name, source in (("Home/Town", "Pacific/Auckland"),):
        (root / "usr/share/zoneinfo" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "usr/share/zoneinfo" / name).write_bytes(Path("/usr/share/zoneinfo", source).read_bytes())
    (root / "etc/localtime").symlink_to("/usr/share/zoneinfo/Home/Town")
    o = occurrences(f"--root={root}", "--check=2026-12-05 02:00 Home/Town", "--after=@1796000000")
    equal([w["start_usec"] // 10**6 for w in o["occurrences"]], [1796389200])
    o = occurrences(f"--root={root}", "--check=2026-12-05 02:00", "--after=@1796000000", TZ=None)
    equal([w["start_usec"] // 10**6 for w in o["occurrences"]], [1796389200])
    equal(ctl("windows", f"--root={root}", "--check=daily Europe/Berlin").code, 1)
    equal(ctl("windows", f"--root={root}/nowhere", "--check=daily").code, 1)

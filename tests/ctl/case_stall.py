# SPDX-License-Identifier: LGPL-2.1-or-later
"""stall: the last load on one screen, witness beside witness, package and cluster and CPU as bars in any width, as JSON, and as a picture."""

import json
import xml.etree.ElementTree as ElementTree

from case_status import STALL_KEYS
from harness import case, check, contains, ctl, equal, error, fake, lacks, plain, state, terminal
from scenarios import MASK, OLD, SIGNATURE, STALL, UNKNOWN, UNKNOWN_ID, current, history_entry, pending

SVG = "{http://www.w3.org/2000/svg}"
LATE = range(16, 24)
MORE_KEYS = ["packages", "clusters", "per_cpu"]


def intervals(n=32, sockets=2, late=LATE, cluster=8, missing=(), **stall):
    """n CPUs that come in within 31 us and leave at 12.5 ms, all but `late`, which come in 4 ms later. CPU n - 1 is the first."""
    rows = []
    for c in range(n):
        entry = (n - 1 - c) * 1000 % 32000 + (4_000_000 if c in late else 0)
        rows.append([c, c * 16 // cluster, c // cluster] + ([UNKNOWN] * 3 if c in missing else [12_500_000 - entry, entry, 12_500_000]))
    seen = [r for r in rows if r[3] != UNKNOWN]
    worst = max(seen, key=lambda r: r[3])
    figures = {
        "Witness": "perf", "StallNSec": 12_500_000 - max(r[4] for r in seen), "WorstNSec": worst[3], "WorstCPU": worst[0], "CPUsWitnessed": len(seen),
        "CPUsMissing": n - len(seen), "EntrySpreadNSec": max(r[4] for r in seen), "ExitSpreadNSec": 0,
        "Witnesses": {"perf": 12_500_000 - max(r[4] for r in seen), "schedstat": 8_500_000, "write": 14_020_000},
    }
    figures.update(stall)
    return current(stall=figures, replies={"GetPerCPU": [rows], "ListProcessors": [[[c, SIGNATURE, MASK, OLD, c * sockets // n, c // cluster] for c in range(n)]]})


def bars(lines, legend=True):
    """CPU -> (first column, last column + 1) of its bar, relative to where bars begin."""
    begin = lines[0].index("▏") if legend else None
    out = {}
    for line in lines[1:]:
        words = line.split()
        if not words or not words[0].isdigit():
            break
        bar = line[begin:]
        out[int(words[0])] = (len(bar) - len(bar.lstrip()), len(bar.rstrip()))
    return out


@case
def the_stall_on_one_screen():
    with fake(current()):
        r = ctl("stall")
        equal(r.code, 0)
        contains(r.out, "Stall  12.45 ms (29 889 600 ticks)", "Worst CPU  17: 12.61 ms", "Median  12.50 ms", "P99  12.60 ms", "Write  14.02 ms",
                 "schedstat on 71 CPUs, 1 without evidence", "2.400 GHz", "All loads  4", "400.0 ms", "at most 350.9 ms", "1 longer than MaxStallMSec=",
                 "to  30.00 ms  ██████████████████████████████ 3", "to 1000.0 ms  ██████████ 1", "Package 0", "  cluster 4")
        lacks(r.out, "Entry", "Stolen")
    with fake(current(stall={"EntrySpreadNSec": 40000, "ExitSpreadNSec": 5000, "StealNSec": 2000000})):
        contains(ctl("stall").out, "Entry  40 us", "Exit  5 us", "Stolen  2.00 ms")
    with fake(current(stall={"Witness": "write", "WorstNSec": UNKNOWN, "WorstCPU": UNKNOWN_ID, "TSCHz": 0})):
        out = ctl("stall").out
        contains(out, "at most 12.45 ms,")
        lacks(out, "ticks", "Worst")


@case
def no_load_yet():
    nothing = {k: (UNKNOWN_ID if k == "WorstCPU" else 0 if k in ("TSCHz", "StallCount", "CPUsWitnessed", "CPUsMissing") else UNKNOWN)
               for k in STALL if k not in ("Witness", "Witnesses", "Histogram")}
    nothing.update(Witness="", Witnesses={})
    with fake(current(stall={**nothing, "Histogram": [[1000000, 0], [UNKNOWN, 0]]}, replies={"GetPerCPU": [[]]})) as f:
        r = ctl("stall")
        equal((r.code, r.out), (2, "The daemon has measured no load since it was started\n"))
        r = ctl("stall", "--json=short")
        equal((r.code, r.json["stall_nsec"], r.json["histogram"][1], r.json["per_cpu"]), (2, None, {"below_nsec": None, "count": 0}, []))
        picture = state["tmp"] / "nothing.svg"
        for args in (["--per-cpu"], ["--sort=entry"], [f"--svg={picture}"]):
            r = ctl("stall", *args)
            equal(r.code, 2)
            contains(r.out, "not kept over a restart")
        check(not picture.exists(), "a picture of nothing was made")
        check("ListProcessors" not in [c["call"] for c in f.stop()], "the CPUs were read for nothing")
    with fake(current(stall={**nothing, "StallCount": 2, "StallTotalNSec": 24000000, "StallMaxNSec": 13000000}, replies={"GetPerCPU": [[]]})):
        contains(ctl("stall").out, "no load since", "All loads  2, in which this host stood still for 24.00 ms")


@case
def witnesses_side_by_side():
    with fake(current(stall={"Witness": "perf", "StallNSec": 12_430_000, "Witnesses": {"write": 14_020_000, "perf": 12_430_000, "schedstat": 12_406_000}})):
        out = ctl("stall").out
        contains(out, " Witnesses  perf        12.43 ms  decides\n", "schedstat   12.41 ms  -24 us\n", "write       14.02 ms  +1.59 ms, an upper bound\n",
                 "kernel     not on\n")
        equal(ctl("stall", "--json=short").json["witnesses"], {"write": 14_020_000, "perf": 12_430_000, "schedstat": 12_406_000})
    with fake(current(stall={"Witness": "kernel", "StallNSec": 1_000, "Witnesses": {"kernel": 1_000, "perf": UNKNOWN, "schedstat": 1_999, "oracle": 7_000_000}})):
        contains(ctl("stall").out, "kernel          1 us  decides", "perf       saw nothing", "schedstat       1 us  +999 ns", "oracle       7.00 ms  +7.00 ms",
                 "write      not on")
        equal(ctl("stall", "--json=short").json["witnesses"]["perf"], None)
    with fake(current(stall={"Witnesses": {}})):  # a daemon that knows of one at a time
        lacks(ctl("stall").out, "Witnesses", "not on")
    with fake(current(replies={"ListHistory": [[history_entry(Witnesses={"schedstat": 1, "perf": UNKNOWN})]]})):
        equal(ctl("history", "--json=short").json[0]["witnesses"], {"schedstat": 1, "perf": None})


@case
def a_late_cluster_is_seen():
    with fake(intervals()):
        lines = plain(terminal("stall", columns=100).out).splitlines()
        groups = {line[:13].strip(): line for line in lines if line.startswith(("Package", "  cluster"))}
        equal(list(groups), ["Package 0", "cluster 0", "cluster 1", "Package 1", "cluster 2", "cluster 3"])
        equal([name for name, line in groups.items() if line[11:16].strip() == "!"], ["cluster 2"])
        check("░" in groups["Package 1"] and "█" in groups["Package 1"], groups["Package 1"])
        check("░" not in groups["cluster 3"], groups["cluster 3"])
        begin = {name: len(line) - len(line[50:].lstrip()) for name, line in groups.items()}
        check(begin["cluster 2"] > begin["cluster 3"] + 10, begin)


@case
def a_cluster_across_packages():
    """Sockets of four CPUs: their APIC ids share sixteen."""
    with fake(intervals(n=8, sockets=2, late=(), cluster=16)):
        lines = ctl("stall").out.splitlines()
        equal([line[:9] for line in lines if line.startswith(("Package", "  cluster", "Cluster"))], ["Package 0", "Package 1", "Cluster 0"])
        o = ctl("stall", "--json=short").json
        equal([(g["package"], g["cluster"], g["cpus"]) for g in o["clusters"]], [(None, 0, 8)])
        text, _ = picture("across.svg")
        contains(text, "8 CPUs in 1 x2APIC cluster,")


@case
def bars_from_entry_to_exit():
    with fake(intervals(missing=(3,), MixedCPUs="7-8")):
        out = plain(terminal("stall", "--per-cpu", columns=120).out)
        lines = out.splitlines()
        equal(lines[0].split()[:5], ["CPU", "PACKAGE", "CLUSTER", "ENTRY", "STALL"])
        found = bars(lines)
        equal(list(found), list(range(32)))
        equal(found[3], (0, 0))
        early, late = [found[c] for c in range(32) if c not in LATE and c != 3], [found[c] for c in LATE]
        equal({b[1] for b in early + late}, {found[31][1]})
        check(max(b[0] for b in early) == 0 and min(b[0] for b in late) > found[31][1] // 4, early, late)
        marks = {int(line.split()[0]): line[5] for line in lines[1:33]}
        equal({c for c, m in marks.items() if m == "!"}, set(LATE))
        equal([c for m in "*~-" for c in marks if marks[c] == m], [31, 7, 8, 3])
        contains(out, "* CPU 31: stood still longest", "! CPUs 16-23: late", "~ CPUs 7-8: may hold other work", "- CPU 3: without evidence")
        lacks(out, "Lengths only")
        bare = plain(terminal("stall", "--per-cpu", "--no-legend", columns=120).out).splitlines()
        equal((len(bare), bare[0].split()[0]), (32, "0"))


@case
def lengths_without_offsets():
    with fake(current()):
        out = ctl("stall", "--per-cpu").out
        lines = out.splitlines()
        equal(lines[0].split()[:4], ["CPU", "PACKAGE", "CLUSTER", "STALL"])
        equal(lines[6].split(), ["5", "-", "0", "0", "unknown"])
        found = bars(lines)
        equal({b[0] for c, b in found.items() if c != 5}, {0})
        check(all(len(line) <= 80 for line in lines), "80 columns where there is no terminal")
        contains(out, "Lengths only")
        o = ctl("stall", "--json=short").json["per_cpu"]
        equal(o[5], {"cpu": 5, "apic_id": 10, "cluster": 0, "stall_nsec": None, "entry_nsec": None, "exit_nsec": None, "package": 0, "mixed": False, "late": False})
    with fake(pending(replies={"GetPerCPU": [[[900, UNKNOWN_ID, UNKNOWN_ID, 1, 0, 2]]]})):
        equal(ctl("stall", "--per-cpu").out.splitlines()[1].split()[:5], ["900", "-", "-", "0", "us"])
        contains(ctl("stall").out, "Package unknown", "  cluster unknown")
        equal(ctl("stall", "--json=short").json["per_cpu"][0]["package"], None)


@case
def order_of_the_rows():
    def order(*args):
        return list(bars(ctl("stall", *args).out.splitlines()))
    with fake(intervals(n=16, late=(2, 3), cluster=4)):
        equal(order("--per-cpu"), list(range(16)))
        equal(order("--sort=cpu"), list(range(16)))
        equal(order("--sort=entry"), [*range(15, 3, -1), 1, 0, 3, 2])
        # packages and clusters may be numbered across one another
    rows = [[c, 0, c % 2, 1000 + c, UNKNOWN, UNKNOWN] for c in range(6)]
    rows[2][3] = UNKNOWN
    with fake(current(replies={"GetPerCPU": [rows], "ListProcessors": [[[c, 1, 1, 1, 0, c % 2] for c in range(6)]]})):
        equal(order("--per-cpu", "--sort=cluster"), [0, 2, 4, 1, 3, 5])
        equal(order("--sort=entry"), [5, 4, 3, 1, 0, 2])
        equal([c["cpu"] for c in ctl("stall", "--sort=entry", "--json=short").json["per_cpu"]], list(range(6)))


@case
def any_width():
    with fake(intervals(missing=(9,), MixedCPUs="4")):
        for columns in range(40, 201, 8):
            lines = plain(terminal("stall", "--per-cpu", columns=columns).out).splitlines()
            longest = max(map(len, lines[:33]))
            check(columns - 1 <= longest <= columns, columns, longest)
            check(all(len(line) <= columns for line in lines), columns)
            found = bars(lines)
            check(found[16][0] > found[15][0] and found[16][1] - found[16][0] < found[15][1], columns, "the late cluster is not seen")
            lines = plain(terminal("stall", columns=columns).out).splitlines()
            check(all(len(line) <= columns for line in lines), columns, [line for line in lines if len(line) > columns])
        for columns in (20, 25, 30, 39, 1000):
            for args in (["--per-cpu"], []):
                equal(terminal("stall", *args, columns=columns).code, 0)


@case
def plain_ascii():
    with fake(intervals(missing=(3,), MixedCPUs="4")):
        for args in (["stall"], ["stall", "--per-cpu"]):
            out = terminal(*args, LC_ALL="C", NO_COLOR="1").out
            check(out.isascii(), out)
            contains(out, "####", "|0 ms")
        lines = terminal("stall", "--per-cpu", LC_ALL="C", NO_COLOR="1").out.splitlines()
        check(lines[17].rstrip().count("#") < lines[16].count("#"), lines[16], lines[17])
        contains(terminal("stall", LC_ALL="C", NO_COLOR="1").out, "---")


@case
def json_has_everything():
    with fake(intervals(missing=(3,), MixedCPUs="4")):
        o = ctl("stall", "--json=short").json
        equal(sorted(o), sorted(STALL_KEYS + MORE_KEYS))
        equal(sorted(ctl("stall", "--per-cpu", "--json=pretty").json), sorted(STALL_KEYS + MORE_KEYS))
        equal([sorted(c) for c in o["per_cpu"]], [sorted("cpu apic_id cluster stall_nsec entry_nsec exit_nsec package mixed late".split())] * 32)
        equal([c["cpu"] for c in o["per_cpu"] if c["late"]], list(LATE))
        equal([c["cpu"] for c in o["per_cpu"] if c["mixed"]], [4])
        group = ("package cpus cpus_witnessed shortest_nsec median_nsec longest_nsec longest_cpu first_entry_nsec last_entry_nsec first_exit_nsec "
                 "last_exit_nsec late").split()
        equal([sorted(g) for g in o["packages"]], [sorted(group)] * 2)
        equal([sorted(g) for g in o["clusters"]], [sorted([*group, "cluster"])] * 4)
        equal([(g["package"], g["cluster"], g["cpus"], g["cpus_witnessed"], g["late"]) for g in o["clusters"]],
              [(0, 0, 8, 7, False), (0, 1, 8, 8, False), (1, 2, 8, 8, True), (1, 3, 8, 8, False)])
        equal(o["clusters"][3], {"package": 1, "cluster": 3, "cpus": 8, "cpus_witnessed": 8, "shortest_nsec": 12_493_000, "median_nsec": 12_496_500,
                                 "longest_nsec": 12_500_000, "longest_cpu": 31, "first_entry_nsec": 0, "last_entry_nsec": 7000,
                                 "first_exit_nsec": 12_500_000, "last_exit_nsec": 12_500_000, "late": False})
        equal(o["mixed_cpus"], "4")
    with fake(current()):
        g = ctl("stall", "--json=short").json["packages"][0]
        equal((g["first_entry_nsec"], g["last_exit_nsec"]), (None, None))


def picture(name, *args):
    path = state["tmp"] / name
    r = ctl("stall", f"--svg={path}", *args)
    equal((r.code, r.err), (0, ""))
    return path.read_text(encoding="utf-8"), r


@case
def a_picture():
    for n in (1, 8, 72, 512, 4096):
        scenario = intervals(n=n, sockets=2 if n > 32 else 1, cluster=16, late=range(16, 32) if n > 32 else (), missing=(3,) if n > 8 else (), MixedCPUs="4" if n > 8 else "")
        with fake(scenario):
            text, r = picture(f"{n}.svg")
            contains(r.out, f"{n}.svg: the stall of {n} CPUs")
            root = ElementTree.fromstring(text)
            equal(root.tag, f"{SVG}svg")
            rows = [e for e in root.iter(f"{SVG}rect") if e.find(f"{SVG}title") is not None]
            equal(len(rows), n - (1 if n > 8 else 0))
            equal([e.get("class") for e in rows].count("w"), 1)
            equal(sum(e.get("class") == "l" for e in rows), 16 if n > 32 else 0)
            equal(len({e.text for e in root.iter(f"{SVG}text") if (e.text or "").startswith("cluster ")}), (n + 15) // 16)
            width, height = float(root.get("width")), float(root.get("height"))
            for e in rows:
                x, y, w, h = (float(e.get(k)) for k in ("x", "y", "width", "height"))
                check(0 <= x and x + w <= width and 0 <= y and y + h <= height and w > 0 and h > 0, n, ElementTree.tostring(e))
            check(height < 4000, n, height)
            contains(text, "prefers-color-scheme:dark", "no CPU ran anything", ">0 ms<", "measured by perf")
            lacks(text.replace("http://www.w3.org/2000/svg", ""), "http", "href", "url(", "<script", "@import", "nan", "inf")


@case
def a_picture_of_lengths():
    with fake(current()):
        text, _ = picture("lengths.svg")
        rows = [e for e in ElementTree.fromstring(text).iter(f"{SVG}rect") if e.find(f"{SVG}title") is not None]
        equal(len({e.get("x") for e in rows}), 1)
        contains(text, "stood still, for so long", "0x02000032 → 0x0200003a on 72 CPUs in 5 x2APIC clusters", "no evidence")
    with fake(current(stall={"Witness": "write", "StallNSec": 14_020_000, "WorstNSec": UNKNOWN, "WorstCPU": UNKNOWN_ID},
                      replies={"GetPerCPU": [[[c, c, 0, UNKNOWN, UNKNOWN, UNKNOWN] for c in range(4)]]})):
        text, _ = picture("nobody.svg")
        ElementTree.fromstring(text)
        contains(text, "at most 14.02 ms", "no evidence")


@case
def a_picture_of_hostile_text():
    for hostile in ("</text><script>alert(1)</script>", "a & b < c > \"d\"", "\x1b[31m\x01\x7f", "é→●", "\u202etxt", "]]>", "<!--", "&#0;"):
        scenario = intervals(n=4, late=(), Witness=hostile)
        scenario["replies"]["ListHistory"] = [[history_entry(OldRevision=1, Path=hostile, Note=hostile)]]
        with fake(scenario):
            text, _ = picture("hostile.svg")
            root = ElementTree.fromstring(text)
            equal([e.tag for e in root.iter() if e.tag.endswith("script")], [])
            contains("".join(root.itertext()), "measured by")
            equal([c for c in text if ord(c) < 32 and c != "\n"], [])


@case
def where_the_picture_goes():
    with fake(intervals(n=8, late=())):
        r = ctl("stall", "--svg=-")
        equal((r.code, ElementTree.fromstring(r.out).tag), (0, f"{SVG}svg"))
        contains(error(ctl("stall", "--svg=-", "--json=short"), "InvalidArgument"), "both write to stdout")
        r = ctl("stall", "--svg=/nowhere/at/all.svg")
        equal((r.code, r.out), (1, ""))
        contains(r.err, "cannot write /nowhere/at/all.svg: No such file or directory")
        contains(error(ctl("stall", "--svg=/dev/full", "--json=short"), "Failed"), "cannot write /dev/full: No space left")
        text, r = picture("both.svg", "--json=short")
        equal(len(json.loads(r.out)["per_cpu"]), 8)
        equal(picture("both.svg", "-q")[1].out, "")
        text, r = picture("rows.svg", "--per-cpu")
        contains(r.out, "rows.svg", "CPU", "█")


@case
def four_thousand_cpus():
    n = 4096
    with fake(intervals(n=n, sockets=16, cluster=16, late=range(160, 176))):
        lines = ctl("stall", "--per-cpu").out.splitlines()
        equal(list(bars(lines)), list(range(n)))
        equal(len(ctl("stall", "--per-cpu", "--no-legend").out.splitlines()), n)
        out = ctl("stall").out
        contains(out, "Package 15", "  cluster 10  !", "255 x2APIC clusters more")
        check(len(out.splitlines()) < 50, "not one screen")
        o = ctl("stall", "--json=short").json
        equal((len(o["per_cpu"]), o["per_cpu"][4095]["package"], len(o["clusters"]), len(o["packages"])), (n, 15, 256, 16))


@case
def a_daemon_without_single_cpus():
    with fake(intervals() | {"errors": {"GetPerCPU": ["org.freedesktop.DBus.Error.UnknownMethod", "no such method"]}}):
        r = ctl("stall")
        equal(r.code, 0)
        lacks(r.out, "Package")
        for args in (["--per-cpu"], ["--svg=/dev/null"]):
            equal(ctl("stall", *args).code, 1)

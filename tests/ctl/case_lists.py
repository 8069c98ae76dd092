# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables: processors, history, stall; as text, as JSON, empty, without a legend, and with as many CPUs as a kernel can have."""

from case_status import HISTORY_KEYS, STALL_KEYS
from harness import case, check, contains, ctl, equal, fake, lacks
from scenarios import MASK, OLD, SIGNATURE, STALL, UNKNOWN, UNKNOWN_ID, current, history_entry, pending, processors


@case
def processors_in_a_table_and_a_summary():
    with fake(current()):
        r = ctl("processors")
        equal(r.code, 0)
        lines = r.out.splitlines()
        equal(lines[0].split(), ["CPU", "PACKAGE", "CLUSTER", "SIGNATURE", "PLATFORM", "REVISION"])
        equal(lines[1].split(), ["0", "0", "0", "0x00050654", "0x00000080", "0x0200003a"])
        equal(len(lines), 1 + 72 + 2)
        contains(lines[-1], "72 CPUs of signature 0x00050654, platform mask 0x00000080: 0x0200003a")
        lacks(r.out, "mixed", "behind")
        bare = ctl("processors", "--no-legend").out.splitlines()
        equal((len(bare), bare[0].split()[0]), (72, "0"))
        o = ctl("processors", "--json=short").json
        equal((len(o), o[71]), (72, {"cpu": 71, "signature": "0x00050654", "platform_mask": "0x00000080", "revision": "0x0200003a", "package": 1, "cluster": 4}))


@case
def mixed_revisions_stand_out():
    with fake(current(replies={"ListProcessors": [processors(lag=(2, 6, 7))]})):
        out = ctl("processors").out
        equal([line.split()[0] for line in out.splitlines() if line.endswith("behind")], ["2", "6", "7"])
        contains(out, "0x0200003a, mixed: 2,6-7 are behind, from 0x02000032 on")


@case
def groups_are_judged_by_themselves():
    cpus = [[0, SIGNATURE, MASK, OLD, 0, 0], [1, 0x50657, MASK, 0x5000012, 1, 1], [2, SIGNATURE, 1, 0x2000001, 2, UNKNOWN_ID], [3, SIGNATURE, 1, 0, UNKNOWN_ID, 2]]
    with fake(current(replies={"ListProcessors": [cpus]})):
        out = ctl("processors").out
        equal(len([line for line in out.splitlines() if "CPU" in line and "signature" in line]), 3)
        contains(out, "1 CPU of signature 0x00050657", "2 CPUs of signature 0x00050654, platform mask 0x00000001: 0x02000001, mixed: 3 is behind, from unknown on")
        equal(ctl("processors", "--json=short").json[2]["cluster"], None)
        equal(ctl("processors", "--json=short").json[3]["revision"], None)


@case
def four_thousand_cpus():
    n = 4096
    cpus = [[c, SIGNATURE, MASK, OLD if c % 2 else 0x2000032, c // 256, c // 16] for c in range(n)]
    per_cpu = [[c, c, c // 16, 10**7 + c, UNKNOWN, UNKNOWN] for c in range(n)]
    with fake(current(manager={"Groups": [[SIGNATURE, MASK, n, 0x2000032, 0]]}, replies={"ListProcessors": [cpus], "GetPerCPU": [per_cpu]})):
        contains(ctl().out, "on 4096 CPUs")
        r = ctl("processors")
        equal(len(r.out.splitlines()), n + 3)
        contains(r.out, "mixed: 0,2,4,6,8", "4094 are behind")
        equal(len(ctl("processors", "--json=short").json), n)
        equal(len(ctl("stall", "--per-cpu").out.splitlines()), n + 1)
        o = ctl("stall", "--per-cpu", "--json=short").json
        equal((len(o["per_cpu"]), o["per_cpu"][4095]["package"]), (n, 15))


@case
def every_cpu_its_own_group():
    n = 500
    with fake(current(replies={"ListProcessors": [[[c, c + 1, c, OLD, 0, 0] for c in range(n)]]})):
        equal(len(ctl("processors").out.splitlines()), 1 + n + 1 + n)


@case
def nothing_to_list_is_two():
    with fake(current(replies={"ListProcessors": [[]], "ListHistory": [[]], "GetPerCPU": [[]]})):
        for verb in ("processors", "history", "windows"):
            r = ctl(verb)
            equal((r.code, r.err), (2, ""), verb)
            check(r.out.count("\n") == 1, r.out)
            r = ctl(verb, "--json=short")
            equal((r.code, r.json), (2, []), verb)


@case
def history_newest_first_with_what_went_wrong():
    entries = [history_entry(Result="mixed-revisions", Laggards="2,6-7", Note="see the kernel log", UID=UNKNOWN_ID, StallNSec=UNKNOWN, WorstCPU=UNKNOWN_ID, WorstNSec=UNKNOWN),
               history_entry()]
    with fake(current(replies={"ListHistory": [entries]})) as f:
        r = ctl("history")
        lines = r.out.splitlines()
        equal((r.code, len(lines)), (0, 3))
        contains(lines[1], "mixed-revisions", "daemon", "behind: 2,6-7; see the kernel log", " - ")
        contains(lines[2], "success", "user 0", "12.45 ms", "17")
        o = ctl("history", "--json=short", "--lines=9").json
        equal([sorted(e) for e in o], [sorted(HISTORY_KEYS)] * 2)
        equal((o[0]["uid"], o[0]["stall_nsec"], o[0]["laggards"], o[1]["uid"]), (None, None, "2,6-7", 0))
        ctl("history", "-n", "1")
        equal([c["args"] for c in f.stop()], [[UNKNOWN_ID], [9], [1]])


@case
def history_of_no_write():
    with fake(current(replies={"ListHistory": [[history_entry(WriteErrno=-1, PredictedErrno=-1, WriteNSec=UNKNOWN, Result="cancelled")]]})):
        e = ctl("history", "--json=short").json[0]
        equal((e["write_errno"], e["predicted_errno"], e["write_nsec"]), (None, None, None))


@case
def the_stall_on_one_screen():
    with fake(current()):
        r = ctl("stall")
        equal(r.code, 0)
        contains(r.out, "Stall  12.45 ms (29 889 600 ticks)", "Worst CPU  17: 12.61 ms", "Median  12.50 ms", "P99  12.60 ms", "Write  14.02 ms",
                 "schedstat on 71 CPUs, 1 without evidence", "2.400 GHz", "All loads  4", "400.0 ms", "at most 350.9 ms", "1 longer than MaxStallMSec=",
                 "to  30.00 ms  ██████████████████████████████ 3", "to 1000.0 ms  ██████████ 1")
        lacks(r.out, "Entry", "Stolen")
        equal(sorted(ctl("stall", "--json=short").json), sorted(STALL_KEYS))
    with fake(current(stall={"EntrySpreadNSec": 40000, "ExitSpreadNSec": 5000, "StealNSec": 2000000})):
        contains(ctl("stall").out, "Entry  40 us", "Exit  5 us", "Stolen  2.00 ms")
    with fake(current(stall={"Witness": "write", "WorstNSec": UNKNOWN, "WorstCPU": UNKNOWN_ID, "TSCHz": 0})):
        out = ctl("stall").out
        contains(out, "at most 12.45 ms,")
        lacks(out, "ticks", "Worst")


@case
def no_load_yet():
    nothing = {k: (UNKNOWN_ID if k == "WorstCPU" else 0 if k in ("TSCHz", "StallCount", "CPUsWitnessed", "CPUsMissing") else UNKNOWN)
               for k in STALL if k not in ("Witness", "Histogram")}
    with fake(current(stall={**nothing, "Witness": "", "Histogram": [[1000000, 0], [UNKNOWN, 0]]}, replies={"GetPerCPU": [[]]})):
        r = ctl("stall")
        equal((r.code, r.out), (2, "The daemon has measured no load since it was started\n"))
        r = ctl("stall", "--json=short")
        equal((r.code, r.json["stall_nsec"], r.json["histogram"][1]), (2, None, {"below_nsec": None, "count": 0}))
        r = ctl("stall", "--per-cpu")
        equal(r.code, 2)
        contains(r.out, "not kept over a restart")
    with fake(current(stall={**nothing, "StallCount": 2, "StallTotalNSec": 24000000, "StallMaxNSec": 13000000})):
        contains(ctl("stall").out, "no load since", "All loads  2, in which this host stood still for 24.00 ms")


@case
def a_bar_for_each_cpu():
    with fake(current()):
        lines = ctl("stall", "--per-cpu").out.splitlines()
        equal(lines[0].split(), ["CPU", "PACKAGE", "CLUSTER", "STALL"])
        equal(lines[6].split(), ["5", "0", "0", "unknown"])
        check(lines[1].count("█") in (29, 30) and lines[72].count("█") == 30, lines[1], lines[72])
        o = ctl("stall", "--per-cpu", "--json=short").json["per_cpu"]
        equal(o[5], {"cpu": 5, "apic_id": 10, "cluster": 0, "stall_nsec": None, "entry_nsec": None, "exit_nsec": None, "package": 0})
    with fake(pending(replies={"GetPerCPU": [[[900, UNKNOWN_ID, UNKNOWN_ID, 1, 0, 2]]]})):
        equal(ctl("stall", "--per-cpu").out.splitlines()[1].split()[:4], ["900", "-", "-", "0"])
        equal(ctl("stall", "--per-cpu", "--json=short").json["per_cpu"][0]["package"], None)

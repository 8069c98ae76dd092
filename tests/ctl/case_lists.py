# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables: processors and history; as text, as JSON, empty, without a legend, and with as many CPUs as a kernel can have."""

from case_status import HISTORY_KEYS
from harness import case, check, contains, ctl, equal, fake, lacks
from scenarios import MASK, OLD, SIGNATURE, UNKNOWN, UNKNOWN_ID, current, history_entry, processors


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
    with fake(current(manager={"Groups": [[SIGNATURE, MASK, n, 0x2000032, 0]]}, replies={"ListProcessors": [cpus]})):
        contains(ctl().out, "on 4096 CPUs")
        r = ctl("processors")
        equal(len(r.out.splitlines()), n + 3)
        contains(r.out, "mixed: 0,2,4,6,8", "4094 are behind")
        equal(len(ctl("processors", "--json=short").json), n)


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

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole lives: from a file on disk to a verified load, on machines of every kind."""

from cases import AMD, ANY_TRUST, INTEL, NEW, OLD, amd, case, check, equal, intel, table
from world import MANAGER, SHUT, STALL, configuration


@case(sim=INTEL)
def from_file_to_load(w):
    """The whole path, each station seen."""
    w.watch()
    equal("State", w.get("State"), "current")
    equal("BlockedBy", w.get("BlockedBy"), [])
    equal("RunningRevision", w.get("RunningRevision"), OLD)
    intel(w)
    w.until_property("LastResult", "success")
    w.until_property("State", "current")
    equal("RunningRevision", w.get("RunningRevision"), NEW)
    equal("LastOldRevision", w.get("LastOldRevision"), OLD)
    equal("LastNewRevision", w.get("LastNewRevision"), NEW)
    equal("AppliedTotal", w.get("AppliedTotal"), 1)
    equal("FailedTotal", w.get("FailedTotal"), 0)
    equal("CandidateRevision", w.get("CandidateRevision"), 0)
    equal("writes", len(w.writes()), 1)

    processors = w.call("ListProcessors")[0]
    equal("CPUs", len(processors), 8)
    equal("revisions", {p[3] for p in processors}, {NEW})
    equal("packages", sorted({p[4] for p in processors}), [0, 1])
    check(all(p[5] != 0xFFFFFFFF for p in processors), "x2APIC clusters are unknown")

    entry = w.history()[0]
    for key, value in {"Result": "success", "OldRevision": OLD, "TargetRevision": NEW, "NewRevision": NEW, "PredictedErrno": 0, "WriteErrno": 0,
                       "CPUs": 8, "Witness": "schedstat", "Path": "/lib/firmware/intel-ucode/06-55-04", "UID": 0xFFFFFFFF, "Laggards": ""}.items():
        equal(f"history {key}", entry[key], value)

    names = [(s["member"], s["payload"]["data"]) for s in w.signals() if s["interface"].startswith("org.ucodesync1")]
    equal("signals", [n for n, _ in names], ["CandidateFound", "PrepareForApply", "PrepareForApply", "StallMeasured", "Applied"])
    equal("CandidateFound", names[0][1], [NEW, "/lib/firmware/intel-ucode/06-55-04"])
    equal("PrepareForApply", [names[1][1], names[2][1]], [[True], [False]])
    equal("Applied", names[4][1][:3] + names[4][1][4:], [0, OLD, NEW, "success"])
    applied = w.entries("Microcode 0x200003a -> 0x200005e on 8 CPUs")
    equal("entries of the load", len(applied), 1)
    for key in ("STATE", "OLD_REVISION", "NEW_REVISION", "PATH", "DIGEST", "STALL_NSEC", "STALL_TICKS", "WORST_CPU", "WRITE_NSEC", "WITNESS", "RESULT",
                "PREDICTED"):
        check(key in applied[0], f"the entry lacks UCODESYNC_{key}")


@case(sim=INTEL)
def the_stall_is_what_the_accounts_say(w):
    intel(w)
    w.until_property("LastResult", "success")
    equal("Witness", w.get("Witness", STALL), "schedstat")
    equal("CPUsWitnessed", w.get("CPUsWitnessed", STALL), 8)
    equal("CPUsMissing", w.get("CPUsMissing", STALL), 0)
    per_cpu = w.call("GetPerCPU", interface=STALL)[0]
    equal("rows", len(per_cpu), 8)
    equal("StallNSec, all CPUs stopped", w.get("StallNSec", STALL), min(c[3] for c in per_cpu))
    equal("WorstNSec", w.get("WorstNSec", STALL), max(c[3] for c in per_cpu))
    equal("WorstCPU", w.get("WorstCPU", STALL), max(per_cpu, key=lambda c: c[3])[0])
    check(w.get("WriteNSec", STALL) >= w.get("WorstNSec", STALL), "the write was shorter than the stall")
    hz = w.get("TSCHz", STALL)
    equal("TSCHz", hz, 2400000000)
    check(abs(w.get("StallTicks", STALL) - w.get("StallNSec", STALL) * hz // 10**9) <= 1, "ticks are not the stall at the TSC's rate")
    equal("clusters", {c[1] >> 4 for c in per_cpu}, {c[2] for c in per_cpu})
    equal("StallCount", w.get("StallCount", STALL), 1)
    equal("loads in the histogram", sum(n for _, n in w.get("Histogram", STALL)), 1)


@table([
    ("charged late", dict(sim=INTEL + ["--account-delay-usec=20000"]), 8, 0),
    ("never charged", dict(sim=INTEL + ["--account-missing=3"]), 7, 1),
    ("stoppers with other work", dict(sim=INTEL + ["--account-mixed=2"]), 8, 0),
])
def accounts_with_gaps(w, witnessed, missing):
    intel(w)
    w.until_property("LastResult", "success")
    equal("CPUsWitnessed", w.get("CPUsWitnessed", STALL), witnessed)
    equal("CPUsMissing", w.get("CPUsMissing", STALL), missing)
    check(0 < w.get("StallNSec", STALL) < 2**63, "there is no stall")
    per_cpu = {c[0]: c[3] for c in w.call("GetPerCPU", interface=STALL)[0]}
    check(0 not in per_cpu.values(), "a CPU without evidence counts as a stall of 0")
    if missing:
        equal("CPU 3", per_cpu[3], 2**64 - 1)


@case(sim=AMD, config=ANY_TRUST)
def amd_container(w):
    amd(w)
    w.until_property("LastResult", "success")
    equal("RunningRevision", w.get("RunningRevision"), 0x08301090)
    equal("Vendor", w.get("Vendor"), "amd")


@table([
    ("one CPU", dict(sim=["--topology=1x1x1"] + INTEL[1:]), 1),
    ("72 CPUs, serially", dict(sim=["--topology=2x18x2", "--load=serial"] + INTEL[1:]), 72),
    ("512 CPUs", dict(sim=["--topology=4x64x2"] + INTEL[1:]), 512),
    ("CPU 0 is offline, and an Intel sibling", dict(sim=["--topology=1x2x2", "--offline=3"] + INTEL[1:]), 3),
])
def every_topology(w, n):
    intel(w)
    w.until_property("LastResult", "success")
    equal("CPUs", len(w.call("ListProcessors")[0]), n)
    equal("CPUsWitnessed", w.get("CPUsWitnessed", STALL), n)


@case(sim=INTEL)
def a_second_update_follows(w):
    intel(w)
    w.until_property("LastResult", "success")
    intel(w, revision=0x2000070)
    w.until_property("RunningRevision", 0x2000070)
    equal("results", [e["Result"] for e in w.history()], ["success", "success"])
    equal("StallCount", w.get("StallCount", STALL), 2)


@case(sim=INTEL, config=configuration(window=SHUT))
def replaced_while_pending(w):
    """What is pending follows the file; the time since when it is pending does not start again."""
    intel(w)
    w.until_property("CandidateRevision", NEW)
    since = w.get("PendingSinceUSec")
    intel(w, revision=0x2000070)
    w.until_property("CandidateRevision", 0x2000070)
    equal("PendingSinceUSec", w.get("PendingSinceUSec"), since)
    (w.root / "lib/firmware/intel-ucode/06-55-04").unlink()
    w.until_property("State", "current")
    equal("PendingSinceUSec", w.get("PendingSinceUSec"), 0)
    equal("writes", w.writes(), [])


@table([
    ("the same", dict(sim=INTEL), dict(revision=OLD), []),
    ("older", dict(sim=INTEL), dict(revision=0x2000010, minimum=0x2000000), []),
    ("another signature", dict(sim=INTEL), {}, ["--signature=0x50657"]),
    ("another platform", dict(sim=INTEL), {}, ["--mask=0x80"]),
])
def nothing_to_do(w, keywords, options):
    intel(w, *options, **keywords)
    w.call("Check")
    equal("State", w.get("State"), "current")
    equal("BlockedBy", w.get("BlockedBy"), [])
    w.refused("Apply", "t", 3, says="Nothing newer")
    equal("writes", w.writes(), [])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The stall: who measures it, that all who do are recorded, what is said before and after, and what is left of it after a restart.

Below another root there are the accounts of the simulated threads and the write: perf events are of the real machine, and there is no tracefs."""

from cases import INTEL, case, check, equal, intel, table
from world import STALL, configuration

UNKNOWN = 2**64 - 1


def load(w, result="success"):
    intel(w)
    w.until_property("LastResult", result)


def witness(name):
    return configuration(extra=f"[Stall]\nWitness={name}\n")


def figures(w):
    return {name: w.get(name, STALL) for name in ("StallCount", "StallTotalNSec", "StallMaxNSec", "OverBudgetTotal", "Histogram")}


@case(sim=INTEL)
def every_witness_is_recorded(w):
    load(w)
    seen = w.get("Witnesses", STALL)
    equal("those that were on", sorted(seen), ["schedstat", "write"])
    equal("Witness", w.get("Witness", STALL), "schedstat")
    equal("the one that decided", seen["schedstat"], w.get("StallNSec", STALL))
    equal("the write", seen["write"], w.get("WriteNSec", STALL))
    check(0 < seen["schedstat"] <= seen["write"] < UNKNOWN, f"the stall is no part of the write: {seen}")
    equal("in the history", w.history()[0]["Witnesses"], seen)
    check("The stall is measured by 'schedstat'; beside it write. Not there is perf: " in w.journal(), "who measures is not said")
    equal("written and read again", (w.restart_daemon(), w.history()[0]["Witnesses"])[1], seen)


@table([
    ("auto", dict(sim=INTEL, config=witness("auto")), "schedstat", ["schedstat", "write"], ["perf"]),
    ("schedstat", dict(sim=INTEL, config=witness("schedstat")), "schedstat", ["schedstat", "write"], []),
    ("perf", dict(sim=INTEL, config=witness("perf")), "schedstat", ["schedstat", "write"], ["perf"]),
    ("kernel", dict(sim=INTEL, config=witness("kernel")), "schedstat", ["schedstat", "write"], ["kernel", "perf"]),
    ("none", dict(sim=INTEL, config=witness("none")), "write", ["write"], []),
])
def asked_for(w, decides, on, missing):
    load(w)
    equal("Witness", w.get("Witness", STALL), decides)
    equal("Witnesses", sorted(w.get("Witnesses", STALL)), on)
    line = next(x for x in w.journal().splitlines() if "The stall is measured by" in x)
    for name in ("kernel", "perf", "schedstat"):
        equal(f"{name} is said to be missing", f"{name}: " in line, name in missing)


@case(sim=INTEL)
def the_forecast_is_said_before(w):
    load(w)
    line = next(x for x in w.journal().splitlines() if "Loading 0x200005e" in x)
    check(" ms to " in line and "is expected to stand still for" in line, f"no forecast in: {line}")
    low, high = w.call("Explain", "t", 0)[2:]
    equal("from what was measured: low", low, w.get("StallNSec", STALL))
    equal("from what was measured: high", high, w.get("WorstNSec", STALL) * 3 // 2)


@case(sim=INTEL, config=configuration(apply="MaxStallMSec=1"))
def over_the_budget(w):
    w.watch()
    intel(w)
    w.until(lambda: "budget" in w.get("BlockedBy"), "the forecast to be above the budget")
    w.call("Apply", "t", 128)
    w.until_property("LastResult", "success")
    w.until(lambda: w.signals("Applied"), "the end to be signalled")
    names = [s["member"] for s in w.signals() if s["member"].startswith("Stall")]
    equal("signals", names, ["StallMeasured", "StallOverBudget"])
    when, stall, budget, by = w.signals("StallOverBudget")[0]["payload"]["data"]
    equal("the signal", (stall, budget, by), (w.get("StallNSec", STALL), 10**6, "schedstat"))
    equal("its moment", when, w.signals("StallMeasured")[0]["payload"]["data"][0])
    equal("OverBudgetTotal", w.get("OverBudgetTotal", STALL), 1)
    equal("warnings", len(w.entries("longer than MaxStallMSec= allows (1 ms)")), 1)
    before = figures(w)
    w.restart_daemon()
    equal("after a restart", figures(w), before)


@case(sim=INTEL, config=configuration(apply="MaxStallMSec=60000"))
def within_the_budget(w):
    w.watch()
    load(w)
    w.until(lambda: w.signals("Applied"), "the end to be signalled")
    equal("signals", [s["member"] for s in w.signals() if s["member"].startswith("Stall")], ["StallMeasured"])
    equal("OverBudgetTotal", w.get("OverBudgetTotal", STALL), 0)


@case(sim=INTEL)
def what_survives_a_restart(w):
    load(w)
    before = figures(w)
    equal("StallCount", before["StallCount"], 1)
    equal("in the histogram", sum(n for _, n in before["Histogram"]), 1)
    equal("its bucket", [below for below, n in before["Histogram"] if n][0], min(b for b, _ in before["Histogram"] if b >= w.get("StallNSec", STALL)))
    w.restart_daemon()
    equal("totals and histogram", figures(w), before)
    equal("Witnesses of a life before", w.get("Witnesses", STALL), {})
    equal("per CPU", w.call("GetPerCPU", interface=STALL)[0], [])
    intel(w, revision=0x2000070)
    w.until_property("LastNewRevision", 0x2000070)
    after = figures(w)
    equal("StallCount", after["StallCount"], 2)
    equal("StallTotalNSec", after["StallTotalNSec"], before["StallTotalNSec"] + w.get("StallNSec", STALL))
    equal("StallMaxNSec", after["StallMaxNSec"], max(before["StallMaxNSec"], w.get("StallNSec", STALL)))


@case(sim=INTEL)
def each_cpu(w):
    """Accounts have no moments: offsets are unknown, and so are the spreads."""
    w.sim("set", "account-mixed", "3,6")
    w.sim("set", "account-missing", "5")
    load(w)
    rows = w.call("GetPerCPU", interface=STALL)[0]
    equal("CPUs", [r[0] for r in rows], list(range(8)))
    equal("clusters", [r[2] for r in rows], [r[1] >> 4 for r in rows])
    equal("without evidence", [r[0] for r in rows if r[3] == UNKNOWN], [5])
    equal("offsets", {(r[4], r[5]) for r in rows}, {(UNKNOWN, UNKNOWN)})
    equal("spreads", (w.get("EntrySpreadNSec", STALL), w.get("ExitSpreadNSec", STALL)), (UNKNOWN, UNKNOWN))
    equal("counts", (w.get("CPUsWitnessed", STALL), w.get("CPUsMissing", STALL)), (7, 1))
    equal("MixedCPUs", w.get("MixedCPUs", STALL), "3,6")
    clean = [r[3] for r in rows if r[0] not in (3, 5, 6)]
    equal("StallNSec", w.get("StallNSec", STALL), min(clean))
    equal("WorstNSec", w.get("WorstNSec", STALL), max(clean))
    worst = w.get("WorstCPU", STALL)
    equal("the worst CPU's own", [r[3] for r in rows if r[0] == worst], [max(clean)])


@case(sim=INTEL)
def a_refusal_is_no_stall(w):
    w.watch()
    w.sim("set", "answer", "EBADFD")
    load(w, "malformed")
    w.until(lambda: w.signals("Applied"), "the end to be signalled")
    equal("StallNSec", w.get("StallNSec", STALL), UNKNOWN)
    equal("Witnesses", w.get("Witnesses", STALL), {"schedstat": UNKNOWN, "write": UNKNOWN})
    check(w.get("WriteNSec", STALL) < UNKNOWN, "the write took no time")
    equal("StallCount", w.get("StallCount", STALL), 0)
    equal("signals of a stall", [s["member"] for s in w.signals() if s["member"].startswith("Stall")], [])

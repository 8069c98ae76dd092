# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every blocker of this daemon: in the set while it should be, with a sentence, and the load when it is gone."""

import time

from cases import ANY_TRUST, INTEL, NEW, OLD, case, check, equal, intel, table
from world import SHUT, configuration, later


def blockers(w):
    """The set, each with a sentence."""
    found = w.get("Blockers")
    for name, sentence, clears in found:
        check(len(sentence) > 10, f"no sentence for {name}")
        check(clears == 0 or clears > (time.time() - 60) * 1e6, f"{name} clears in the past: {clears}")
    return {b[0]: b for b in found}


@case(sim=INTEL, config=configuration(window=SHUT))
def closed_window_then_open(w):
    intel(w)
    w.until_property("State", "pending")
    w.until(lambda: "window" in blockers(w), "the window to block")
    start = w.get("NextWindowStartUSec")
    equal("the window clears when it opens", blockers(w)["window"][2], start)
    equal("EarliestApplyUSec", w.get("EarliestApplyUSec"), start)
    check(3.9 * 3600e6 < start - time.time() * 1e6 < 5.1 * 3600e6, "the next window is not hours away")
    equal("InWindow", w.get("InWindow"), False)
    equal("writes", w.writes(), [])
    windows = w.call("NextWindows", "tu", 0, 3)[0]
    equal("windows", len(windows), 3)
    equal("the first", windows[0][0], start)
    check(all(3500e6 < e - s < 3600e6 for s, e, _ in windows), "a window is not its hour less a margin")
    w.reload(configuration())
    w.until_property("LastResult", "success")
    equal("InWindow", w.get("InWindow"), True)


@case(sim=INTEL, config=configuration(window=None))
def the_window_opens_by_the_clock(w):
    """Nobody touches the daemon: its own timer looks again at the edge."""
    begin = time.gmtime(time.time() + 6)
    w.reload(configuration(window=time.strftime("%Y-%m-%d %H:%M:%S UTC for 1h", begin)))
    intel(w)
    w.until_property("State", "pending")
    w.until(lambda: "window" in blockers(w), "the window to block")
    w.until_property("LastResult", "success")
    check(w.history()[0]["When"] >= int(time.mktime(begin) - time.timezone) * 1000000, "loaded before the window began")


@case(sim=INTEL, config=configuration(schedule="Blackout=*-*-* 00:00 UTC for 24h"))
def blackout_wins(w):
    intel(w)
    w.until(lambda: "blackout" in blockers(w), "the blackout to block")
    w.call("Apply", "t", 2)
    time.sleep(1)
    equal("writes", w.writes(), [])
    w.reload(configuration())
    w.until_property("LastResult", "success")


@table([
    ("pressure", dict(sim=INTEL + ["--load-percent=90", "--pressure-percent=90"], config=configuration(load="Metric=pressure")), "pressure"),
    ("utilization", dict(sim=INTEL + ["--load-percent=90", "--pressure-percent=0"], config=configuration(load="Metric=utilization")), "utilization"),
    ("loadavg", dict(sim=INTEL + ["--load-percent=90"], config=configuration(load="Metric=loadavg")), "loadavg"),
    ("auto without PSI", dict(sim=INTEL + ["--load-percent=90", "--psi=off"]), "utilization"),
    ("auto with psi=0", dict(sim=INTEL + ["--load-percent=90", "--psi=unsupported"]), "utilization"),
    ("guests", dict(sim=INTEL + ["--load-percent=80", "--guest-percent=60", "--pressure-percent=0"], config=configuration(load="Metric=pressure\nGuestThreshold=50%")), "pressure"),
])
def load_gate(w, metric):
    intel(w)
    w.until_property("State", "pending")
    w.until(lambda: "not below" in blockers(w).get("load", ["", ""])[1], "the load to block with a figure")
    equal("LoadQuiet", w.get("LoadQuiet"), False)
    equal("writes", w.writes(), [])
    w.sim("set", "load-percent", 0)
    w.sim("set", "guest-percent", 0)
    w.sim("set", "pressure-percent", 0)
    w.until_property("LastResult", "success")
    equal("LoadMetric", w.get("LoadMetric"), metric)


@case(sim=INTEL + ["--load-percent=90"], config=configuration(schedule="Require=any"))
def any_needs_only_the_window(w):
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(window=SHUT, schedule="Require=any"))
def any_needs_only_quiet(w):
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(apply="Automatic=no"))
def manual(w):
    intel(w)
    w.until(lambda: "manual" in blockers(w), "'manual' to block")
    w.watch()
    number = w.call("Apply", "t", 0)[0]
    w.until_property("LastResult", "success")
    equal("Applied", [s["payload"]["data"][0] for s in w.signals("Applied")], [number])
    equal("history", [(e["Id"], e["UID"]) for e in w.history()], [(number, 0)])


@table([
    ("none named", dict(sim=INTEL), 0, "no minimum revision"),
    ("not met", dict(sim=INTEL), 0x2000050, "from revision 0x2000050 on"),
])
def minrev(w, minimum, says):
    intel(w, minimum=minimum)
    w.until(lambda: "minrev" in blockers(w), "minrev to block")
    check(says in blockers(w)["minrev"][1], f"the sentence is {blockers(w)['minrev'][1]!r}")
    w.refused("Apply", "t", 3, says="minrev")
    equal("writes", w.writes(), [])
    w.call("Apply", "t", 16)
    w.until_property("LastResult", "success")
    w.until_says("overrides: minrev")


@case(sim=INTEL, config=ANY_TRUST)
def any_trust(w):
    intel(w, minimum=0)
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(apply="Trust=approved"))
def nobody_approves(w):
    intel(w)
    w.until(lambda: "unapproved" in blockers(w), "'unapproved' to block")
    equal("writes", w.writes(), [])


@case(sim=INTEL + ["--offline=1"])
def offline_primary(w):
    """No event tells of a CPU that comes online; the daemon looks again while it waits for one."""
    intel(w)
    w.until(lambda: "cpus-offline" in blockers(w), "the offline CPU to block")
    check("1" in blockers(w)["cpus-offline"][1], "the CPU is not named")
    equal("Explain: EBUSY", w.call("Explain", "t", 255 & ~32)[1], 16)
    equal("writes", w.writes(), [])
    w.sim("online", 1)
    w.until_property("LastResult", "success")
    equal("CPUs", {p[3] for p in w.call("ListProcessors")[0]}, {NEW})


@case(sim=INTEL, config=configuration(settle="3s"))
def settle(w):
    for n in range(4):
        intel(w, f"--seed={n + 1}")
        time.sleep(1)
        equal("candidate while files arrive", w.get("CandidateRevision"), 0)
    w.until_property("CandidateRevision", NEW)
    equal("found once", w.journal().count("Update found"), 1)


@table([
    ("kernel-option", dict(sim=INTEL + ["--no-reload"]), "kernel-option"),
    ("virtual machine", dict(sim=INTEL + ["--no-microcode-dir", "--hypervisor"]), "virtual-machine"),
    ("command line", dict(sim=INTEL + ["--no-microcode-dir", "--cmdline=root=/dev/vda dis_ucode_ldr quiet"]), "disabled-by-command-line"),
    ("xen", dict(sim=INTEL + ["--hypervisor-type=xen"]), "xen"),
    ("no driver", dict(sim=INTEL + ["--no-microcode-dir"]), "no-cpu-driver"),
])
def unsupported(w, reason):
    equal("State", w.get("State"), "unsupported")
    equal("Support", w.get("Support"), "advisory")
    equal("SupportReason", w.get("SupportReason"), reason)
    intel(w)
    w.until_property("CandidateRevision", NEW) if reason in ("kernel-option", "xen") else None
    equal("BlockedBy", w.get("BlockedBy")[:1], ["unsupported"])
    w.refused("Apply", "t", 255 & ~32, says="loaded late here")


@case(sim=INTEL + ["--hypervisor"])
def a_guest_that_can(w):
    """A hypervisor bit alone is no reason: the files decide."""
    equal("Support", w.get("Support"), "late-load")
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(window=SHUT, schedule="DeadlineSec=3s"))
def overdue_alerts_only(w):
    intel(w)
    w.until_property("Overdue", True)
    w.until_says("longer than DeadlineSec=")
    equal("State", w.get("State"), "pending")
    equal("writes", w.writes(), [])


@case(sim=INTEL, config=configuration(window=SHUT))
def requests(w):
    """Accepted and waiting, one at a time, cancelled, dry."""
    intel(w)
    w.until_property("State", "pending")
    w.watch()
    number = w.call("Apply", "t", 2)[0]
    w.refused("Apply", "t", 0, says="waiting already")
    w.refused("Cancel", "u", number + 1, says="no request")
    w.call("Cancel", "u", number)
    w.until(lambda: [s["payload"]["data"] for s in w.signals("Applied")] == [[number, OLD, OLD, 2**64 - 1, "cancelled"]], "the signal of the end")
    dry = w.call("Apply", "t", 1 | 2 | 32)[0]
    w.until(lambda: len(w.signals("Applied")) == 2, "the end of the dry run")
    equal("the dry run", w.signals("Applied")[1]["payload"]["data"], [dry, OLD, OLD, 2**64 - 1, "no-change"])
    equal("who was told to prepare for it", w.signals("PrepareForApply"), [])
    equal("writes", w.writes(), [])
    equal("history", w.history(), [])
    w.refused("Apply", "t", 256, says="unknown bits")
    w.call("Apply", "t", 3)
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(window=SHUT))
def explain_and_can_apply(w):
    reports, predicted, low, high = w.call("Explain", "t", 0)
    equal("predicted without a file: ENOENT", predicted, 2)
    equal("CanApply", w.call("CanApply")[0], "no")
    intel(w)
    w.until_property("State", "pending")
    reports, predicted, low, high = w.call("Explain", "t", 0)
    equal("blockers", [r[0] for r in reports], ["window", "load"])
    equal("predicted", predicted, 0)
    check(0 < low <= high, f"the forecast is {low} to {high}")
    equal("ForecastStallNSec", w.get("ForecastStallNSec"), high)
    equal("blockers with --now", w.call("Explain", "t", 3)[0], [])
    equal("CanApply", w.call("CanApply"), ["yes", ["window", "load"]])

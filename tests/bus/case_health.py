# SPDX-License-Identifier: LGPL-2.1-or-later
"""The condition of the machine: each thing that makes a bad moment holds a load back, with a sentence, gives way to ignore-health (but for a
reboot), and lets go when it is over."""

import subprocess
import time

from case_gates import blockers
from cases import INTEL, NEW, OLD, case, check, equal, intel, table
from world import BusError, configuration

HEALTH = 128
ALL_BUT_HEALTH = 255 & ~(32 | HEALTH)


def holds(w, name, *says):
    """The blocker is in the set, says why, and no other flag gets past it."""
    w.until(lambda: name in blockers(w), f"{name} to block")
    sentence = blockers(w)[name][1]
    for text in says:
        check(text in sentence, f"the sentence is {sentence!r}, wanted {text!r} in it")
    equal("State", w.get("State"), "pending")
    equal("writes", w.writes(), [])
    return blockers(w)[name]


def gives_way(w, name):
    w.refused("Apply", "t", ALL_BUT_HEALTH, says=name)
    equal("writes", w.writes(), [])
    w.call("Apply", "t", 3 | HEALTH)
    w.until_property("LastResult", "success")
    w.until_says("overrides: ")
    equal("RunningRevision", w.get("RunningRevision"), NEW)


@table([
    ("a machine check", dict(sim=INTEL + ["--tainted=16"]), "(M)"),
    ("an oops, and a module from elsewhere", dict(sim=INTEL + ["--tainted=4224"]), "(D)"),
    ("a lockup", dict(sim=INTEL + ["--tainted=16384"]), "(L)"),
])
def tainted(w, says):
    intel(w)
    holds(w, "unhealthy", says)
    gives_way(w, "unhealthy")


@case(sim=INTEL + [f"--tainted={(1 << 0) | (1 << 2) | (1 << 12) | (1 << 13)}"])
def harmless_taints(w):
    """Modules from elsewhere, and the S that a late load itself leaves."""
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=INTEL)
def machine_checks(w):
    w.sim("mce")
    w.sim("set", "tainted", "0")
    w.restart_daemon()  # read at a start, and then not at every look
    intel(w)
    holds(w, "unhealthy", "machine checks in this boot")
    gives_way(w, "unhealthy")


@case(sim=INTEL, config=configuration(apply="Automatic=no"))
def machine_checks_right_before_a_load(w):
    """Whatever was true a moment ago: before the write everything is looked at again."""
    intel(w)
    w.until(lambda: "manual" in w.get("BlockedBy"), "the update")
    w.sim("mce")
    w.sim("set", "tainted", "0")
    try:
        w.call("Apply", "t", 3)
    except BusError as e:  # seen already when somebody asks
        check("unhealthy" in e.text, e.text)
    w.until(lambda: "unhealthy" in w.get("BlockedBy"), "the machine checks to be seen")
    equal("writes", w.writes(), [])


@case(sim=INTEL + ["--fail-cpus=1"])
def mixed_revisions_are_unhealthy(w):
    intel(w)
    w.until_property("LastResult", "mixed-revisions")
    w.sim("set", "fail-cpus", "")
    intel(w, "--seed=3")
    w.until(lambda: "unhealthy" in w.get("BlockedBy"), "mixed revisions to block")
    check("lag behind" in blockers(w)["unhealthy"][1], blockers(w)["unhealthy"][1])
    equal("writes", len(w.writes()), 1)


@table([
    ("isolated CPUs", dict(sim=INTEL + ["--isolated=2-3"]), "CPUs 2-3 are isolated"),
    ("CPUs without ticks", dict(sim=INTEL + ["--nohz-full=7"]), "CPUs 7 are free of timer ticks"),
    ("a real-time kernel", dict(sim=INTEL + ["--realtime"]), "real-time kernel"),
])
def latency_critical(w, says):
    intel(w)
    holds(w, "latency-critical", says, "LatencyCritical=block")
    w.refused("Apply", "t", ALL_BUT_HEALTH, says="latency-critical")
    w.reload(configuration(apply="LatencyCritical=allow"))
    w.until_property("LastResult", "success")


@case(sim=INTEL + ["--isolated=2-3"])
def latency_critical_overridden(w):
    intel(w)
    holds(w, "latency-critical")
    gives_way(w, "latency-critical")


@case(sim=INTEL + ["--uptime=60"], config=configuration(schedule="BootGraceSec=70s"))
def just_booted(w):
    """It clears by the clock, at the moment that was named."""
    intel(w)
    clears = holds(w, "just-booted", "BootGraceSec=")[2]
    check(0 < clears - time.time() * 1e6 < 11e6, f"clears in {clears / 1e6 - time.time()} s")
    w.until_property("LastResult", "success")
    check(w.history()[0]["When"] >= clears - 1100000, "loaded before the time was up")


@case(sim=INTEL + ["--uptime=60"], config=configuration(schedule="BootGraceSec=30min"))
def just_booted_overridden(w):
    intel(w)
    holds(w, "just-booted")
    w.call("Apply", "t", 3 | HEALTH)
    w.until_property("LastResult", "success")
    w.until_says("overrides: just-booted")


@case(sim=INTEL)
def shutdown(w):
    """A scheduled reboot, as `shutdown +60` leaves it; nobody gets past it, and it can be cancelled."""
    scheduled = w.root / "run/systemd/shutdown/scheduled"
    scheduled.parent.mkdir(parents=True)
    scheduled.write_text(f"USEC={int((time.time() + 3600) * 1e6)}\nWARN_WALL=1\nMODE=reboot\n")
    intel(w)
    holds(w, "shutdown", "scheduled for")
    w.refused("Apply", "t", 255 & ~32, says="shutdown")
    equal("writes", w.writes(), [])
    scheduled.unlink()
    w.until_property("LastResult", "success")


def on_memory(w):
    """The state directory on a tmpfs, as on a machine without a disk."""
    w.stop_daemon()
    path = w.root / "var/lib"
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", path], check=True)
    w.start_daemon()
    return path


@case(sim=INTEL)
def state_volatile(w):
    path = on_memory(w)
    try:
        intel(w)
        holds(w, "state-volatile", "tmpfs", "outlive a crash")
        gives_way(w, "state-volatile")
    finally:
        subprocess.run(["umount", "-l", path], check=True)


@case(sim=INTEL)
def state_read_only(w):
    w.stop_daemon()
    path = w.root / "var/lib"
    subprocess.run(["mount", "--bind", path, path], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
    try:
        w.start_daemon()
        intel(w)
        w.until(lambda: "state-volatile" in w.get("BlockedBy"), "the read-only file system to block")
        check("read-only" in blockers(w)["state-volatile"][1], blockers(w)["state-volatile"][1])
        equal("writes", w.writes(), [])
    finally:
        subprocess.run(["umount", "-l", path], check=True)


SERIAL = ["--topology=2x18x2", "--load=serial", "--kernel=5.10"] + INTEL[1:]


@case(sim=SERIAL)
def budget(w):
    """36 cores, one after the other: what nobody has measured yet is not risked. A larger budget lets it pass."""
    intel(w)
    holds(w, "budget", "360 ms", "MaxStallMSec=100")
    equal("ForecastStallNSec", w.get("ForecastStallNSec"), 360000000)
    w.refused("Apply", "t", ALL_BUT_HEALTH, says="budget")
    w.reload(configuration(apply="MaxStallMSec=500"))
    w.until_property("LastResult", "success")
    equal("within the budget", w.get("OverBudgetTotal", "org.ucodesync1.Stall"), 0)
    check(351e6 < w.get("ForecastStallNSec") < 600e6, "the forecast does not follow from what was measured")


@case(sim=SERIAL)
def budget_overridden(w):
    intel(w)
    holds(w, "budget")
    gives_way(w, "budget")


@case(sim=["--topology=2x18x2", "--load=parallel"] + INTEL[1:])
def a_modern_kernel_is_within_it(w):
    """Kernels from 6.7 on load all cores at once, so many cores cost no more than few."""
    intel(w)
    w.until_property("LastResult", "success")
    equal("over budget", w.get("OverBudgetTotal", "org.ucodesync1.Stall"), 0)


@table([
    ("neither", dict(sim=INTEL), True),
    ("a crash kernel", dict(sim=INTEL + ["--crash-kernel"]), False),
    ("a reboot after a panic", dict(sim=INTEL + ["--panic=10"]), False),
])
def a_hang_would_stay_a_hang(w, warned):
    intel(w)
    w.until_property("LastResult", "success")
    equal("warned", w.journal().count("it would stay hung"), int(warned))
    equal("RunningRevision", (w.get("LastOldRevision"), w.get("RunningRevision")), (OLD, NEW))

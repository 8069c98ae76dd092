# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each answer of the kernel, and what becomes of it: never written again for the same bytes, and the next thing to do is said."""

import time

from cases import AMD, ANY_TRUST, INTEL, NEW, OLD, amd, case, check, equal, intel, table
from world import configuration

FORCE = 255 & ~32


def settled(w, result):
    w.until_property("LastResult", result)
    w.until_property("State", "failed")


def never_again(w, writes):
    """Neither by itself nor when somebody looks: the same bytes are not written a second time."""
    for _ in range(3):
        w.call("Check")
        time.sleep(0.5)
    equal("writes", len(w.writes()), writes)


@table([
    ("all CPUs fail", dict(sim=INTEL + ["--fail-cpus=0-7"]), "io-error", 5),
    ("all CPUs fail, 6.1", dict(sim=INTEL + ["--fail-cpus=0-7", "--kernel=6.1"]), "io-error", 1),
    ("refused, for whatever reason", dict(sim=INTEL + ["--answer=ENOENT"]), "refused", 2),
    ("another revision arrives", dict(sim=INTEL + ["--arrive-revision=0x2000099"]), "unexpected-revision", 0),
])
def failures(w, result, errno):
    intel(w)
    if result == "unexpected-revision":
        w.until_property("LastResult", result)
    else:
        settled(w, result)
        equal("BlockedBy", w.get("BlockedBy")[:1], ["rejected"])
    entry = w.history()[0]
    equal("Result", entry["Result"], result)
    equal("WriteErrno", entry["WriteErrno"], errno)
    equal("FailedTotal", w.get("FailedTotal"), 1)
    w.until_says(f"ended in '{result}'")
    never_again(w, 1)
    if errno != 0:
        w.until_says("The kernel's answer was not the one foretold")


@table([
    ("one core", dict(sim=INTEL + ["--fail-cpus=2"]), "2"),
    ("two CPUs, 6.1", dict(sim=INTEL + ["--fail-cpus=2,6", "--kernel=6.1"]), "2,6"),
])
def mixed_revisions(w, laggards):
    intel(w)
    w.until_property("LastResult", "mixed-revisions")
    equal("MixedRevisions", w.get("MixedRevisions"), True)
    found = w.history()[0]["Laggards"]
    check(laggards.split(",")[0] in found.split(","), f"laggards are {found}")
    w.until_says("kept an older revision")
    never_again(w, 1)
    equal("RunningRevision is that of the worst off", w.get("RunningRevision"), OLD)


@case(sim=INTEL)
def acknowledged(w):
    """A new file, or an acknowledgement of the old one, opens the way again."""
    w.sim("set", "fail-cpus", "0-7")
    intel(w)
    settled(w, "io-error")
    digest = w.get("CandidateDigest")
    w.refused("Apply", "t", FORCE, says="rejected")
    w.refused("Acknowledge", "s", "00" * 32, says="No file")
    w.refused("Acknowledge", "s", "nonsense", says="SHA-256")
    w.sim("set", "fail-cpus", "")
    never_again(w, 1)
    w.call("Acknowledge", "s", digest)
    w.until_property("LastResult", "success")
    equal("results", [e["Result"] for e in w.history()], ["success", "io-error"])


@case(sim=INTEL)
def another_file_after_a_failure(w):
    w.sim("set", "fail-cpus", "0-7")
    intel(w)
    settled(w, "io-error")
    w.sim("set", "fail-cpus", "")
    intel(w, "--seed=9")
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(apply="Trust=any"))
def the_kernels_own_answer(w):
    """despite-prediction: what was predicted and what was answered are both recorded."""
    intel(w, "--corrupt=body-bit")
    w.call("Check")
    w.until_says("not usable")
    equal("State", w.get("State"), "current")
    equal("Explain", w.call("Explain", "t", 0)[1], 77)
    w.refused("Apply", "t", 3, says="Nothing newer")
    w.call("Apply", "t", 3 | 64)
    w.until_property("LastResult", "malformed")
    entry = w.history()[0]
    equal("predicted and answered", (entry["PredictedErrno"], entry["WriteErrno"]), (77, 77))
    equal("writes", len(w.writes()), 1)
    check("foretold" not in w.journal(), "a prediction that was right is called wrong")


@table([(f"write: {errno}", dict(sim=INTEL + [f"--answer={errno}"]), result) for errno, result in {
    "ENOENT": "refused", "EBADFD": "malformed", "EBUSY": "busy", "EINVAL": "busy", "EIO": "io-error", "EPERM": "io-error", "ENOMEM": "io-error",
    "ETIMEDOUT": "timeout", "EROFS": "not-permitted", "EACCES": "not-permitted"}.items()] + [
    (f"open: {errno}", dict(sim=INTEL + [f"--refuse-open={errno}"]), "not-permitted") for errno in ("EROFS", "EACCES", "EPERM", "EIO")])
def every_errno(w, result):
    """What each errno becomes; once, whoever looks how often."""
    intel(w)
    w.until_property("LastResult", result)
    w.until_property("State", "failed")
    equal("revision", w.get("RunningRevision"), OLD)
    n = len(w.writes())
    check(n <= 1, f"written {n} times")
    never_again(w, n)
    equal("history", len(w.history()), 1)
    if result == "busy":
        until = {b[0]: b[2] for b in w.get("Blockers")}["rejected"]
        check(until > time.time() * 1e6, "nobody knows when it is tried again")


@case(sim=INTEL + ["--hang"])
def the_bus_stays_responsive(w):
    """While the kernel is in the load, and a second load is refused."""
    intel(w)
    w.until_property("State", "applying")
    for _ in range(20):
        equal("State", w.get("State"), "applying")
    w.refused("Apply", "t", 0, says="under way")
    w.refused("Cancel", "u", 1, says="begun")
    w.refused("ReloadConfig", says="under way")
    equal("history", w.history(), [])
    w.sim("set", "hang", "no")
    w.until_property("LastResult", "success")


@case(sim=INTEL + ["--hang"])
def stopping_waits_for_the_load(w):
    intel(w)
    w.until_property("State", "applying")
    w.daemon.terminate()
    w.until_says("leaving when it has ended")
    check(w.alive(), "the daemon left in the middle of a load")
    w.sim("set", "hang", "no")
    equal("exit status", w.daemon.wait(30), 0)
    w.processes.remove(w.daemon)
    w.daemon = None
    w.start_daemon()
    equal("history", [e["Result"] for e in w.history()], ["success"])


@case(sim=AMD + ["--log-digest=silent"], config=ANY_TRUST)
def amd_nothing_done(w):
    """AMD calls it success when nothing was done: the revisions tell, and it is not tried in a circle."""
    amd(w)
    w.until(lambda: w.get("LastResult") in ("no-change", "digest-rejected"), "the result")
    never_again(w, 1)


@case(sim=INTEL + ["--load=serial", "--topology=2x18x2"])
def over_budget(w):
    intel(w)
    w.until_property("LastResult", "success")
    w.until_says("longer than MaxStallMSec=")
    equal("OverBudgetTotal", w.get("OverBudgetTotal", "org.ucodesync1.Stall"), 1)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads that do not take on every CPU: named, never repeated by themselves, and what heals them on this kernel."""

import errno

from shapes import AMD, AMD_BASE, AMD_IMPATIENT, AMD_OLD, BASE, INTEL_TOO
from suite import case, check, equal, flags, pause
from virtual import UNIT

MIXED = "MESSAGE_ID=4a04a8cdcc4b4289aec89a16ae6d0a44"


def fail(m, *cpus):
    m.parameter("sim_fail_cpus", sum(1 << c for c in cpus))


def never_again(m, writes):
    """Neither by itself nor when somebody looks."""
    for _ in range(3):
        m.call("Check")
        m.settled()
    pause(2)
    equal("writes", m.writes(), writes)


def partly(m, cpus, wanted):
    """A load that fails on these CPUs; the revision that was meant."""
    old = set(m.revisions())
    fail(m, *cpus)
    after = m.cursor()
    revision = m.next_update()
    m.until("LastResult", "mixed-revisions")
    m.until("State", lambda s: s != "applying")
    fail(m)
    last = m.last()
    equal("Result, WriteErrno", (last["Result"], last["WriteErrno"]), ("mixed-revisions", errno.EIO))
    equal("the CPUs that lag behind, named", last["Laggards"], wanted)
    equal("MixedRevisions", m.get("MixedRevisions"), True)
    equal("revisions, as the kernel has them", set(m.revisions()), old | {revision})
    entries = m.journal(MIXED, after=after)
    equal("revisions-mixed entries", len(entries), 1)
    advice = " ".join(m.sh("ucodectl status | sed -n '/Advice/,/^$/p'").split())
    check(("request the load again" if 0 in cpus else "offline and online again") in advice, f"the advice is: {advice}")
    check(wanted in entries[0]["MESSAGE"], f"CPUs {wanted} are not named in: {entries[0]['MESSAGE']}")
    never_again(m, [-errno.EIO])
    return revision


@case(INTEL_TOO)
def fails_on_others(m):
    """On the second core. CPU 0 has the new one, and that is all that the kernel compares: no load brings the others up."""
    siblings = m.sh("cat /sys/devices/system/cpu/cpu2/topology/thread_siblings_list").replace("-", ",").split(",")
    cpus = [int(n) for n in siblings]
    revision = partly(m, cpus, m.sh("cat /sys/devices/system/cpu/cpu2/topology/thread_siblings_list"))
    # the kernel's own word for it
    m.sh("echo 1 >/sys/devices/system/cpu/microcode/reload", check=False)
    equal("the kernel's answer to a second write", m.writes()[-1], -errno.ENOENT)
    equal("revisions after it", sorted(m.revisions()), [BASE] * 2 + [revision] * 2)
    healed = offline_and_online(m, cpus)
    equal("after offline and online", healed, [revision] * 4)
    m.call("Check")
    m.until("MixedRevisions", False)
    m.until("State", "current")


def healed_by_another_load(m, cpus, wanted):
    """CPU 0 is among them: the one case in which a further write helps; whether to, somebody else has to say."""
    revision = partly(m, cpus, wanted)
    m.call("Acknowledge", "s", m.last()["Digest"])
    m.call("Apply", "t", flags("ignore-health", "ignore-schedule"), check=False)
    m.until("RunningRevision", revision)
    equal("revisions", m.revisions(), [revision] * 4)
    equal("Result", m.last()["Result"], "success")


@case(INTEL_TOO)
def fails_on_cpu_0(m):
    siblings = m.sh("cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
    healed_by_another_load(m, [int(n) for n in siblings.replace("-", ",").split(",")], siblings)


@case(AMD)
def fails_on_cpu_0_amd(m):
    m.approve()
    m.run("systemctl", "reload", UNIT)
    healed_by_another_load(m, [0], "0")


@case(INTEL_TOO)
def fails_on_all(m):
    fail(m, 0, 1, 2, 3)
    revision = m.next_update()
    m.until("LastResult", "io-error")
    m.until("State", "failed")
    equal("BlockedBy", m.get("BlockedBy")[0], "rejected")
    equal("WriteErrno", m.last()["WriteErrno"], errno.EIO)
    equal("revisions", m.revisions(), [BASE] * 4)
    never_again(m, [-errno.EIO])
    fail(m)
    m.call("Acknowledge", "s", m.last()["Digest"])
    m.loaded(revision)


def offline_and_online(m, cpus):
    """Takes these CPUs offline and online again, one by one. Revisions of all CPUs then."""
    for cpu in cpus:
        m.online(cpu, False)
        m.online(cpu, True)
    return m.revisions()


def processors(m):
    """Their revisions, as the daemon has them."""
    return [p[3] for p in sorted(m.call("ListProcessors")[0])]


@case(AMD)
def fails_on_others_amd(m):
    m.approve()
    m.run("systemctl", "reload", UNIT)
    revision = partly(m, [2], "2")
    # The kernel's own word for it; and it files the revision of the CPU that writes under CPU 0, whose version file is wrong then.
    for cpu in (2, 0, 2):
        m.sh(f"taskset -c {cpu} sh -c 'echo 1 >/sys/devices/system/cpu/microcode/reload'", check=False)
        equal("the kernel's answer to another write", m.writes()[-1] > 0, True)
        equal(f"version files after a write of CPU {cpu}", m.revisions(), [AMD_BASE if cpu == 2 else revision, revision, AMD_BASE, revision])
        m.call("Check")
        equal("revisions that are published", processors(m), [revision, revision, AMD_BASE, revision])
    equal("after offline and online", offline_and_online(m, [2])[1:], [revision] * 3)
    m.call("Check")
    m.until("MixedRevisions", False)
    m.until("State", "current")


@case(AMD_IMPATIENT)
def offline_cpu_amd(m):
    """Whatever is offline on AMD, this kernel wants it: nothing is written, and its own answer is the one that was foretold."""
    m.approve()
    m.run("systemctl", "reload", UNIT)
    m.online(3, False)
    revision = m.next_update()
    m.blocked("cpus-offline")
    m.settled()
    wanted = m.call("Explain", "t", "0")[1]
    pause(3)
    equal("writes", m.writes(), [])
    m.sh("echo 1 >/sys/devices/system/cpu/microcode/reload", check=False)
    equal("the kernel's answer, and the one foretold", -m.writes()[-1], wanted)
    m.online(3, True)
    m.call("Check")
    m.until("RunningRevision", revision)


@case(AMD_OLD)
def below_the_cutoff(m):
    """EntrySign. A file for this side of the cutoff whose digest the kernel does not know: only the kernel can tell, and it does, once. A file for the
    other side: foretold, and nothing is written; with despite-prediction the answer is the one foretold."""
    m.approve()
    m.run("systemctl", "reload", UNIT)
    for seed, revision in ((1, 0x08301055), (2, 0x08301054)):  # one that it knows with another digest, and one that it does not know
        m.arrive(f"--seed={seed}", revision=revision)
        m.until("LastResult", "digest-rejected")
        m.until("FailedTotal", seed)
        m.until("State", "failed")
        equal("rejected", m.get("BlockedBy")[0], "rejected")
        equal("the kernel's answer", m.last()["WriteErrno"], errno.EIO)
        equal("revisions", set(m.revisions()), {0x08301000})
        never_again(m, [-errno.EIO] * seed)
    log = m.kernel_log()
    check(any("SHA256 digest mismatch" in line for line in log) and any("No sha256 digest for patch ID" in line for line in log),
          f"the kernel says {log}")

    m.arrive("--seed=3", revision=AMD_BASE + 9)
    m.blocked("refusal-predicted")
    m.settled()
    pause(2)
    equal("writes", len(m.writes()), 2)
    number = m.call("Apply", "t", flags("ignore-schedule", "ignore-load", "ignore-trust", "ignore-health", "despite-prediction"))[0]
    m.until("State", lambda s: s != "applying" and m.last()["Id"] == number)
    # 7.3 passes over what is for the other side, and says success: nothing done. Older kernels try it, and say EIO; which of the two a kernel
    # does cannot be read from it, so both are right to be foretold.
    last = m.last()
    equal("answered", (last["WriteErrno"], last["Result"]), (0, "no-change"))
    check(last["PredictedErrno"] in (0, errno.EIO), f"foretold is {last['PredictedErrno']}")
    equal("revisions", set(m.revisions()), {0x08301000})

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that are different: kernels that insist on minimum revisions or cannot load late, many CPUs, no PSI, isolated CPUs."""

import errno

import debian
from shapes import BASE, DISABLED, MANY, MINREV, ODD, SKYLAKE
from suite import case, check, equal, flags, pause
from virtual import STALL, UNIT, Shape

DEBIAN = Shape("debian", SKYLAKE, "2", BASE, kernel=debian.kernel, witness=False)


@case(MINREV)
def forced_minimum_revision(m):
    """A kernel that insists: what Trust=any would load is foretold as ENOENT, and that is its answer."""
    m.reconfigure(Trust="any")
    m.revision += 1
    for what, minimum in (("absent", 0), ("not met", BASE + 1)):
        m.arrive(revision=m.revision, min_revision=minimum)
        m.blocked("refusal-predicted")
        m.settled()
        equal(f"foretold with a minimum that is {what}", m.call("Explain", "t", "0")[1], errno.ENOENT)
    pause(2)
    equal("writes", m.writes(), [])
    number = m.call("Apply", "t", flags("ignore-schedule", "ignore-load", "despite-prediction"))[0]
    m.until("LastResult", "refused")
    last = m.last()
    equal("the entry", (last["Id"], last["PredictedErrno"], last["WriteErrno"]), (number, errno.ENOENT, errno.ENOENT))
    check(any("too old" in line for line in m.kernel_log()), f"the kernel says {m.kernel_log()}")
    m.arrive("--seed=1", revision=m.revision, min_revision=BASE)
    m.loaded(m.revision)
    equal("writes", m.writes(), [-errno.ENOENT, 1])


@case(DISABLED)
def loader_disabled(m):
    equal("Support, SupportReason", (m.get("Support"), m.get("SupportReason")), ("advisory", "disabled-by-command-line"))
    m.next_update()
    advice_only(m)


@case(DEBIAN)
def debian_kernel(m):
    """Debian's own kernel, as a virtual machine sees it: advice, and nothing else."""
    equal("Support", m.get("Support"), "advisory")
    check(m.get("SupportReason") in ("virtual-machine", "kernel-option"), f"SupportReason is {m.get('SupportReason')}")
    m.next_update()
    advice_only(m)


def advice_only(m):
    m.call("Check")
    m.settled()
    check("unsupported" in m.get("BlockedBy") or m.get("State") == "unsupported", f"{m.get('State')}, {m.get('BlockedBy')}")
    r = m.call("Apply", "t", "3", check=False)
    check(r.returncode != 0, "a load is accepted where none can be")
    equal("exit of ucodectl apply", m.run("ucodectl", "apply", "--now", check=False).returncode, 3)
    text = m.sh("ucodectl --no-pager status")
    check(text, "status says nothing")
    equal("ActiveState", m.unit("ActiveState"), "active")
    equal("history", m.history(), [])


@case(MANY)
def sixteen_cpus(m):
    revision = m.next_update()
    m.loaded(revision)
    equal("revisions", m.revisions(), [revision] * 16)
    equal("writes", m.writes(), [1])
    equal("CPUs with and without evidence", (m.get("CPUsWitnessed", STALL), m.get("CPUsMissing", STALL)), (16, 0))
    rows = m.call("GetPerCPU", interface=STALL)[0]
    equal("CPUs in the list", [r[0] for r in rows], list(range(16)))
    check(m.get("StallNSec", STALL) <= m.get("MedianNSec", STALL) <= m.get("WorstNSec", STALL), "stall, median and worst are not in order")
    check(m.sh("ucodectl --no-pager stall --per-cpu"), "ucodectl stall says nothing")


@case(ODD)
def no_pressure_accounts(m):
    """psi=0: the load is told by utilization, and said so. One CPU is isolated besides: only LatencyCritical=allow loads."""
    m.sh("systemd-run --quiet --unit=burn bash -c 'for i in 1 2 3 4 5 6; do while :; do :; done & done; wait'")
    try:
        m.reconfigure(QuietSec="2s", Threshold="30%", LatencyCritical="allow")
        revision = m.next_update()
        m.until("BlockedBy", ["load"])
        m.until("LoadMetric", "utilization")
        m.until("LoadValue", lambda v: v > 0.3)
        pause(4)
        equal("writes", m.writes(), [])
    finally:
        m.sh("systemctl stop burn")
    m.loaded(revision)
    equal("revisions, of the isolated one too", m.revisions(), [revision] * 4)


@case(ODD)
def isolated_cpu(m):
    revision = m.next_update()
    m.blocked("latency-critical")
    m.settled()
    sentence = {b[0]: b[1] for b in m.get("Blockers")}["latency-critical"]
    check("3" in sentence and "isolated" in sentence, f"the sentence is {sentence}")
    pause(2)
    equal("writes", m.writes(), [])
    m.call("Apply", "t", flags("ignore-schedule", "ignore-load", "ignore-health"))  # an emulated CPU is never idle
    m.loaded(revision)
    equal("writes", m.writes(), [1])
    equal("failed units", m.sh("systemctl --failed --no-legend --plain"), "")
    equal("the unit", m.unit("NRestarts", unit=UNIT), "0")

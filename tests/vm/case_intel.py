# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lives of updates on the real kernel, Intel: through systemctl, a file that arrives by rename, busctl and journalctl."""

import json
import re

from shapes import BASE, INTEL
from suite import case, check, equal, flags, pause
from virtual import CONFIG, OPEN, STALL, UNIT, configuration

EXTERNAL = "MESSAGE_ID=406e1ced3dbb4835807a7d3b13d8c42a"
REGRESSED = "MESSAGE_ID=339685723f644191805f62fd8df88053"
DEFERRED = "MESSAGE_ID=07365167d94b49db82f60f13b49d058b"


@case(INTEL, enabled=False, quick=True)
def update(m):
    """From the installed package to every place at which the load's end is to be seen."""
    m.write(CONFIG, OPEN)
    m.run("systemctl", "enable", "--quiet", "--now", UNIT)
    equal("Support, Vendor", (m.get("Support"), m.get("Vendor")), ("late-load", "intel"))
    equal("Signature, PlatformMask", (m.get("Signature"), m.get("PlatformMask")), (0x50654, 1))
    equal("RunningRevision", m.get("RunningRevision"), BASE)
    after = m.cursor()
    revision = m.next_update()
    m.loaded(revision)

    equal("what the kernel answered", m.writes(), [1])
    equal("revisions, as the kernel has them", m.revisions(), [revision] * 4)
    equal("revisions, as the daemon has them", [p[3] for p in m.call("ListProcessors")[0]], [revision] * 4)
    equal("Old and new", (m.get("LastOldRevision"), m.get("LastNewRevision"), m.get("MixedRevisions")), (BASE, revision, False))
    check(any(f"revision: {BASE:#x} -> {revision:#x}" in line for line in m.kernel_log()), f"the kernel says {m.kernel_log()}")

    equal("Witness", m.get("Witness", STALL), "schedstat")
    stall, worst, write = (m.get(n, STALL) for n in ("StallNSec", "WorstNSec", "WriteNSec"))
    check(0 < stall <= worst < 2**63 and stall <= write, f"StallNSec {stall}, WorstNSec {worst}, WriteNSec {write}")
    equal("CPUs with and without evidence", (m.get("CPUsWitnessed", STALL), m.get("CPUsMissing", STALL)), (4, 0))
    ticks, hz = m.get("StallTicks", STALL), m.get("TSCHz", STALL)
    check(abs(ticks - stall * hz / 1e9) <= 0.01 * ticks, f"StallTicks {ticks} at {hz} Hz for {stall} ns")

    entries = m.journal("UCODESYNC_RESULT=success", after=after)
    equal("success entries", len(entries), 1)
    e = json.loads(m.sh("journalctl UCODESYNC_RESULT=success -o json -n1"))
    equal("the entry's fields", (e["UCODESYNC_OLD_REVISION"], e["UCODESYNC_NEW_REVISION"], e["UCODESYNC_WITNESS"], e["UCODESYNC_PREDICTED"]),
          (f"{BASE:#x}", f"{revision:#x}", "schedstat", "success"))
    equal("STALL_NSEC in the journal", int(e["UCODESYNC_STALL_NSEC"]), stall)
    last = m.last()
    equal("foretold and answered", (last["PredictedErrno"], last["WriteErrno"], last["Result"]), (0, 0, "success"))
    text = m.sh("ucodectl --no-pager status; ucodectl --no-pager history; ucodectl --no-pager stall")
    check(f"{revision:x}" in text, f"ucodectl does not name it:\n{text}")
    bad = [x["MESSAGE"] for x in m.journal("_SYSTEMD_UNIT=" + UNIT, after=after) if int(x["PRIORITY"]) <= 3]
    equal("errors on the way", bad, [])
    equal("failed units", m.sh("systemctl --failed --no-legend --plain"), "")


@case(INTEL, quick=True)
def outside_the_window(m):
    """Deferred, and loaded when the guest's clock reaches the window."""
    m.sh("date -s '2027-03-10 12:00:00 UTC'")
    m.configure(configuration("[Schedule]", "TimeZone=UTC", Window="*-*-* 14:00 for 1h"))
    after = m.cursor()
    revision = m.next_update()
    m.blocked("window")
    equal("InWindow", m.get("InWindow"), False)
    pause(4)
    equal("writes", m.writes(), [])
    equal("RunningRevision", m.get("RunningRevision"), BASE)
    entries = m.journal(DEFERRED, after=after)
    check("window" in entries[-1]["UCODESYNC_BLOCKED_BY"], f"deferred by {entries[-1]['UCODESYNC_BLOCKED_BY']}")
    start = m.get("NextWindowStartUSec")
    m.sh("date -s '2027-03-10 13:59:57 UTC'")
    m.loaded(revision)
    equal("writes", m.writes(), [1])
    check(m.last()["When"] >= start, f"loaded at {m.last()['When']}, the window opened at {start}")


@case(INTEL, quick=True)
def nothing_newer(m):
    """Same, older, foreign: the kernel is not asked at all; and then something newer, or all this proves nothing."""
    for what, options in (("same", dict(revision=BASE)), ("older", dict(revision=BASE - 1)),
                          ("foreign", dict(revision=BASE + 9))):
        extra = ["--signature=0x50657"] if what == "foreign" else []
        m.arrive(*extra, **options)
        m.call("Check")
        m.settled()
        equal(f"State with the {what} file", m.get("State"), "current")
    m.arrive("--mask=0x80", revision=BASE + 9)
    m.call("Check")
    m.settled()
    pause(2)
    equal("writes", m.writes(), [])
    equal("history", m.history(), [])
    revision = m.next_update()
    m.loaded(revision)
    equal("writes", m.writes(), [1])


@case(INTEL, quick=True)
def minimum_revision(m):
    """The vendor's minimum: not met, absent, met."""
    m.revision += 1
    for what, minimum in (("not met", BASE + 1), ("absent", 0)):
        m.arrive(revision=m.revision, min_revision=minimum)
        m.blocked("minrev")
        m.settled()
        equal(f"State with a minimum that is {what}", m.get("State"), "pending")
    pause(2)
    equal("writes", m.writes(), [])
    m.arrive(revision=m.revision, min_revision=BASE)
    m.loaded(m.revision)
    equal("writes", m.writes(), [1])
    log = " ".join(m.kernel_log())
    check("Unsafe" not in log, f"the kernel calls it unsafe: {log}")
    # The kernel takes an unsafe one too, and says so: whoever asks for that gets it, and its trace.
    m.next_update(min_revision=0)
    m.blocked("minrev")
    m.call("Apply", "t", flags("ignore-trust"))
    m.loaded(m.revision)
    check(any("does not specify a required min version" in line for line in m.kernel_log()), f"the kernel says {m.kernel_log()}")


@case(INTEL)
def swapped_between_check_and_write(m):
    """The kernel reads the file again by itself: another one than was checked arrives. The daemon stands still before its write, while the
    file is replaced."""
    target, other = m.revision + 1, m.revision + 5
    m.reconfigure(Automatic="no")
    m.arrive(revision=target)
    m.blocked("manual")
    pid = m.unit("MainPID")
    m.vm.put("/run/other", m.fixture(revision=other))
    # strace lets the write wait: the bytes in /lib/firmware are those of somebody else by then
    m.sh(f"systemd-run --quiet --unit=hold strace -f -qq -o /run/trace -p {pid} -P /sys/devices/system/cpu/microcode/reload -e trace=write "
         f"-e inject=write:delay_enter=8000000; until grep -q 'TracerPid:.[1-9]' /proc/{pid}/status; do sleep 0.2; done")
    m.call("Apply", "t", "3")
    m.until("State", "applying")
    m.sh(f"until grep -q write /run/trace; do sleep 0.2; done; cp /run/other {m.firmware_path}")  # strace writes a line at the entry
    m.until("LastResult", "unexpected-revision")
    m.sh("systemctl stop hold", check=False)
    equal("revisions", m.revisions(), [other] * 4)
    last = m.last()
    equal("meant and arrived", (last["TargetRevision"], last["NewRevision"]), (target, other))
    equal("writes", m.writes(), [1])


@case(INTEL)
def somebody_else_loads(m):
    """A 1 that another program wrote: external, recorded, and not counted as ours."""
    m.reconfigure(Automatic="no")
    after = m.cursor()
    revision = m.next_update()
    m.blocked("manual")
    m.sh("echo 1 >/sys/devices/system/cpu/microcode/reload")
    m.call("Check")
    m.until("RunningRevision", revision)
    m.until("State", "current")
    last = m.last()
    equal("the history's entry", (last["Result"], last["OldRevision"], last["NewRevision"]), ("external", BASE, revision))
    equal("external entries", len(m.journal(EXTERNAL, after=after)), 1)
    equal("AppliedTotal", m.get("AppliedTotal"), 0)


@case(INTEL)
def real_pressure(m):
    """Eight burning processes on four CPUs close the gate; without them it opens."""
    m.sh("systemd-run --quiet --unit=burn bash -c 'for i in 1 2 3 4 5 6 7 8; do while :; do :; done & done; wait'")
    try:
        m.reconfigure(QuietSec="2s", Threshold="30%")
        revision = m.next_update()
        m.until("BlockedBy", ["load"])
        m.until("LoadMetric", "pressure")
        m.until("LoadValue", lambda v: v > 0.3)
        pause(5)
        equal("BlockedBy", m.get("BlockedBy"), ["load"])
        equal("writes", m.writes(), [])
    finally:
        m.sh("systemctl stop burn")
    m.loaded(revision)
    equal("writes", m.writes(), [1])


@case(INTEL)
def offline_primary(m):
    """EBUSY foretold: deferred, not written, and loaded when the CPU is back."""
    first, *_ = [int(n) for n in re.findall(r"\d+", m.sh("cat /sys/devices/system/cpu/cpu3/topology/thread_siblings_list"))]
    for cpu in (first, 3):
        m.online(cpu, False)
    revision = m.next_update()
    m.blocked("cpus-offline")
    m.settled()
    equal("foretold", m.call("Explain", "t", "0")[1], 16)
    pause(3)
    equal("writes", m.writes(), [])
    equal("the kernel's own answer", m.sh("echo 1 2>&1 >/sys/devices/system/cpu/microcode/reload", check=False).count("busy"), 1)
    m.online(first, True)
    m.loaded(revision)
    m.online(3, True)
    equal("revisions", m.revisions(), [revision] * 4)
    equal("writes", m.writes(), [-16, 1])


@case(INTEL)
def offline_sibling(m):
    """A sibling that is offline joins by NMI: no obstacle on Intel."""
    sibling = max(int(n) for n in re.findall(r"\d+", m.sh("cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list")))
    m.online(sibling, False)
    m.call("Check")
    revision = m.next_update()
    m.loaded(revision)
    equal("revisions", m.revisions(), [revision] * 3)
    m.online(sibling, True)
    equal("revisions, with the sibling", m.revisions(), [revision] * 4)
    m.call("Check")
    m.settled()
    equal("MixedRevisions", m.get("MixedRevisions"), False)


LINES = (("a machine check", "mce: [Hardware Error]: Machine check events logged"),
         ("a soft lockup", "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [stress:4711]"),
         ("an RCU stall", "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:"),
         ("an invalid opcode", "traps: stress[4711] trap invalid opcode ip:55d0 sp:7ffc error:0 in stress[55d0+1000]"),
         ("an unstable clock", "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:"))


@case(INTEL)
def kernel_log_in_probation(m):
    """A line of each kind, a load before each: regressed, and that file suspect. And one that is none."""
    revision = m.next_update()
    m.loaded(revision)
    m.sh("echo '<4>usb 1-1: new device found' >/dev/kmsg")
    look(m)
    equal("LastResult after a harmless line", m.last()["Result"], "success")
    for what, line in LINES:
        revision = m.next_update()
        m.loaded(revision)
        digest = m.last()["Digest"]
        after = m.cursor()
        m.sh(f"echo {shell(line)} >/dev/kmsg")
        look(m)
        m.until("ProbationUntilUSec", 0)
        equal(f"{what}: the load", (m.last()["Result"], m.last()["Digest"]), ("regressed", digest))
        entries = m.journal(REGRESSED, after=after)
        equal(f"{what}: entries", len(entries), 1)
        # journald takes the word in front of a line that came through /dev/kmsg for a program's name
        check(line.partition(": ")[2][:30] in entries[0]["MESSAGE"], f"{what}: the line is not in {entries[0]['MESSAGE']}")


def shell(text):
    return "'" + ("<3>" + text).replace("'", "'\\''") + "'"


def look(m):
    """The first look of the probation is a minute after the load, by the clock, which is set there."""
    m.sh("sync; date -s @$(($(date +%s) + 75)) >/dev/null; sleep 3")

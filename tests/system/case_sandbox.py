# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sandbox: what the running daemon has, what can be done in its place, and what systemd-analyze thinks of it."""

import re

from guest import Failed
from harness import case, check, equal
from machine import UNIT

PROBE = "sandbox-probe.service"


@case
def rights_of_the_process(m):
    status = dict(line.split(":\t", 1) for line in m.out("cat", f"/proc/{m.unit('MainPID')}/status").splitlines() if ":\t" in line)
    for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb", "CapInh"):
        equal(name, int(status[name], 16), 0)
    equal("NoNewPrivs", status["NoNewPrivs"], "1")
    equal("Seccomp (2: filters)", status["Seccomp"], "2")
    equal("Uid", status["Uid"].split(), ["0"] * 4)
    equal("Gid", status["Gid"].split(), ["0"] * 4)
    equal("Umask", status["Umask"], "0077")
    limits = m.out("cat", f"/proc/{m.unit('MainPID')}/limits")
    check(re.search(r"Max open files\s+16384\s+16384", limits), limits)


@case
def mounts_of_the_process(m):
    """Each place is written to twice: in the guest, where it must work, and in the daemon's mounts, where it must not."""
    pid = m.unit("MainPID")

    def can(where, shell):
        return m.run(*where, "sh", "-c", shell, check=False).returncode == 0

    inside = ["nsenter", "-t", pid, "-m"]
    for place in ("/", "/etc", "/usr", "/usr/lib/firmware", "/boot", "/var", "/var/lib", "/run", "/run/systemd/system", "/dev"):
        shell = f"[ -d {place} ] || mkdir {place}; touch {place}/probe && rm {place}/probe"
        check(can([], shell), f"{place} cannot be written to in the guest: this proves nothing")
        check(not can(inside, shell), f"the daemon could write to {place}")
    for place in ("/sys/kernel/profiling", "/sys/devices/system/cpu/cpu1/online"):
        shell = f"exec 3>>{place}"
        if can([], shell):
            check(not can(inside, shell), f"the daemon could write to {place}")
    for place in ("/var/lib/ucodesync", "/run/ucodesync", "/tmp"):
        check(can(inside, f"touch {place}/probe && rm {place}/probe"), f"the daemon cannot write to {place}")
    check(can(inside, "exec 3>>/sys/devices/system/cpu/microcode/reload"), "the daemon cannot write to reload")
    m.run("touch", "/home/probe")
    check(not can(inside, "test -e /home/probe"), "the daemon sees homes")
    check(not can(inside, "test -e /dev/kmsg"), "the daemon has the kernel's log")


@case
def in_its_place(m):
    """The same unit with a script as its program: seccomp, address families and capabilities as they act, not as they are written."""
    unit = m.out("systemctl", "cat", UNIT)
    m.write("/etc/systemd/system/" + PROBE, "\n".join(l for l in unit.splitlines() if not re.match(r"(BusName|ExecReload|Alias)=", l)))
    m.write(f"/etc/systemd/system/{PROBE}.d/probe.conf",
            "[Service]\nType=oneshot\nExecStart=\nExecStart=/usr/local/bin/sandbox-probe\nRestart=no\nWatchdogSec=0\n"
            "StandardOutput=file:/var/lib/ucodesync/probe\nRuntimeDirectory=\nRuntimeDirectoryPreserve=no\n")
    m.write("/usr/local/bin/sandbox-probe", """#!/bin/bash
try() { local name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name yes"; else echo "$name no"; fi; }
try inet bash -c 'exec 3<>/dev/udp/127.0.0.1/9'
try unix bash -c 'busctl list'
try namespace unshare --mount true
try user-namespace unshare --user true
try affinity taskset -p 1 $$
try realtime chrt -f 1 true
try mount bash -c 'mount -t tmpfs none /mnt && umount /mnt'
try chown bash -c 'chown 1 /var/lib/ucodesync && chown 0 /var/lib/ucodesync'
try setuid setpriv --reuid=1 true
try environ-of-init cat /proc/1/environ
try cpuinfo grep -q stepping /proc/cpuinfo
try kernel-threads test -r /proc/1/stat
""", 0o755)
    m.run("systemctl", "daemon-reload")
    try:
        try:
            m.run("systemctl", "start", PROBE)
        except Failed as e:
            raise Failed(f"{e}\n" + m.out("journalctl", "--no-pager", "-n20", "-u", PROBE)) from e
        answers = dict(line.split() for line in m.out("cat", "/var/lib/ucodesync/probe").splitlines())
    finally:
        m.run("rm", "-rf", "/var/lib/ucodesync/probe", f"/etc/systemd/system/{PROBE}", f"/etc/systemd/system/{PROBE}.d")
        m.run("systemctl", "daemon-reload")
    allowed = {"unix", "cpuinfo", "kernel-threads"}
    equal("what is possible in the daemon's place", {k for k, v in answers.items() if v == "yes"}, allowed)
    # The same script without the unit: else the answers above prove nothing.
    free = dict(line.split() for line in m.out("/usr/local/bin/sandbox-probe").splitlines())
    for name in answers:
        equal(f"{name}, without the sandbox", free[name], "yes")


@case
def exposure(m):
    text = m.out("systemd-analyze", "--no-pager", "security", UNIT)
    level = float(re.search(r"exposure level for .*: ([0-9.]+)", text).group(1))
    check(level <= 1.2, f"exposure level {level}:\n{text}")


@case
def nobody_is_hurt(m):
    """No seccomp kill and no failed unit, over all that ran before."""
    equal("failed units", m.out("systemctl", "--failed", "--no-legend", "--plain"), "")
    core = [e["MESSAGE"] for e in m.journal("UNIT=" + UNIT) if "status=31/SYS" in e.get("MESSAGE", "")]
    equal("deaths by seccomp", core, [])

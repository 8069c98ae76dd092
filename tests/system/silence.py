# SPDX-License-Identifier: LGPL-2.1-or-later
"""Is an idle daemon silent? strace is attached to it, while the machine around it lives: journald and logind run, bus names come and go,
units start, files change beside the watched directories. The only system calls allowed are those of the watchdog, as libsystemd makes
them: epoll_wait() returns, sd-event reads and sets its timer, and one datagram WATCHDOG=1 goes to systemd. And each return of
epoll_wait() must have led to such a datagram: the daemon is woken by nothing else.
"""

import re
import time

from guest import Failed, wait_for
from machine import UNIT

# What sd_event_set_watchdog() and sd_notify() do, and on which descriptors.
ALLOWED = [
    r"epoll_wait\(", r"epoll_pwait2?\(", r"restart_syscall\(",
    r"gettid\(\)", r"get(e?)(uid|gid)\(\)",  # whose loop it is; whether the datagram needs credentials
    r"read\(\d+<anon_inode:\[timerfd\]>",
    r"timerfd_settime\(\d+<anon_inode:\[timerfd\]>",
    r"socket\(AF_UNIX, SOCK_DGRAM\|SOCK_CLOEXEC",
    r"[gs]etsockopt\(\d+<.*SOL_SOCKET, SO_SNDBUF",
    r"connect\(\d+<.*sun_path=\"/run/systemd/notify\"",
    r"sendmsg\(\d+<.*WATCHDOG=1",
    r"close\(\d+<(UNIX|socket)",
]

# One line each; run again and again beside the daemon. None of it is the daemon's business.
BUSTLE = """
busctl --no-pager list
systemd-run --quiet --wait true
logger -t bustle a line in the journal
loginctl list-sessions
mkdir -p /usr/lib/bustle /etc/bustle; touch /usr/lib/bustle/file /usr/lib/bustle-file /etc/bustle/file; rm -r /usr/lib/bustle /usr/lib/bustle-file /etc/bustle
"""


def watch(m, seconds):
    """Failed with the calls that should not have been."""
    short = seconds < 200
    if short:
        # The watchdog must report within the time, or its calls would be allowed without ever having been seen.
        m.dropin("case", f"[Service]\nWatchdogSec={max(seconds // 4, 2)}s\n")
        m.run("systemctl", "daemon-reload")
        m.restart()
        m.until("State", "current")
        time.sleep(2)  # what it does after a start
    pid = m.unit("MainPID")
    tasks = m.out("sh", "-c", f"ls /proc/{pid}/task").split()
    trace = "/run/silence.trace"
    m.run("rm", "-f", trace)
    tracer = m.start("strace", "-f", "-yy", "-s", "256", "-o", trace, "-p", pid)
    try:
        wait_for("strace is attached", lambda: "TracerPid:\t0" not in m.out("cat", f"/proc/{pid}/status"))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            m.run("sh", "-c", BUSTLE)
            time.sleep(min(2, max(0, end - time.monotonic())))
    finally:
        m.stop(tracer)
    calls = [line.split(None, 1)[1] for line in m.out("cat", trace).splitlines() if " " in line]
    calls = [c for c in calls if not re.match(r"strace: |\+\+\+|<\.\.\. epoll_wait resumed|--- stopped", c)]
    other = [c for c in calls if not any(re.match(a, c) for a in ALLOWED)]
    wakes = sum(bool(re.match(r"epoll_\w+\(.*\) += ", c)) for c in calls)
    reports = sum("WATCHDOG=1" in c for c in calls)
    if other:
        raise Failed(f"{len(other)} system calls in {seconds} s beside the watchdog's:\n" + "\n".join(other[:40]))
    if reports == 0:
        raise Failed(f"no report to the watchdog in {seconds} s: {len(calls)} calls:\n" + "\n".join(calls[:40]))
    if wakes != reports:
        raise Failed(f"woken {wakes} times for {reports} reports:\n" + "\n".join(calls[:60]))
    if len(tasks) != 1:
        raise Failed(f"an idle daemon with {len(tasks)} threads")
    return reports, len(calls)

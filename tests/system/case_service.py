# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon as a service: starting, activation, reload, crash, watchdog, stop, boot."""

import os
import signal

from guest import wait_for
from harness import case, check, equal, pause
from machine import BUS, CONFIG, MANAGER, OPEN, SHUT, UNIT

CONFIG_INVALID = "MESSAGE_ID=4d36247bff2c48d984addf0df80d2220"
STARTED = "MESSAGE_ID=17b948a0d22349f79cd4bb126ee202a5"


@case
def enable_now(m):
    m.run("systemctl", "disable", "--quiet", "--now", UNIT)
    after = m.cursor()
    m.enable()
    v = m.unit("ActiveState", "Type", "NotifyAccess", "MainPID", "StatusText", "NRestarts", "UnitFileState")
    equal("ActiveState", v["ActiveState"], "active")
    equal("Type", v["Type"], "notify")
    equal("UnitFileState", v["UnitFileState"], "enabled")
    check(f"{m.revision:x}" in v["StatusText"] and "8 CPUs" in v["StatusText"], f"StatusText is '{v['StatusText']}'")
    owner = m.out("busctl", "--json=short", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                  "GetConnectionUnixProcessID", "s", BUS[0])
    check(f"[{v['MainPID']}]" in owner, f"the bus name belongs to {owner}, MainPID is {v['MainPID']}")
    equal("entries of the start", len(m.journal(STARTED, after=after)), 1)
    equal("Support", m.get("Support"), "late-load")
    bad = [e["MESSAGE"] for e in m.journal("_SYSTEMD_UNIT=" + UNIT, after=after) if int(e["PRIORITY"]) <= 4]
    equal("warnings and errors of the start", bad, [])


@case
def activation_only_when_enabled(m):
    m.run("systemctl", "disable", "--quiet", "--now", UNIT)
    r = m.run("busctl", "get-property", *BUS, MANAGER, "State", check=False)
    check(r.returncode != 0, "a call started a daemon that nobody enabled")
    equal("ActiveState of the disabled unit", m.unit("ActiveState"), "inactive")
    m.run("systemctl", "enable", "--quiet", UNIT)
    equal("ActiveState after enable", m.unit("ActiveState"), "inactive")
    equal("State, asked of the stopped daemon", m.get("State"), "current")
    equal("ActiveState after a call", m.unit("ActiveState"), "active")


@case
def reload_opens_the_window(m):
    m.configure(SHUT)
    pid = m.unit("MainPID")
    m.run("systemctl", "reload", UNIT)
    revision = m.next_update()
    m.blocked("window")
    equal("RunningRevision", m.get("RunningRevision"), revision - 1)
    check(m.get("InWindow") is False, "InWindow outside of the only window")
    m.configure(OPEN)
    m.run("systemctl", "reload", UNIT)
    m.until("RunningRevision", revision)
    equal("MainPID after reloads", m.unit("MainPID"), pid)


@case
def bad_configuration_on_reload(m):
    m.configure(SHUT)
    m.run("systemctl", "reload", UNIT)
    after = m.cursor()
    bad = OPEN + "[Apply]\nTrust=everyone\n"
    m.configure(bad)
    r = m.run("systemctl", "reload", UNIT, check=False)
    check(r.returncode != 0, "systemctl reload says that a bad configuration is fine")
    entries = m.journal(CONFIG_INVALID, after=after)
    equal("config-invalid entries", len(entries), 1)
    where = f"{CONFIG}:{bad.count(chr(10))}"
    for needle in (where, "Trust", "everyone"):
        check(needle in entries[0]["MESSAGE"], f"'{needle}' is not in: {entries[0]['MESSAGE']}")
    equal("ActiveState", m.unit("ActiveState"), "active")
    # The bad file opens a window; the good one that stays has none.
    m.next_update()
    m.blocked("window")
    pause(4)
    equal("State with the former configuration", m.get("State"), "pending")


@case
def bad_configuration_at_start(m):
    after = m.cursor()
    bad = OPEN.replace("SettleSec=1s", "SettleSec=soon")
    line = bad.split("\n").index("SettleSec=soon") + 1
    m.configure(bad)
    m.restart()
    equal("ActiveState", m.unit("ActiveState"), "active")
    entries = m.journal(CONFIG_INVALID, after=after)
    equal("config-invalid entries", len(entries), 1)
    check(f"{CONFIG}:{line}:" in entries[0]["MESSAGE"], f"no file and line in: {entries[0]['MESSAGE']}")
    revision = m.next_update()
    m.blocked("config-invalid")
    pause(3)
    equal("RunningRevision", m.get("RunningRevision"), revision - 1)
    m.configure(OPEN)
    m.run("systemctl", "reload", UNIT)
    m.until("RunningRevision", revision)


@case
def killed(m):
    m.update()
    before = m.unit("MainPID", "NRestarts")
    history = m.history()
    m.run("systemctl", "kill", "--signal=KILL", UNIT)
    wait_for("another process", lambda: m.unit("MainPID") not in ("0", before["MainPID"]))
    m.until("State", "current")
    equal("NRestarts", int(m.unit("NRestarts")), int(before["NRestarts"]) + 1)
    equal("history after SIGKILL", m.history(), history)


@case
def stopped(m):
    after = m.cursor()
    m.run("systemctl", "stop", UNIT)
    v = m.unit("ActiveState", "Result", "ExecMainCode", "ExecMainStatus", "MainPID", "ControlGroup")
    equal("unit after stop", (v["ActiveState"], v["Result"], v["ExecMainStatus"], v["MainPID"]), ("inactive", "success", "0", "0"))
    # CLD_EXITED, not CLD_KILLED: it left by itself.
    equal("ExecMainCode", v["ExecMainCode"], "1")
    bad = [e["MESSAGE"] for e in m.journal("_SYSTEMD_UNIT=" + UNIT, after=after) if int(e["PRIORITY"]) <= 4]
    equal("warnings and errors of the stop", bad, [])
    equal("processes that are left", m.processes("ucodesyncd"), [])


@case
def watchdog(m):
    m.dropin("case", "[Service]\nWatchdogSec=3s\n")
    m.run("systemctl", "daemon-reload")
    m.restart()
    first = m.unit("MainPID")
    pause(7)
    equal("MainPID of a daemon that reports", m.unit("MainPID"), first)
    after = m.cursor()
    os.kill(m.outside_pid(first), signal.SIGSTOP)
    wait_for("systemd starts another", lambda: m.unit("MainPID") not in ("0", first), timeout=30)
    text = " ".join(e["MESSAGE"] for e in m.journal("UNIT=" + UNIT, after=after))
    check("Watchdog timeout" in text or "watchdog" in text, f"systemd says nothing of the watchdog: {text}")
    m.until("State", "current")


@case
def log_level(m):
    def entries():
        after = m.cursor()
        m.update()
        return m.journal("_SYSTEMD_UNIT=" + UNIT, after=after)

    equal("level", m.out("systemctl", "service-log-level", UNIT), "info")
    m.run("systemctl", "service-log-level", UNIT, "err")
    equal("level, set", m.out("systemctl", "service-log-level", UNIT), "err")
    equal("entries of an update at level err", [e["MESSAGE"] for e in entries()], [])
    m.run("systemctl", "service-log-level", UNIT, "debug")
    check(len(entries()) >= 3, "few entries of an update at level debug")
    r = m.run("busctl", "set-property", BUS[0], "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1", "LogLevel", "s", "err",
              user=65534, check=False)
    check(r.returncode != 0, "nobody may change the log level")
    equal("level, at the end", m.out("systemctl", "service-log-level", UNIT), "debug")


@case
def next_boot(m):
    """The power goes; the same disk boots again: the daemon comes up by itself and knows what it did."""
    history = m.history()
    check(history, "no history to be lost")
    m.down()
    m.control("reboot", hex(m.revision))
    m.up()
    equal("ActiveState after a boot", m.unit("ActiveState"), "active")
    m.until("State", "current")
    equal("history after a boot", m.history(), history)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The machine goes down or to sleep, as systemd-logind tells: nothing is loaded then, by nobody's force, and what waits goes on when it was called off or the
machine has woken up. With a logind that comes late, leaves in between, does not answer, or is not there at all."""

import signal
import time
from pathlib import Path

from case_gates import blockers
from case_health import holds
from cases import INTEL, NEW, OLD, case, check, equal, intel, table
from world import SHUT, configuration

NAME, PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
WORDS = [("shutdown", dict(sim=INTEL, start=False), "Shutdown"), ("sleep", dict(sim=INTEL, start=False), "Sleep")]


class Logind:
    """Owns logind's name on the world's bus, which has to be told that somebody may."""

    def __init__(self, w):
        self.w = w
        path = w.top / "bus.conf"
        text = path.read_text()
        if NAME not in text:
            path.write_text(text.replace('<policy user="root">', f'<policy user="root"><allow own="{NAME}"/>', 1))
            w.busctl("call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
        self.process = w.start([Path(__file__).with_name("fake_logind.py")])
        w.until(self.there, "the fake logind")

    def there(self):
        return self.w.busctl("call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", "s", NAME)["data"][0]

    def call(self, method, *arguments):
        r = self.w.busctl("call", NAME, PATH, "org.ucodesync1.Fake", method, *arguments)
        return r["data"] if r else []

    def prepare(self, what, value, tell=True):
        self.call("Prepare", "sbb", what, str(value).lower(), str(tell).lower())

    def end(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(30)
        self.w.processes.remove(self.process)
        self.w.until(lambda: not self.there(), "the fake logind to be gone")


@table(WORDS)
def held_back_until_called_off(w, what):
    """The update arrives while logind prepares; nobody gets past it; the signal of the end is enough to go on."""
    name = what.lower()
    logind = Logind(w)
    logind.prepare(what, True)
    w.start_daemon()
    intel(w)
    holds(w, name, "The machine is about to")
    if name == "shutdown":  # one waits for the end of a sleep, not for that of a shutdown
        w.refused("Apply", "t", 255 & ~32, says=name)
    else:
        w.call("Apply", "t", 255 & ~32)
    time.sleep(2)
    equal("writes", w.writes(), [])
    logind.prepare(what, False)
    w.until_property("LastResult", "success")
    check(name not in w.get("BlockedBy"), "it still blocks")
    equal("asked so that logind would be started", logind.call("Asked")[1], 0)


@table([(n, dict(k, config=configuration(quiet="6s")), what) for n, k, what in WORDS])
def comes_while_an_update_waits(w, what):
    name = what.lower()
    w.start_daemon()
    intel(w)
    w.until_property("State", "pending")
    logind = Logind(w)
    logind.prepare(what, True)
    holds(w, name)
    logind.prepare(what, False)
    w.until(lambda: name not in blockers(w), f"{name} to be gone")
    equal("quiet from anew: writes", w.writes(), [])
    w.until_property("LastResult", "success")


@table(WORDS)
def a_logind_that_leaves(w, what):
    """It was killed and knows nothing when it is back: nothing is held back by what only the dead one knew."""
    logind = Logind(w)
    w.start_daemon()
    logind.prepare(what, True)
    intel(w)
    holds(w, what.lower())
    logind.end()
    w.until_property("LastResult", "success")
    intel(w, "--seed=7", revision=NEW + 2)
    Logind(w)
    w.until_property("RunningRevision", NEW + 2)


@table(WORDS)
def a_logind_that_comes_late(w, what):
    w.configure(configuration(window=SHUT))
    w.start_daemon()
    intel(w)
    w.until(lambda: "window" in blockers(w), "the update to wait")
    equal("without logind", w.get("BlockedBy"), ["window", "load"])
    logind = Logind(w)
    logind.prepare(what, True, tell=False)
    logind.end()
    logind = Logind(w)  # starts with false: no trace of it
    time.sleep(1)
    check(what.lower() not in w.get("BlockedBy"), "held back by nothing")
    equal("complaints", [s for s in w.journal().splitlines() if "logind" in s], [])


@table(WORDS)
def seen_at_the_last_moment(w, what):
    """No signal came: right before the load logind is asked, and the load put off."""
    w.configure(configuration(window=SHUT))
    logind = Logind(w)
    w.start_daemon()
    intel(w)
    w.until(lambda: "window" in blockers(w), "the update to wait")
    w.until(lambda: logind.call("Asked")[0] >= 2, "logind to be asked")
    logind.prepare(what, True, tell=False)
    w.call("Apply", "t", 3)
    w.until_says("Things changed at the last moment")
    w.until(lambda: what.lower() in blockers(w), "it to block")
    equal("writes", w.writes(), [])


@case(sim=INTEL, start=False)
def signals_that_nothing_is_behind(w):
    """Anybody can send one: logind's own word counts."""
    logind = Logind(w)
    w.configure(configuration(window=SHUT))
    w.start_daemon()
    intel(w)
    w.until(lambda: "window" in blockers(w), "the update to wait")
    before = w.until(lambda: (lambda n: n >= 2 and n)(logind.call("Asked")[0]), "logind to be asked")
    for what in ("Shutdown", "Sleep"):
        logind.call("Say", "sb", what, "true")
    w.until(lambda: logind.call("Asked")[0] >= before + 2, "logind to be asked again")
    time.sleep(0.5)
    equal("BlockedBy", w.get("BlockedBy"), ["window", "load"])
    logind.prepare("Shutdown", True)
    w.until(lambda: "shutdown" in blockers(w), "the shutdown")
    logind.call("Say", "sb", "Shutdown", "false")
    time.sleep(0.5)
    check("shutdown" in blockers(w), "a forged end was believed")


@case(sim=INTEL, start=False)
def a_logind_that_does_not_answer(w):
    """A load is not put off for ever, and said is that nothing is known."""
    logind = Logind(w)
    logind.call("Mute", "b", "true")
    w.start_daemon()
    intel(w)
    w.until_property("LastResult", "success")
    w.until_says("systemd-logind does not answer")


@case(sim=INTEL, start=False)
def no_logind_at_all(w):
    """No error, and none is started, though the bus could."""
    services, marker = w.top / "services", w.top / "started"
    services.mkdir()
    (services / f"{NAME}.service").write_text(f"[D-BUS Service]\nName={NAME}\nExec=/bin/touch {marker}\nUser=root\n")
    path = w.top / "bus.conf"
    path.write_text(path.read_text().replace("<type>system</type>", f"<type>system</type><servicedir>{services}</servicedir>", 1))
    w.busctl("call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    names = w.busctl("call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListActivatableNames")["data"][0]
    check(NAME in names, f"the bus could not start it: {names}")
    w.start_daemon()
    intel(w)
    w.until_property("LastResult", "success")
    check(not marker.exists(), "logind was started")
    equal("complaints", [s for s in w.journal().splitlines() if "logind" in s], [])


# waking up

@table([("an older revision", dict(sim=INTEL, start=False), OLD - 8), ("a newer one", dict(sim=INTEL, start=False), OLD + 8)])
def other_revisions_after_sleep(w, revision):
    """Seen without anybody asking, by an idle daemon; said for what it is; and no load by somebody else."""
    logind = Logind(w)
    w.start_daemon()
    equal("State", w.get("State"), "current")
    logind.prepare("Sleep", True)
    w.sim("external", f"{revision:#x}")
    logind.prepare("Sleep", False)
    w.until_property("RunningRevision", revision)
    w.until_says(f"The CPUs ran {OLD:#x} when the machine went to sleep, and came back with {revision:#x}")
    equal("history", w.history(), [])
    check("Somebody else" not in w.journal(), "somebody else is blamed")
    w.restart_daemon()
    equal("history after a restart", w.history(), [])


@case(sim=INTEL, start=False)
def loaded_again_after_sleep(w):
    """The kernel's way up did not bring the late load back: it is pending again, and loaded again."""
    logind = Logind(w)
    w.start_daemon()
    intel(w)
    w.until_property("LastResult", "success")
    logind.prepare("Sleep", True)
    w.sim("external", f"{OLD:#x}")
    logind.prepare("Sleep", False)
    w.until(lambda: len(w.writes()) == 2, "the second load")
    w.until_property("RunningRevision", NEW)


def wakeups(w):
    """How often the daemon's threads gave their CPU away by themselves."""
    return [int(line.split()[1]) for line in Path(f"/proc/{w.daemon.pid}/status").read_text().splitlines() if line.startswith("voluntary")][0]


@case(sim=INTEL, start=False)
def idle_hears_of_sleep_alone(w):
    """Nothing is pending: a shutdown, and a logind that comes and goes, wake nobody; nor when an update is no longer pending."""
    logind = Logind(w)
    w.start_daemon()
    for _ in range(2):
        w.sim("get", "writes")
        w.get("State")
        time.sleep(1)
        before, asked = wakeups(w), logind.call("Asked")[0]
        logind.prepare("Shutdown", True)
        logind.prepare("Shutdown", False)
        logind.end()
        logind = Logind(w)
        time.sleep(1)
        equal("wake-ups", wakeups(w) - before, 0)
        equal("questions", logind.call("Asked")[0], 0)
        if w.get("LastResult") != "success":
            intel(w)
            w.until_property("LastResult", "success")
    for _ in range(50):
        logind.prepare("Sleep", False)
    time.sleep(1)
    equal("questions after ends of a sleep that never was", logind.call("Asked")[0], 0)
    logind.prepare("Sleep", True)
    w.until(lambda: logind.call("Asked")[0] >= 2, "the sleep to be heard of")

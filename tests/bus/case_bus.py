# SPDX-License-Identifier: LGPL-2.1-or-later
"""The interface itself: equal to what is documented, read by everyone, changed by root."""

import subprocess

from cases import INTEL, NEW, case, check, equal, intel
from world import MANAGER, NAME, OBJECT, SHUT, STALL, TOP, configuration

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@case(sim=INTEL)
def introspection_is_the_documentation(w):
    live = subprocess.run(["busctl", "--system", "--xml-interface", "introspect", NAME, OBJECT], text=True, capture_output=True,
                          env=w.environment, check=True).stdout
    path = w.top / "live.xml"
    path.write_text(live)
    p = subprocess.run([TOP / "tests/units/check-dbus-docs", TOP / "conf/org.ucodesync1.xml", path], text=True, capture_output=True)
    check(p.returncode == 0, f"the daemon and the documentation differ:\n{p.stdout}{p.stderr}")


@case(sim=INTEL, config=configuration(window=SHUT))
def everyone_reads_only_root_changes(w):
    intel(w)
    w.until_property("State", "pending")
    for method, *arguments in (("CanApply",), ("Explain", "t", 0), ("NextWindows", "tu", 0, 2), ("ListProcessors",), ("ListHistory", "u", 5)):
        w.call(method, *arguments, prefix=NOBODY)
    equal("CanApply", w.call("CanApply", prefix=NOBODY)[0], "no")
    for method, *arguments in (("Check",), ("Apply", "t", 3), ("Cancel", "u", 1), ("Acknowledge", "s", "00" * 32), ("ReloadConfig",)):
        w.refused(method, *arguments, says="Access denied", prefix=NOBODY)
    for property_name in ("State", "BlockedBy", "CandidatePath"):
        w.busctl("get-property", NAME, OBJECT, MANAGER, property_name, prefix=NOBODY)
    equal("writes", w.writes(), [])


@case(sim=INTEL)
def log_control(w):
    path, interface = "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1"
    equal("LogLevel", w.busctl("get-property", NAME, path, interface, "LogLevel")["data"], "info")
    w.busctl("set-property", NAME, path, interface, "LogLevel", "s", "debug")
    equal("LogLevel", w.busctl("get-property", NAME, path, interface, "LogLevel")["data"], "debug")
    try:
        w.busctl("set-property", NAME, path, interface, "LogLevel", "s", "loud")
        check(False, "a level that there is not was taken")
    except Exception as e:
        check("Invalid arg" in str(e) or "loud" in str(e), f"the error is '{e}'")
    try:
        w.busctl("set-property", NAME, path, interface, "LogLevel", "s", "err", prefix=NOBODY)
        check(False, "nobody changed the log level")
    except Exception as e:
        check("Access denied" in str(e), f"the error is '{e}'")


@case(sim=INTEL, config=configuration(window=SHUT))
def changes_are_signalled_and_nothing_else(w):
    w.watch()
    intel(w)
    w.until_property("State", "pending")
    w.until(lambda: any("BlockedBy" in s["payload"]["data"][1] for s in w.signals("PropertiesChanged")), "the signal")
    changed = {}
    for s in w.signals("PropertiesChanged"):
        for name, value in s["payload"]["data"][1].items():
            changed.setdefault(name, []).append(value["data"])
    equal("State", changed["State"], ["pending"])
    equal("CandidateRevision", changed["CandidateRevision"], [NEW])
    for name in ("Support", "Signature", "RunningRevision", "LastResult", "MixedRevisions"):
        check(name not in changed, f"{name} did not change and was signalled")
    before = len(w.signals("PropertiesChanged"))
    for _ in range(5):
        w.call("Check")
    equal("signals of five looks at an unchanged world", len(w.signals("PropertiesChanged")) - before, 0)


@case(sim=INTEL)
def limits(w):
    w.refused("NextWindows", "tu", 0, 100000, says="At most")
    w.refused("Explain", "t", 1 << 40, says="unknown bits")
    equal("history before any load", w.call("ListHistory", "u", 0)[0], [])
    equal("per CPU before any load", w.call("GetPerCPU", interface=STALL)[0], [])
    equal("StallNSec before any load", w.get("StallNSec", STALL), 2**64 - 1)
    equal("LastResult before any load", w.get("LastResult"), "")


@case(sim=INTEL)
def a_second_daemon(w):
    """The name is taken: it says so and leaves, and the first goes on."""
    p = subprocess.run([w.daemon.args[0], f"--root={w.root}"], text=True, capture_output=True, env=w.environment, timeout=30)
    check(p.returncode != 0 and "org.ucodesync1" in p.stderr, f"status {p.returncode}: {p.stderr}")
    equal("State", w.get("State"), "current")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bus policy, tried out on a private dbus-daemon that denies what the system bus denies: who may own the name, and whose calls get
through to it."""

import contextlib
import os
import subprocess
import time

from harness import TOP, check, have, run, skip

# As the system bus is set up: nobody owns a name or sends a call unless a file in system.d allows it.
BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
  </policy>
  <include>{policy}</include>
</busconfig>
"""

# Owns the name and answers every call with its own error, so that "got through" can be told from "was held back".
OWNER = """
import sys, dbus, dbus.bus, dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
def answer(connection, message):
    if message.get_type() != 1 or message.get_destination() is None:
        return 1
    connection.send_message(dbus.lowlevel.ErrorMessage(message, 'test.GotThrough', 'got through'))
    return 0
bus.add_message_filter(answer)
bus.request_name('org.ucodesync1', 4)
print('ready', flush=True)
GLib.MainLoop().run()
"""


@contextlib.contextmanager
def private_bus(tmp):
    socket, config = tmp / "bus", tmp / "bus.conf"
    config.write_text(BUS_CONFIG.format(socket=socket, policy=TOP / "conf/org.ucodesync1.conf"))
    process = subprocess.Popen(["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--nosyslog"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(200):
            if socket.exists() or process.poll() is not None:
                break
            time.sleep(0.05)
        yield process, f"unix:path={socket}"
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate()


def test_bus(tmp):
    if not have("dbus-daemon", "busctl", "setpriv"):
        return
    if os.geteuid() != 0:
        skip("bus policy: needs root to be two users")
        return

    os.chmod(tmp, 0o755)
    with private_bus(tmp) as (daemon, address):
        check("bus policy: dbus-daemon accepts it", daemon.poll() is None, daemon.stdout.read() if daemon.poll() is not None else "")
        if daemon.poll() is not None:
            return

        def call(user, *words):
            prefix = [] if user == "root" else ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            return run(*prefix, "busctl", f"--address={address}", "call", *words, timeout=30).stdout

        own = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su", "org.ucodesync1", "4"]
        output = call("root", *own)
        check("bus policy: root may own the name", output.strip() == "u 1", output)
        output = call("nobody", *own)
        check("bus policy: nobody else may", "denied" in output.lower() or "not allowed" in output.lower(), output)

        owner = subprocess.Popen(["/usr/bin/python3", "-c", OWNER, address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            if owner.stdout.readline().strip() != "ready":
                skip("bus policy: needs python3-dbus and python3-gi", owner.communicate()[1])
                return
            manager = "org.ucodesync1.Manager"
            rows = [("root", manager, "Check", True), ("root", "org.example.Anything", "Do", True),
                    ("nobody", "org.example.Anything", "Do", False), ("nobody", "org.freedesktop.DBus.ObjectManager", "Do", False)]
            rows += [("nobody", interface, "Do", True) for interface in
                     (manager, "org.ucodesync1.Stall", "org.freedesktop.LogControl1", "org.freedesktop.DBus.Properties",
                      "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Peer")]
            for user, interface, member, through in rows:
                output = call(user, "org.ucodesync1", "/org/ucodesync1", interface, member)
                # libdbus answers for org.freedesktop.DBus.Peer itself
                words = ("got through", "Unknown method") if through else ("denied",)
                check(f"bus policy: {user} calls {interface}", any(w in output for w in words), output)
        finally:
            owner.terminate()
            owner.communicate()

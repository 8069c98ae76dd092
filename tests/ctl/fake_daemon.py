#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A daemon that says what a scenario tells it to: every answer, error and signal of org.ucodesync1, with the types of
conf/org.ucodesync1.xml. It stands in for ucodesyncd where a test of ucodectl needs an answer that the real one gives rarely, or that
only one of another version would give.

    fake_daemon.py SCENARIO.json

"manager", "stall": values of properties (those not named are 0, "" or empty, null takes one away); "extra": [[name, type, value]…] on
Manager; "replies": method -> arguments; "errors": method -> [name, text]; "script": method, or "start" -> steps, run after the answer.
A step: {"set": {…}}, {"stall": {…}}, {"signal": [name, args]}, {"sleep": ms}, {"exit": true}, {"drop": true} (release the name),
{"forge": [name, args]} (the signal from another connection). Calls are written to stdout as JSON lines. Fake.Run(s) runs steps.
"""

import json
import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

NAME, PATH = "org.ucodesync1", "/org/ucodesync1"
PROPERTIES = "org.freedesktop.DBus.Properties"
LOG_PATH, LOG_INTERFACE = "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1"
ADDRESS = os.environ.get("DBUS_STARTER_ADDRESS") or os.environ["DBUS_SYSTEM_BUS_ADDRESS"]
XML = Path(__file__).resolve().parents[2] / "conf" / "org.ucodesync1.xml"

BASIC = {"s": dbus.String, "u": dbus.UInt32, "t": dbus.UInt64, "b": dbus.Boolean, "d": dbus.Double, "i": dbus.Int32, "x": dbus.Int64}


def typed(signature, value):
    """A value of this type, for a variant."""
    if signature in BASIC:
        return BASIC[signature](value)
    assert signature[0] == "a", signature
    if signature[1] == "{":
        return dbus.Dictionary(value, signature=signature[2:-1])
    return dbus.Array([tuple(v) if isinstance(v, list) else v for v in value], signature=signature[1:])


def default(signature):
    return "" if signature == "s" else {} if signature.startswith("a{") else [] if signature[0] == "a" else 0


class Interface:
    def __init__(self, node):
        self.name = node.get("name")
        self.properties = {p.get("name"): p.get("type") for p in node.findall("property")}
        self.out = {m.get("name"): "".join(a.get("type") for a in m.findall("arg") if a.get("direction") == "out") for m in node.findall("method")}
        self.signals = {s.get("name"): "".join(a.get("type") for a in s.findall("arg")) for s in node.findall("signal")}


class Fake:
    def __init__(self, scenario, loop):
        self.loop, self.scenario, self.log_level = loop, scenario, scenario.get("log_level", "info")
        self.interfaces = {i.name: i for i in map(Interface, ElementTree.parse(XML).getroot().findall("interface"))}
        self.manager, self.stall = self.interfaces[f"{NAME}.Manager"], self.interfaces[f"{NAME}.Stall"]
        self.values, self.client = {}, None
        for interface, key in ((self.manager, "manager"), (self.stall, "stall")):
            given = scenario.get(key, {})
            self.values[interface.name] = {n: given.get(n, default(t)) for n, t in interface.properties.items() if given.get(n, 0) is not None}
        for name, signature, value in scenario.get("extra", []):
            self.manager.properties[name] = signature
            self.values[self.manager.name][name] = value
        self.bus = dbus.bus.BusConnection(ADDRESS)
        self.bus.add_message_filter(self.on_message)
        self.bus.request_name(NAME)
        self.run(scenario.get("script", {}).get("start", []))

    def variant(self, interface, name):
        return typed(interface.properties[name], self.values[interface.name][name])

    def all(self, interface):
        return dbus.Dictionary({n: self.variant(interface, n) for n in self.values[interface.name]}, signature="sv")

    # answers

    def on_message(self, bus, m):
        if not isinstance(m, dbus.lowlevel.MethodCallMessage):
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        member = m.get_member()
        if m.get_interface() != f"{NAME}.Fake":
            self.client = m.get_sender()
        print(json.dumps({"call": member, "args": [json_value(a) for a in m.get_args_list()], "interactive": m.get_allow_interactive_authorization()
                          if hasattr(m, "get_allow_interactive_authorization") else None}), flush=True)
        reply = self.answer(m, m.get_interface(), member, m.get_args_list())
        if reply is not None:
            self.bus.send_message(reply)
        self.run(self.scenario.get("script", {}).get(member, []))
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    def answer(self, m, interface, member, args):
        if member in self.scenario.get("errors", {}):
            name, text = self.scenario["errors"][member]
            return None if name is None else dbus.lowlevel.ErrorMessage(m, name, text)
        reply = dbus.lowlevel.MethodReturnMessage(m)
        if interface == f"{NAME}.Fake":
            self.run(json.loads(args[0]))
        elif interface == PROPERTIES and m.get_path() == LOG_PATH:
            if member == "Set":
                self.log_level = str(args[2])
            else:
                reply.append(dbus.String(self.log_level, variant_level=1), signature="v")
        elif interface == PROPERTIES and member == "GetAll" and args[0] in self.values:
            reply.append(self.all(self.interfaces[str(args[0])]), signature="a{sv}")
        elif member in self.scenario.get("replies", {}):
            self.append(reply, self.interfaces[interface].out[member], self.scenario["replies"][member])
        elif interface in self.interfaces and member in self.interfaces[interface].out:
            out = self.interfaces[interface].out[member]
            self.append(reply, out, [default(s) for s in dbus.Signature(out)])
        else:
            return dbus.lowlevel.ErrorMessage(m, "org.freedesktop.DBus.Error.UnknownMethod", f"no {member} here")
        return reply

    def append(self, message, signature, args):
        if signature == "aa{sv}":
            args = [[{k: typed(t, v) for k, (t, v) in entry.items()} for entry in args[0]]]
        if signature:
            message.append(*args, signature=signature)

    # what happens by itself

    def run(self, steps):
        for i, step in enumerate(steps):
            if "sleep" in step:
                GLib.timeout_add(step["sleep"], lambda rest: self.run(rest) and False, steps[i + 1:])
                return
            self.step(step)

    def step(self, step):
        if "set" in step:
            self.change(self.manager, step["set"])
        if "stall" in step:
            self.change(self.stall, step["stall"])
        if "signal" in step:
            self.signal(self.bus, *step["signal"])
        if "forge" in step:
            other = dbus.bus.BusConnection(ADDRESS)
            # to the client itself: what is sent so, no match rule holds back
            self.signal(other, *step["forge"], destination=self.client)
            other.flush()
        if step.get("drop"):
            self.bus.release_name(NAME)
        if step.get("own"):
            self.bus.request_name(NAME)
        if step.get("exit"):
            self.bus.flush()
            self.loop.quit()

    def change(self, interface, values):
        self.values[interface.name].update(values)
        m = dbus.lowlevel.SignalMessage(PATH, PROPERTIES, "PropertiesChanged")
        changed = dbus.Dictionary({n: self.variant(interface, n) for n in values}, signature="sv")
        m.append(interface.name, changed, dbus.Array([], signature="s"), signature="sa{sv}as")
        self.bus.send_message(m)

    def signal(self, bus, name, args, destination=None):
        if name == "NameOwnerChanged":
            m = dbus.lowlevel.SignalMessage("/org/freedesktop/DBus", "org.freedesktop.DBus", name)
            m.append(*args, signature="sss")
            m.set_destination(destination)
            bus.send_message(m)
            return
        interface = self.manager if name in self.manager.signals else self.stall
        m = dbus.lowlevel.SignalMessage(PATH, interface.name, name)
        m.append(*args, signature=interface.signals[name])
        if destination:
            m.set_destination(destination)
        bus.send_message(m)


def json_value(v):
    return int(v) if isinstance(v, int) else str(v)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    loop = GLib.MainLoop()
    fake = Fake(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), loop)
    print("ready", flush=True)
    loop.run()
    del fake


if __name__ == "__main__":
    main()

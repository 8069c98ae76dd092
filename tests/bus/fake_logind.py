#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemd-logind, as far as ucodesyncd listens to it: two properties and two signals on the private bus, set and sent by the case.

    busctl call org.freedesktop.login1 /org/freedesktop/login1 org.ucodesync1.Fake Prepare sbb Sleep true true

The word, the value, and whether the signal is sent, too. "Mute" b: questions are not answered. "Asked": how many there were, s of those that wanted logind started."""

import os

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

NAME, PATH, INTERFACE = "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"


class Fake:
    def __init__(self):
        self.values, self.mute, self.asked, self.auto_start = {"PreparingForShutdown": False, "PreparingForSleep": False}, False, 0, 0
        self.bus = dbus.bus.BusConnection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
        self.bus.add_message_filter(self.on_message)
        self.bus.request_name(NAME)

    def on_message(self, bus, m):
        if not isinstance(m, dbus.lowlevel.MethodCallMessage) or m.get_path() != PATH:
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        reply = self.answer(m, m.get_interface(), m.get_member(), m.get_args_list())
        if reply is not None:
            bus.send_message(reply)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    def answer(self, m, interface, member, args):
        reply = dbus.lowlevel.MethodReturnMessage(m)
        if member == "Get" and interface == "org.freedesktop.DBus.Properties" and args[0] == INTERFACE and args[1] in self.values:
            self.asked += 1
            self.auto_start += bool(m.get_auto_start())
            if self.mute:
                return None
            reply.append(dbus.Boolean(self.values[args[1]], variant_level=1), signature="v")
        elif member == "Prepare":
            what, value, tell = args
            self.values[f"PreparingFor{what}"] = bool(value)
            if tell:
                self.signal(f"PrepareFor{what}", value)
        elif member == "Say":  # a signal that nothing is behind
            self.signal(f"PrepareFor{args[0]}", args[1])
        elif member == "Mute":
            self.mute = bool(args[0])
        elif member == "Asked":
            reply.append(self.asked, self.auto_start, signature="uu")
        else:
            return dbus.lowlevel.ErrorMessage(m, "org.freedesktop.DBus.Error.UnknownMethod", f"no {interface}.{member} here")
        return reply

    def signal(self, member, value):
        s = dbus.lowlevel.SignalMessage(PATH, INTERFACE, member)
        s.append(value, signature="b")
        self.bus.send_message(s)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
fake = Fake()
GLib.MainLoop().run()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The last cases: an idle daemon, and a product that is removed."""

import os

from harness import case, check, equal
from machine import BUS, UNIT
from silence import watch


@case
def idle(m):
    m.update()
    watch(m, 20)


@case
def removed(m):
    """As a package's removal does it: disable, stop, take the files away. Nothing is left that runs or could be started."""
    m.run("systemctl", "disable", "--quiet", "--now", UNIT)
    installed = []
    layer = os.path.join(m.work, "product")
    for d, _, files in os.walk(layer):
        installed += [os.path.join(d, f)[len(layer):] for f in files]
    check(len(installed) > 5, f"the product consists of {installed}")
    m.run("xargs", "rm", "-f", "--", stdin="\n".join(installed))
    m.run("rm", "-r", f"/etc/systemd/system/{UNIT}.d")
    m.run("systemctl", "daemon-reload")
    m.run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    equal("processes that are left", m.processes("ucodesyncd"), [])
    equal("LoadState", m.unit("LoadState"), "not-found")
    check(m.run("busctl", "status", BUS[0], check=False).returncode != 0, "somebody has the bus name")
    check(BUS[0] not in m.out("busctl", "list", "--no-legend", "--no-pager"), "the name can still be activated")
    equal("links that are left", m.out("find", "/etc/systemd/system", "-name", "*ucodesync*"), "")
    equal("the guest", m.out("systemctl", "is-system-running"), "running")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reboot is needed: from an early image that is newer than everything else to the distribution's own file, written by a unit that nobody started by hand."""

import os
import subprocess
import time

from harness import case, check, equal, pause
from machine import CPU, OPEN, UNIT

NOTE, PACKAGES = "/run/reboot-required", "/run/reboot-required.pkgs"
IMAGE = "/boot/initrd.img"


def image(m, revision):
    os.makedirs(m.path("/boot"), exist_ok=True)
    new = m.path(IMAGE + ".new")
    subprocess.run([m.tool("tests/fixtures/mkfixture"), "-o", new, *CPU, f"--revision={revision:#x}", "--cpio"], check=True)
    os.chmod(new, 0o644)
    os.rename(new, m.path(IMAGE))


def wait_for(m, path):
    for _ in range(150):
        if m.run("test", "-e", path, check=False).returncode == 0:
            return
        time.sleep(0.1)
    check(False, f"there is no {path}: {m.out('systemctl', '--no-pager', 'status', 'ucodesync-reboot-required.path', 'ucodesync-reboot-required.service', check=False)}")


@case
def the_distribution_is_told(m):
    m.run("rm", "-f", NOTE, PACKAGES)
    try:
        equal("the path unit", m.out("systemctl", "is-active", "ucodesync-reboot-required.path"), "active")
        image(m, m.revision + 0x100)
        m.until("RebootRequired", True)
        equal("EarlyRevision", (m.get("EarlyRevision"), m.get("EarlyPath")), (m.revision + 0x100, IMAGE))
        pause(2)
        check(m.run("test", "-e", NOTE, check=False).returncode != 0, "told without RebootRequiredFile=")

        m.configure(OPEN + "[Advise]\nRebootRequiredFile=yes\n")
        m.run("systemctl", "reload", UNIT)
        wait_for(m, PACKAGES)
        equal(NOTE, m.out("cat", NOTE).strip(), "*** System restart required ***")
        equal(PACKAGES, m.out("cat", PACKAGES).split(), ["intel-microcode"])
        equal("modes", m.out("stat", "-c", "%a", NOTE, PACKAGES).split(), ["644", "644"])

        # once, however often the daemon comes and goes
        m.run("systemctl", "restart", UNIT)
        m.until("RebootRequired", True)
        pause(2)
        equal(PACKAGES, m.out("cat", PACKAGES).split(), ["intel-microcode"])
        equal("the service", m.unit("ActiveState", "Result", unit="ucodesync-reboot-required.service"), {"ActiveState": "active", "Result": "success"})
        m.run("systemctl", "stop", UNIT)
        equal("the path unit goes with the daemon", m.run("systemctl", "is-active", "--quiet", "ucodesync-reboot-required.path", check=False).returncode != 0, True)
    finally:
        m.remove(IMAGE)
        m.run("rm", "-f", NOTE, PACKAGES, "/run/ucodesync/reboot-required")  # the sign first: it would start the service again
        m.run("systemctl", "stop", "ucodesync-reboot-required.service")

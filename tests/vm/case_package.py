# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Debian packages as their owner sees them: installed by apt, enabled, upgraded over itself, removed, purged; and nothing is left."""

from shapes import INTEL_TOO
from suite import case, check, equal
from virtual import BUS, CONFIG, OPEN, STATE, UNIT

DEBS = "/var/lib/ucodesync-packages"
APT = "DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root"


@case(INTEL_TOO, enabled=False)
def package_life(m):
    equal("enabled by the installation", m.sh(f"systemctl is-enabled {UNIT}", check=False), "disabled")
    equal("started by the installation", m.unit("ActiveState"), "inactive")
    m.sh(f"dpkg --purge ucodesync")
    nothing_left(m)
    m.sh(f"{APT} install {DEBS}/ucodesync_*.deb", timeout=300)
    equal("enabled by apt install", m.sh(f"systemctl is-enabled {UNIT}", check=False), "disabled")
    equal("started by apt install", m.unit("ActiveState"), "inactive")

    m.write(CONFIG, OPEN)
    m.sh(f"systemctl enable --quiet --now {UNIT}")
    revision = m.next_update()
    m.loaded(revision)
    pid = m.unit("MainPID")
    m.sh(f"{APT} install --reinstall {DEBS}/ucodesync_*.deb", timeout=300)
    m.until("State", "current")
    check(m.unit("MainPID") != pid, "an upgrade leaves the old daemon running")
    equal("the newest load, after an upgrade", m.last()["NewRevision"], revision)
    equal("writes", m.writes(), [1])

    m.sh("echo 'Window=' >>/etc/ucodesync/ucodesyncd.conf")
    m.sh(f"{APT} remove ucodesync", timeout=300)
    equal("the daemon after a removal", m.processes("ucodesyncd"), [])
    check(m.sh("tail -n1 /etc/ucodesync/ucodesyncd.conf") == "Window=", "a removal takes the configuration")
    check(m.sh(f"ls {STATE}"), "a removal takes what the daemon remembers")
    m.sh(f"rm {CONFIG}; mkdir -p /etc/ucodesync/rules.d; {APT} purge ucodesync", timeout=300)
    nothing_left(m)
    equal("the system", m.sh("systemctl is-system-running", check=False), "running")


def nothing_left(m):
    m.sh("systemctl daemon-reload")
    text = m.sh("find / -xdev \\( -path /proc -o -path /sys -o -path /run/log -o -path /var/log -o -path '/var/lib/ucodesync-packages' "
                "-o -path /var/lib/apt -o -path /var/cache -o -path /usr/lib/firmware -o -path '/var/lib/dpkg/*-old' \\) -prune -o -name '*ucode*' -print")
    equal("what is left after a purge", text.split(), [])
    equal("the name can be activated", m.run("busctl", "status", BUS[0], check=False).returncode != 0, True)
    equal("dpkg", m.sh("dpkg -l ucodesync 2>/dev/null | grep -c ^[a-z]i || true"), "0")


@case(INTEL_TOO, enabled=False)
def bench_package(m):
    """ucodebench comes in a package of its own, and runs."""
    names = m.sh(f"ls {DEBS}").split()
    check(any(n.startswith("ucodebench_") for n in names), f"the packages are {names}")
    equal("ucodebench without its package", m.run("which", "ucodebench", check=False).returncode, 1)
    m.sh(f"dpkg -i {DEBS}/ucodebench_*.deb", timeout=300)
    check(m.sh("ucodebench --version"), "ucodebench --version says nothing")

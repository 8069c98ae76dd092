# SPDX-License-Identifier: LGPL-2.1-or-later
"""The machine under test: a guest with the product installed, whose CPUs are ucodesim.

The simulated /sys/devices/system/cpu is mounted where the kernel's is. The simulated files of /proc cannot be: ProtectProc= gives the
unit a fresh /proc. So they lie in a scratch directory, and a drop-in binds them into the unit's own /proc, file by file. That drop-in
and a quick configuration are the only things in which the guest differs from a host. A process namespace hides the kernel's
migration/N threads; the witness of the stall is therefore `write`.
"""

import os
import subprocess

from asking import BUS, MANAGER, STALL, UNIT, Asking  # noqa: F401 (cases take the names from here)
from guest import HERE, Cannot, Failed, Guest, die_with_parent

SOURCE = os.path.dirname(os.path.dirname(HERE))
SCRATCH = "/run/simulated"
FIRMWARE = "/usr/lib/firmware/intel-ucode"
CONFIG = "/etc/ucodesync/ucodesyncd.conf.d/50-test.conf"
BASE_REVISION = 0x0200003A
CPU = ["--signature=0x50654", "--mask=0x80"]  # what ucodesim is by itself

# What of the simulated /proc the unit gets to see.
PROC = ["cpuinfo", "stat", "loadavg", "uptime", "cmdline", "pressure/cpu", "sys/kernel/tainted"]

# A budget that a case with a load of seconds in the history does not exhaust for all the others.
OPEN = "[Apply]\nMaxStallMSec=60000\n[Schedule]\nWindow=*-*-* 00:00 for 24h\nSpreadSec=0\nSettleSec=1s\nBootGraceSec=0\n[Load]\nQuietSec=0\n"
SHUT = OPEN.replace("Window=*-*-* 00:00 for 24h", "Window=2099-01-01 00:00 for 1h")


class Machine(Asking, Guest):
    def __init__(self, simulator_options=(), keep=False):
        super().__init__(keep)
        self.sim = None
        self.revision = BASE_REVISION
        layer = os.path.join(self.work, "product")
        tree, self.builddir = install(layer)
        self.mount_root(tree, [layer])
        self.start_simulator(simulator_options)
        self.bind(os.path.join(self.simulated, "sys/devices/system/cpu"), "/sys/devices/system/cpu")
        self.bind(os.path.join(self.simulated, "proc"), SCRATCH)
        self.dropin("simulated", "[Service]\n" + "".join(f"BindReadOnlyPaths=-{SCRATCH}/{name}:/proc/{name}\n" for name in PROC))
        self.configure(OPEN)

    def release(self):
        if not self.sim:
            return
        self.sim.terminate()
        try:
            self.sim.wait(10)
        except subprocess.TimeoutExpired:
            self.sim.kill()
            self.sim.wait()
        self.sim = None

    # ---- the simulator -------------------------------------------------------------------------------------------------------

    def start_simulator(self, options):
        self.simulated = os.path.join(self.work, "simulated")
        os.mkdir(self.simulated)
        with open(os.path.join(self.work, "ucodesim.log"), "w", encoding="utf-8") as log:
            self.sim = subprocess.Popen(
                [self.tool("tests/sim/ucodesim"), "--mount=" + self.simulated, "--control=" + self.socket(),
                 "--firmware-root=" + self.root, "--topology=2x2x2", "--revision=" + hex(BASE_REVISION), *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=die_with_parent)
        if self.sim.stdout.readline().strip() != "READY":
            with open(log.name, encoding="utf-8") as log:
                raise Failed("no machine: " + log.read().strip())

    def socket(self):
        return os.path.join(self.work, "ucodesim.socket")

    def control(self, *command):
        """A command to the simulator; its answer."""
        r = subprocess.run([self.tool("tests/sim/ucodesim"), "--send=" + self.socket(), *command], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        if r.returncode != 0:
            raise Failed(f"ucodesim, {' '.join(command)}: {r.stderr.strip() or r.stdout.strip()}")
        return r.stdout.strip()

    def writes(self):
        """How often somebody wrote to reload."""
        return int(self.control("get", "writes").split()[0])

    def tool(self, name):
        return os.path.join(self.builddir, name)

    # ---- files of the guest --------------------------------------------------------------------------------------------------

    def dropin(self, name, text):
        self.write(f"/etc/systemd/system/{UNIT}.d/{name}.conf", text)

    def configure(self, text):
        self.write(CONFIG, text)

    def next_update(self, **options):
        """A file with the next revision arrives as a package manager brings it: written beside, then renamed. The revision."""
        self.revision += 1
        self.firmware(revision=hex(self.revision), min_revision=hex(BASE_REVISION), **options)
        return self.revision

    def firmware(self, name="06-55-04", **options):
        d = self.path(FIRMWARE)
        os.makedirs(d, exist_ok=True)
        new = os.path.join(d, name + ".dpkg-new")
        subprocess.run([self.tool("tests/fixtures/mkfixture"), "-o", new, *CPU,
                        *(f"--{k.replace('_', '-')}={v}" for k, v in options.items())], check=True)
        os.chmod(new, 0o644)
        os.rename(new, os.path.join(d, name))

    def settle(self):
        """Nothing newer on disk, all CPUs on self.revision: after a case that ended in the middle."""
        self.remove(f"{FIRMWARE}/06-55-04")
        if self.control("get", "revisions") != f"{hex(self.revision)} 0-7":
            self.control("set", "revision", hex(self.revision))

    def update(self):
        """The next update arrives and is applied. The revision."""
        total = self.get("AppliedTotal")
        self.next_update()
        self.until("AppliedTotal", total + 1)
        self.until("State", "current")
        return self.revision


def install(layer):
    """The product into the new directory `layer`. The base tree, and the build directory in which ucodesim and mkfixture are: tools/check
    has built them; elsewhere it is that of the product."""
    r = subprocess.run([os.path.join(SOURCE, "tests/tree/build"), "--product=" + layer], stdout=subprocess.PIPE, text=True)
    if r.returncode == 77:
        raise Cannot("there is no Debian tree here (see above)")
    if r.returncode != 0:
        raise Failed("the product does not build or install (see above)")
    tree, builddir = r.stdout.split("\n")[:2]
    builddir = os.environ.get("UCODESYNC_BUILD", builddir)
    if subprocess.run(["ninja", "--quiet", "-C", builddir, "tests/sim/ucodesim", "tests/fixtures/mkfixture"]).returncode != 0:
        raise Failed("ucodesim and mkfixture do not build (see above)")
    return tree, builddir

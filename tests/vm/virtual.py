# SPDX-License-Identifier: LGPL-2.1-or-later
"""The virtual machine under test: a real kernel, the Debian tree, the package installed; its CPUs' revisions change by real late loads.

A Shape is a kind of machine: CPUs, kernel, command line. One of it boots once, and two snapshots of it are what cases begin with: `booted`
(the daemon is disabled, as after the installation) and `enabled` (running, in the quick configuration, nothing pending). So each case has
the revision of the boot again, and nothing of what another case did.

What the kernel really was asked for is known from a return probe on its reload_store(): writes() has each answer.
"""

import os
import re
import shlex
import shutil
import subprocess

import qemu
from asking import BUS, MANAGER, STALL, UNIT, Asking  # noqa: F401 (cases take the names from here)
from guest import Failed, wait_for
from image import SOURCE

CONFIG = "/etc/ucodesync/ucodesyncd.conf.d/50-test.conf"
TRACING = "/sys/kernel/tracing"
STATE = "/var/lib/ucodesync"

# TCG on a busy machine makes a stall of anything: the budget is what cases about it set themselves.
QUICK = {"Schedule": {"Window": "*-*-* 00:00 for 24h", "SpreadSec": "0", "SettleSec": "1s", "BootGraceSec": "0"},
         "Load": {"QuietSec": "0"}, "Apply": {"MaxStallMSec": "60000"}, "Stall": {}, "Firmware": {}}


def configuration(*lines, **changes):
    """The quick configuration with keys changed; None: without the key. Further lines go at the end."""
    keys = {section: dict(values) for section, values in QUICK.items()}
    where = {"Window": "Schedule", "Automatic": "Apply", "Trust": "Apply", "MaxStallMSec": "Apply", "LatencyCritical": "Apply",
             "ProbationSec": "Apply", "Threshold": "Load", "QuietSec": "Load", "Metric": "Load", "Witness": "Stall", "BootGraceSec": "Schedule"}
    for key, value in changes.items():
        keys[where[key]][key] = value
    text = "".join(f"[{section}]\n" + "".join(f"{k}={v}\n" for k, v in values.items() if v is not None) for section, values in keys.items())
    return text + "".join(line + "\n" for line in lines)


OPEN = configuration()
SHUT = configuration(Window="2099-01-01 00:00 for 1h")


class Shape:
    def __init__(self, name, cpu, smp, base, append="", vendor="intel", kernel=None, witness=True, cpus=None):
        self.name, self.cpu, self.smp, self.base, self.vendor, self.kernel, self.traced = name, cpu, smp, base, vendor, kernel, witness
        self.append = f"microcode=base_rev={base:#x}{append}"
        self.cpus = cpus or int(smp.split(",")[0])


class Virtual(Asking):
    patience = 150 * qemu.PATIENCE

    def __init__(self, shape, context, tag=""):
        self.shape, self.context = shape, context
        self.work = os.path.join(context.work, shape.name + tag)
        os.mkdir(self.work)
        self.disk = os.path.join(self.work, "disk.qcow2")
        kernel, initrd = shape.kernel(context) if shape.kernel else (context.kernel, None)
        self.vm = qemu.Qemu(self.work, kernel, context.accel, shape.cpu, shape.smp, shape.append, self.disk, initrd=initrd, label=shape.name)
        self.snapshots = set()
        self.revision = shape.base

    # ---- up and down ---------------------------------------------------------------------------------------------------------

    def up(self):
        """Boot, and wait for all units. After down() it is the next boot of the same disk."""
        self.vm.start()
        self.arrived()

    def arrived(self):
        state = self.run("systemctl", "is-system-running", "--wait", check=False, timeout=qemu.BOOT_TIMEOUT).stdout.strip()
        if state != "running":
            raise Failed(f"the guest is '{state}':\n" + self.run("systemctl", "--failed", check=False).stdout)
        self.revision = self.shape.base
        if self.shape.traced:
            self.watch_writes()

    def reboot(self):
        """In order, from inside."""
        self.vm.send("systemctl reboot")
        self.vm.wait_end()
        self.up()

    def cut(self):
        """The power goes, and comes back: the next boot of the same disk."""
        self.vm.kill()
        self.up()

    def close(self):
        self.vm.kill()
        if not self.context.keep:
            shutil.rmtree(self.work, ignore_errors=True)

    def begin(self, enabled=True):
        """The start of a case."""
        if not self.snapshots:
            self.vm.kill()
            self.context.image.overlay(self.disk)
            self.up()
            self.vm.save("booted")
            self.snapshots.add("booted")
        if enabled and "enabled" not in self.snapshots:
            self.vm.load("booted")
            self.configure(OPEN, reload=False)
            self.enable()
            self.until("State", lambda s: s in ("current", "unsupported"))
            self.vm.save("enabled")
            self.snapshots.add("enabled")
        self.vm.load("enabled" if enabled else "booted")
        self.revision = self.shape.base

    # ---- programs and files --------------------------------------------------------------------------------------------------

    def run(self, *argv, check=True, user=None, timeout=qemu.SCRIPT_TIMEOUT):
        if user:
            argv = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *argv)
        return self.vm.script(shlex.join(argv), timeout=max(timeout, qemu.SCRIPT_TIMEOUT), check=check)

    def out(self, *argv, **keywords):
        return self.run(*argv, **keywords).stdout.strip()

    def sh(self, text, **keywords):
        """A shell script; its output."""
        return self.vm.script(text, **keywords).stdout.strip()

    def write(self, path, text):
        self.vm.put(path, text.encode())

    def configure(self, text, reload=True):
        self.write(CONFIG, text)
        if reload:
            self.run("systemctl", "reload", UNIT)

    def reconfigure(self, *lines, **changes):
        self.configure(configuration(*lines, **changes))

    def approve(self):
        """AMD's updates carry no minimum revision: somebody has to vouch for them."""
        self.write("/etc/ucodesync/rules.d/50-test.conf", "[tested]\nAction=approve\nVendor=amd\nReason=tried on a machine of this kind\n")

    # ---- firmware ------------------------------------------------------------------------------------------------------------

    @property
    def firmware_path(self):
        name = "intel-ucode/06-55-04" if self.shape.vendor == "intel" else "amd-ucode/microcode_amd_fam17h.bin"
        return "/usr/lib/firmware/" + name

    def fixture(self, *options, revision=None, min_revision=True, digest_known=True):
        """Bytes of a file for this machine's CPUs."""
        revision = self.revision + 1 if revision is None else revision
        argv = [self.context.mkfixture, f"--vendor={self.shape.vendor}", f"--revision={revision:#x}"]
        if self.shape.vendor == "intel":
            argv += ["--signature=0x50654", "--mask=0x1"]
            if min_revision:
                argv.append(f"--min-revision={self.shape.base if min_revision is True else min_revision:#x}")
        r = subprocess.run([*argv, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if r.returncode != 0:
            raise Failed(f"mkfixture: {r.stderr.decode().strip()}")
        return r.stdout

    def arrive(self, *options, path=None, **keywords):
        """A file arrives as a package manager brings it: written beside, then renamed."""
        self.vm.put(path or self.firmware_path, self.fixture(*options, **keywords))

    def next_update(self, *options, **keywords):
        self.revision += 1
        self.arrive(*options, revision=self.revision, **keywords)
        return self.revision

    def loaded(self, revision, result="success"):
        """Wait until a load of this revision has ended well."""
        self.until("RunningRevision", revision)
        self.until("State", "current")
        if self.get("LastResult") != result:
            raise Failed(f"LastResult is {self.get('LastResult')!r}, wanted {result!r}")

    def ended(self, count, key="FailedTotal"):
        """Wait until so many loads have ended."""
        self.until(key, lambda n: n >= count)

    # ---- what the kernel says ------------------------------------------------------------------------------------------------

    def watch_writes(self):
        self.sh(f"cd {TRACING} && mkdir -p instances/vm && echo 'r64:vm/answer reload_store ret=$retval:s64' >kprobe_events && "
                f"echo 1 >instances/vm/events/vm/answer/enable")

    def writes(self):
        """What the kernel answered to each write to its reload file since the boot: a length, or a negative errno."""
        return [int(n) for n in re.findall(r"ret=(-?\d+)", self.sh(f"cat {TRACING}/instances/vm/trace"))]

    def revisions(self):
        """Of the online CPUs, as the kernel has them."""
        return [int(line, 16) for line in self.sh("cat /sys/devices/system/cpu/cpu[0-9]*/microcode/version").split()]

    def parameter(self, name, value):
        self.sh(f"echo {value} >/sys/module/microcode/parameters/{name}")

    def online(self, cpu, yes):
        self.sh(f"echo {int(yes)} >/sys/devices/system/cpu/cpu{cpu}/online")

    def kernel_log(self, pattern="microcode"):
        return [line for line in self.sh("dmesg").splitlines() if re.search(pattern, line)]

    def last(self):
        """The newest entry of the history, without the types."""
        history = self.history()
        return {k: v["data"] for k, v in history[0].items()} if history else {}

    def symbols(self, *names):
        wanted = "|".join(names)
        found = dict(reversed(line.split()[::2]) for line in self.sh(f"grep -E ' ({wanted})$' /proc/kallsyms").splitlines())
        return [int(found[n], 16) for n in names]

    def settled(self):
        """Wait until the daemon has nothing under way: it has looked, and is neither settling nor loading."""
        def same():
            return self.get("State") != "applying" and "settle" not in self.get("BlockedBy")
        wait_for("the daemon to settle", same, self.patience, every=0.3)


def builddir():
    """Where mkfixture is: that of tools/check, else one of our own."""
    directory = os.environ.get("UCODESYNC_BUILD")
    if not directory:
        directory = os.path.join(os.environ.get("UCODESYNC_CACHE", "/var/cache/ucodesync-tests"), "vm", "build")
        if not os.path.exists(os.path.join(directory, "build.ninja")):
            subprocess.run(["meson", "setup", directory, SOURCE], stdout=subprocess.DEVNULL, check=True)
    if subprocess.run(["ninja", "--quiet", "-C", directory, "tests/fixtures/mkfixture"], stdout=subprocess.DEVNULL).returncode != 0:
        raise Failed("mkfixture does not build; see ninja -C " + directory)
    return directory

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines on which nothing can be loaded late, boots that come up older than what was loaded, and loads by others."""

import subprocess
import time

from cases import check, equal
from table import ANY, MINREV, blockers, machine, put, row, rows
from world import SHUT, configuration

SIGNATURE, PLATFORM, OLD, NEW = 0x50657, 0x80, 0x41C, 0x424
RELEASE = "5.15.0-100.el9uek.x86_64"
IMAGE = f"boot/initramfs-{RELEASE}.img"
LATE = machine(SIGNATURE, PLATFORM, OLD, f"--release={RELEASE}")
WAITING = machine(SIGNATURE, PLATFORM, OLD, f"--release={RELEASE}", config=configuration(window=SHUT, apply="Trust=any"))


def image(w, revision):
    return w.fixture(IMAGE, f"--signature={SIGNATURE:#x}", f"--mask={PLATFORM:#x}", f"--revision={revision:#x}", "--cpio")


def reboot(w, revision=OLD):
    """In order; the clock of the file system counts in hundredths."""
    if w.daemon:
        w.stop_daemon()
    time.sleep(1.1)
    w.sim("reboot", f"{revision:#x}")
    w.start_daemon()


def advises(w, text):
    w.until(lambda: any(text in s for s in w.get("Advice")), f"Advice to say {text!r}: {w.get('Advice')}")


# 12: needrestart sees the old revision again after the reboot that was to bring the new one

REBUILD = f"rebuild the initramfs (dracut -f --kver {RELEASE}), or each boot does"
ADVISORY = machine(SIGNATURE, PLATFORM, OLD, f"--release={RELEASE}", "--no-reload")


@rows(12, [("as reported: the initramfs was not made afresh", LATE, OLD, f"this boot fell back to {OLD:#x}: /{IMAGE} has {OLD:#x} only; {REBUILD}", 0),
           ("the initramfs has one between", LATE, 0x420, f"this boot fell back to {OLD:#x}: /{IMAGE} has 0x420 only; {REBUILD}", 0),
           ("the initramfs has nothing for it", LATE, 0, f"this boot fell back to {OLD:#x}: /{IMAGE} has none for this CPU; {REBUILD}", 0),
           ("no initramfs is found", LATE, None, "", 0),
           ("the initramfs has it, and was not taken", LATE, NEW, "early loading does not work", 1)])
def old_again_after_a_reboot(w, early, says, broken):
    if early:
        image(w, early)
    elif early == 0:
        w.fixture(IMAGE, "--signature=0x50654", "--mask=0x1", "--cpio")
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")
    if early == OLD:
        advises(w, f"the next boot falls back to {OLD:#x}; rebuild the initramfs (dracut -f --kver {RELEASE})")
    w.configure(configuration(window=SHUT, apply="Trust=any"))
    reboot(w)
    equal("State", (w.get("State"), w.get("RunningRevision"), w.get("CandidateRevision")), ("pending", OLD, NEW))
    equal("EarlyRevision", w.get("EarlyRevision"), early or 0)
    if says:
        advises(w, says)
    else:
        check(not any("fell back" in s for s in w.get("Advice")), f"Advice is {w.get('Advice')}")
    equal("boots", f"early-boots {broken} " in (w.root / "var/lib/ucodesync/state").read_text(), True)
    # once loaded it is loaded, and not again in a circle
    w.reload(ANY)
    w.until_property("State", "current")
    time.sleep(2)
    equal("writes", len(w.writes()), 2)
    check(not any("fell back" in s for s in w.get("Advice")), f"Advice is {w.get('Advice')}")


@rows(12, [("refused", machine(SIGNATURE, PLATFORM, OLD, f"--release={RELEASE}", "--answer=ENOENT"), "refused"),
           ("failed on the CPUs", machine(SIGNATURE, PLATFORM, OLD, f"--release={RELEASE}", "--fail-cpus=0-3"), "io-error"),
           ("malformed to this kernel", machine(SIGNATURE, PLATFORM, OLD, f"--release={RELEASE}", "--answer=EBADFD"), "malformed")])
def no_endless_retry(w, result):
    """What failed with these bytes is not tried again in the next boot, nor in the one after it."""
    image(w, OLD)
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", result)
    w.until_property("State", "failed")
    for _ in range(2):
        reboot(w)
        w.call("Check")
        time.sleep(2)
        equal("State", (w.get("State"), w.get("RunningRevision"), w.get("CandidateRevision")), ("failed", OLD, NEW))
        equal("BlockedBy", w.get("BlockedBy")[0], "rejected")
        equal("writes", len(w.writes()), 1)
    equal("entries", len(w.history()), 1)
    advises(w, "a reboot does not bring it before the initramfs is rebuilt")


@row(12, **ADVISORY)
def nothing_but_reboots(w):
    """Where nothing can be loaded late each reboot is in vain until the initramfs is made afresh, and that is what is said."""
    image(w, OLD)
    put(w, SIGNATURE, PLATFORM, NEW)
    for _ in range(3):
        w.until_property("RebootRequired", True)
        advises(w, f"{NEW:#x} is on disk, and /{IMAGE} has {OLD:#x} only: a reboot does not bring it before the initramfs is rebuilt")
        check(not any("fell back" in s for s in w.get("Advice")), f"Advice is {w.get('Advice')}")
        reboot(w)
    image(w, NEW)
    reboot(w, NEW)
    equal("State", (w.get("RebootRequired"), w.get("RunningRevision"), w.get("Advice")), (False, NEW, []))
    equal("writes", w.writes(), [])


# 13: a guest's revision is the hypervisor's invention

@rows(13, [(f"{name}, {revision:#x}", machine(SIGNATURE, PLATFORM, revision, "--no-microcode-dir", "--hypervisor"))
           for name, revision in (("as reported", 0x1), ("as reported, too", 0xFFFFFFFF), ("the host's own", OLD))])
def guests_are_not_outdated(w):
    image(w, NEW)
    put(w, SIGNATURE, PLATFORM, NEW)
    w.call("Check")
    equal("Support", (w.get("Support"), w.get("SupportReason"), w.get("State")), ("advisory", "virtual-machine", "unsupported"))
    equal("RebootRequired", w.get("RebootRequired"), False)
    equal("Advice", w.get("Advice"), [])
    equal("writes", w.writes(), [])
    check("error" not in w.journal().lower(), "it is no error")


@row(13, **machine(SIGNATURE, PLATFORM, OLD, "--hypervisor"))
def guests_with_a_loader_load(w):
    """Absence is not inferred from the hypervisor bit."""
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")


# 14: not x86, or an x86 that says little

CPUINFO = {
    "as reported, ARM": "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
                        "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n",
    "RISC-V": "processor\t: 0\nhart\t\t: 2\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: sifive,u74-mc\n\n",
    "IBM Z": "vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3033.00\nprocessor 0: version = FF,  identification = 2733E8,  machine = 2964\n",
    "nothing at all": "",
}


@rows(14, [(name, dict(plain=True, start=False, config=MINREV), text) for name, text in CPUINFO.items()])
def not_x86(w, text):
    (w.root / "proc/sys/kernel/random").mkdir(parents=True)
    (w.root / "proc/sys/kernel/random/boot_id").write_text("8b9cf1d2-6d5c-4f8e-9a43-0b6f4d0f7c11\n")
    (w.root / "proc/cpuinfo").write_text(text)
    (w.root / "sys/devices/system/cpu").mkdir(parents=True)
    for name in ("online", "present"):
        (w.root / "sys/devices/system/cpu" / name).write_text("0-1\n")
    w.start_daemon()
    equal("Support", (w.get("Support"), w.get("SupportReason"), w.get("State")), ("advisory", "architecture", "unsupported"))
    equal("RebootRequired", w.get("RebootRequired"), False)
    for _ in range(3):
        w.call("Check")
    noise = [line for line in w.journal().splitlines() if any(word in line for word in ("cannot", "expected", "unknown format", "invalid"))]
    equal("complaints", [line for line in noise if "Updates cannot be loaded now" not in line], [])


# 18: EROFS, and why

@row(18, **machine(SIGNATURE, PLATFORM, OLD, "--container=lxc"))
def in_a_container(w):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("CandidateRevision", NEW)
    equal("Support", (w.get("Support"), w.get("SupportReason")), ("advisory", "container"))
    equal("RebootRequired", w.get("RebootRequired"), False)
    equal("writes", w.writes(), [])


@row(18, **LATE)
def in_a_sandbox_without_the_path(w):
    """ProtectKernelTunables= without ReadWritePaths=: said beforehand, with what would help."""
    w.stop_daemon()
    place = w.root / "sys/devices/system/cpu/microcode"
    subprocess.run(["mount", "--bind", place, place], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        w.start_daemon()
        put(w, SIGNATURE, PLATFORM, NEW)
        w.until_property("CandidateRevision", NEW)
        equal("SupportReason", w.get("SupportReason"), "read-only")
        check("ReadWritePaths=" in blockers(w)["unsupported"], f"the sentence is {blockers(w)['unsupported']}")
        equal("writes", w.writes(), [])
        w.stop_daemon()
    finally:
        subprocess.run(["umount", place], check=True)


@rows(18, [(e, machine(SIGNATURE, PLATFORM, OLD, f"--refuse-open={e}")) for e in ("EROFS", "EACCES", "EPERM")])
def at_the_open(w):
    """What no look beforehand tells: not-permitted, once."""
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "not-permitted")
    time.sleep(2)
    equal("State", w.get("State"), "failed")
    equal("entries", len(w.history()), 1)


# 24: Xen

@rows(24, [("as reported, the control domain", machine(SIGNATURE, PLATFORM, OLD, "--hypervisor-type=xen")),
           ("a PV guest", machine(SIGNATURE, PLATFORM, OLD, "--hypervisor-type=xen", "--hypervisor-guest-type=PV"))])
def under_xen(w):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("CandidateRevision", NEW)
    equal("SupportReason", w.get("SupportReason"), "xen")
    check("xen-ucode" in blockers(w)["unsupported"], f"the sentence is {blockers(w)['unsupported']}")
    equal("RebootRequired", w.get("RebootRequired"), False)
    equal("writes", w.writes(), [])


@row(24, **machine(SIGNATURE, PLATFORM, OLD, "--hypervisor-type=xen", "--hypervisor-guest-type=HVM"))
def an_hvm_guest_with_a_loader(w):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")


# 27: loaded late at each boot, as early loading never works

@row(27, **LATE)
def late_at_each_boot(w):
    """Twice is enough: then somebody has to look at it. One boot that comes up right makes it good."""
    image(w, NEW)
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")
    reboot(w)
    w.until_property("State", "current")  # the first time it is loaded again
    equal("writes", len(w.writes()), 2)
    check("1 in a row" in w.journal(), "the first boot was not noticed")
    w.restart_daemon()
    reboot(w)
    w.until(lambda: "early-loading-broken" in blockers(w), "early-loading-broken")
    time.sleep(3)
    equal("writes", len(w.writes()), 2)
    check("2 boots" in blockers(w)["early-loading-broken"], f"the sentence is {blockers(w)['early-loading-broken']}")
    reboot(w, NEW)
    equal("State", w.get("State"), "current")
    check("early-loading-broken" not in w.get("BlockedBy"), "it is still held against it")
    reboot(w)
    w.until_property("State", "current")
    equal("writes", len(w.writes()), 3)


@row(27, **LATE)
def an_image_that_lacks_it_is_no_broken_loader(w):
    image(w, OLD)
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")
    for n in range(2, 5):
        reboot(w)
        w.until_property("State", "current")
        equal("writes", len(w.writes()), n)


# 38: a package's script, a unit and a tmpfiles line load beside the daemon

CULPRITS = {
    "as reported, the package": ("usr/libexec/microcode_ctl/reload_microcode", "#!/bin/bash\n", "microcode_ctl", "exclude=microcode_ctl"),
    "its service": ("etc/systemd/system/basic.target.wants/microcode.service", "[Service]\n", "microcode.service", "systemctl mask microcode.service"),
    "a tmpfiles line": ("usr/lib/tmpfiles.d/ucode.conf", "w /sys/devices/system/cpu/microcode/reload - - - - 1\n", "/usr/lib/tmpfiles.d/ucode.conf",
                        "ln -s /dev/null /etc/tmpfiles.d/ucode.conf"),
    "another distribution's package": ("var/lib/dpkg/info/intel-microcode.postinst", "echo 1 >/sys/devices/system/cpu/microcode/reload\n", "intel-microcode",
                                       "apt-mark hold"),
}


@rows(38, [(name, dict(WAITING, start=False), *culprit) for name, culprit in CULPRITS.items()])
def someone_else_loads(w, path, text, name, mask):
    target = w.root / path
    target.parent.mkdir(parents=True)
    target.write_text(text)
    if path.endswith("microcode.service"):
        (w.root / "usr/lib/systemd/system").mkdir(parents=True)
        (w.root / "usr/lib/systemd/system/microcode.service").write_text(text)
    w.start_daemon()
    advises(w, name)
    check(name in w.journal() and mask in w.journal(), "it is not named beforehand")
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("State", "pending")
    w.sim("external", f"{NEW:#x}")
    w.call("Check")
    entry = w.history()[0]
    equal("entry", (entry["Result"], entry["OldRevision"], entry["NewRevision"]), ("external", OLD, NEW))
    warning = next(line for line in w.journal().splitlines() if "Somebody else" in line)
    check(name in warning and mask in warning, f"the warning is {warning}")
    equal("State", w.get("State"), "current")

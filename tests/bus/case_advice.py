# SPDX-License-Identifier: LGPL-2.1-or-later
"""The next boot, machines that only advise, and who else loads: EarlyRevision, RebootRequired, Advice, and the sign for the distribution."""

import os
import subprocess
import time

from cases import AMD, ANY_TRUST, INTEL, INTEL_FILE, NEW, OLD, amd, case, check, equal, intel, table
from world import BUILD, SHUT, configuration

RELEASE = "6.1.0-13-amd64"
IMAGE = f"boot/initrd.img-{RELEASE}"
HERE = INTEL + [f"--release={RELEASE}"]
ADVISORY = HERE + ["--no-reload"]
TELL = configuration(extra="[Advise]\nRebootRequiredFile=yes")
AMD_HERE = AMD + [f"--release={RELEASE}"]
AMD_OLD, AMD_NEW, AMD_CPU = 0x08301081, 0x08301090, ("--vendor=amd", "--signature=0x830f10")


def image(w, revision, path=IMAGE, vendor=(), before_boot=False, corrupt=()):
    """An initramfs with this at its head, and something compressed behind it. It arrives by rename."""
    rest = w.top / "rest"
    rest.write_bytes(b"\x1f\x8b\x08" + bytes(range(1, 256)) * 40)
    options = vendor or ("--signature=0x50654", "--mask=0x1", "--min-revision=0x2000030")
    w.fixture(path, *options, f"--revision={revision:#x}", "--cpio", f"--then={rest}", *corrupt)
    return w.root / path


def advice(w):
    return w.get("Advice")


def advises(w, text):
    w.until(lambda: any(text in s for s in advice(w)), f"Advice to say {text!r} (it is {advice(w)})")


def sign(w):
    return w.root / "run/ucodesync/reboot-required"


# what the next boot runs

@case(sim=HERE, config=configuration(window=SHUT))
def the_early_image_is_found_and_followed(w):
    """None, then one, then another: found when they appear, without anybody asking, and signalled."""
    equal("EarlyRevision", (w.get("EarlyRevision"), w.get("EarlyPath")), (0, ""))
    (w.root / "boot").mkdir()
    w.call("Check")
    w.watch()
    image(w, OLD)
    w.until_property("EarlyRevision", OLD)
    equal("EarlyPath", w.get("EarlyPath"), "/" + IMAGE)
    equal("RebootRequired", w.get("RebootRequired"), False)
    image(w, OLD - 8)
    w.until_property("EarlyRevision", OLD - 8)
    (w.root / IMAGE).unlink()
    w.until_property("EarlyRevision", 0)
    changes = [s["payload"]["data"][1]["EarlyRevision"]["data"] for s in w.signals("PropertiesChanged") if "EarlyRevision" in s["payload"]["data"][1]]
    equal("signals", changes, [OLD, OLD - 8, 0])


@table([("another vendor's", dict(sim=HERE), AMD_CPU, AMD_NEW, (), ""),
        ("corrupt", dict(sim=HERE), (), NEW, ("--corrupt=body-bit",), "The early loader takes nothing from"),
        ("not for this CPU", dict(sim=HERE), ("--signature=0x906eb", "--mask=0x2"), 0x200, (), "")])
def heads_with_nothing_for_this_machine(w, vendor, revision, corrupt, says):
    path = image(w, revision, vendor=vendor, corrupt=corrupt)
    w.call("Check")
    equal("EarlyRevision", (w.get("EarlyRevision"), w.get("EarlyPath")), (0, "/" + IMAGE))
    check(not says or any(says in s for s in advice(w)), f"Advice is {advice(w)}")
    equal("RebootRequired", w.get("RebootRequired"), False)
    path.write_bytes(path.read_bytes()[:700])  # in place, and short
    w.call("Check")
    equal("EarlyRevision", w.get("EarlyRevision"), 0)
    equal("State", w.get("State"), "current")


@case(sim=HERE)
def an_image_of_gigabytes(w):
    """Sparse: reading more than the head would take seconds, and the daemon counts what it reads."""
    path = image(w, OLD)
    os.truncate(path, 64 << 30)

    def read():
        return int(dict(line.split(": ") for line in open(f"/proc/{w.daemon.pid}/io").read().splitlines())["rchar"])
    before = read()
    w.call("Check")
    equal("EarlyRevision", w.get("EarlyRevision"), OLD)
    check(read() - before < 4 << 20, f"{read() - before} bytes were read")


@case(sim=HERE, config=configuration(extra="[Early]\nImagePath=/efi/entry/%v/initrd"))
def configured_images(w):
    image(w, NEW)
    image(w, OLD, path=f"efi/entry/{RELEASE}/initrd")
    w.call("Check")
    equal("EarlyRevision", (w.get("EarlyRevision"), w.get("EarlyPath")), (OLD, f"/efi/entry/{RELEASE}/initrd"))
    w.reload(configuration())
    equal("EarlyRevision", (w.get("EarlyRevision"), w.get("EarlyPath")), (NEW, "/" + IMAGE))


@case(sim=HERE)
def another_kernel_has_another(w):
    image(w, OLD)
    image(w, NEW, path="boot/initrd.img-6.12.1-amd64")
    (w.root / "boot/vmlinuz-6.12.1-amd64").write_text("")
    w.call("Check")
    equal("EarlyRevision", w.get("EarlyRevision"), OLD)
    advises(w, f"Kernel 6.12.1-amd64, should the boot loader take it, brings {NEW:#x}")


@case(sim=HERE)
def idle_reads_nothing(w):
    image(w, OLD)
    w.call("Check")
    before = open(f"/proc/{w.daemon.pid}/io").read()
    time.sleep(3)
    equal("what an idle daemon has read and written", open(f"/proc/{w.daemon.pid}/io").read(), before)


# after a load

@case(sim=HERE)
def a_loaded_revision_that_the_image_lacks(w):
    """A warning, once; gone when the image is made afresh."""
    image(w, OLD)
    w.call("Check")
    equal("Advice", advice(w), [])
    intel(w)
    w.until_property("LastResult", "success")
    says = f"{NEW:#x} was loaded late, and /{IMAGE} has {OLD:#x} only: the next boot falls back to {OLD:#x}; rebuild the initramfs (update-initramfs -u -k {RELEASE})"
    advises(w, says)
    for _ in range(3):
        w.call("Check")
    equal("said", w.journal().count(says), 1)
    equal("MitigationsNeedReboot", w.get("MitigationsNeedReboot"), True)
    equal("RebootRequired", w.get("RebootRequired"), False)
    image(w, NEW)
    w.until_property("EarlyRevision", NEW)
    equal("Advice", advice(w), [])


@case(sim=HERE)
def an_image_without_microcode(w):
    (w.root / "boot").mkdir()
    (w.root / IMAGE).write_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 500)
    intel(w)
    w.until_property("LastResult", "success")
    advises(w, f"/{IMAGE} has none for this CPU: the next boot falls back to {OLD:#x}")


# a reboot

@table([
    ("kernel-option", dict(sim=AMD_HERE + ["--no-reload"]), True),
    ("disabled-by-command-line", dict(sim=AMD_HERE + ["--no-microcode-dir", "--cmdline=quiet dis_ucode_ldr"]), True),
    ("virtual-machine", dict(sim=AMD_HERE + ["--no-microcode-dir", "--hypervisor"]), False),
    ("no-cpu-driver", dict(sim=AMD_HERE + ["--no-microcode-dir"]), False),
    ("container", dict(sim=AMD_HERE + ["--container=docker"]), False),
    ("xen", dict(sim=AMD_HERE + ["--hypervisor-type=xen"]), False),
])
def machines_that_only_advise(w, wanted):
    """The candidate is named on each; a reboot is asked for where this machine's own boot decides. AMD, for which nothing but the signature counts: an Intel
    CPU's platform is not to be known where there is no driver."""
    reason = w.get("SupportReason")
    image(w, AMD_OLD, vendor=AMD_CPU)
    amd(w, revision=AMD_NEW)
    w.until_property("CandidateRevision", AMD_NEW)
    equal("State", (w.get("State"), w.get("Support")), ("unsupported", "advisory"))
    equal("RebootRequired", w.get("RebootRequired"), wanted)
    equal("said once", w.journal().count(f"{AMD_NEW:#x} takes a reboot"), int(wanted))
    if wanted:
        advises(w, "a reboot does not bring it before the initramfs is rebuilt")
        entry = w.entries("takes a reboot")[0]
        equal("fields", (entry["OLD_REVISION"], entry["NEW_REVISION"]), (f"{AMD_OLD:#x}", f"{AMD_NEW:#x}"))
    else:
        equal("Advice", advice(w), [])
    w.refused("Apply", "t", 255 & ~32)
    equal("SupportReason", w.get("SupportReason"), reason)
    equal("writes", w.writes(), [])


@case(sim=HERE)
def a_reload_file_that_is_read_only(w):
    w.stop_daemon()
    p = subprocess.run(["setpriv", "--bounding-set=-all", "true"], capture_output=True)
    check(p.returncode == 0, "setpriv is not there")
    # as the sandbox does it where ReadWritePaths= is missing: the same tree, mounted read-only
    place = w.root / "sys/devices/system/cpu/microcode"
    subprocess.run(["mount", "--bind", place, place], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        w.start_daemon()
        equal("SupportReason", w.get("SupportReason"), "read-only")
        intel(w)
        w.until_property("CandidateRevision", NEW)
        equal("RebootRequired", w.get("RebootRequired"), True)
        w.stop_daemon()
    finally:
        subprocess.run(["umount", place], check=True)
    w.start_daemon()
    equal("Support", w.get("Support"), "late-load")
    w.until_property("LastResult", "success")


@case(sim=HERE, config=configuration(window=SHUT))
def late_loading_needs_no_reboot_unless_it_may_not(w):
    image(w, OLD)
    intel(w)
    w.until_property("State", "pending")
    equal("waiting for a window", w.get("RebootRequired"), False)
    image(w, NEW)
    w.until_property("EarlyRevision", NEW)
    equal("in the image, too", w.get("RebootRequired"), False)
    intel(w, minimum=0)
    w.until(lambda: "minrev" in w.get("BlockedBy"), "minrev to block")
    equal("without a minimum revision", w.get("RebootRequired"), True)
    w.until_says("takes a reboot")
    intel(w)
    w.until(lambda: "minrev" not in w.get("BlockedBy"), "minrev to be gone")
    equal("with one again", w.get("RebootRequired"), False)
    (w.root / INTEL_FILE).unlink()
    w.until_property("State", "current")
    equal("in the image alone", w.get("RebootRequired"), True)


@case(sim=AMD_HERE + ["--no-reload"])
def amd_advises_too(w):
    image(w, AMD_NEW, vendor=AMD_CPU)
    amd(w, revision=AMD_NEW)
    w.until_property("CandidateRevision", AMD_NEW)
    w.until_property("EarlyRevision", AMD_NEW)
    equal("RebootRequired", w.get("RebootRequired"), True)
    equal("Advice", advice(w), [])


# the distribution's file

@case(sim=ADVISORY, config=TELL)
def the_distribution_is_told(w):
    """Not before the image has it, and not longer than it is so."""
    image(w, OLD)
    intel(w)
    w.until_property("RebootRequired", True)
    check(not sign(w).exists(), "told, and the image lacks it")
    image(w, NEW)
    w.until(sign(w).exists, "the sign")
    equal("its lines", sign(w).read_text().splitlines(), ["*** System restart required ***", "intel-microcode", f"CPU microcode {NEW:#x}, {OLD:#x} runs"])
    w.restart_daemon()
    check(sign(w).exists(), "gone after a restart")
    w.reload(configuration())
    check(not sign(w).exists(), "still told without RebootRequiredFile=")
    w.reload(TELL)
    check(sign(w).exists(), "not told again")
    w.stop_daemon()
    time.sleep(1.1)
    w.sim("reboot", f"{NEW:#x}")
    w.start_daemon()
    equal("RebootRequired", w.get("RebootRequired"), False)
    check(not sign(w).exists(), "told after the reboot")


@case(sim=ADVISORY, config=TELL)
def a_reboot_in_vain_is_not_followed_by_another(w):
    """The image had it before the boot, which came up old: nobody is told to reboot again, people are told why."""
    image(w, NEW)
    intel(w)
    w.until(sign(w).exists, "the sign")
    w.stop_daemon()
    time.sleep(1.1)
    w.sim("reboot")
    w.start_daemon()
    equal("RebootRequired", w.get("RebootRequired"), True)
    check(not sign(w).exists(), "told to reboot again and again")
    advises(w, "early loading does not work")


@case(sim=ADVISORY)
def nobody_is_told_by_default(w):
    image(w, NEW)
    intel(w)
    w.until_property("RebootRequired", True)
    w.until_property("EarlyRevision", NEW)
    check(not sign(w).exists(), "told without RebootRequiredFile=")


# who else loads

LINE = "w /sys/devices/system/cpu/microcode/reload - - - - 1\n"


def furnish(w):
    for path, text in (("usr/lib/systemd/system/microcode.service", "[Service]\n"), ("usr/lib/tmpfiles.d/microcode.conf", LINE),
                       ("usr/libexec/microcode_ctl/reload_microcode", "#!/bin/bash\n")):
        (w.root / path).parent.mkdir(parents=True, exist_ok=True)
        (w.root / path).write_text(text)
    wants = w.root / "etc/systemd/system/basic.target.wants"
    wants.mkdir(parents=True)
    (wants / "microcode.service").symlink_to("/usr/lib/systemd/system/microcode.service")


@case(sim=HERE, start=False)
def culprits_are_named_beforehand(w):
    """At the start, in Advice, and in the warning about a load of theirs; each once, until it is masked."""
    furnish(w)
    w.start_daemon()
    names = ("microcode.service is enabled", "/usr/lib/tmpfiles.d/microcode.conf", "The package microcode_ctl")
    for name in names:
        advises(w, name)
        equal(f"said of {name}", w.journal().count(name), 1)
    for _ in range(3):
        w.call("Check")
    equal("said again", w.journal().count("Loads that this daemon has no say in"), len(names))
    w.sim("external", "0x2000050")
    w.call("Check")
    warning = next(line for line in w.journal().splitlines() if "Somebody else had the kernel load" in line)
    check(all(name in warning for name in names) and "systemctl mask microcode.service" in warning, f"the warning is {warning}")
    equal("result", w.history()[0]["Result"], "external")

    (w.root / "etc/systemd/system/microcode.service").symlink_to("/dev/null")
    (w.root / "etc/tmpfiles.d").mkdir()
    (w.root / "etc/tmpfiles.d/microcode.conf").symlink_to("/dev/null")
    w.call("Check")
    equal("masked ones", [s for s in advice(w) if names[0] in s or names[1] in s], [])
    (w.root / "etc/tmpfiles.d/microcode.conf").unlink()
    w.call("Check")
    equal("one that is back", w.journal().count("tmpfiles.d/microcode.conf has the kernel load"), 3)


@case(sim=ADVISORY, start=False)
def where_nothing_can_be_loaded_there_are_no_culprits(w):
    furnish(w)
    w.start_daemon()
    w.call("Check")
    equal("Advice", advice(w), [])
    equal("said", w.journal().count("no say in"), 0)


# ucodectl shows it

def ctl(w, *arguments):
    return subprocess.run([BUILD / "src/ctl/ucodectl", *arguments], text=True, capture_output=True, env=w.environment).stdout


@case(sim=HERE, start=False, config=ANY_TRUST)
def status_shows_it(w):
    furnish(w)
    image(w, OLD)
    w.start_daemon()
    intel(w)
    w.until_property("LastResult", "success")
    out = " ".join(ctl(w, "status", f"--root={w.root}").split())
    for text in (f"Next boot {OLD:#010x}", "/" + IMAGE, "falls back to", "update-initramfs", "systemctl mask microcode.service", "Kernel says Vulnerable (old_microcode, by a list of its own, as of the boot 1d ago)"):
        check(text in out, f"status lacks {text!r}:\n{out}")
    check("systemctl mask microcode.service" in ctl(w, "explain"), "explain names no culprit")

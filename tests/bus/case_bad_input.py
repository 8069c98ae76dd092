# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bad input: one clear entry that names the file, the state stays, nothing is written, the daemon lives."""

import os
import shutil
import time

from cases import AMD, INTEL, INTEL_FILE, NEW, OLD, amd, case, check, equal, intel, table
from world import SHUT, configuration


def make_fifo(path):
    os.mkfifo(path)


def make_huge(path):
    with open(path, "wb") as f:
        f.truncate(64 << 20)


FILES = {
    "empty": lambda w, p: p.write_bytes(b""),
    "47 bytes": lambda w, p: p.write_bytes(b"\x01" * 47),
    "text": lambda w, p: p.write_text("<html>404</html>\n" * 100),
    "zeros": lambda w, p: p.write_bytes(bytes(4096)),
    "a container of the other vendor": lambda w, p: w.fixture(str(p.relative_to(w.root)), "--fixture=D"),
    "huge": lambda w, p: make_huge(p),
    "a FIFO": lambda w, p: make_fifo(p),
    "a directory": lambda w, p: p.mkdir(),
    "a link to itself": lambda w, p: p.symlink_to(p.name),
    "a link to nowhere": lambda w, p: p.symlink_to("/nowhere/at/all"),
    "a link out of the root": lambda w, p: p.symlink_to("/../../../../../../etc/passwd"),
    "a device": lambda w, p: os.mknod(p, 0o020666, os.makedev(1, 5)),
}
SILENT = {"a link to nowhere", "a link out of the root"}  # no file as far as the kernel is concerned


@table([(name, dict(sim=INTEL), make, name in SILENT) for name, make in FILES.items()])
def firmware_files(w, make, silent):
    make(w, w.root / INTEL_FILE)
    w.call("Check")
    w.call("Check")
    equal("State", w.get("State"), "current")
    equal("writes", w.writes(), [])
    if not silent:
        w.until_says("06-55-04")
        equal("said once", sum("not usable" in line for line in w.journal().splitlines()), 1)


@case(sim=INTEL)
def every_corruption(w):
    """Each corruption of an Intel file that the fixtures know: never a candidate, never a write."""
    import subprocess
    from world import BUILD
    listing = subprocess.run([BUILD / "tests/fixtures/mkfixture", "--list-corruptions"], text=True, capture_output=True, check=True).stdout
    names = [line.split()[0] for line in listing.splitlines() if line.split()[1:2] and line.split()[1] in ("intel", "either")]
    check(len(names) >= 8, f"only {names}")
    for name in names:
        table = ["--also=0x50653/1"] if name.startswith(("table-", "row-")) and name != "table-stub" else []
        intel(w, *table, f"--corrupt={name}")
        w.call("Check")
        candidate = w.get("CandidateRevision")
        check(candidate == 0, f"corruption '{name}' is a candidate: {candidate:#x}")
    equal("writes", w.writes(), [])
    equal("State", w.get("State"), "current")


@case(sim=INTEL, config=configuration(window=SHUT))
def a_good_file_goes_bad_while_pending(w):
    """What was pending stays, blocked, until the file is right again."""
    intel(w)
    w.until_property("State", "pending")
    intel(w, "--corrupt=body-bit")
    w.until(lambda: "refusal-predicted" in w.get("BlockedBy"), "the bad file to block")
    equal("State", w.get("State"), "pending")
    equal("CandidateRevision", w.get("CandidateRevision"), NEW)
    w.reload(configuration())
    time.sleep(2)
    equal("writes", w.writes(), [])
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=INTEL)
def replaced_while_it_is_read(w):
    """A file that keeps changing is not judged by halves; when it rests it is loaded."""
    for n in range(30):
        intel(w, f"--seed={n + 1}", "--size=524288")
    w.until_property("LastResult", "success")
    equal("writes", len(w.writes()), 1)


@case(sim=INTEL)
def directories_come_and_go(w):
    """Purged, replaced by a link, and back: the watch follows."""
    directory = w.root / "lib/firmware/intel-ucode"
    directory.rmdir()
    time.sleep(0.3)
    intel(w)
    w.until_property("LastResult", "success")
    (w.root / INTEL_FILE).unlink()
    directory.rmdir()
    (w.root / "opt/ucode").mkdir(parents=True)
    directory.symlink_to("/opt/ucode")
    time.sleep(0.3)
    w.fixture("opt/ucode/06-55-04", "--signature=0x50654", "--mask=0x1", "--revision=0x2000070", "--min-revision=0x2000030")
    w.until_property("RunningRevision", 0x2000070)


@case(sim=INTEL, config=configuration(window=SHUT))
def strangers_in_the_directory(w):
    """Files of other names are not read, and one that is foreign to this CPU is none of ours."""
    directory = w.root / "lib/firmware/intel-ucode"
    for name in ("list", "README", "06-55-04.initramfs", "06-55-04.dpkg-new", "06-55-4", "06-8F-08"):
        (directory / name).write_text("nonsense")
    w.fixture("lib/firmware/intel-ucode/06-9e-0b", "--fixture=A")
    w.call("Check")
    equal("State", w.get("State"), "current")
    check("not usable" not in w.journal(), "a stranger was read")


CONFIGURATIONS = {
    "no such key": ("[Schedule]\nWindwo=daily for 1h\n", "ucodesyncd.conf:2"),
    "no such section": ("[Shedule]\nRequire=all\n", "ucodesyncd.conf:"),
    "a bad window": ("[Schedule]\nWindow=Mon *-*-* 25:00 for 1h\n", "ucodesyncd.conf:2"),
    "no length": ("[Schedule]\nWindow=daily\n", "ucodesyncd.conf:2"),
    "no such zone": ("[Schedule]\nTimeZone=Nope/Zone\n", "ucodesyncd.conf:2"),
    "a bad share": ("[Load]\nThreshold=110%\n", "ucodesyncd.conf:2"),
    "a bad time": ("[Schedule]\nSettleSec=soon\n", "ucodesyncd.conf:2"),
    "a long line": ("[Schedule]\n# fine\nWindow=" + "Mon," * 80 + "Tue 02:00 for 1h\n", "ucodesyncd.conf:3"),
    "a key outside a section": ("Window=daily for 1h\n", "ucodesyncd.conf:1"),
    "a NUL byte": ("[Schedule]\nRequire=a\0ll\n", "ucodesyncd.conf"),
}


@table([(name, dict(sim=INTEL, config=text), says) for name, (text, says) in CONFIGURATIONS.items()])
def configuration_wrong_at_start(w, says):
    """The daemon answers, says file and line, and applies nothing until it is right."""
    w.until_says(says)
    equal("said once", w.journal().count("Configuration:"), 1)
    check("config-invalid" in w.get("BlockedBy"), f"BlockedBy is {w.get('BlockedBy')}")
    intel(w)
    w.call("Check")
    w.refused("Apply", "t", 255 & ~32, says="onfiguration")
    equal("writes", w.writes(), [])
    w.reload(configuration())
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(window=SHUT))
def configuration_wrong_at_reload(w):
    """The last good one stays."""
    start = w.get("NextWindowStartUSec")
    for text, says in CONFIGURATIONS.values():
        w.configure(text)
        w.refused("ReloadConfig", says=says)
        equal("NextWindowStartUSec", w.get("NextWindowStartUSec"), start)
        equal("BlockedBy", w.get("BlockedBy"), [])
    intel(w)
    w.until_property("State", "pending")


@case(sim=INTEL, config=configuration(window=SHUT), start=False)
def drop_ins(w):
    """In the order of their names; another suffix is warned about, never silently ignored."""
    w.configure("[Apply]\nTrust=any\n", "ucodesyncd.conf.d/50-trust.conf")
    w.configure("[Apply]\nTrust=approved\n", "ucodesyncd.conf.d/60-trust.conf")
    w.configure("[Apply]\nTrust=any\n", "ucodesyncd.conf.d/70-ignored.yaml")
    w.start_daemon()
    w.until_says("70-ignored.yaml")
    intel(w)
    w.until(lambda: "unapproved" in w.get("BlockedBy"), "the later drop-in to count")


# A machine of plain files, for what a kernel never does.

def machine(w, cpus=2, version="0x200003a\n", flags="0x1\n"):
    cpuinfo = "".join(f"processor\t: {n}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: x\nstepping\t: 4\n"
                      f"microcode\t: 0x200003a\nflags\t\t: fpu msr\n\n" for n in range(cpus))
    files = {"proc/cpuinfo": cpuinfo, "proc/stat": "cpu  10 0 10 100 0 0 0 0 0 0\n", "proc/loadavg": "0.00 0.00 0.00 1/100 1\n",
             "proc/cmdline": "quiet\n", "proc/sys/kernel/osrelease": "6.12.0\n", "proc/sys/kernel/random/boot_id": "0-0-0-0\n"}
    base = "sys/devices/system/cpu"
    for name in ("online", "present", "possible"):
        files[f"{base}/{name}"] = f"0-{cpus - 1}\n"
    for n in range(cpus):
        files[f"{base}/cpu{n}/microcode/version"] = version
        files[f"{base}/cpu{n}/microcode/processor_flags"] = flags
        files[f"{base}/cpu{n}/topology/core_id"] = f"{n}\n"
        files[f"{base}/cpu{n}/topology/physical_package_id"] = "0\n"
        files[f"{base}/cpu{n}/topology/thread_siblings_list"] = f"{n}\n"
    files[f"{base}/microcode/reload"] = ""
    for name, text in files.items():
        path = w.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


SYSFS = "sys/devices/system/cpu"
MACHINES = {
    "a version is empty": (f"{SYSFS}/cpu1/microcode/version", ""),
    "a version is garbage": (f"{SYSFS}/cpu1/microcode/version", "twelve\n"),
    "a version is binary": (f"{SYSFS}/cpu1/microcode/version", "\x00\x01\x02"),
    "a version is huge": (f"{SYSFS}/cpu1/microcode/version", "0x1" * 100000),
    "a version is gone": (f"{SYSFS}/cpu1/microcode/version", None),
    "flags are garbage": (f"{SYSFS}/cpu0/microcode/processor_flags", "x"),
    "flags are gone": (f"{SYSFS}/cpu0/microcode/processor_flags", None),
    "online is empty": (f"{SYSFS}/online", ""),
    "online is garbage": (f"{SYSFS}/online", "0-banana\n"),
    "online is gone": (f"{SYSFS}/online", None),
    "online is beyond all CPUs": (f"{SYSFS}/online", "0-99999999\n"),
    "present is gone": (f"{SYSFS}/present", None),
    "topology is gone": (f"{SYSFS}/cpu0/topology/core_id", None),
    "cpuinfo is empty": ("proc/cpuinfo", ""),
    "cpuinfo is garbage": ("proc/cpuinfo", "\xff\xfe" * 5000),
    "cpuinfo is gone": ("proc/cpuinfo", None),
    "stat is gone": ("proc/stat", None),
    "stat is garbage": ("proc/stat", "cpu banana\n"),
}


@table([(name, dict(plain=True, start=False, config=configuration(window=SHUT)), path, text) for name, (path, text) in MACHINES.items()])
def machines(w, path, text):
    machine(w)
    if text is None:
        (w.root / path).unlink()
    else:
        (w.root / path).write_text(text)
    w.start_daemon()
    intel(w)
    w.call("Check")
    check(w.get("State") in ("current", "pending", "unsupported"), f"State is {w.get('State')}")
    w.call("ListProcessors")
    w.call("Explain", "t", 0)
    equal("reload", (w.root / SYSFS / "microcode/reload").read_text(), "")
    machine(w)  # all is well again, and the daemon finds out
    w.call("Check")
    w.until_property("State", "pending")


@case(plain=True, start=False)
def a_kernel_that_says_success_and_does_nothing(w):
    """The revision is the judge: it failed, in the journal as on the bus, and is not tried again."""
    machine(w)
    w.start_daemon()
    intel(w)
    w.until_property("State", "pending")
    w.call("Apply", "t", 3)
    w.until_property("LastResult", "no-change")
    w.until_says("ended in 'no-change' (the kernel said success)")
    check("Microcode 0x200003a -> 0x200003a" not in w.journal(), "it is told as a load that succeeded")
    equal("State", w.get("State"), "failed")
    time.sleep(3)
    equal("entries", len(w.history()), 1)


@case(plain=True, start=False, config=configuration(window=SHUT))
def an_arm_machine(w):
    """Not x86: advisory, with no complaint about what it does not have."""
    machine(w)
    (w.root / "proc/cpuinfo").write_text("processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n\n")
    for directory in ("cpu0/microcode", "cpu1/microcode", "microcode"):
        shutil.rmtree(w.root / SYSFS / directory)
    w.start_daemon()
    equal("State", w.get("State"), "unsupported")
    equal("SupportReason", w.get("SupportReason"), "architecture")


@case(plain=True, start=False, config=configuration(window=SHUT))
def a_machine_that_is_not_there(w):
    """Neither sysfs nor procfs: the daemon says so and stays."""
    w.start_daemon()
    equal("State", w.get("State"), "unsupported")
    machine(w)
    intel(w)
    w.call("Check")
    w.until_property("State", "pending")

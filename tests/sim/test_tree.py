# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the machine looks like: topology and APIC ids, formats of files, CPUs that come and go, load, log, options that hide files."""

import errno
import os
import select
import struct
import subprocess
import threading
import time

from simtest import CPU, equal, rows, test


def cpuid(sim, cpu, leaf, subleaf=0):
    fd = os.open(sim.path("dev/cpu/%d/cpuid" % cpu), os.O_RDONLY)
    try:
        return struct.unpack("<4I", os.pread(fd, 16, subleaf << 32 | leaf))
    finally:
        os.close(fd)


def bits(n):
    return (n - 1).bit_length()


@rows([
    ("1", 1, 1, 1),
    ("2", 1, 1, 2),
    ("6, no power of two", 1, 3, 2),
    ("40", 2, 10, 2),
    ("72", 2, 18, 2),
    ("128, one thread a core", 2, 64, 1),
    ("4096", 16, 128, 2),
])
def topology(kit, sockets, cores, threads):
    """Against the rules written down once more: padded levels, first threads of all cores first, clusters of 16."""
    sim = kit.sim("--topology=%dx%dx%d" % (sockets, cores, threads))
    n = sockets * cores * threads
    equal("present", sim.read(CPU + "/present"), "0\n" if n == 1 else "0-%d\n" % (n - 1))
    equal("directories", len([d for d in os.listdir(sim.cpu("")) if d[3:].isdigit()]), n)
    ids = [int(s.split(":")[1]) for s in sim.read("proc/cpuinfo").splitlines() if s.startswith("apicid")]
    equal("records of cpuinfo", len(ids), n)
    equal("APIC ids are different", len(set(ids)), n)
    wanted = [(c // cores) << (bits(threads) + bits(cores)) | (c % cores) << bits(threads) | t
              for t in range(threads) for c in range(sockets * cores)]
    equal("APIC ids", ids, wanted)
    equal("clusters", len({i >> 4 for i in ids}), sockets * -(-((cores - 1 << bits(threads) | threads - 1) + 1) // 16)
          if bits(cores) + bits(threads) >= 4 else len({i >> 4 for i in wanted}))
    for cpu in {0, n // 2, n - 1}:
        core = cpu % (sockets * cores)
        siblings = sorted(core + t * sockets * cores for t in range(threads))
        t = CPU + "/cpu%d/topology/" % cpu
        equal("core_id", sim.read(t + "core_id"), "%d\n" % (core % cores))
        equal("package", sim.read(t + "physical_package_id"), "%d\n" % (core // cores))
        listed = sim.read(t + "thread_siblings_list").strip().replace("-", ",").split(",")
        equal("siblings", [int(s) for s in listed], siblings)
        equal("x2APIC id", cpuid(sim, cpu, 0xB)[3], ids[cpu])
        equal("thread level", cpuid(sim, cpu, 0xB, 0)[:3], (bits(threads), threads, 0x100))
        equal("core level", cpuid(sim, cpu, 0x1F, 1)[:3], (bits(threads) + bits(cores), threads * cores, 0x201))


@test
def topology_too_large(kit):
    r = subprocess.run([kit.program, "--topology=17x128x2", "--mount=/nonexistent"], capture_output=True, text=True, check=False)
    equal("exit status", r.returncode, 1)
    equal("reason", "topology" in r.stderr, True)


@test
def adjacent_threads(kit):
    sim = kit.sim("--topology=2x2x2", "--adjacent-threads")
    equal("siblings of 2", sim.read(CPU + "/cpu2/topology/thread_siblings_list"), "2-3\n")
    equal("mask of 2", sim.read(CPU + "/cpu2/topology/core_cpus"), "0c\n")
    equal("package of 5", sim.read(CPU + "/cpu5/topology/physical_package_id"), "1\n")


@test
def tsc_rate(kit):
    for hz in (2400000000, 2100000001, 3399999999):
        sim = kit.sim("--topology=1x1x1", "--tsc-hz=%d" % hz)
        denominator, numerator, crystal, _ = cpuid(sim, 0, 0x15)
        equal("rate", crystal * numerator // denominator, hz)
    amd = kit.sim("--vendor=amd", "--signature=0xa20f10", "--revision=0xa201010", "--topology=1x1x1")
    equal("AMD has no leaf 15h", cpuid(amd, 0, 0x15), (0, 0, 0, 0))


@test
def formats(kit):
    sim = kit.sim("--topology=2x2x2", "--isolated=2-3", "--nohz-full=3", "--hypervisor", "--realtime", "--hypervisor-type=xen",
                  "--bios-vendor=Dell Inc.", "--llc-kb=1024")
    files = {
        CPU + "/cpu0/microcode/version": "0x200003a\n",
        CPU + "/cpu0/microcode/processor_flags": "0x80\n",
        CPU + "/isolated": "2-3\n",
        CPU + "/nohz_full": "3\n",
        CPU + "/offline": "\n",
        CPU + "/cpu1/cache/index3/size": "1024K\n",
        CPU + "/cpu1/cache/index3/shared_cpu_list": "0-1,4-5\n",
        CPU + "/cpu1/cache/index3/level": "3\n",
        CPU + "/cpu1/cache/index3/type": "Unified\n",
        CPU + "/vulnerabilities/old_microcode": "Vulnerable\n",
        "sys/kernel/realtime": "1\n",
        "sys/hypervisor/type": "xen\n",
        "sys/devices/virtual/dmi/id/bios_vendor": "Dell Inc.\n",
        "sys/module/firmware_class/parameters/path": "\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        "proc/sys/kernel/osrelease": "7.3.4\n",
        "proc/sys/kernel/tainted": "0\n",
        "proc/19/comm": "migration/0\n",
        "proc/31000/comm": "migration/0\n",
    }
    equal("files", {f: sim.read(f) for f in files}, files)
    fields = sim.read("proc/25/stat").rsplit(")", 1)[1].split()
    equal("kernel thread", int(fields[6]) & 0x200000, 0x200000)
    equal("impostor", int(sim.read("proc/31000/stat").rsplit(")", 1)[1].split()[6]) & 0x200000, 0)
    equal("hypervisor", " hypervisor " in sim.read("proc/cpuinfo"), True)
    equal("hypervisor bit", cpuid(sim, 0, 1)[2] >> 31, 1)
    equal("mode of reload", oct(os.stat(sim.cpu("microcode/reload")).st_mode), "0o100200")
    odd = kit.sim("--topology=1x1x1", "--container=lxc", "--crash-kernel", "--pstore=Panic#1", "--sgx", "--hypervisor-guest-type=PV")
    equal("environment of PID 1", odd.read("proc/1/environ"), "HOME=/\0container=lxc\0")
    equal("crash kernel", odd.read("sys/kernel/kexec_crash_loaded"), "1\n")
    equal("pstore", {f: odd.read("sys/fs/pstore/" + f) for f in os.listdir(odd.path("sys/fs/pstore"))}, {"dmesg-efi-1": "Panic#1\n"})
    equal("SGX", os.path.exists(odd.path("dev/sgx_enclave")), True)
    equal("guest type", odd.read("sys/hypervisor/guest_type"), "PV\n")
    old = kit.sim("--kernel=6.1", "--topology=1x2x1")
    equal("nohz_full of old", old.read(CPU + "/nohz_full"), "  (null)\n")
    equal("old has no minrev", os.path.exists(old.path("sys/module/microcode/parameters/force_minrev")), False)
    forced = {kernel: kit.sim("--kernel=" + kernel, "--topology=1x1x1", "--force-minrev") for kernel in ("6.1", "6.12", "7.3")}
    parameter = "sys/module/microcode/parameters/force_minrev"
    equal("who has the parameter", [k for k, s in forced.items() if os.path.exists(s.path(parameter))], ["6.12"])
    equal("its value", forced["6.12"].read(parameter), "Y\n")
    equal("who says it on the command line", [k for k, s in forced.items() if "microcode=force_minrev" in s.read("proc/cmdline")], ["7.3"])
    equal("old has no old_microcode", os.path.exists(old.cpu("vulnerabilities/old_microcode")), False)


@rows([
    ("no reload", ("--no-reload",), True, False),
    ("no driver", ("--no-microcode-dir",), False, False),
    ("all", (), True, True),
])
def what_is_there(kit, options, driver, reload):
    sim = kit.sim("--topology=1x2x1", *options)
    equal("cpu0/microcode", os.path.exists(sim.cpu("cpu0/microcode/version")), driver)
    equal("listed", "microcode" in os.listdir(sim.cpu("cpu0")), driver)
    equal("reload", os.path.exists(sim.cpu("microcode/reload")), reload)
    equal("no hypervisor type", os.path.exists(sim.path("sys/hypervisor")), False)


@rows([("read reload", "microcode/reload", os.O_RDONLY), ("write a version", "cpu0/microcode/version", os.O_WRONLY)])
def permissions_hold_for_root(kit, name, flags):
    sim = kit.sim("--topology=1x2x1")
    try:
        os.close(os.open(sim.cpu(name), flags))
        raise AssertionError("opened")
    except PermissionError:
        pass


@test
def hotplug(kit):
    """Files of a CPU vanish with it, and descriptors do not come back with it."""
    sim = kit.sim("--topology=1x2x2")
    kept = os.open(sim.cpu("cpu3/microcode/version"), os.O_RDONLY)
    equal("read", os.pread(kept, 64, 0), b"0x200003a\n")
    equal("offline", sim.write_file(CPU + "/cpu3/online", "0"), "SUCCESS")
    equal("online", sim.read(CPU + "/online"), "0-2\n")
    equal("offline list", sim.read(CPU + "/offline"), "3\n")
    equal("cpu3", sorted(os.listdir(sim.cpu("cpu3"))), ["online"])
    equal("siblings of 1", sim.read(CPU + "/cpu1/topology/thread_siblings_list"), "1\n")
    equal("records", sim.read("proc/cpuinfo").count("processor\t:"), 3)
    equal("stat", sim.read("proc/stat").count("cpu"), 4)
    equal("its stopper stays", sim.read("proc/37/comm"), "migration/3\n")
    for what in ("while offline", "afterwards"):
        try:
            os.pread(kept, 64, 0)
            raise AssertionError("a descriptor lives " + what)
        except OSError as e:
            equal(what, e.errno, errno.ENODEV)
        equal("online again", sim.write_file(CPU + "/cpu3/online", "1\n"), "SUCCESS")
    os.close(kept)
    equal("cpu3", sim.read(CPU + "/cpu3/microcode/version"), "0x200003a\n")
    equal("cpu0 cannot", os.path.exists(sim.cpu("cpu0/online")), False)
    equal("a word", sim.write_file(CPU + "/cpu3/online", "off course"), "EINVAL")
    sim.send("offline", "0")
    equal("cpu0 by command", sim.read(CPU + "/online"), "1-3\n")


@test
def a_descriptor_reads_afresh(kit):
    sim = kit.sim("--topology=1x2x1")
    fd = os.open(sim.cpu("cpu1/microcode/version"), os.O_RDONLY)
    sim.send("set", "revision", "0x2000099", "1")
    equal("revision", os.pread(fd, 64, 0), b"0x2000099\n")
    os.close(fd)
    equal("others", sim.send("get", "revisions"), "0x200003a 0\n0x2000099 1")


@test
def cpuinfo_in_small_pieces(kit):
    sim = kit.sim("--topology=2x18x2")
    fd = os.open(sim.path("proc/cpuinfo"), os.O_RDONLY)
    pieces = b""
    while True:
        piece = os.read(fd, 333)
        if not piece:
            break
        pieces += piece
    os.close(fd)
    equal("whole", pieces.decode(), sim.read("proc/cpuinfo"))


def counters(sim):
    """The first line of stat, and the pressure's total before and after it."""

    def some():
        return int(sim.read("proc/pressure/cpu").splitlines()[0].rsplit("=", 1)[1]) / 1e6

    before = some()
    total = [int(n) for n in sim.read("proc/stat").splitlines()[0].split()[1:]]
    return total, before, some()


@rows([("idle", 0, 0, "auto"), ("busy", 80, 0, "auto"), ("guests", 60, 50, "5")])
def load(kit, percent, guest, pressure):
    """Shares of what went by, however long that was."""
    sim = kit.sim("--topology=1x2x2", "--load-percent=%d" % percent, "--guest-percent=%d" % guest,
                  "--pressure-percent=" + pressure)
    before, early, late = counters(sim)
    time.sleep(1.2)
    after, early_after, late_after = counters(sim)
    user, nice, system, idle, iowait, irq, softirq, steal, guests, _ = (a - b for a, b in zip(after, before))
    total = user + nice + system + idle + iowait + irq + softirq + steal
    equal("busy share", abs((user + system) / total - percent / 100) < 0.03, True)
    equal("guest share", abs(guests / total - guest / 100) < 0.03, True)
    seconds = total / 4 / 100
    stalled = seconds * (percent if pressure == "auto" else int(pressure)) / 100
    equal("pressure share", early_after - late - 0.03 < stalled < late_after - early + 0.03, True)
    equal("loadavg", sim.read("proc/loadavg").split()[0], "%.2f" % (4 * percent / 100))


@test
def load_changes(kit):
    sim = kit.sim("--topology=1x2x2")
    sim.send("set", "load-percent", "90")
    equal("loadavg", sim.read("proc/loadavg").split()[0], "3.60")
    equal("setting", sim.send("get", "load-percent"), "90")


@test
def no_pressure(kit):
    sim = kit.sim("--topology=1x1x1", "--psi=off")
    equal("file", os.path.exists(sim.path("proc/pressure/cpu")), False)
    sim.send("set", "psi", "unsupported")
    try:
        sim.read("proc/pressure/cpu")
        raise AssertionError("read")
    except OSError as e:
        equal("errno", e.errno, errno.EOPNOTSUPP)


@test
def kernel_log(kit):
    sim = kit.sim("--topology=1x1x1")
    fd = os.open(sim.path("dev/kmsg"), os.O_RDWR | os.O_NONBLOCK)
    first = os.read(fd, 8192).decode()
    priority, sequence, usec, rest = first.split(";")[0].split(",")
    equal("fields", (priority, sequence, usec.isdigit(), rest), ("5", "0", True, "-"))
    equal("end", first[-1], "\n")
    os.lseek(fd, 0, os.SEEK_END)
    try:
        os.read(fd, 8192)
        raise AssertionError("a record behind the end")
    except BlockingIOError:
        pass
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    equal("nothing to read", poll.poll(0), [])
    sim.send("log", "3", "mce: [Hardware Error]: \\ done")
    equal("something to read", len(poll.poll(10000)), 1)
    equal("new record", os.read(fd, 8192).decode().split(";", 1)[1], "mce: [Hardware Error]: \\x5c done\n")
    os.write(fd, b"<4>from user space\n")
    record = os.read(fd, 8192).decode()
    equal("a user's record", (record.split(",")[0], record.split(";", 1)[1]), ("12", "from user space\n"))
    os.lseek(fd, 0, os.SEEK_SET)
    equal("from the start", os.read(fd, 8192).decode(), first)
    try:
        os.read(fd, 8)
        raise AssertionError("half a record")
    except OSError as e:
        equal("too small", e.errno, errno.EINVAL)
    os.close(fd)


@test
def kernel_log_waits(kit):
    sim = kit.sim("--topology=1x1x1")
    fd = os.open(sim.path("dev/kmsg"), os.O_RDONLY)
    os.lseek(fd, 0, os.SEEK_END)
    got = []
    reader = threading.Thread(target=lambda: got.append(os.read(fd, 8192)))
    reader.start()
    sim.send("log", "6", "late news")
    reader.join(30)
    equal("record", got and got[0].split(b";", 1)[1], b"late news\n")
    os.close(fd)


@test
def reboot(kit):
    sim = kit.sim("--topology=1x2x1", "--boot-id=11111111-2222-4333-8444-555555555555")
    equal("boot id", sim.read("proc/sys/kernel/random/boot_id"), "11111111-2222-4333-8444-555555555555\n")
    sim.send("external", "0x200005e")
    sim.send("set", "tainted", "4")
    equal("revisions", sim.revisions(), [0x200005E] * 2)
    equal("log", sim.log()[-1], "revision: 0x200003a -> 0x200005e")
    sim.send("reboot")
    equal("revisions", sim.revisions(), [0x200003A] * 2)
    equal("log", sim.log(), ["Current revision: 0x0200003a"])
    equal("tainted", sim.tainted(), False)
    equal("another boot id", sim.read("proc/sys/kernel/random/boot_id") != "11111111-2222-4333-8444-555555555555\n", True)
    equal("uptime", float(sim.read("proc/uptime").split()[0]) < 600, True)
    sim.send("reboot", "0x2000050")
    equal("revisions", sim.revisions(), [0x2000050] * 2)


@rows([
    ("no setting", ("set", "nonsense", "1")),
    ("no command", ("nonsense",)),
    ("bad number", ("set", "load-percent", "101")),
    ("bad list", ("set", "fail-cpus", "1-")),
    ("only at start", ("set", "topology", "1x1x1")),
    ("no CPU", ("offline", "77")),
    ("the last CPU", ("offline", "0-3")),
])
def commands_that_fail(kit, words):
    sim = kit.sim("--topology=1x2x2")
    r = subprocess.run([kit.program, "--send=" + sim.socket, *words], capture_output=True, text=True, check=False)
    equal("exit status", r.returncode, 1)
    equal("says why", len(r.stderr) > 10, True)


@rows([
    ("no mount", ()),
    ("no such option", ("--mount=/tmp/x", "--nonsense")),
    ("no such subtree", ("--only=sys/firmware", "--mount=/tmp")),
    ("value missing", ("--mount=/tmp/x", "--topology")),
    ("bad topology", ("--mount=/tmp/x", "--topology=2x0x1")),
    ("AMD without a signature", ("--mount=/tmp/x", "--vendor=amd")),
    ("no CPU online", ("--mount=/tmp/x", "--topology=1x1x1", "--offline=0")),
])
def options_that_fail(kit, options):
    options = [o.replace("/tmp/x", kit.scratch) for o in options]
    r = subprocess.run([kit.program, *options], capture_output=True, text=True, check=False, timeout=60)
    equal("exit status", r.returncode, 1)
    equal("says why", r.stderr.startswith("ucodesim: "), True)


@test
def machine_check(kit):
    sim = kit.sim("--topology=1x2x1")
    sim.send("mce")
    line = [s for s in sim.read("proc/interrupts").splitlines() if "MCE" in s][0]
    equal("interrupts", line.split()[1:3], ["1", "1"])
    equal("log", len(sim.log("mce: [Hardware Error]: ")), 2)

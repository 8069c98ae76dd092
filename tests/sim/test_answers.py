# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a write to reload is answered: the table of the real kernels' answers, row by row, for both vendors and every generation.

The machine has 2 sockets of 2 cores of 2 threads; CPUs 4 to 7 are the second threads of cores 0 to 3."""

import os

from simtest import CPU, equal, rows, test

INTEL = ("--vendor=intel", "--signature=0x50654", "--platform=0x80", "--revision=0x200003a")
AMD = ("--vendor=amd", "--signature=0xa20f10", "--revision=0xa201010")
SMALL = ("--topology=2x2x2", "--cost-usec=200")
INTEL_FILE, AMD_FILE = "intel-ucode/06-55-04", "amd-ucode/microcode_amd_fam19h.bin"
OLD, NEW = 0x200003A, 0x200005E
AMD_OLD, AMD_NEW = 0xA201010, 0xA201030

MODERN, ANCIENT = ("7.3", "6.12"), ("6.1", "5.10")

UPDATE = ("--signature=50654", "--mask=80", "--revision=200005e", "--date=2019-07-01")
SAFE = UPDATE + ("--min-revision=200003a",)
UNSAFE_LINES = [
    "Late microcode loading without minimal revision check.",
    "You should switch to early loading, if possible.",
]
NO_MINREV = ["Unsafe microcode update: Microcode header does not specify a required min version"]
TOO_OLD = [
    "Unsafe microcode update: Current revision 0x200003a too old",
    "Current should be at 0x2000040 or higher. Use early loading instead",
]
LOADED = ["load: updated on 4 primary CPUs with 4 siblings", "revision: 0x200003a -> 0x200005e"]
CHECKSUM = ["Bad microcode data checksum, aborting."]
TRUNCATED = ["error! Bad data in microcode data file (truncated file?)"]
HEADER = ["error! Truncated or inaccessible header in microcode data file"]


def machine(kit, kernel, vendor, *options):
    sim = kit.sim("--kernel=" + kernel, *SMALL, *vendor, *options)
    sim.booted = len(sim.log())
    return sim


def after(kit, sim, answer, lines, revisions, tainted, text="1\n"):
    """One write, and all that can be seen of it."""
    before = len(sim.log())
    equal("answer", sim.reload(text), answer)
    equal("log", sim.log()[before:], lines)
    equal("revisions", sim.revisions(), revisions)
    equal("tainted", sim.tainted(), tainted)


def put(kit, sim, name, fixture, cut=None, append=None):
    data = b"" if fixture is None else kit.fixture(*fixture)
    data = data[:cut] + (append or b"")
    kit.install(sim, name, data)


ALL_OLD, ALL_NEW = [OLD] * 8, [NEW] * 8

# name, options, fixture (False: no file), bytes that are left of it, text, 7.3/6.12: answer, log, revisions, tainted
INTEL_MODERN = [
    ("updated, minimum revision met", (), SAFE, None, "1\n", "SUCCESS", LOADED, ALL_NEW, False),
    ("updated, without newline", (), SAFE, None, "1", "SUCCESS", LOADED, ALL_NEW, False),
    ("updated, base 16", (), SAFE, None, "0x1\n", "SUCCESS", LOADED, ALL_NEW, False),
    ("updated, no minimum revision", (), UPDATE, None, "1\n", "SUCCESS", NO_MINREV + UNSAFE_LINES + LOADED, ALL_NEW, True),
    ("updated, below minimum revision", (), UPDATE + ("--min-revision=2000040",), None, "1\n", "SUCCESS",
     TOO_OLD + UNSAFE_LINES + LOADED, ALL_NEW, True),
    ("another number", (), SAFE, None, "2\n", "EINVAL", [], ALL_OLD, False),
    ("zero", (), SAFE, None, "0\n", "EINVAL", [], ALL_OLD, False),
    ("another number, offline primary thread", ("--offline=1",), SAFE, None, "2\n", "EINVAL", [], [OLD, None] + [OLD] * 6, False),
    ("another number, no file", (), False, None, "3\n", "EINVAL", [], ALL_OLD, False),
    ("another number, bad file", (), SAFE, 47, "-1\n", "EINVAL", [], ALL_OLD, False),
    ("no number", (), SAFE, None, "load\n", "EINVAL", [], ALL_OLD, False),
    ("number with a rest", (), SAFE, None, "1 2\n", "EINVAL", [], ALL_OLD, False),
    ("no file", (), False, None, "1\n", "ENOENT", [], ALL_OLD, False),
    ("empty file", (), SAFE, 0, "1\n", "ENOENT", [], ALL_OLD, False),
    ("same revision", (), SAFE + ("--revision=200003a",), None, "1\n", "ENOENT", [], ALL_OLD, False),
    ("older revision", (), SAFE + ("--revision=2000039",), None, "1\n", "ENOENT", [], ALL_OLD, False),
    ("other signature", (), SAFE + ("--signature=50657",), None, "1\n", "ENOENT", [], ALL_OLD, False),
    ("other platform", (), SAFE + ("--mask=7f",), None, "1\n", "ENOENT", [], ALL_OLD, False),
    ("by the extended table", (), SAFE + ("--signature=50657", "--also=50654/80"), None, "1\n", "SUCCESS", LOADED, ALL_NEW, False),
    ("bad checksum", (), SAFE + ("--corrupt=body-bit",), None, "1\n", "EBADFD", CHECKSUM, ALL_OLD, False),
    ("truncated", (), SAFE, 1023, "1\n", "EBADFD", TRUNCATED, ALL_OLD, False),
    ("truncated header", (), SAFE, 47, "1\n", "EBADFD", HEADER, ALL_OLD, False),
    ("a good one, then a bad one", (), SAFE + ("--next", "--signature=50657", "--corrupt=body-bit"), None, "1\n", "EBADFD", CHECKSUM,
     ALL_OLD, False),
    ("a good one, then a stump", (), SAFE + ("--next",), 1024 + 20, "1\n", "EBADFD", HEADER, ALL_OLD, False),
    ("offline primary thread", ("--offline=1",), SAFE, None, "1\n", "EBUSY", ["CPU 1 not online, loading aborted"],
     [OLD, None] + [OLD] * 6, False),
    ("offline CPU 0", ("--offline=0",), SAFE, None, "1\n", "EBUSY", ["CPU 0 not online, loading aborted"],
     [None] + [OLD] * 7, False),
    ("offline primary thread, no file", ("--offline=1",), False, None, "1\n", "EBUSY",
     ["CPU 1 not online, loading aborted"], [OLD, None] + [OLD] * 6, False),
    ("offline primary thread, bad file", ("--offline=2",), SAFE, 47, "1\n", "EBUSY",
     ["CPU 2 not online, loading aborted"], [OLD, OLD, None] + [OLD] * 5, False),
    ("offline sibling", ("--offline=5",), SAFE, None, "1\n", "SUCCESS",
     ["load: updated on 4 primary CPUs with 3 siblings", LOADED[1]], [NEW] * 5 + [None] + [NEW] * 2, False),
    ("force_minrev, none in the file", ("--force-minrev",), UPDATE, None, "1\n", "ENOENT", NO_MINREV, ALL_OLD, False),
    ("force_minrev, unmet", ("--force-minrev",), UPDATE + ("--min-revision=2000040",), None, "1\n", "ENOENT", TOO_OLD, ALL_OLD,
     False),
    ("force_minrev, met", ("--force-minrev",), SAFE, None, "1\n", "SUCCESS", LOADED, ALL_NEW, False),
    ("some CPUs failed", ("--fail-cpus=1",), SAFE, None, "1\n", "EIO",
     ["load: updated on 3 primary CPUs with 3 siblings", "load incomplete. 2 CPUs timed out or failed", LOADED[1]],
     [NEW, OLD, NEW, NEW, NEW, OLD, NEW, NEW], True),
    ("a sibling failed", ("--fail-cpus=5",), SAFE, None, "1\n", "EIO",
     ["load: updated on 4 primary CPUs with 3 siblings", "load incomplete. 1 CPUs timed out or failed", LOADED[1]],
     [NEW] * 5 + [OLD] + [NEW] * 2, True),
    ("all CPUs failed", ("--fail-cpus=0-7",), SAFE, None, "1\n", "EIO", ["update failed: 8 CPUs failed 0 CPUs timed out"], ALL_OLD,
     False),
    ("a CPU timed out", ("--timeout-cpus=3",), SAFE, None, "1\n", "EIO",
     ["load: 1 CPUs timed out", "update failed: 0 CPUs failed 8 CPUs timed out"], ALL_OLD, False),
]

ATTEMPT = [
    "Attempting late microcode loading - it is dangerous and taints the kernel.",
    "You should switch to early loading, if possible.",
]
UPDATED = ["updated to revision 0x200005e, date = 2019-07-01"]
SUCCEEDED = ["Reload succeeded, microcode revision: 0x200003a -> 0x200005e"]

# name, options, fixture, bytes, text, answer, lines of 6.1, revisions, load began
INTEL_ANCIENT = [
    ("updated", (), UPDATE, None, "1\n", "SUCCESS", ATTEMPT + UPDATED + SUCCEEDED, ALL_NEW),
    ("another number", (), UPDATE, None, "2\n", "SUCCESS", [], ALL_OLD),
    ("zero", (), UPDATE, None, "0\n", "SUCCESS", [], ALL_OLD),
    ("another number, offline primary thread", ("--offline=1",), UPDATE, None, "2\n", "SUCCESS", [], [OLD, None] + [OLD] * 6),
    ("another number, bad file", (), UPDATE, 47, "2\n", "SUCCESS", [], ALL_OLD),
    ("no number", (), UPDATE, None, "load\n", "EINVAL", [], ALL_OLD),
    ("no file", (), False, None, "1\n", "SUCCESS", [], ALL_OLD),
    ("empty file", (), UPDATE, 0, "1\n", "SUCCESS", [], ALL_OLD),
    ("same revision", (), UPDATE + ("--revision=200003a",), None, "1\n", "SUCCESS", [], ALL_OLD),
    ("older revision", (), UPDATE + ("--revision=2000039",), None, "1\n", "SUCCESS", [], ALL_OLD),
    ("other signature", (), UPDATE + ("--signature=50657",), None, "1\n", "SUCCESS", [], ALL_OLD),
    ("other platform", (), UPDATE + ("--mask=7f",), None, "1\n", "SUCCESS", [], ALL_OLD),
    ("bad checksum", (), UPDATE + ("--corrupt=body-bit",), None, "1\n", "SUCCESS", CHECKSUM, ALL_OLD),
    ("truncated", (), UPDATE, 1023, "1\n", "SUCCESS", TRUNCATED, ALL_OLD),
    ("truncated header", (), UPDATE, 47, "1\n", "SUCCESS", HEADER, ALL_OLD),
    ("offline primary thread", ("--offline=1",), UPDATE, None, "1\n", "EINVAL",
     ["Not all CPUs online, aborting microcode update."], [OLD, None] + [OLD] * 6),
    ("offline sibling", ("--offline=5",), UPDATE, None, "1\n", "SUCCESS", ATTEMPT + UPDATED + SUCCEEDED,
     [NEW] * 5 + [None] + [NEW] * 2),
    ("force_minrev is not known", ("--force-minrev",), UPDATE, None, "1\n", "SUCCESS", ATTEMPT + UPDATED + SUCCEEDED, ALL_NEW),
    ("some CPUs failed", ("--fail-cpus=1,5",), UPDATE, None, "1\n", "EPERM",
     ATTEMPT + UPDATED + ["CPU1 update to revision 0x200005e failed", "Error reloading microcode on CPU 1",
                          "CPU5 update to revision 0x200005e failed",
                          "Reload failed, current microcode revision: 0x200005e"],
     [NEW, OLD, NEW, NEW, NEW, OLD, NEW, NEW]),
]


def spread(table, kernels, vendor):
    return [("%s %s %s" % (vendor, kernel, row[0]), kernel) + row[1:] for kernel in kernels for row in table]


@rows(spread(INTEL_MODERN, MODERN, "intel"))
def answer(kit, kernel, options, fixture, cut, text, wanted, lines, revisions, tainted):
    sim = machine(kit, kernel, INTEL, *options)
    if fixture is not False:
        put(kit, sim, INTEL_FILE, fixture, cut)
    after(kit, sim, wanted, lines, revisions, tainted, text)


@rows(spread(INTEL_ANCIENT, ANCIENT, "intel"))
def answer_old(kit, kernel, options, fixture, cut, text, wanted, lines, revisions):
    if kernel == "5.10":  # says less before, and the same whatever came of it afterwards
        lines = [s for s in lines if s not in ATTEMPT]
        lines = ["Reload completed, microcode revision: 0x%x" % revisions[0] if s.startswith("Reload ") else s for s in lines]
    sim = machine(kit, kernel, INTEL, *options)
    if fixture is not False:
        put(kit, sim, INTEL_FILE, fixture, cut)
    after(kit, sim, wanted, lines, revisions, kernel == "6.1" and text == "1\n", text)


PATCH = ("--vendor=amd", "--revision=a201030")
AMD_LOADED = ["load: updated on 8 primary CPUs with 0 siblings", "revision: 0xa201010 -> 0xa201030"]
AMD_ALL_OLD, AMD_ALL_NEW = [AMD_OLD] * 8, [AMD_NEW] * 8

AMD_MODERN = [
    ("updated", (), PATCH, None, "1\n", "SUCCESS", UNSAFE_LINES + AMD_LOADED, AMD_ALL_NEW, True),
    ("another number", (), PATCH, None, "2\n", "EINVAL", [], AMD_ALL_OLD, False),
    ("no file", (), False, None, "1\n", "ENOENT", [], AMD_ALL_OLD, False),
    ("empty file", (), PATCH, 0, "1\n", "ENOENT", [], AMD_ALL_OLD, False),
    ("same revision", (), PATCH + ("--revision=a201010",), None, "1\n", "SUCCESS", [], AMD_ALL_OLD, False),
    ("older revision", (), PATCH + ("--revision=a20100f",), None, "1\n", "SUCCESS", [], AMD_ALL_OLD, False),
    ("other processor", (), PATCH + ("--revision=a201230",), None, "1\n", "SUCCESS", [], AMD_ALL_OLD, False),
    ("bad magic", (), PATCH + ("--corrupt=magic",), None, "1\n", "EBADFD", [], AMD_ALL_OLD, False),
    ("truncated", (), PATCH, 300, "1\n", "EBADFD", [], AMD_ALL_OLD, False),
    ("two containers", (), PATCH + ("--container", "--revision=a201031"), None, "1\n", "EBADFD", [], AMD_ALL_OLD, False),
    ("two patches for one processor", (), PATCH + ("--next", "--revision=a20102f"), None, "1\n", "SUCCESS",
     UNSAFE_LINES + AMD_LOADED, AMD_ALL_NEW, True),
    ("offline primary thread", ("--offline=1",), PATCH, None, "1\n", "EBUSY", ["CPU 1 not online, loading aborted"],
     [AMD_OLD, None] + [AMD_OLD] * 6, False),
    ("offline sibling", ("--offline=5",), PATCH, None, "1\n", "EIO",
     UNSAFE_LINES + ["load: 1 CPUs timed out", "1 offline siblings did not respond."], [AMD_OLD] * 5 + [None] + [AMD_OLD] * 2, False),
    ("force_minrev", ("--force-minrev",), PATCH, None, "1\n", "ENOENT", [], AMD_ALL_OLD, False),
    ("force_minrev, minimum in the file", ("--force-minrev",), PATCH + ("--min-revision=a201001",), None, "1\n", "ENOENT", [],
     AMD_ALL_OLD, False),
    ("some CPUs failed", ("--fail-cpus=1",), PATCH, None, "1\n", "EIO",
     UNSAFE_LINES + ["CPU1: update failed for patch_level=0x0a201030", "load: updated on 6 primary CPUs with 0 siblings",
                     "load incomplete. 2 CPUs timed out or failed", AMD_LOADED[1]],
     [AMD_NEW, AMD_OLD, AMD_NEW, AMD_NEW, AMD_NEW, AMD_OLD, AMD_NEW, AMD_NEW], True),
    ("all CPUs failed", ("--fail-cpus=0-7",), PATCH, None, "1\n", "EIO",
     UNSAFE_LINES + ["CPU%d: update failed for patch_level=0x0a201030" % i for i in range(4)] +
     ["update failed: 8 CPUs failed 0 CPUs timed out"], AMD_ALL_OLD, False),
    ("no digest", ("--log-digest=fail",), PATCH, None, "1\n", "EIO",
     UNSAFE_LINES + [s % i if "%d" in s else s for i in range(4) for s in
                     ("No sha256 digest for patch ID: 0xa201030 found", "CPU%d: update failed for patch_level=0x0a201030")] +
     ["update failed: 8 CPUs failed 0 CPUs timed out"], AMD_ALL_OLD, False),
    ("no digest, silently", ("--log-digest=silent",), PATCH, None, "1\n", "SUCCESS",
     UNSAFE_LINES + ["No sha256 digest for patch ID: 0xa201030 found"] * 8, AMD_ALL_OLD, False),
]

AMD_LEVELS = ["CPU%d: new patch_level=0x0a201030" % i for i in range(4)]
AMD_ANCIENT = [
    ("updated", (), PATCH, None, "1\n", "SUCCESS",
     ATTEMPT + AMD_LEVELS + ["Reload succeeded, microcode revision: 0xa201010 -> 0xa201030"], AMD_ALL_NEW),
    ("another number", (), PATCH, None, "2\n", "SUCCESS", [], AMD_ALL_OLD),
    ("no number", (), PATCH, None, "load\n", "EINVAL", [], AMD_ALL_OLD),
    ("same revision", (), PATCH + ("--revision=a201010",), None, "1\n", "SUCCESS", [], AMD_ALL_OLD),
    ("no file", (), False, None, "1\n", "SUCCESS", [], AMD_ALL_OLD),
    ("bad magic", (), PATCH + ("--corrupt=magic",), None, "1\n", "SUCCESS", [], AMD_ALL_OLD),
    ("two containers", (), PATCH + ("--container", "--revision=a201031"), None, "1\n", "SUCCESS", [], AMD_ALL_OLD),
    ("offline primary thread", ("--offline=1",), PATCH, None, "1\n", "EINVAL",
     ["Not all CPUs online, aborting microcode update."], [AMD_OLD, None] + [AMD_OLD] * 6),
    ("offline sibling", ("--offline=5",), PATCH, None, "1\n", "SUCCESS",
     ATTEMPT + AMD_LEVELS + ["Reload succeeded, microcode revision: 0xa201010 -> 0xa201030"],
     [AMD_NEW] * 5 + [None] + [AMD_NEW] * 2),
    ("all CPUs failed", ("--fail-cpus=0-7",), PATCH, None, "1\n", "EPERM",
     ATTEMPT + [s % i for i in range(4) for s in
                ("CPU%d: update failed for patch_level=0x0a201030", "Error reloading microcode on CPU %d")] +
     ["CPU%d: update failed for patch_level=0x0a201030" % i for i in range(4, 8)] +
     ["Reload failed, current microcode revision: 0xa201010"], AMD_ALL_OLD),
]


@rows(spread(AMD_MODERN, MODERN, "amd"))
def answer_amd(kit, kernel, options, fixture, cut, text, wanted, lines, revisions, tainted):
    sim = machine(kit, kernel, AMD, *options)
    if fixture is not False:
        put(kit, sim, AMD_FILE, fixture, cut)
    after(kit, sim, wanted, lines, revisions, tainted, text)


@rows(spread(AMD_ANCIENT, ANCIENT, "amd"))
def answer_amd_old(kit, kernel, options, fixture, cut, text, wanted, lines, revisions):
    if kernel == "5.10":
        lines = [s for s in lines if s not in ATTEMPT]
        lines = ["Reload completed, microcode revision: 0x%x" % revisions[0] if s.startswith("Reload ") else s for s in lines]
    sim = machine(kit, kernel, AMD, *options)
    if fixture is not False:
        put(kit, sim, AMD_FILE, fixture, cut)
    after(kit, sim, wanted, lines, revisions, kernel == "6.1" and text == "1\n", text)


# vendor, kernel, first answer, what a second write is answered while one CPU is old
AGAIN = [
    ("intel 7.3", INTEL, "7.3", INTEL_FILE, SAFE, "EIO", "ENOENT"),
    ("intel 6.12", INTEL, "6.12", INTEL_FILE, SAFE, "EIO", "ENOENT"),
    ("amd 7.3", AMD, "7.3", AMD_FILE, PATCH, "EIO", "SUCCESS"),
    ("amd 6.12", AMD, "6.12", AMD_FILE, PATCH, "EIO", "SUCCESS"),
    ("intel 6.1", INTEL, "6.1", INTEL_FILE, UPDATE, "EPERM", "SUCCESS"),
    ("intel 5.10", INTEL, "5.10", INTEL_FILE, UPDATE, "EPERM", "SUCCESS"),
    ("amd 6.1", AMD, "6.1", AMD_FILE, PATCH, "EPERM", "SUCCESS"),
    ("amd 5.10", AMD, "5.10", AMD_FILE, PATCH, "EPERM", "SUCCESS"),
]


@rows(AGAIN)
def again_after_partial_failure(kit, vendor, kernel, name, fixture, first, second):
    """CPU 0 is new, so nobody brings the old CPU up; going offline and coming back does."""
    sim = machine(kit, kernel, vendor, "--fail-cpus=3,7")
    put(kit, sim, name, fixture)
    equal("first answer", sim.reload(), first)
    partly = sim.revisions()
    equal("CPUs that are old", [i for i in range(8) if partly[i] != partly[0]], [3, 7])
    sim.send("set", "fail-cpus", "")
    before = len(sim.log())
    equal("second answer", sim.reload(), second)
    equal("log of the second", sim.log()[before:], [])
    equal("revisions after the second", sim.revisions(), partly)
    sim.send("offline", "3,7")
    sim.send("online", "3,7")
    equal("revisions after hotplug", sim.revisions(), [partly[0]] * 8)


@rows([(k, k, a) for k, a in (("7.3", "EIO"), ("6.12", "EIO"), ("6.1", "EPERM"), ("5.10", "EPERM"))])
def again_when_cpu_0_failed(kit, kernel, first):
    sim = machine(kit, kernel, INTEL, "--fail-cpus=0,4")
    put(kit, sim, INTEL_FILE, SAFE)
    equal("first answer", sim.reload(), first)
    equal("revisions", sim.revisions(), [OLD, NEW, NEW, NEW] * 2)
    sim.send("set", "fail-cpus", "")
    equal("second answer", sim.reload(), "SUCCESS")
    equal("revisions", sim.revisions(), ALL_NEW)


@test
def amd_asks_the_first_cpu_of_each_node(kit):
    """CPU 0 is new, but the first CPU of the other socket (2) is not."""
    sim = machine(kit, "7.3", AMD)
    put(kit, sim, AMD_FILE, PATCH)
    sim.send("set", "revision", "0xa201030", "0,1,4,5")
    equal("answer", sim.reload(), "SUCCESS")
    equal("revisions", sim.revisions(), AMD_ALL_NEW)


@test
def a_minimum_revision_that_can_be_forced_at_run_time(kit):
    sim = machine(kit, "6.12", INTEL)
    put(kit, sim, INTEL_FILE, UPDATE)
    parameter = "sys/module/microcode/parameters/force_minrev"
    equal("before", sim.read(parameter), "N\n")
    equal("write", sim.write_file(parameter, "1\n"), "SUCCESS")
    equal("after", sim.read(parameter), "Y\n")
    equal("answer", sim.reload(), "ENOENT")


@rows([
    ("below and large", "0xb00001f", "52800", "ENOENT"),
    ("not below", "0xb000021", "52800", "SUCCESS"),
    ("small cache", "0xb00001f", "40960", "SUCCESS"),
])
def bdx90(kit, revision, llc_kb, wanted):
    sim = kit.sim("--topology=1x20x2", "--signature=0x406f1", "--platform=0x1", "--revision=" + revision, "--llc-kb=" + llc_kb,
                  "--cost-usec=100")
    kit.install(sim, "intel-ucode/06-4f-01", kit.fixture("--signature=406f1", "--mask=ef", "--revision=b000040"))
    equal("answer", sim.reload(), wanted)
    if wanted == "ENOENT":
        equal("log", sim.log()[1:], [
            "Erratum BDX90: late loading with revision < 0x0b000021 (0xb00001f) disabled.",
            "Please consider either early loading through initrd/built-in or a potential BIOS update."])


@test
def an_answer_that_nobody_expects(kit):
    sim = machine(kit, "7.3", INTEL, "--answer=ENOMEM")
    put(kit, sim, INTEL_FILE, SAFE)
    after(kit, sim, "ENOMEM", [], ALL_OLD, False)
    sim.send("set", "answer", "off")
    for e in ("EROFS", "EACCES", "EPERM"):
        sim.send("set", "refuse-open", e)
        equal("open", sim.reload(), "open:" + e)
    sim.send("set", "refuse-open", "off")
    equal("answer", sim.reload(), "SUCCESS")
    equal("writes", sim.send("get", "writes"), "2 ENOMEM SUCCESS")


@test
def another_revision_arrives(kit):
    sim = machine(kit, "7.3", INTEL, "--arrive-revision=0x200005d")
    put(kit, sim, INTEL_FILE, SAFE)
    equal("answer", sim.reload(), "SUCCESS")
    equal("revisions", sim.revisions(), [0x200005D] * 8)


@test
def the_file_is_read_again_at_the_write(kit):
    sim = machine(kit, "7.3", INTEL)
    put(kit, sim, INTEL_FILE, SAFE)
    put(kit, sim, INTEL_FILE, SAFE + ("--revision=2000060",))
    equal("answer", sim.reload(), "SUCCESS")
    equal("revisions", sim.revisions(), [0x2000060] * 8)


@test
def flags_and_vulnerabilities_stay(kit):
    """The processor's own answer changes, what the kernel found at boot does not."""
    sim = machine(kit, "7.3", INTEL, "--features-change", "--clocksource-flip")
    put(kit, sim, INTEL_FILE, SAFE)
    flags = [s for s in sim.read("proc/cpuinfo").splitlines() if s.startswith("flags")]
    directory = CPU + "/vulnerabilities"
    vulnerabilities = {n: sim.read(directory + "/" + n) for n in os.listdir(sim.path(directory))}
    fd = os.open(sim.path("dev/cpu/0/cpuid"), os.O_RDONLY)
    before = os.pread(fd, 16, 7)
    equal("answer", sim.reload(), "SUCCESS")
    differs = os.pread(fd, 16, 7) != before
    os.close(fd)
    equal("CPUID changed", differs, True)
    equal("flags", [s for s in sim.read("proc/cpuinfo").splitlines() if s.startswith("flags")], flags)
    equal("vulnerabilities", {n: sim.read(directory + "/" + n) for n in vulnerabilities}, vulnerabilities)
    equal("lines", len(sim.log("x86/CPU: ")), 2)
    equal("clock source", sim.read("sys/devices/system/clocksource/clocksource0/current_clocksource"), "hpet\n")
    equal("cpuinfo's revision", sim.read("proc/cpuinfo").count("microcode\t: 0x200005e\n"), 8)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kernels that refuse, load in part or load something else, and machines on which a load does more than it should."""

import signal
import subprocess
import time

from cases import check, equal
from table import ANY, blockers, file_of, machine, put, row, rows
from world import SHUT, configuration

SIGNATURE, PLATFORM, OLD, NEW = 0x50657, 0x80, 0x41C, 0x424
AMD_FILE = "lib/firmware/amd-ucode/microcode_amd_fam17h.bin"
HEALTH = 128


def intel(*more, **keywords):
    return machine(SIGNATURE, PLATFORM, OLD, *more, **keywords)


def smt(*more, **keywords):
    """CPUs 4 to 7 are the second threads of 0 to 3."""
    m = intel(*more, **keywords)
    return dict(m, sim=["--topology=1x4x2", *m["sim"][1:]])


def zen(revision, *more, topology="1x4x1", signature=0x870F10, **keywords):
    return dict(dict(sim=[f"--topology={topology}", "--vendor=amd", f"--signature={signature:#x}", f"--revision={revision:#x}", *more], config=ANY), **keywords)


def put_zen(w, revision, *options):
    return w.fixture(AMD_FILE, "--vendor=amd", "--signature=0x870f10", f"--revision={revision:#x}", *options)


def only_critical(w):
    """From now on the journal shows what is critical, and nothing else."""
    w.busctl("set-property", "org.ucodesync1", "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1", "LogLevel", "s", "crit")


def never_again(w, writes):
    """Neither by itself nor when somebody looks, nor after a restart, nor in another boot."""
    for _ in range(3):
        w.call("Check")
        time.sleep(0.5)
    equal("writes", len(w.writes()), writes)
    w.restart_daemon()
    time.sleep(2)
    equal("writes after a restart", len(w.writes()), writes)


# 17: CPUs that are offline

@rows(17, [
    ("as reported, and nothing tells what they are", smt("--offline=4-7"), "4-7"),
    ("as reported, an old kernel", smt("--offline=4-7", "--kernel=5.10"), "4-7"),
    ("siblings, as one core tells", smt("--offline=5-7"), None),
    ("siblings, as one core tells, old kernel", smt("--offline=5-7", "--kernel=6.1"), None),
    ("AMD, siblings", zen(0x08701000, "--offline=4-7", topology="1x4x2"), "4-7"),
    ("AMD, one sibling", zen(0x08701000, "--offline=6", topology="1x4x2"), "6"),
    ("AMD, one sibling, old kernel", zen(0x08701000, "--offline=6", "--kernel=6.1", topology="1x4x2"), None),
    ("a primary", smt("--offline=1"), "1"),
    ("a primary, old kernel", smt("--offline=1", "--kernel=6.1"), "1"),
    ("whole cores", smt("--offline=2-3,6-7"), "2-3"),
])
def cpus_offline(w, cpus):
    if "amd" in " ".join(w.sim_arguments):
        put_zen(w, 0x08701010)
    else:
        put(w, SIGNATURE, PLATFORM, NEW)
    if cpus:
        w.until(lambda: "cpus-offline" in blockers(w), "'cpus-offline' to block")
        check(f" {cpus}" in blockers(w)["cpus-offline"], f"the sentence is {blockers(w)['cpus-offline']}")
        w.call("Apply", "t", 255 - 32)  # whoever insists waits for them, too
        time.sleep(6)
        equal("writes", w.writes(), [])
        check(w.journal().count("waits: ") <= 2, "it is said again and again")
        w.sim("online", "1-7")
    w.until_property("LastResult", "success")
    equal("writes", w.writes(), ["SUCCESS"])


@rows(17, [("EBUSY where nothing foretold it", smt("--answer=EBUSY")), ("EINVAL of an old one", smt("--answer=EINVAL", "--kernel=6.1"))])
def more_picky_than_foretold(w):
    """What such a kernel wants is the CPUs that are offline: it is asked again when they are back, and not before."""
    w.sim("offline", "4-7")
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "busy")
    w.until(lambda: "cpus-offline" in blockers(w), "'cpus-offline' to block")
    check("4-7" in blockers(w)["cpus-offline"], f"the sentence is {blockers(w)['cpus-offline']}")
    for _ in range(3):
        w.call("Check")
        time.sleep(1.5)
    equal("writes", len(w.writes()), 1)
    w.sim("set", "answer", "off")
    w.sim("online", "4-7")
    w.until_property("LastResult", "success")
    equal("writes", len(w.writes()), 2)


@row(17, **intel("--answer=EBUSY"))
def busy_with_all_cpus(w):
    """Nothing to wait for but the next window."""
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "busy")
    time.sleep(4)
    equal("writes", len(w.writes()), 1)
    check("rejected" in blockers(w), f"the blockers are {blockers(w)}")


# 21: no digest for the patch

@row(21, **zen(0x08701034))
def beyond_the_cutoff(w):
    """As reported: no kernel knows a digest of it. Foretold, and not tried."""
    put_zen(w, 0x08701035)
    w.until(lambda: "refusal-predicted" in blockers(w), "'refusal-predicted' to block")
    time.sleep(2)
    equal("writes", w.writes(), [])
    w.sim("set", "log-digest", "fail")
    w.call("Apply", "t", 3 | 64)
    w.until_property("LastResult", "digest-rejected")
    equal("State", w.get("State"), "failed")
    never_again(w, 1)


@rows(21, [("an error", zen(0x08701030, "--log-digest=fail")), ("success, and nothing done", zen(0x08701030, "--log-digest=silent"))])
def digest_unknown(w):
    """Not by the number, but by the bytes: remembered by them, over boots, until others arrive."""
    put_zen(w, 0x08701032)
    w.until_property("LastResult", "digest-rejected")
    equal("State", w.get("State"), "failed")
    equal("RunningRevision", w.get("RunningRevision"), 0x08701030)
    never_again(w, 1)
    w.stop_daemon()
    w.sim("reboot")
    w.start_daemon()
    time.sleep(2)
    equal("State", w.get("State"), "failed")
    put_zen(w, 0x08701032)  # the same bytes arrive again
    w.call("Check")
    time.sleep(2)
    equal("writes", len(w.writes()), 1)
    w.sim("set", "log-digest", "off")
    put_zen(w, 0x08701032, "--seed=4")
    w.until_property("LastResult", "success")


@row(21, **zen(0x08701035))
def above_the_cutoff_nobody_asks_for_digests(w):
    put_zen(w, 0x08701036)
    w.until_property("LastResult", "success")


# 22: some CPUs take it

@rows(22, [
    ("as reported, AMD", zen(0x08701000, "--fail-cpus=2,3"), "2-3", 0x08701000),
    ("AMD, the first one", zen(0x08701000, "--fail-cpus=0"), "0", 0x08701000),
    ("Intel", intel("--fail-cpus=1-2"), "1-2", OLD),
    ("Intel, an old kernel", intel("--fail-cpus=3", "--kernel=6.1"), "3", OLD),
])
def in_part(w, laggards, old):
    only_critical(w)
    if old == OLD:
        put(w, SIGNATURE, PLATFORM, NEW)
    else:
        put_zen(w, 0x08701010)
    w.until_property("LastResult", "mixed-revisions")
    equal("MixedRevisions", w.get("MixedRevisions"), True)
    equal("Laggards", w.history()[0]["Laggards"], laggards)
    equal("RunningRevision, of the worst off", w.get("RunningRevision"), old)
    w.until_says(f"CPUs {laggards} kept an older revision")
    equal("lines", [x for x in w.journal().splitlines() if "ended in" in x], [])  # an error only; the line above is critical
    w.until(lambda: "unhealthy" in blockers(w) or "rejected" in blockers(w), "something to block")
    never_again(w, 1)


@row(22, **intel("--fail-cpus=0-3"))
def none_of_them(w):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "io-error")
    equal("MixedRevisions", w.get("MixedRevisions"), False)
    never_again(w, 1)


# 34: SGX

@rows(34, [("as reported", intel("--sgx"), NEW, True), ("no enclaves", intel(), NEW, False), ("nothing was loaded", intel("--sgx", "--answer=ENOENT"), OLD, False)])
def enclaves_attest_the_old(w, revision, noted):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success" if revision == NEW else "refused")
    equal("RunningRevision", w.get("RunningRevision"), revision)
    equal("noted", "sgx-svn-unchanged" in w.history()[0]["Note"], noted)
    equal("times said", w.journal().count("sgx-svn-unchanged"), int(noted))
    w.restart_daemon()
    equal("noted", "sgx-svn-unchanged" in w.history()[0]["Note"], noted)


# 39: another revision than meant

@rows(39, [("between the two", intel(), 0x420), ("newer than meant", intel(), 0x430)])
def told_to_look_elsewhere(w, revision):
    """The kernel is told of another directory behind the daemon's back, and reads there first: what it finds there is what is judged and meant."""
    w.fixture("lib/other/" + file_of(SIGNATURE)[len("lib/firmware/"):], f"--signature={SIGNATURE:#x}", f"--mask={PLATFORM:#x}", f"--revision={revision:#x}")
    w.sim("set", "firmware-path", "/lib/other")
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")
    equal("writes", w.writes(), ["SUCCESS"])
    entry = w.history()[0]
    equal("entry", (entry["OldRevision"], entry["TargetRevision"], entry["NewRevision"]), (OLD, revision, revision))
    equal("Path", entry["Path"], "/lib/other" + file_of(SIGNATURE)[len("lib/firmware"):])
    # and that directory is watched from now on
    w.fixture("lib/other/" + file_of(SIGNATURE)[len("lib/firmware/"):], f"--signature={SIGNATURE:#x}", f"--mask={PLATFORM:#x}", f"--revision={revision + 1:#x}")
    w.until_property("RunningRevision", revision + 1)


@rows(39, [("newer", intel(), 0x430), ("older than what runs", intel(), 0x41A)])
def another_arrives(w, revision):
    """Whatever the file says."""
    w.sim("set", "arrive-revision", f"{revision:#x}")
    only_critical(w)
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "unexpected-revision")
    equal("RunningRevision", w.get("RunningRevision"), revision)
    w.until_says("ended in 'unexpected-revision'")
    never_again(w, 1)


# 40: nothing survives that would say so

def mounted(w, *command):
    w.stop_daemon()
    place = w.root / "var/lib"
    subprocess.run([*command, place], check=True)
    w.start_daemon()
    return place


VOLATILE = {"as reported, a tmpfs": (["mount", "-t", "tmpfs", "tmpfs"], "tmpfs"), "a ramfs": (["mount", "-t", "ramfs", "ramfs"], "ramfs")}


@rows(40, [(name, intel(), *how) for name, how in VOLATILE.items()])
def state_that_does_not_last(w, command, says):
    place = mounted(w, *command)
    try:
        put(w, SIGNATURE, PLATFORM, NEW)
        w.until(lambda: "state-volatile" in blockers(w), "'state-volatile' to block")
        check(says in blockers(w)["state-volatile"], f"the sentence is {blockers(w)['state-volatile']}")
        time.sleep(3)
        w.refused("Apply", "t", 255 - 32 - HEALTH, says="state-volatile")
        equal("writes", w.writes(), [])
        w.stop_daemon()
    finally:
        subprocess.run(["umount", "-l", place], check=True)
    w.start_daemon()
    w.until_property("LastResult", "success")


@row(40, **intel("--hang"))
def load_crash_boot(w):
    """Where it lasts, there is no second load."""
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until(lambda: (w.root / "var/lib/ucodesync/intent").exists(), "the intent")
    w.until(lambda: w.get("State") == "applying", "the load")
    w.daemon.send_signal(signal.SIGKILL)
    w.sim("set", "hang", "no")
    w.stop_daemon(signal.SIGKILL)
    w.sim("reboot", f"{OLD:#x}")
    before = len(w.writes())
    w.start_daemon()
    equal("State", w.get("State"), "failed")
    check("suspect-crash" in w.get("BlockedBy"), f"BlockedBy is {w.get('BlockedBy')}")
    never_again(w, before)


# 41: those who cannot bear it

@rows(41, [("as reported, isolated", intel("--isolated=2-3"), "2-3", "isolated"), ("one of them", intel("--isolated=0"), "0", "isolated"),
           ("nohz_full", intel("--nohz-full=1,3"), "1,3", "nohz_full"), ("PREEMPT_RT", intel("--realtime"), "", "real-time")])
def cannot_be_stopped(w, cpus, says):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until(lambda: "latency-critical" in blockers(w), "'latency-critical' to block")
    check(says in blockers(w)["latency-critical"] and cpus in blockers(w)["latency-critical"], f"the sentence is {blockers(w)['latency-critical']}")
    time.sleep(2)
    equal("writes", w.writes(), [])
    w.reload(configuration(apply="Trust=any\nLatencyCritical=allow"))
    w.until_property("LastResult", "success")


@row(41, **intel())
def nobody_minds(w):
    put(w, SIGNATURE, PLATFORM, NEW)
    w.until_property("LastResult", "success")


# 32: memory nodes without a CPU

SYSFS = "sys/devices/system/"


def plain_zen(w, release, nodes, with_cpus, more=()):
    """Files as a kernel shows them; nothing loads here."""
    stat = "cpu  10 0 10 100 0 0 0 0 0 0\n"
    files = {"proc/cpuinfo": "".join(f"processor\t: {n}\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 113\nmodel name\t: x\nstepping\t: 0\n"
                                     f"microcode\t: 0x8701000\nflags\t\t: fpu msr\n\n" for n in range(2)),
             "proc/stat": stat, "proc/loadavg": "0.00 0.00 0.00 1/100 1\n", "proc/cmdline": "quiet\n", "proc/sys/kernel/osrelease": f"{release}\n",
             "proc/sys/kernel/random/boot_id": "8b9cf1d2-6d5c-4f8e-9a43-0b6f4d0f7c11\n", f"{SYSFS}cpu/microcode/reload": "", f"{SYSFS}cpu/smt/control": "notsupported\n",
             "sys/module/microcode/uevent": "", f"{SYSFS}node/possible": nodes, f"{SYSFS}node/online": nodes, f"{SYSFS}node/has_cpu": with_cpus}
    files.update({f"{SYSFS}cpu/{name}": "0-1\n" for name in ("online", "present", "possible")}, **{name: "" for name in more})
    for n in range(2):
        for name, text in (("microcode/version", "0x8701000\n"), ("topology/core_id", f"{n}\n"), ("topology/physical_package_id", "0\n"),
                           ("topology/thread_siblings_list", f"{n}\n")):
            files[f"{SYSFS}cpu/cpu{n}/{name}"] = text
    for name, text in files.items():
        path = w.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


PLAIN = dict(plain=True, start=False, config=configuration(window=SHUT, apply="Trust=any"))


@rows(32, [
    ("as reported", PLAIN, "6.1.131", "0-2\n", "0\n", (), "1-2"),
    ("a distribution's number, and memory that may be plugged in", PLAIN, "5.15.0-300.163.18.el9uek.x86_64", "0-1\n", "0\n", (), "1"),
    ("no node with a CPU", PLAIN, "6.6.1", "0-3\n", "\n", (), "0-3"),
    ("fixed in its series", PLAIN, "6.1.132", "0-2\n", "0\n", (), None),
    ("a kernel of today", PLAIN, "6.18.1", "0-2\n", "0\n", (f"{SYSFS}cpu/vulnerabilities/old_microcode",), None),
    ("an odd number, and yet of today", PLAIN, "6.1.1-with-everything", "0-2\n", "0\n", (f"{SYSFS}cpu/vulnerabilities/old_microcode",), None),
    ("all nodes have CPUs", PLAIN, "6.1.131", "0-2\n", "0-2\n", (), None),
    ("not told", PLAIN, "6.1.131", "0-2\n", "garbage\n", (), None),
])
def memory_nodes(w, release, nodes, with_cpus, more, warned):
    """No CPU is looked up by its node here, and the kernel that does is warned of."""
    plain_zen(w, release, nodes, with_cpus, more)
    w.start_daemon()
    equal("Advice", w.get("Advice"), [])  # nothing is to be loaded
    put_zen(w, 0x08701010)
    w.until_property("CandidateRevision", 0x08701010)
    advice = [s for s in w.get("Advice") if "Memory nodes" in s]
    equal("warned", len(advice), int(bool(warned)))
    if warned:
        check(f"({warned})" in advice[0] and f"({release})" in advice[0] and "e3e89178a9f4" in advice[0], advice[0])
    for _ in range(3):
        w.call("Check")
    equal("times said", w.journal().count("Memory nodes"), int(bool(warned)))
    equal("processors", [p[0] for p in w.call("ListProcessors")[0]], [0, 1])
    equal("Explain", w.call("Explain", "t", 3)[1], 0)
    equal("reload", (w.root / SYSFS / "cpu/microcode/reload").read_text(), "")

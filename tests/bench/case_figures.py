# SPDX-License-Identifier: LGPL-2.1-or-later
"""The four benchmarks: the shape of what they say, and what is true of it on any machine. No time is a condition."""

import json
import os
import re
import sys

from harness import Skipped, case, check, contains, equal, measured, state, trees, ucodebench

MACHINE = {"vendor", "model", "cpus", "online", "packages", "clusters", "hypervisor", "kernel", "clocksource", "tsc_hz", "apic_routing",
           "ipi_shorthand", "notes"}
FLUSHES = ("mprotect", "madvise", "munmap")
ATTEMPTS = 5


def check_machine(o):
    check(MACHINE <= set(o["machine"]), f"the machine lacks {MACHINE - set(o['machine'])}")
    check(1 <= o["machine"]["cpus"] <= o["machine"]["online"], "CPUs")
    check(1 <= o["machine"]["clusters"] <= o["machine"]["cpus"], "clusters")
    check(os.uname().nodename not in json.dumps(o["machine"]) or len(os.uname().nodename) < 4, "a host is named")


def ipis(row):
    """Of the counted calls and of the timed ones the smaller mean: what others sent meanwhile only adds."""
    line = "TLB" if row["op"] in FLUSHES else "CAL"
    return min(row["ipis_per_call"], float(re.search(rf"{line} ([\d.]+)", row["note"])[1]))


def calls(row):
    return int(re.search(r"over (\d+) calls", row["note"])[1])


def check_shootdown(o, least=1):
    """What is true of every such object. Returns the rows that are not as they should be on a machine that sends IPIs: a target that is left out, or
    hit twice, is one IPI a call. Rows of less than `least` calls are not judged by that."""
    equal(o["benchmark"], "shootdown")
    check_machine(o)
    odd, bases = [], {}
    for row in o["rows"]:
        equal(list(row), ["op", "targets", "clusters", "ticks_median", "ticks_over_base", "ipis_per_call", "note"])
        check(row["op"] in (*FLUSHES, "membarrier"), row)
        check(row["ticks_median"] > 0, row)
        if row["targets"] == 0:
            bases[row["op"]] = row["ticks_median"]
            equal((row["clusters"], row["ticks_over_base"]), (0, 0))
            continue
        check(1 <= row["clusters"] <= min(row["targets"], o["machine"]["clusters"]), row)
        check(row["op"] in bases, f"no base before {row}")
        if row["ticks_over_base"] is None:
            check(row["note"].startswith("no IPI"), row)
        else:
            equal(row["ticks_over_base"], row["ticks_median"] - bases[row["op"]])
        if calls(row) >= least and abs(ipis(row) - row["targets"]) > 0.5:
            odd.append(row)
    return odd


@case
def shootdown():
    """IPIs a call are as many as there are targets. Others on this machine send some, too: the best of a few attempts counts."""
    for _ in range(ATTEMPTS):
        o = measured("shootdown", "--calls=300", "--yes")
        odd = check_shootdown(o)
        equal({row["op"] for row in o["rows"]}, {*FLUSHES, "membarrier"})
        equal({row["targets"] for row in o["rows"]} >= {0, 1, o["machine"]["cpus"] - 1}, True, "targets")
        if not odd:
            return
        if all(row["ticks_over_base"] is None for row in odd):
            raise Skipped(f"this machine flushes without an IPI: {odd[0]['note']}")
    check(False, "IPIs a call are not the number of targets:", odd)


@case
def revision():
    before = trees()
    o = measured("revision", "--sizes=3,70", "--repetitions=6", "--yes")
    equal(o["benchmark"], "revision")
    check_machine(o)
    here = o["machine"]["cpus"]
    found = {}
    for row in o["rows"]:
        equal(list(row), ["way", "cpus", "state", "nsec_median"])
        check(row["nsec_median"] > 0, row)
        key = (row["way"], row["cpus"], row["state"])
        check(key not in found, f"twice: {key}")
        found[key] = row["nsec_median"]
    on_tmpfs = "No synthetic trees" not in " ".join(o["machine"]["notes"])
    for temperature in ("hot", "cold"):
        for cpus in {1, here} | ({3, 70} - {here} if on_tmpfs else set()):
            for way in ("null-syscall", "kept", "bare-pread", "openat", "fopen"):
                check((way, cpus, temperature) in found, f"no row of {way}, {cpus}, {temperature}")
        check(("cpuinfo-first", 1, temperature) in found, "no row of cpuinfo-first")
        check(("cpuinfo-whole", here, temperature) in found, "no row of cpuinfo-whole")
        if on_tmpfs:
            check(("accounts-baseline", 70, temperature) in found and ("accounts-read", 70, temperature) in found, "no accounts")
    equal(trees(), before, "trees that are left")


@case
def a_tree_as_large_as_this_machine_is_left_out():
    o = measured("revision", f"--sizes={len(os.sched_getaffinity(0))}", "--repetitions=1", "--yes")
    contains(" ".join(o["machine"]["notes"]), "would be taken for this machine's")


@case
def witness():
    repetitions, lengths = 2, (1, 5)
    o = measured("witness", "--lengths=1,5", f"--repetitions={repetitions}", "--yes")
    equal(o["benchmark"], "witness")
    check_machine(o)
    counts = {}
    for row in o["rows"]:
        equal(list(row), ["witness", "load", "length_msec", "true_nsec", "stall_nsec", "error_nsec"])
        check(row["witness"] in ("perf", "accounts", "probe") and row["load"] in ("idle", "load"), row)
        equal(row["error_nsec"], row["stall_nsec"] - row["true_nsec"])
        # a hog holds its CPU until its time is over: the stall is not shorter than asked for, whatever the machine
        check(row["true_nsec"] >= row["length_msec"] * 1000000, row)
        key = (row["witness"], row["load"], row["length_msec"])
        counts[key] = counts.get(key, 0) + 1
    missing = " ".join(o["machine"]["notes"])
    for load in ("idle", "load"):
        equal(counts.get(("probe", load, 0)), repetitions, f"windows without a stall, {load}")
        for name in ("perf", "accounts", "probe"):
            for length in lengths:
                if f"{name} is missing" in missing or f"{name} are missing" in missing:
                    continue
                check(1 <= counts.get((name, load, length), 0) <= repetitions, f"rows of {name}, {load}, {length}: {counts}")


@case
def witness_table():
    r = ucodebench("witness", "--lengths=1", "--repetitions=1", "--yes", "--no-legend")
    if r.returncode == 3:
        raise Skipped(r.stderr.strip())
    equal((r.returncode, r.stderr), (0, ""))
    check(all(line.split()[0] in ("perf", "accounts", "probe") for line in r.stdout.splitlines()), r.stdout)


@case
def probe_lets_the_command_be():
    """Its exit status, its output, its nice value and its policy are its own."""
    script = "import os; print('out', os.nice(0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))); os._exit(7)"
    expected = f"out {os.nice(0)} 0 {sorted(os.sched_getaffinity(0))}"
    r = ucodebench("probe", "--", sys.executable, "-c", script)
    if r.returncode == 3:
        raise Skipped(r.stderr.strip())
    equal((r.returncode, r.stderr), (7, ""))
    contains(r.stdout, expected, "longest gap")

    r = ucodebench("probe", "--json=short", "--", sys.executable, "-c", script)
    equal((r.returncode, r.stderr.strip()), (7, expected))
    o = json.loads(r.stdout)
    equal((list(o), o["benchmark"]), (["benchmark", "machine", "rows"], "probe"))
    check_machine(o)
    for row in o["rows"]:
        equal(list(row), ["scope", "cpu", "at_nsec", "stall_nsec", "gaps"])
        if row["scope"] == "machine":
            check(row["cpu"] is None and row["stall_nsec"] >= 300000, row)
    equal([row["cpu"] for row in o["rows"] if row["scope"] == "cpu"], sorted(os.sched_getaffinity(0)), "CPUs watched")


@case
def probe_of_a_signal_and_of_nothing():
    r = ucodebench("probe", "--", "sh", "-c", "kill -KILL $$")
    if r.returncode == 3:
        raise Skipped(r.stderr.strip())
    equal(r.returncode, 128 + 9)
    r = ucodebench("probe", "--", "/nonexistent/command")
    equal(r.returncode, 127)
    contains(r.stderr, "cannot run '/nonexistent/command'")


@case
def probe_window_ends_before_the_command():
    o = ucodebench("probe", "--json=short", "--window=20ms", "--", "sleep", "1")
    if o.returncode == 3:
        raise Skipped("SCHED_FIFO is not permitted")
    contains(" ".join(json.loads(o.stdout)["machine"]["notes"]), "ended before the command did")


@case
def probe_sees_what_witness_does():
    """A machine-wide stall made by another process: each of 20 ms, and the probe that watches claims one that is as long."""
    r = ucodebench("probe", "--json=short", "--", state["ucodebench"], "witness", "--lengths=20", "--repetitions=1", "--yes", "--quiet")
    if r.returncode == 3:
        raise Skipped("SCHED_FIFO is not permitted")
    equal(r.returncode, 0, r.stderr)
    claims = [row["stall_nsec"] for row in json.loads(r.stdout)["rows"] if row["scope"] == "machine"]
    check(sum(claim >= 19000000 for claim in claims) >= 2, f"two stalls of 20 ms, idle and under load, and the claims are {claims}")

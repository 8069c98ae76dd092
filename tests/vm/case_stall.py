# SPDX-License-Identifier: LGPL-2.1-or-later
"""The stall on the real kernel: every witness of the daemon beside p1 - p0, taken by kprobe events of the test's own with the TSC as their clock.

A row is one load. What is held is the agreement of `kernel` and `schedstat` with p1 - p0: within 5 % or 2 ms. Under emulation with more virtual CPUs than
real ones the machine below stops single CPUs for milliseconds at any moment, in or beside the stall, so a row is one of TRIES."""

import re

from shapes import EIGHT, FOUR, TWO
from suite import case, check, equal
from virtual import STALL, TRACING, UNIT

DELAYS = (0, 5, 20, 50)
DROPINS = f"/etc/systemd/system/{UNIT}.d"
TRIES = 10


def trace_p0_p1(m):
    m.sh(f"cd {TRACING} && mkdir -p instances/p0p1 && echo 'p:p0p1/in stop_machine_cpuslocked' >>kprobe_events && "
         f"echo 'r:p0p1/out stop_machine_cpuslocked' >>kprobe_events && cd instances/p0p1 && echo x86-tsc >trace_clock && "
         "echo 1 >events/p0p1/in/enable && echo 1 >events/p0p1/out/enable")


def take_p0_p1(m):
    """Ticks between the two, of the last load."""
    text = m.sh(f"cat {TRACING}/instances/p0p1/trace; echo >{TRACING}/instances/p0p1/trace")
    found = re.findall(r" (\d+): (in|out):", text)
    equal("events round stop_machine", [f[1] for f in found][-2:], ["in", "out"])
    return int(found[-1][0]) - int(found[-2][0])


def load(m):
    revision = m.next_update()
    m.loaded(revision)
    return {n: m.get(n, STALL) for n in ("Witness", "Witnesses", "StallNSec", "WorstNSec", "WriteNSec", "TSCHz")}


def with_witnesses(m, *names):
    """The drop-ins that the package ships, as its manual says; the strongest one decides."""
    m.sh(f"mkdir -p {DROPINS}; for n in {' '.join(names)}; do cp /usr/share/doc/ucodesync/examples/witness-$n.conf {DROPINS}; done; systemctl daemon-reload")
    m.reconfigure(Witness="kernel")
    m.run("systemctl", "restart", UNIT)
    m.until("State", "current")


def near(found, kernel, share, least):
    return abs(found - kernel) <= max(share * kernel, least)


def beside(m, names, worst_by, share, least):
    """Loads of each delay, all witnesses of which are on. The daemon's own probes sit where the test's do. `worst_by` is the witness that has figures of
    single CPUs: perf sees each from its switch to its switch, without the waking of the stoppers and of the writer, which takes milliseconds here."""
    with_witnesses(m, *names)
    trace_p0_p1(m)
    for delay in DELAYS:
        m.parameter("sim_delay_ms", delay)
        for tries in range(1, TRIES + 1):
            v = load(m)
            equal("Witness", v["Witness"], "kernel")
            equal("Witnesses", sorted(v["Witnesses"]), sorted({"kernel", "schedstat", "write", worst_by}))
            ticks = take_p0_p1(m)
            kernel = ticks * 1e9 / v["TSCHz"]
            if near(v["StallNSec"], kernel, 0.05, 2e6) and near(v["WorstNSec"], kernel, share, least):
                break
            check(tries < TRIES, f"{delay} ms: kernel says {v['StallNSec'] / 1e6:.2f} ms, the worst CPU by {worst_by} is {v['WorstNSec'] / 1e6:.2f} ms, "
                            f"p1 - p0 is {kernel / 1e6:.2f} ms, in {TRIES} tries")
        check(v["Witnesses"]["schedstat"] >= delay * 0.9e6, f"{delay} ms a patch write, and schedstat says {v['Witnesses']['schedstat'] / 1e6:.2f} ms")
        check(v["WriteNSec"] >= kernel, f"{delay} ms: write is no upper bound: {v['WriteNSec'] / 1e6:.2f} ms, p1 - p0 is {kernel / 1e6:.2f} ms")
        m.context.stalls.append((worst_by, m.shape.cpus, delay, ticks, kernel, v, tries))
    left = m.sh(f"ls {TRACING}/instances; cat {TRACING}/kprobe_events")
    check("ucodesync" not in left, f"left behind in the kernel's tracing:\n{left}")


def schedstat_beside(m):
    beside(m, ["kernel"], "schedstat", 0.05, 2e6)


def perf_beside(m):
    beside(m, ["kernel", "perf"], "perf", 0.1, 5e6)


@case(FOUR, weight=3)
def stall_4(m):
    schedstat_beside(m)


@case(FOUR, weight=3)
def stall_4_perf(m):
    perf_beside(m)


@case(TWO, weight=3)
def stall_2(m):
    schedstat_beside(m)


@case(TWO, weight=3)
def stall_2_perf(m):
    perf_beside(m)


@case(EIGHT, weight=4)
def stall_8(m):
    schedstat_beside(m)


@case(EIGHT, weight=4)
def stall_8_perf(m):
    perf_beside(m)


def table(rows):
    """For docs/measurements.md; all in ms. A row is one load, which all of its witnesses saw."""
    head = ("| CPUs | delay of a patch write | p1 - p0, ticks | p1 - p0 | kernel | worst CPU by | | perf | schedstat | write |\n"
            "|---|---|---|---|---|---|---|---|---|---|\n")

    def ms(nsec):
        return f"{nsec / 1e6:.2f}"

    def line(worst_by, cpus, delay, ticks, kernel, v, _):
        w = v["Witnesses"]
        return (f"| {cpus} | {delay} | {ticks} | {ms(kernel)} | {ms(w['kernel'])} | {worst_by} | {ms(v['WorstNSec'])} | {ms(w['perf']) if 'perf' in w else ''} | "
                f"{ms(w['schedstat'])} | {ms(v['WriteNSec'])} |\n")

    loads = f"\n{len(rows)} rows, for which {sum(r[-1] for r in rows)} loads were made.\n"
    return head + "".join(line(*row) for row in sorted(rows, key=lambda r: (r[1], r[2], r[0]))) + loads

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The probe: a SCHED_FIFO 1 thread on each CPU that looks at the clock every 100 us and keeps the gaps. A gap in one CPU's samples is
 * anything (a longer interrupt, another real-time task, the hypervisor, an ordinary task inside a kernel that does not preempt there: PREEMPT_NONE);
 * one that all CPUs have at once is a machine-wide stall. So the claim is the intersection, and needs every CPU; the fewer there are, the
 * likelier is a coincidence.
 *
 * Created armed; nothing may be begun before bench_fifo_probe_start() has returned. Each thread leaves by itself when the window ends. Threads
 * read the order to stop, then sample, then leave: the other order loses the very gap that the one who stops them ends. Costs a
 * wake-up every 100 us and CPU, 3 to 5 % of a CPU on metal; sleeping, not spinning, so the kernel's guards against real-time tasks
 * (950 ms in 1 s) have no reason to step in and make a stall of their own. */

#include "bench/topology.h"

#define BENCH_PROBE_PERIOD_NSEC (100 * NSEC_PER_USEC)

/* Below this a machine-wide gap is not resolved: a period, and the wake-ups of a slow machine. */
#define BENCH_PROBE_CLAIM_NSEC (300 * NSEC_PER_USEC)

typedef struct BenchGap {
        uint64_t from_nsec, to_nsec; /* CLOCK_MONOTONIC_RAW */
} BenchGap;

typedef struct BenchFifoProbe BenchFifoProbe;

/* Returns when every thread has taken its first sample. Errors as of bench_thread_start(). */
int bench_fifo_probe_start(const BenchTopology *t, uint64_t window_nsec, BenchFifoProbe **ret, UcsError *e);

/* Have every thread take its last sample, and wait for it. False: the window had ended before for one of them. */
bool bench_fifo_probe_stop(BenchFifoProbe *p);
BenchFifoProbe *bench_fifo_probe_free(BenchFifoProbe *p);
DEFINE_CLEANUP(BenchFifoProbe *, bench_fifo_probe_free);

/* After the stop: the gaps that all CPUs have in common, in order, those of at least `min_nsec`. How many there are; the first `max` of them are
 * in `ret`. Each is taken for as long as it most likely was: the stall began somewhere between two samples, and threads
 * look one after the other, a CPU-th of a period apart, so half of that is taken off. */
size_t bench_fifo_probe_machine_wide(const BenchFifoProbe *p, uint64_t min_nsec, BenchGap *ret, size_t max);

typedef struct BenchProbeCpu {
        uint64_t samples, gaps; /* of a period and a half or more */
        uint64_t lost;          /* gaps that found no room: then nothing is sure */
        BenchGap longest;
} BenchProbeCpu;

void bench_fifo_probe_cpu(const BenchFifoProbe *p, size_t i, BenchProbeCpu *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A machine-wide stall of known length: one SCHED_FIFO 99 thread on each CPU, let go together, as near to the kernel's stoppers as user space
 * gets. Each notes by its own clock when it began and when it ended, and whether it lost its CPU in between: FIFO 99 is not the top, the
 * deadline server for ordinary tasks (Linux 6.12) and a hypervisor are above it.
 *
 * Good for one stall. They hold their CPUs for the length asked for and never for longer than BENCH_HOG_MAX_NSEC and the time in which
 * they wait for each other; then they block, and do not exit, so that their own end adds nothing to the stall. */

#include "bench/topology.h"

#define BENCH_HOG_MAX_NSEC (500 * NSEC_PER_MSEC)

typedef struct BenchHogs BenchHogs;

/* Armed and waiting, when this returns. Errors as of bench_thread_start(). */
int bench_hogs_new(const BenchTopology *t, BenchHogs **ret, UcsError *e);

/* Ends them, in whatever state they are. */
BenchHogs *bench_hogs_free(BenchHogs *h);
DEFINE_CLEANUP(BenchHogs *, bench_hogs_free);

/* One a CPU, in the order of the topology. */
const uint32_t *bench_hogs_tids(const BenchHogs *h);

/* Have them sleep until a common moment, `lead_nsec` from now: by the clock and not by a wake-up, since who wakes the others may be the first
 * one to lose its CPU. Returns when all of them sleep. */
void bench_hogs_release(BenchHogs *h, uint64_t lead_nsec, uint64_t length_nsec);

/* Has that moment come? */
bool bench_hogs_begun(const BenchHogs *h);

/* Returns when all have ended and are blocked. */
void bench_hogs_wait(BenchHogs *h);

typedef struct BenchStall {
        uint64_t from_nsec, to_nsec; /* CLOCK_MONOTONIC_RAW; the last one in, the first one out */
        uint64_t gap_nsec;           /* the longest time for which one of them did not see its clock go on: an interrupt, steal, a task */
        bool broken;                 /* another task ran on one of the CPUs meanwhile: then it was no stall of that length */
} BenchStall;

/* -ENODATA: their intervals do not meet. */
int bench_hogs_result(const BenchHogs *h, BenchStall *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One configuration of the shootdown benchmark: one call, one sender, given targets. In a process of its own, since a CPU that has once run
 * this address space may stay in its mask.
 *
 * Each target spins in user mode (never in lazy TLB mode) and has loaded the page that the call is about. Before each call the sender waits for
 * a new heartbeat of every target: on a busy host the calls that find a target off its CPU need no IPI and are the cheap ones, and a
 * median would be theirs. Each call takes the next page of a region that was written beforehand, so that nothing but the call itself
 * flushes anything. Bounded: 2000 calls take k CPUs for some 100 ms, and nothing takes longer than BENCH_SHOT_MAX_NSEC. */

#include "bench/topology.h"

#define BENCH_SHOT_MAX_NSEC (8 * NSEC_PER_SEC)
#define BENCH_COUNTED_CALLS 100U

typedef enum BenchOp {
        BENCH_OP_MPROTECT,   /* read-write to read-only */
        BENCH_OP_MADVISE,    /* MADV_DONTNEED */
        BENCH_OP_MUNMAP,
        BENCH_OP_MEMBARRIER, /* PRIVATE_EXPEDITED: an IPI and no flush */
        _BENCH_OP_MAX,
} BenchOp;

const char *bench_op_name(BenchOp op);

/* Which line of /proc/interrupts counts it. */
static inline bool bench_op_flushes(BenchOp op) {
        return op != BENCH_OP_MEMBARRIER;
}

typedef struct BenchShot {
        uint32_t calls;        /* timed; less than asked for when time was up */
        uint64_t ticks_median; /* TSC */
        uint32_t counted;      /* calls between two readings of /proc/interrupts as close as may be: nearly nobody else's IPIs are in these */
        double tlb, cal;       /* a counted call, on the targets */
        double tlb_all, cal_all; /* a timed call: with what others sent meanwhile; never less than our own */
} BenchShot;

/* 0; -EOPNOTSUPP (no membarrier); -ETIME: not one call, the targets never ran together; -EIO: the process died; or another -errno.
 * `e` says what. */
int bench_shoot(const Bench *b, BenchOp op, const BenchCpu *sender, const BenchCpu *targets, size_t n, uint32_t calls, BenchShot *ret,
                UcsError *e);

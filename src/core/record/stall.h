/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For how long the machine stood still, from what each CPU's witness saw.
 *
 * "Machine-wide" (no CPU ran anything): with exact intervals their intersection, with durations alone the smallest of them,
 * since all CPUs leave multi_cpu_stop() together (kernel/stop_machine.c). "Worst": the longest stall of one CPU. A CPU without
 * evidence counts as missing, never as 0. A CPU whose stopper ran more than once has other work in its account: it is flagged ("mixed")
 * and left out of every figure but the counts, as long as there is any CPU that is not mixed. docs/stall.md says it at length. */

#include <errno.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef enum UcsWitnessKind {
        UCS_WITNESS_NONE,      /* "none" */
        UCS_WITNESS_WRITE,     /* "write": wall time of the write, an upper bound */
        UCS_WITNESS_SCHEDSTAT, /* "schedstat": run time of migration/N */
        UCS_WITNESS_PERF,      /* "perf": context switches of migration/N */
        UCS_WITNESS_KERNEL,    /* "kernel": entry to and return from stop_machine_cpuslocked() */
        _UCS_WITNESS_MAX,
        _UCS_WITNESS_INVALID = -EINVAL,
} UcsWitnessKind;

const char *ucs_witness_to_string(UcsWitnessKind k);
UcsWitnessKind ucs_witness_from_string(const char *s);

/* One CPU's evidence. Offsets are from the earliest entry of any CPU. */
typedef struct UcsCpuStall {
        uint32_t cpu;
        uint32_t apic_id; /* UINT32_MAX: unknown */
        uint32_t cluster; /* x2APIC cluster, apic_id >> 4 (arch/x86/kernel/apic/x2apic_cluster.c); UINT32_MAX: unknown */
        uint32_t package; /* UINT32_MAX: unknown */
        uint64_t stall_nsec; /* UCS_UNKNOWN: no evidence */
        uint64_t entry_nsec; /* UCS_UNKNOWN without intervals */
        uint64_t exit_nsec;
        uint64_t runs; /* how often the stopper ran; more than 1: mixed with other work; 0: not at all; UCS_UNKNOWN: not seen */
} UcsCpuStall;

/* What one witness says of one load: for how long the machine stood still. */
typedef struct UcsWitnessed {
        bool on;       /* it was asked and there */
        uint64_t nsec; /* UCS_UNKNOWN: it was on, and saw nothing */
} UcsWitnessed;

/* The whole of one load. Every figure may be UCS_UNKNOWN. */
typedef struct UcsStall {
        UcsWitnessKind witness; /* the one that decides `stall_nsec` */
        UcsWitnessed witnessed[_UCS_WITNESS_MAX];
        uint64_t when_usec;  /* CLOCK_REALTIME at the write */
        uint64_t stall_nsec; /* machine-wide */
        uint64_t worst_nsec;
        uint32_t worst_cpu; /* UINT32_MAX: unknown */
        uint64_t median_nsec, p99_nsec;
        uint64_t entry_spread_nsec, exit_spread_nsec;
        uint64_t write_nsec; /* wall time of the write */
        uint64_t steal_nsec; /* taken by the hypervisor meanwhile, all CPUs */
        uint64_t tsc_hz;     /* 0: unknown, or the clocksource is not the TSC: then no ticks */
        uint64_t stall_ticks, worst_ticks;
        uint32_t n_witnessed, n_missing, n_mixed;
        UcsCpuStall *cpus; /* n_cpus, owned: of the most exact witness that sees single CPUs */
        size_t n_cpus;
} UcsStall;

/* Every figure unknown, no CPU, no witness. */
void ucs_stall_init(UcsStall *s);
void ucs_stall_done(UcsStall *s);

/* Add what one witness has seen, the most exact witness first: `x` has its kind, the evidence of its CPUs, or `stall_nsec` of one that speaks for
 * the machine alone ("kernel"). Its figure is noted; the first with a figure decides; the CPUs are those of the first with evidence of any, and
 * without one those of the last that knows who did not run. Empties `x`. 0 or -ENOMEM, both untouched. */
int ucs_stall_add(UcsStall *s, UcsStall *x);

/* Fill every figure from `cpus`, `n_cpus`, `write_nsec`, `steal_nsec`, `tsc_hz` and `witness` of `s`. Entries and exits may count from any
 * one origin: they are moved to the earliest entry. Median: of an even number of CPUs the mean of the middle two. P99: nearest rank, the
 * smallest stall that at least 99 in 100 CPUs do not exceed.
 *
 * Without evidence of any CPU the witness becomes "write" and the stall, machine-wide and worst, is the wall time of the write (an
 * upper bound); without that too, "none". The "kernel" witness sees no single CPU and brings `stall_nsec` itself: it is kept, and without
 * evidence of any CPU it is the worst one too. Beside such evidence it may be the longer one, since it holds the waking of the threads. 0 or
 * -ENOMEM, `s` untouched. */
int ucs_stall_summarize(UcsStall *s);

/* A write at which the kernel stopped nothing is no stall, however long it took: the figures go back to unknown, and only `write_nsec` stays.
 * So it is when the kernel refused (ENOENT, EBUSY, …; EIO and EPERM come from a load that began) and no CPU has evidence, and when every
 * CPU's account was read and none of them ran (on AMD a write also succeeds when there is nothing to do). `write_errno` is positive or
 * 0. After ucs_stall_summarize(). */
void ucs_stall_forget_idle(UcsStall *s, int write_errno);

uint64_t ucs_stall_ticks(uint64_t nsec, uint64_t tsc_hz); /* UCS_UNKNOWN when either is unknown */

/* The list of the CPUs that are "mixed", such as "2,6-7"; "" for none. 0 or -ENOMEM. */
int ucs_stall_format_mixed(const UcsStall *s, char **ret);

/* Counters over all loads, kept on disk. A stall falls into the first bucket whose bound (in ns, inclusive) it does not exceed; each counter
 * is of its own bucket alone. The bounds: 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 300 ms, 1 s, and UINT64_MAX. Parallel loads lie
 * between 10 and 60 ms, serial ones about 300 ms, 100 ms is the default budget. */
#define UCS_STALL_BUCKETS 12
typedef struct UcsStallTotals {
        uint64_t count, total_nsec, max_nsec, over_budget;
        uint64_t buckets[UCS_STALL_BUCKETS];
} UcsStallTotals;

extern const uint64_t ucs_stall_bounds_nsec[UCS_STALL_BUCKETS];

/* An unknown stall is not counted. `budget_nsec`: MaxStallMSec=, UINT64_MAX: none. */
void ucs_stall_totals_add(UcsStallTotals *t, uint64_t stall_nsec, uint64_t budget_nsec);

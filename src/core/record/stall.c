/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From the evidence of each CPU to the figures of the machine; see stall.h and docs/stall.md. */

#include "base/cpuset.h"
#include "base/enum.h"
#include "base/timefmt.h"
#include "core/record/stall.h"

static const char *const witness_table[_UCS_WITNESS_MAX] = {
        [UCS_WITNESS_NONE] = "none",
        [UCS_WITNESS_WRITE] = "write",
        [UCS_WITNESS_SCHEDSTAT] = "schedstat",
        [UCS_WITNESS_PERF] = "perf",
        [UCS_WITNESS_KERNEL] = "kernel",
};

DEFINE_ENUM_STRINGS(ucs_witness, UcsWitnessKind, witness_table);

void ucs_stall_init(UcsStall *s) {
        *s = (UcsStall){
                .witness = UCS_WITNESS_NONE,
                .stall_nsec = UCS_UNKNOWN,
                .worst_nsec = UCS_UNKNOWN,
                .worst_cpu = UINT32_MAX,
                .median_nsec = UCS_UNKNOWN,
                .p99_nsec = UCS_UNKNOWN,
                .entry_spread_nsec = UCS_UNKNOWN,
                .exit_spread_nsec = UCS_UNKNOWN,
                .write_nsec = UCS_UNKNOWN,
                .steal_nsec = UCS_UNKNOWN,
                .stall_ticks = UCS_UNKNOWN,
                .worst_ticks = UCS_UNKNOWN,
        };
}

void ucs_stall_done(UcsStall *s) {
        free(s->cpus);
        ucs_stall_init(s);
}

uint64_t ucs_stall_ticks(uint64_t nsec, uint64_t tsc_hz) {
        uint64_t whole, rest;

        if (nsec == UCS_UNKNOWN || tsc_hz == 0 || tsc_hz == UCS_UNKNOWN)
                return UCS_UNKNOWN;
        if (__builtin_mul_overflow(nsec / NSEC_PER_SEC, tsc_hz, &whole) ||
            __builtin_mul_overflow(nsec % NSEC_PER_SEC, tsc_hz, &rest) ||
            __builtin_add_overflow(whole, rest / NSEC_PER_SEC, &whole))
                return UCS_UNKNOWN;
        return whole;
}

static bool has_evidence(const UcsCpuStall *c) {
        return c->stall_nsec != UCS_UNKNOWN;
}

static bool is_mixed(const UcsCpuStall *c) {
        return c->runs > 1 && c->runs != UCS_UNKNOWN;
}

static bool has_interval(const UcsCpuStall *c) {
        return c->entry_nsec != UCS_UNKNOWN && c->exit_nsec != UCS_UNKNOWN && c->entry_nsec <= c->exit_nsec;
}

static int compare_nsec(const void *a, const void *b) {
        const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

/* Offsets from the earliest entry; half an interval is none. */
static void rebase_intervals(UcsStall *s) {
        uint64_t origin = UCS_UNKNOWN;

        for (size_t i = 0; i < s->n_cpus; i++)
                if (has_interval(&s->cpus[i]))
                        origin = MIN(origin, s->cpus[i].entry_nsec);
        for (size_t i = 0; i < s->n_cpus; i++) {
                UcsCpuStall *c = &s->cpus[i];

                if (has_interval(c)) {
                        c->entry_nsec -= origin;
                        c->exit_nsec -= origin;
                } else
                        c->entry_nsec = c->exit_nsec = UCS_UNKNOWN;
        }
}

/* The figures from the CPUs that count: those with evidence that are not mixed, or all with evidence if `take_mixed`. `sorted` has room
 * for all of them; how many there are, is `n`. */
static void summarize_cpus(UcsStall *s, bool take_mixed, uint64_t *sorted, size_t n) {
        uint64_t first_entry = UCS_UNKNOWN, last_entry = 0, first_exit = UCS_UNKNOWN, last_exit = 0;
        uint64_t shortest = UCS_UNKNOWN;
        bool intervals = false;
        size_t k = 0;

        for (size_t i = 0; i < s->n_cpus; i++) {
                const UcsCpuStall *c = &s->cpus[i];

                if (!has_evidence(c) || (is_mixed(c) && !take_mixed))
                        continue;
                sorted[k++] = c->stall_nsec;
                if (s->worst_nsec == UCS_UNKNOWN || c->stall_nsec > s->worst_nsec) {
                        s->worst_nsec = c->stall_nsec;
                        s->worst_cpu = c->cpu;
                }
                if (!has_interval(c)) {
                        shortest = MIN(shortest, c->stall_nsec);
                        continue;
                }
                intervals = true;
                first_entry = MIN(first_entry, c->entry_nsec);
                last_entry = MAX(last_entry, c->entry_nsec);
                first_exit = MIN(first_exit, c->exit_nsec);
                last_exit = MAX(last_exit, c->exit_nsec);
        }

        if (intervals) {
                /* from the last one in to the first one out; intervals that do not meet are no machine-wide stall */
                shortest = MIN(shortest, first_exit > last_entry ? first_exit - last_entry : 0);
                s->entry_spread_nsec = last_entry - first_entry;
                s->exit_spread_nsec = last_exit - first_exit;
        }
        s->stall_nsec = shortest;

        qsort(sorted, n, sizeof(*sorted), compare_nsec);
        s->median_nsec = sorted[(n - 1) / 2] + (sorted[n / 2] - sorted[(n - 1) / 2]) / 2;
        s->p99_nsec = sorted[(n * 99 + 99) / 100 - 1];
}

static bool knows_any(const UcsStall *s) {
        for (size_t i = 0; i < s->n_cpus; i++)
                if (s->cpus[i].runs != UCS_UNKNOWN)
                        return true;
        return false;
}

int ucs_stall_add(UcsStall *s, UcsStall *x) {
        const UcsWitnessKind kind = x->witness;
        int r;

        x->write_nsec = UCS_UNKNOWN; /* which is nobody's but its own */
        r = ucs_stall_summarize(x);
        if (r < 0)
                return r;
        s->witnessed[kind] = (UcsWitnessed){ .on = true, .nsec = x->stall_nsec };
        if (s->witness == UCS_WITNESS_NONE && x->stall_nsec != UCS_UNKNOWN) {
                s->witness = kind;
                s->stall_nsec = x->stall_nsec;
                s->tsc_hz = s->tsc_hz ?: x->tsc_hz;
        }
        if (s->n_witnessed == 0 && (!s->cpus || knows_any(x))) {
                free(s->cpus);
                s->cpus = TAKE_PTR(x->cpus);
                s->n_cpus = x->n_cpus;
                s->n_witnessed = x->n_witnessed;
                x->n_cpus = 0;
        }
        ucs_stall_done(x);
        return 0;
}

int ucs_stall_summarize(UcsStall *s) {
        _cleanup_free_ uint64_t *sorted = NULL;
        const uint64_t kernel_nsec = s->witness == UCS_WITNESS_KERNEL ? s->stall_nsec : UCS_UNKNOWN;
        uint32_t n_witnessed = 0, n_mixed = 0;
        bool take_mixed;

        sorted = new0(uint64_t, s->n_cpus);
        if (!sorted)
                return -ENOMEM;

        for (size_t i = 0; i < s->n_cpus; i++) {
                if (!has_evidence(&s->cpus[i]))
                        continue;
                n_witnessed++;
                n_mixed += is_mixed(&s->cpus[i]);
        }
        take_mixed = n_mixed == n_witnessed;

        s->n_witnessed = n_witnessed;
        s->n_mixed = n_mixed;
        s->n_missing = (uint32_t) s->n_cpus - n_witnessed;
        s->stall_nsec = s->worst_nsec = s->median_nsec = s->p99_nsec = UCS_UNKNOWN;
        s->entry_spread_nsec = s->exit_spread_nsec = UCS_UNKNOWN;
        s->worst_cpu = UINT32_MAX;

        rebase_intervals(s);
        if (n_witnessed > 0)
                summarize_cpus(s, take_mixed, sorted, take_mixed ? n_witnessed : n_witnessed - n_mixed);
        else if (kernel_nsec != UCS_UNKNOWN)
                s->worst_nsec = kernel_nsec;
        else {
                s->witness = s->write_nsec != UCS_UNKNOWN ? UCS_WITNESS_WRITE : UCS_WITNESS_NONE;
                s->stall_nsec = s->worst_nsec = s->write_nsec;
        }
        if (kernel_nsec != UCS_UNKNOWN)
                s->stall_nsec = kernel_nsec;
        if (s->write_nsec != UCS_UNKNOWN)
                s->witnessed[UCS_WITNESS_WRITE] = (UcsWitnessed){ .on = true, .nsec = s->write_nsec };
        s->stall_ticks = ucs_stall_ticks(s->stall_nsec, s->tsc_hz);
        s->worst_ticks = ucs_stall_ticks(s->worst_nsec, s->tsc_hz);
        return 0;
}

/* Every account was read, and in none of them is a run. */
static bool nobody_ran(const UcsStall *s) {
        for (size_t i = 0; i < s->n_cpus; i++)
                if (s->cpus[i].runs != 0)
                        return false;
        return s->n_cpus > 0;
}

void ucs_stall_forget_idle(UcsStall *s, int write_errno) {
        const bool refused = write_errno != 0 && write_errno != EIO && write_errno != EPERM;

        if (s->n_witnessed > 0 || s->witness == UCS_WITNESS_KERNEL || !(refused || nobody_ran(s)))
                return;
        s->witness = UCS_WITNESS_NONE;
        s->stall_nsec = s->worst_nsec = UCS_UNKNOWN;
        s->stall_ticks = s->worst_ticks = UCS_UNKNOWN;
        for (size_t i = 0; i < _UCS_WITNESS_MAX; i++)
                s->witnessed[i].nsec = UCS_UNKNOWN;
}

int ucs_stall_format_mixed(const UcsStall *s, char **ret) {
        UcsCpuSet mixed = {};

        for (size_t i = 0; i < s->n_cpus; i++)
                if (has_evidence(&s->cpus[i]) && is_mixed(&s->cpus[i]))
                        ucs_cpuset_add(&mixed, s->cpus[i].cpu);
        return ucs_cpuset_format(&mixed, ret);
}

const uint64_t ucs_stall_bounds_nsec[UCS_STALL_BUCKETS] = {
        100 * NSEC_PER_USEC, 500 * NSEC_PER_USEC, NSEC_PER_MSEC,       2 * NSEC_PER_MSEC,
        5 * NSEC_PER_MSEC,   10 * NSEC_PER_MSEC,  20 * NSEC_PER_MSEC,  50 * NSEC_PER_MSEC,
        100 * NSEC_PER_MSEC, 300 * NSEC_PER_MSEC, 1000 * NSEC_PER_MSEC, UINT64_MAX,
};

void ucs_stall_totals_add(UcsStallTotals *t, uint64_t stall_nsec, uint64_t budget_nsec) {
        size_t i = 0;

        if (stall_nsec == UCS_UNKNOWN)
                return;
        t->count++;
        if (__builtin_add_overflow(t->total_nsec, stall_nsec, &t->total_nsec))
                t->total_nsec = UINT64_MAX - 1; /* UINT64_MAX would say "unknown" */
        t->max_nsec = MAX(t->max_nsec, stall_nsec);
        t->over_budget += stall_nsec > budget_nsec;
        while (stall_nsec > ucs_stall_bounds_nsec[i])
                i++;
        t->buckets[i]++;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From evidence to figures: durations, intervals, mixed and missing CPUs, totals. */

#include "base/str.h"
#include "base/timefmt.h"
#include "core/record/stall.h"
#include "ucs-test.h"

#define NO UCS_UNKNOWN
#define NOBODY UINT32_MAX
#define CPUS_MAX 5

static void stall_of(UcsStall *s, UcsWitnessKind witness, const UcsCpuStall *cpus, size_t n) {
        ucs_stall_init(s);
        s->witness = witness;
        s->cpus = new0(UcsCpuStall, n);
        if (n > 0)
                memcpy(s->cpus, cpus, n * sizeof(*cpus));
        s->n_cpus = n;
}

#define DURATION(c, ns, r) { .cpu = (c), .stall_nsec = (ns), .entry_nsec = NO, .exit_nsec = NO, .runs = (r) }
#define INTERVAL(c, in, out, r) { .cpu = (c), .stall_nsec = (out) - (in), .entry_nsec = (in), .exit_nsec = (out), .runs = (r) }

ucs_test(stall, figures) {
        static const struct {
                const char *name;
                UcsWitnessKind witness;
                UcsCpuStall cpus[CPUS_MAX];
                size_t n_cpus;
                uint64_t write_nsec;
                struct {
                        UcsWitnessKind witness;
                        uint64_t stall, worst;
                        uint32_t worst_cpu;
                        uint64_t median, p99, entry_spread, exit_spread;
                        uint32_t witnessed, missing, mixed;
                } x;
        } table[] = {
                { "durations: the machine is the smallest", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, 300, 1), DURATION(1, 100, 1), DURATION(2, 400, 1), DURATION(3, 200, 1) }, 4, 999,
                  { UCS_WITNESS_SCHEDSTAT, 100, 400, 2, 250, 400, NO, NO, 4, 0, 0 } },
                { "of equals the first is the worst", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(4, 100, 1), DURATION(9, 100, 1) }, 2, 999,
                  { UCS_WITNESS_SCHEDSTAT, 100, 100, 4, 100, 100, NO, NO, 2, 0, 0 } },
                { "a missing CPU is not zero", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, NO, 0), DURATION(1, 100, 1), DURATION(2, NO, NO) }, 3, 999,
                  { UCS_WITNESS_SCHEDSTAT, 100, 100, 1, 100, 100, NO, NO, 1, 2, 0 } },
                { "a stall of zero is one", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, 0, 1), DURATION(1, 100, 1) }, 2, 999,
                  { UCS_WITNESS_SCHEDSTAT, 0, 100, 1, 50, 100, NO, NO, 2, 0, 0 } },
                { "the mixed one would be the worst", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, 300, 1), DURATION(1, 900, 2), DURATION(2, 200, 1) }, 3, 999,
                  { UCS_WITNESS_SCHEDSTAT, 200, 300, 0, 250, 300, NO, NO, 3, 0, 1 } },
                { "the mixed one would be the smallest", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, 300, 1), DURATION(1, 10, 3), DURATION(2, 200, 1) }, 3, 999,
                  { UCS_WITNESS_SCHEDSTAT, 200, 300, 0, 250, 300, NO, NO, 3, 0, 1 } },
                { "only mixed ones", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, 300, 2), DURATION(1, 200, 2), DURATION(2, NO, 0) }, 3, 999,
                  { UCS_WITNESS_SCHEDSTAT, 200, 300, 0, 250, 300, NO, NO, 2, 1, 2 } },
                { "no evidence: the write", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, NO, 0), DURATION(1, NO, 0) }, 2, 999,
                  { UCS_WITNESS_WRITE, 999, 999, NOBODY, NO, NO, NO, NO, 0, 2, 0 } },
                { "no evidence and no write", UCS_WITNESS_SCHEDSTAT,
                  { DURATION(0, NO, 0) }, 1, NO,
                  { UCS_WITNESS_NONE, NO, NO, NOBODY, NO, NO, NO, NO, 0, 1, 0 } },
                { "no CPU", UCS_WITNESS_WRITE, {}, 0, 999,
                  { UCS_WITNESS_WRITE, 999, 999, NOBODY, NO, NO, NO, NO, 0, 0, 0 } },
                { "intervals: last in to first out", UCS_WITNESS_PERF,
                  { INTERVAL(0, 1000, 1500, 1), INTERVAL(1, 1100, 1490, 1), INTERVAL(2, 1050, 1700, 1) }, 3, 999,
                  { UCS_WITNESS_PERF, 390, 650, 2, 500, 650, 100, 210, 3, 0, 0 } },
                { "intervals that do not meet", UCS_WITNESS_PERF,
                  { INTERVAL(0, 1000, 1200, 1), INTERVAL(1, 1300, 1600, 1) }, 2, 999,
                  { UCS_WITNESS_PERF, 0, 300, 1, 250, 300, 300, 400, 2, 0, 0 } },
                { "intervals that only touch", UCS_WITNESS_PERF,
                  { INTERVAL(0, 1000, 1200, 1), INTERVAL(1, 1200, 1600, 1) }, 2, 999,
                  { UCS_WITNESS_PERF, 0, 400, 1, 300, 400, 200, 400, 2, 0, 0 } },
                { "a mixed interval does not widen the spread", UCS_WITNESS_PERF,
                  { INTERVAL(0, 1000, 1500, 1), INTERVAL(1, 1010, 1510, 1), INTERVAL(2, 100, 2000, 2) }, 3, 999,
                  { UCS_WITNESS_PERF, 490, 500, 0, 500, 500, 10, 10, 3, 0, 1 } },
                { "a duration among intervals bounds them", UCS_WITNESS_PERF,
                  { INTERVAL(0, 1000, 1500, 1), INTERVAL(1, 1000, 1500, 1), DURATION(2, 450, 1) }, 3, 999,
                  { UCS_WITNESS_PERF, 450, 500, 0, 500, 500, 0, 0, 3, 0, 0 } },
                { "an interval that ends before it begins is none", UCS_WITNESS_PERF,
                  { { .cpu = 0, .stall_nsec = 70, .entry_nsec = 20, .exit_nsec = 10, .runs = 1 } }, 1, 999,
                  { UCS_WITNESS_PERF, 70, 70, 0, 70, 70, NO, NO, 1, 0, 0 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const char *name = table[i].name;
                UcsStall s;

                stall_of(&s, table[i].witness, table[i].cpus, table[i].n_cpus);
                s.write_nsec = table[i].write_nsec;
                s.tsc_hz = UINT64_C(2400000000);
                for (int again = 0; again < 2; again++) { /* to summarize twice changes nothing */
                        cr_assert_eq(ucs_stall_summarize(&s), 0);
                        cr_expect_eq(s.witness, table[i].x.witness, "%s: witness", name);
                        cr_expect_eq(s.stall_nsec, table[i].x.stall, "%s: stall %ju", name, (uintmax_t) s.stall_nsec);
                        cr_expect_eq(s.worst_nsec, table[i].x.worst, "%s: worst %ju", name, (uintmax_t) s.worst_nsec);
                        cr_expect_eq(s.worst_cpu, table[i].x.worst_cpu, "%s: worst CPU %u", name, s.worst_cpu);
                        cr_expect_eq(s.median_nsec, table[i].x.median, "%s: median %ju", name, (uintmax_t) s.median_nsec);
                        cr_expect_eq(s.p99_nsec, table[i].x.p99, "%s: p99 %ju", name, (uintmax_t) s.p99_nsec);
                        cr_expect_eq(s.entry_spread_nsec, table[i].x.entry_spread, "%s: entry spread", name);
                        cr_expect_eq(s.exit_spread_nsec, table[i].x.exit_spread, "%s: exit spread", name);
                        cr_expect_eq(s.n_witnessed, table[i].x.witnessed, "%s: witnessed", name);
                        cr_expect_eq(s.n_missing, table[i].x.missing, "%s: missing", name);
                        cr_expect_eq(s.n_mixed, table[i].x.mixed, "%s: mixed", name);
                        cr_expect_eq(s.stall_ticks, ucs_stall_ticks(s.stall_nsec, s.tsc_hz), "%s: ticks", name);
                        cr_expect_eq(s.worst_ticks, ucs_stall_ticks(s.worst_nsec, s.tsc_hz), "%s: worst ticks", name);
                }
                ucs_stall_done(&s);
        }
}

/* Several witnesses of one load, the most exact first: each figure is kept, one decides, and the CPUs are of one that saw any. */
ucs_test(stall, witnesses) {
        enum { PERF = 1, ACCOUNTS = 2, KERNEL = 4, WRITE = 8 };
        static const struct {
                const char *name;
                unsigned on, blind;  /* which see nothing */
                bool idle;           /* who is blind knows that nobody ran */
                UcsWitnessKind witness;
                uint64_t stall, worst;
                uint64_t kernel, perf, accounts, write; /* 0: not on */
                uint64_t entry, runs;                   /* of the first CPU */
        } table[] = {
                { "only the write", WRITE, 0, false, UCS_WITNESS_WRITE, 999, 999, 0, 0, 0, 999, NO, NO },
                { "accounts", ACCOUNTS | WRITE, 0, false, UCS_WITNESS_SCHEDSTAT, 410, 420, 0, 0, 410, 999, NO, 1 },
                { "accounts that see nothing", ACCOUNTS | WRITE, ACCOUNTS, true, UCS_WITNESS_WRITE, 999, 999, 0, 0, NO, 999, NO, 0 },
                { "perf decides", PERF | ACCOUNTS | WRITE, 0, false, UCS_WITNESS_PERF, 390, 400, 0, 390, 410, 999, 0, 1 },
                { "perf sees nothing", PERF | ACCOUNTS | WRITE, PERF, false, UCS_WITNESS_SCHEDSTAT, 410, 420, 0, NO, 410, 999, NO, 1 },
                { "nobody ran", PERF | ACCOUNTS | WRITE, PERF | ACCOUNTS, true, UCS_WITNESS_WRITE, 999, 999, 0, NO, NO, 999, NO, 0 },
                { "the kernel decides, perf has the CPUs", KERNEL | PERF | ACCOUNTS | WRITE, 0, false, UCS_WITNESS_KERNEL, 450, 400, 450, 390, 410, 999, 0, 1 },
                { "the kernel decides, the accounts have the CPUs", KERNEL | PERF | ACCOUNTS | WRITE, PERF, false, UCS_WITNESS_KERNEL, 450, 420, 450, NO, 410, 999, NO, 1 },
                { "the kernel alone", KERNEL | ACCOUNTS | WRITE, ACCOUNTS, false, UCS_WITNESS_KERNEL, 450, 450, 450, 0, NO, 999, NO, NO },
                { "the kernel sees nothing", KERNEL | ACCOUNTS | WRITE, KERNEL, false, UCS_WITNESS_SCHEDSTAT, 410, 420, NO, 0, 410, 999, NO, 1 },
        };
        static const UcsCpuStall intervals[] = { INTERVAL(0, 7000, 7400, 1), INTERVAL(1, 7010, 7400, 1) },
                                 durations[] = { DURATION(0, 420, 1), DURATION(1, 410, 1) },
                                 unseen[] = { DURATION(0, NO, NO), DURATION(1, NO, NO) }, idle[] = { DURATION(0, NO, 0), DURATION(1, NO, 0) };
        static const struct {
                unsigned bit;
                UcsWitnessKind kind;
                const UcsCpuStall *cpus;
        } order[] = {
                { KERNEL, UCS_WITNESS_KERNEL, unseen },
                { PERF, UCS_WITNESS_PERF, intervals },
                { ACCOUNTS, UCS_WITNESS_SCHEDSTAT, durations },
                { WRITE, UCS_WITNESS_WRITE, unseen },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const uint64_t figures[] = { table[i].kernel, table[i].perf, table[i].accounts, table[i].write };
                UcsStall s;

                ucs_stall_init(&s);
                for (size_t k = 0; k < ELEMENTSOF(order); k++) {
                        const bool blind = table[i].blind & order[k].bit;
                        UcsStall x;

                        if (!(table[i].on & order[k].bit))
                                continue;
                        stall_of(&x, order[k].kind, !blind ? order[k].cpus : table[i].idle ? idle : unseen, 2);
                        if (order[k].kind == UCS_WITNESS_KERNEL && !blind)
                                x.stall_nsec = 450;
                        cr_assert_eq(ucs_stall_add(&s, &x), 0);
                        cr_expect_null(x.cpus);
                }
                s.write_nsec = 999;
                cr_assert_eq(ucs_stall_summarize(&s), 0);
                cr_expect_eq(s.witness, table[i].witness, "%s: %s", table[i].name, ucs_witness_to_string(s.witness));
                cr_expect_eq(s.stall_nsec, table[i].stall, "%s: %ju", table[i].name, (uintmax_t) s.stall_nsec);
                cr_expect_eq(s.worst_nsec, table[i].worst, "%s: %ju", table[i].name, (uintmax_t) s.worst_nsec);
                for (size_t k = 0; k < ELEMENTSOF(order); k++) {
                        const UcsWitnessed *w = &s.witnessed[order[k].kind];

                        cr_expect_eq(w->on, figures[k] != 0, "%s", table[i].name);
                        cr_expect_eq(w->nsec, figures[k], "%s, %s: %ju", table[i].name, ucs_witness_to_string(order[k].kind), (uintmax_t) w->nsec);
                }
                cr_expect_eq(s.n_cpus, 2, "%s", table[i].name);
                cr_expect_eq(s.cpus[0].entry_nsec, table[i].entry, "%s", table[i].name);
                cr_expect_eq(s.cpus[0].runs, table[i].runs, "%s", table[i].name);

                /* a kernel that refused has stopped nobody: then the write is no bound of anything */
                ucs_stall_forget_idle(&s, ENOENT);
                if (table[i].witness == UCS_WITNESS_WRITE)
                        cr_expect_eq(s.witnessed[UCS_WITNESS_WRITE].nsec, NO, "%s", table[i].name);
                ucs_stall_done(&s);
        }
}

ucs_test(stall, list_of_mixed) {
        static const UcsCpuStall cpus[] = { DURATION(0, 300, 1), DURATION(2, 300, 2), DURATION(3, 300, 5), DURATION(7, NO, 2), DURATION(9, 300, NO), DURATION(11, 1, 3) };
        _cleanup_free_ char *list = NULL, *none = NULL;
        UcsStall s;

        stall_of(&s, UCS_WITNESS_SCHEDSTAT, cpus, ELEMENTSOF(cpus));
        cr_assert_eq(ucs_stall_format_mixed(&s, &list), 0);
        cr_expect_str_eq(list, "2-3,11");
        s.n_cpus = 1;
        cr_assert_eq(ucs_stall_format_mixed(&s, &none), 0);
        cr_expect_str_eq(none, "");
        ucs_stall_done(&s);
}

ucs_test(stall, offsets_from_the_earliest_entry) {
        static const UcsCpuStall cpus[] = {
                INTERVAL(0, 5000, 5500, 1), INTERVAL(1, 4900, 5490, 1), DURATION(2, 450, 1),
                { .cpu = 3, .stall_nsec = 70, .entry_nsec = 10, .exit_nsec = NO, .runs = 1 },
        };
        UcsStall s;

        stall_of(&s, UCS_WITNESS_PERF, cpus, ELEMENTSOF(cpus));
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.cpus[0].entry_nsec, 100);
        cr_expect_eq(s.cpus[0].exit_nsec, 600);
        cr_expect_eq(s.cpus[1].entry_nsec, 0);
        cr_expect_eq(s.cpus[1].exit_nsec, 590);
        cr_expect_eq(s.cpus[2].entry_nsec, NO);
        cr_expect_eq(s.cpus[3].entry_nsec, NO, "half an interval is none");
        ucs_stall_done(&s);
        cr_expect_eq(s.stall_nsec, NO);
        cr_expect_null(s.cpus);
}

/* Nearest rank over 1, 2, …, n in any order. */
ucs_test(stall, percentile) {
        static const struct {
                size_t n;
                uint64_t median, p99;
        } table[] = { { 1, 1, 1 }, { 2, 1, 2 }, { 3, 2, 3 }, { 72, 36, 72 }, { 99, 50, 99 }, { 100, 50, 99 }, { 101, 51, 100 },
                      { 200, 100, 198 }, { 201, 101, 199 }, { 4096, 2048, 4056 } };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsStall s;

                stall_of(&s, UCS_WITNESS_SCHEDSTAT, NULL, 0);
                free(s.cpus);
                s.n_cpus = table[i].n;
                s.cpus = new0(UcsCpuStall, s.n_cpus);
                for (size_t k = 0; k < s.n_cpus; k++)
                        s.cpus[k] = (UcsCpuStall) DURATION((uint32_t) k, s.n_cpus - k, 1);
                cr_assert_eq(ucs_stall_summarize(&s), 0);
                cr_expect_eq(s.median_nsec, table[i].median, "%zu: median %ju", table[i].n, (uintmax_t) s.median_nsec);
                cr_expect_eq(s.p99_nsec, table[i].p99, "%zu: p99 %ju", table[i].n, (uintmax_t) s.p99_nsec);
                ucs_stall_done(&s);
        }
}

ucs_test(stall, kernel_brings_its_own) {
        static const UcsCpuStall cpus[] = { DURATION(0, NO, NO) };
        UcsStall s;

        stall_of(&s, UCS_WITNESS_KERNEL, cpus, 1);
        s.stall_nsec = 12450000;
        s.write_nsec = 20000000;
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_KERNEL);
        cr_expect_eq(s.stall_nsec, 12450000);
        cr_expect_eq(s.worst_nsec, 12450000);
        cr_expect_eq(s.n_missing, 1);
        ucs_stall_done(&s);

        /* and falls back when it has seen nothing */
        stall_of(&s, UCS_WITNESS_KERNEL, cpus, 1);
        s.write_nsec = 20000000;
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_WRITE);
        cr_expect_eq(s.stall_nsec, 20000000);
        ucs_stall_done(&s);
}

ucs_test(stall, idle_is_no_stall) {
        static const struct {
                const char *name;
                int write_errno;
                UcsCpuStall cpus[2];
                bool kept;
        } table[] = {
                { "loaded, no witness", 0, { DURATION(0, NO, NO), DURATION(1, NO, NO) }, true },
                { "loaded, one account is late", 0, { DURATION(0, NO, 1), DURATION(1, NO, 0) }, true },
                { "loaded, one account unread", 0, { DURATION(0, NO, NO), DURATION(1, NO, 0) }, true },
                { "success, and nobody ran", 0, { DURATION(0, NO, 0), DURATION(1, NO, 0) }, false },
                { "EIO, no witness", EIO, { DURATION(0, NO, NO), DURATION(1, NO, NO) }, true },
                { "EPERM, no witness", EPERM, { DURATION(0, NO, NO), DURATION(1, NO, NO) }, true },
                { "EIO, and nobody ran", EIO, { DURATION(0, NO, 0), DURATION(1, NO, 0) }, false },
                { "refused", ENOENT, { DURATION(0, NO, NO), DURATION(1, NO, NO) }, false },
                { "busy", EBUSY, { DURATION(0, NO, NO), DURATION(1, NO, NO) }, false },
                { "malformed", EBADFD, { DURATION(0, NO, NO), DURATION(1, NO, NO) }, false },
                { "busy, as older kernels say", EINVAL, { DURATION(0, NO, 0), DURATION(1, NO, 0) }, false },
                { "refused, but a CPU was stopped", ENOENT, { DURATION(0, 100, 1), DURATION(1, NO, 0) }, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsStall s;

                stall_of(&s, UCS_WITNESS_SCHEDSTAT, table[i].cpus, 2);
                s.write_nsec = 999;
                cr_assert_eq(ucs_stall_summarize(&s), 0);
                ucs_stall_forget_idle(&s, table[i].write_errno);
                cr_expect_eq(s.stall_nsec != NO, table[i].kept, "%s", table[i].name);
                cr_expect_eq(s.worst_nsec != NO, table[i].kept, "%s", table[i].name);
                cr_expect_eq(s.witness != UCS_WITNESS_NONE, table[i].kept, "%s", table[i].name);
                cr_expect_eq(s.write_nsec, 999);
                ucs_stall_done(&s);
        }
}

ucs_test(stall, ticks) {
        static const struct {
                uint64_t nsec, hz, ticks;
        } table[] = {
                { 12450000, UINT64_C(2400000000), 29880000 },
                { 1, UINT64_C(2400000000), 2 },
                { 0, UINT64_C(2400000000), 0 },
                { UINT64_C(351207505), UINT64_C(2400000000), 842898012 },
                { NO, UINT64_C(2400000000), NO },
                { 1000, 0, NO },
                { 1000, NO, NO },
                { UINT64_C(5000000000) * NSEC_PER_SEC / 1000, UINT64_C(4000000000), UINT64_C(20000000000000000) },
                { UINT64_MAX - 1, UINT64_C(4000000000), NO }, /* would not fit */
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_stall_ticks(table[i].nsec, table[i].hz), table[i].ticks, "row %zu: %ju", i,
                             (uintmax_t) ucs_stall_ticks(table[i].nsec, table[i].hz));
}

ucs_test(stall, totals) {
        UcsStallTotals t = {};

        for (size_t i = 1; i < UCS_STALL_BUCKETS; i++)
                cr_expect(ucs_stall_bounds_nsec[i - 1] < ucs_stall_bounds_nsec[i], "bucket %zu", i);
        cr_expect_eq(ucs_stall_bounds_nsec[UCS_STALL_BUCKETS - 1], UINT64_MAX);

        /* a bound belongs to its own bucket, the next nanosecond to the next */
        for (size_t i = 0; i < UCS_STALL_BUCKETS - 1; i++) {
                ucs_stall_totals_add(&t, ucs_stall_bounds_nsec[i], UINT64_MAX);
                ucs_stall_totals_add(&t, ucs_stall_bounds_nsec[i] + 1, UINT64_MAX);
        }
        for (size_t i = 0; i < UCS_STALL_BUCKETS; i++)
                cr_expect_eq(t.buckets[i], i == 0 || i == UCS_STALL_BUCKETS - 1 ? 1 : 2, "bucket %zu", i);
        cr_expect_eq(t.count, 2 * (UCS_STALL_BUCKETS - 1));
        cr_expect_eq(t.max_nsec, NSEC_PER_SEC + 1);
        cr_expect_eq(t.over_budget, 0);

        t = (UcsStallTotals){};
        ucs_stall_totals_add(&t, NO, 0);
        cr_expect_eq(t.count, 0, "an unknown stall is not counted");
        ucs_stall_totals_add(&t, 100, 100);
        ucs_stall_totals_add(&t, 101, 100);
        cr_expect_eq(t.over_budget, 1);
        cr_expect_eq(t.total_nsec, 201);
        ucs_stall_totals_add(&t, UINT64_MAX - 1, 100);
        ucs_stall_totals_add(&t, UINT64_MAX - 1, 100);
        cr_expect_eq(t.total_nsec, UINT64_MAX - 1, "the sum stays at its end");
}

ucs_test(stall, words) {
        static const char *const words[_UCS_WITNESS_MAX] = { "none", "write", "schedstat", "perf", "kernel" };

        for (int i = 0; i < _UCS_WITNESS_MAX; i++) {
                cr_expect_str_eq(ucs_witness_to_string((UcsWitnessKind) i), words[i]);
                cr_expect_eq((int) ucs_witness_from_string(words[i]), i);
        }
        cr_expect_eq(ucs_witness_from_string("probe"), _UCS_WITNESS_INVALID);
}

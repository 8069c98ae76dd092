/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the baseline and the reading of the accounts cost, in system calls: of a few CPUs exactly, of 4096 at most, and with descriptors that
 * run out. Nobody waits, and no thread is made. */

#include <sys/resource.h>
#include <sys/syscall.h>

#include "os/witness/witness.h"
#include "stopper-tree.h"
#include "syscalls.h"

#define witness_test(name) ucs_test(witness_cost, name, .init = tmproot_init, .fini = tmproot_done)

static UcsWitness *witness_new(UcsWitnessKind kind, const UcsMachine *m, UcsError *e) {
        UcsWitness *w = NULL;

        cr_assert_eq(ucs_witness_open(tmproot, kind, m, &w, e), 0);
        cr_assert(w);
        return w;
}

static UcsMachine *counted_machine;
static UcsWitness *counted;
static UcsStall counted_stall;

static unsigned counted_cpus;
static rlim_t counted_descriptors; /* 0: as many as there are */

static void prepare(void) {
        struct rlimit rl;

        if (counted_descriptors > 0 && getrlimit(RLIMIT_NOFILE, &rl) >= 0) {
                rl.rlim_cur = MIN(counted_descriptors, rl.rlim_max);
                (void) setrlimit(RLIMIT_NOFILE, &rl);
        }
        counted_machine = machine_of(counted_cpus);
        counted = witness_new(UCS_WITNESS_SCHEDSTAT, counted_machine, NULL);
        cr_assert_eq(ucs_witness_kind(counted), UCS_WITNESS_SCHEDSTAT);
        ucs_stall_init(&counted_stall);
}

static void arm(void) {
        if (ucs_witness_arm(counted) < 0)
                _exit(1);
}

static void prepare_collect(void) {
        prepare();
        arm();
}

static void collect(void) {
        if (ucs_witness_collect(counted, &counted_stall) < 0)
                _exit(1);
}

/* Between the baseline and the write lies one call a CPU, and nothing else: no thread, no waiting. */
witness_test(one_call_a_cpu) {
        Syscalls s;

        counted_cpus = 64;
        for (unsigned cpu = 0; cpu < counted_cpus; cpu++)
                tree_stopper(cpu);
        if (count_syscalls(prepare, arm, &s) < 0)
                cr_skip("ptrace(2) is not allowed here");
        cr_expect_eq(s.by_number[SYS_pread64], counted_cpus);
        cr_expect_eq(s.total, counted_cpus, "%u calls", s.total);

        cr_assert_eq(count_syscalls(prepare_collect, collect, &s), 0);
        cr_expect_eq(s.by_number[SYS_pread64], counted_cpus);
        cr_expect_eq(s.by_number[SYS_clock_nanosleep], 0, "nobody is waited for");
        cr_expect(s.total <= counted_cpus + 8, "%u calls", s.total); /* memory, and the clock where there is no vDSO */
}

/* The largest machine: one call a CPU as long as the descriptors last (LimitNOFILE=16384), and three for each of the others. */
ucs_test(witness_cost, calls_of_many_cpus, .init = tree_init_in_memory, .fini = tmproot_done) {
        static const struct {
                rlim_t descriptors;
                unsigned calls_a_cpu;
        } table[] = {
                { 16384, 1 },
                { 1024, 3 },
        };
        const unsigned memory = 64; /* calls for the arrays of so many CPUs */

        counted_cpus = 4096;
        for (unsigned cpu = 0; cpu < counted_cpus; cpu++)
                tree_stopper(cpu);
        for (unsigned i = 0; i < ELEMENTSOF(table); i++) {
                struct rlimit rl;
                Syscalls s;

                cr_assert_eq(getrlimit(RLIMIT_NOFILE, &rl), 0);
                if (rl.rlim_max < table[i].descriptors)
                        continue;
                counted_descriptors = table[i].descriptors;
                if (count_syscalls(prepare, arm, &s) < 0)
                        cr_skip("ptrace(2) is not allowed here");
                cr_expect(s.total <= table[i].calls_a_cpu * counted_cpus, "%u calls for the baseline of %u CPUs", s.total, counted_cpus);
                cr_expect_eq(s.by_number[SYS_clone] + s.by_number[SYS_clone3] + s.by_number[SYS_clock_nanosleep], 0);
                cr_assert_eq(count_syscalls(prepare_collect, collect, &s), 0);
                cr_expect(s.total <= table[i].calls_a_cpu * counted_cpus + memory, "%u calls for the accounts of %u CPUs", s.total, counted_cpus);
                cr_expect_eq(s.by_number[SYS_clone] + s.by_number[SYS_clone3] + s.by_number[SYS_clock_nanosleep], 0);
        }
        counted_descriptors = 0;
}

ucs_test(witness_cost, many_cpus_with_few_descriptors, .init = tree_init_in_memory, .fini = tmproot_done) {
        static const rlim_t limits[] = { 16384, 1024, 24 };
        const unsigned n = 4096;
        struct rlimit before;

        for (unsigned cpu = 0; cpu < n; cpu++)
                tree_stopper(cpu);
        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        for (unsigned i = 0; i < ELEMENTSOF(limits); i++) {
                struct rlimit rl = { .rlim_cur = MIN(limits[i], before.rlim_max), .rlim_max = before.rlim_max };
                _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(n);
                _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
                UcsError e = {};
                UcsStall s;

                cr_assert_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
                w = witness_new(_UCS_WITNESS_INVALID, m, &e);
                cr_expect_eq(ucs_witness_kind(w), UCS_WITNESS_SCHEDSTAT, "%s", e.text);
                cr_assert_eq(ucs_witness_arm(w), 0);
                cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
                for (unsigned cpu = 0; cpu < n; cpu++)
                        tree_ran(cpu, (i + 1) * (1000 + cpu), i + 1);
                cr_assert_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
                ucs_stall_init(&s);
                cr_assert_eq(ucs_witness_collect(w, &s), 0);
                cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
                cr_assert_eq(ucs_stall_summarize(&s), 0);
                cr_expect_eq(s.n_witnessed, n);
                cr_expect_eq(s.n_mixed, 0, "%u mixed", s.n_mixed);
                cr_expect_eq(s.worst_cpu, n - 1);
                cr_expect_eq(s.cpus[77].stall_nsec, 1077, "%ju", (uintmax_t) s.cpus[77].stall_nsec);
                ucs_stall_done(&s);
        }
}

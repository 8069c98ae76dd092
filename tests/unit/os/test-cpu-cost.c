/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What reading the machine costs: system calls counted, 4096 CPUs, and descriptors that run out. */

#include <sys/resource.h>
#include <sys/syscall.h>

#include "os/cpu.h"
#include "syscalls.h"
#include "tree.h"

#define cpu_test(name) ucs_test(cpu_cost, name, .init = tmproot_init, .fini = tmproot_done)

static UcsCpuReader *reader_new(void) {
        UcsCpuReader *r = NULL;

        cr_assert_eq(ucs_cpu_reader_new(tmproot, &r), 0);
        return r;
}

static void expect_set(const char *what, const UcsCpuSet *set, const char *list) {
        _cleanup_free_ char *text = NULL;

        cr_assert_eq(ucs_cpuset_format(set, &text), 0);
        cr_expect_str_eq(text, list, "%s: %s, expected %s", what, text, list);
}

static UcsCpuReader *counted_reader;
static UcsMachine *counted_machine;

static void prepare_refresh(void) {
        UcsError e = {};

        counted_reader = reader_new();
        cr_assert_eq(ucs_cpu_read_machine(counted_reader, &counted_machine, &e), 0, "%s", e.text);
}

static void counted_refresh(void) {
        if (ucs_cpu_refresh(counted_reader, counted_machine, NULL) != 0)
                _exit(1);
}

static void counted_refresh_guest(void) {
        counted_refresh();
}

/* One pread a CPU, one for the mask, and nothing else at all. */
cpu_test(refresh_costs_one_call_a_cpu) {
        Syscalls s;

        tree_machine(64, 0x10);
        if (count_syscalls(prepare_refresh, counted_refresh, &s) < 0)
                cr_skip("ptrace(2) is not allowed here");
        cr_expect_eq(s.by_number[SYS_pread64], 65, "%u", s.by_number[SYS_pread64]);
        cr_expect_eq(s.total, 65, "%u system calls", s.total);
}

/* Without revisions in sysfs: one record of cpuinfo, however many CPUs there are; no open(2), which may cost 10 ms. */
cpu_test(refresh_of_a_guest_reads_one_record) {
        Syscalls s;

        tree_machine(64, 0x10);
        for (unsigned cpu = 0; cpu < 64; cpu++)
                tree_remove(tree_path(TREE_CPU "/cpu%u/microcode", cpu));
        if (count_syscalls(prepare_refresh, counted_refresh_guest, &s) < 0)
                cr_skip("ptrace(2) is not allowed here");
        cr_expect_eq(s.by_number[SYS_pread64], 1);
        cr_expect_eq(s.by_number[SYS_lseek], 1);
        cr_expect(s.by_number[SYS_read] <= 3, "%u reads", s.by_number[SYS_read]);
        cr_expect_eq(s.by_number[SYS_openat2], 0);
        cr_expect_eq(s.total, 2 + s.by_number[SYS_read]);
}

ucs_test(cpu_cost, many_cpus_with_few_descriptors, .init = tree_init_in_memory, .fini = tmproot_done) {
        static const rlim_t limits[] = { 16384, 1024, 24 };
        struct rlimit before;

        tree_machine(4096, 0x10);
        tree_printf(TREE_CPU "/online", "0-2046,2048-4095\n"); /* 2047 is a first thread */
        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        for (size_t i = 0; i < ELEMENTSOF(limits); i++) {
                struct rlimit rl = { .rlim_cur = MIN(limits[i], before.rlim_max), .rlim_max = before.rlim_max };
                _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = NULL;
                _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
                UcsError e = {};

                cr_assert_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
                r = reader_new();
                cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
                cr_expect_eq(m->n_cpus, 4095);
                cr_expect_eq(m->cpus[4094].revision, 0x10);
                expect_set("offline first threads", &m->offline_primaries, "2047");
                tree_microcode(4095, 0x11, 1);
                cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
                cr_expect_eq(e.code, 0, "%s", e.text);
                cr_expect_eq(m->cpus[4094].revision, 0x11);
                cr_expect_eq(m->cpus[4093].revision, 0x10);
                tree_microcode(4095, 0x10, 1);
                cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        }
}

/* Somebody else takes all descriptors: what was held back serves, one file after another. */
cpu_test(no_descriptor_left) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        struct rlimit rl = { .rlim_cur = 256 }, before;
        int taken[256], n = 0;
        UcsError e = {};

        tree_machine(64, 0x10);
        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        rl.rlim_max = before.rlim_max;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        while ((taken[n] = dup(tmproot)) >= 0)
                n++;
        cr_assert_eq(errno, EMFILE);
        for (int again = 0; again < 2; again++) {
                cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
                cr_expect_eq(e.code, 0, "%s", e.text);
                cr_expect_eq(m->groups[0].lowest_revision, 0x10);
        }
        while (n > 0)
                (void) close(taken[--n]);
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

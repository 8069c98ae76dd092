/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Witnesses of a stall: finding the stoppers, their accounts before and after, and what makes one unfit. */

#include <time.h>

#include "os/witness/witness.h"
#include "os/witness/stopper.h"
#include "stopper-tree.h"

#define witness_test(name) ucs_test(witness, name, .init = tmproot_init, .fini = tmproot_done)

static UcsWitness *witness_new(UcsWitnessKind kind, const UcsMachine *m, UcsError *e) {
        UcsWitness *w = NULL;

        cr_assert_eq(ucs_witness_open(tmproot, kind, m, &w, e), 0);
        cr_assert(w);
        return w;
}

witness_test(finds_stoppers) {
        _cleanup_fd_ int proc = -EBADF;
        UcsStopper s[] = { { .cpu = 0 }, { .cpu = 2 }, { .cpu = 10 } };

        /* whoever may call himself so: programs, other kernel threads, names that only begin or end so */
        tree_thread(5, "migration/0", PROGRAM, "1 1 1\n");
        tree_thread(6, "x) S 2 0 0 0 -1 69238848", PROGRAM, "1 1 1\n");
        tree_thread(7, "migration/2) S 2 0 0 0 -1 69238848 0 (x", PROGRAM, "1 1 1\n");
        tree_thread(8, "migration/", KERNEL_THREAD, "1 1 1\n");
        tree_thread(9, "migration/0x", KERNEL_THREAD, "1 1 1\n");
        tree_thread(11, "migration/1", KERNEL_THREAD, "1 1 1\n");
        tree_thread(12, "kmigration/2", KERNEL_THREAD, "1 1 1\n");
        tree_thread(13, "migration/99999999999", KERNEL_THREAD, "1 1 1\n");
        tree_printf("proc/14/comm", "migration/0\n"); /* gone before its stat was read */
        tree_printf("proc/15/comm", "migration/0\n");
        tree_printf("proc/15/stat", "15 migration/0\n");
        tree_printf("proc/16/comm", "migration/2\n"); /* renamed itself between the two */
        tree_printf("proc/16/stat", "16 (x) S 2 0 0 0 -1 69238848) S 1 0 0 0 -1 4194304 0 0 0\n");
        tree_printf("proc/self/comm", "migration/0\n");
        tree_printf("proc/-3/comm", "migration/0\n");
        tree_printf("proc/0/comm", "migration/0\n");
        tree_thread(21, "migration/0", KERNEL_THREAD, "1 1 1\n");
        tree_thread(4000000000, "migration/10", KERNEL_THREAD, "1 1 1\n");

        proc = ucs_root_openat(tmproot, "proc", O_PATH | O_DIRECTORY);
        cr_assert(proc >= 0);
        cr_expect_eq(ucs_stopper_find(proc, s, ELEMENTSOF(s)), 2);
        cr_expect_eq(s[0].tid, 21);
        cr_expect_eq(s[1].tid, 0);
        cr_expect_eq(s[2].tid, 4000000000);
}

witness_test(unfit) {
        static const struct {
                const char *name, *comm;
                unsigned flags;
                const char *schedstat; /* NULL: no such file */
                const char *complaint;
        } table[] = {
                { "hidden", "bash", PROGRAM, "1 1 1\n", "schedstat: no thread migration/N in /proc" },
                { "no accounts", "migration/0", KERNEL_THREAD, NULL, "no CONFIG_SCHED_INFO" },
                { "no accounting", "migration/0", KERNEL_THREAD, "0 0 0\n", "read 0 0 0" },
                { "garbage", "migration/0", KERNEL_THREAD, "se.sum_exec_runtime : 4\n", "not three numbers" },
                { "empty", "migration/0", KERNEL_THREAD, "", "not three numbers" },
                { "two numbers", "migration/0", KERNEL_THREAD, "1 2\n", "not three numbers" },
                { "four numbers", "migration/0", KERNEL_THREAD, "1 2 3 4\n", "not three numbers" },
                { "two blanks", "migration/0", KERNEL_THREAD, "1  2 3\n", "not three numbers" },
                { "a blank at the end", "migration/0", KERNEL_THREAD, "1 2 3 \n", "not three numbers" },
                { "two lines", "migration/0", KERNEL_THREAD, "1 2 3\n1 2 3\n", "not three numbers" },
                { "the third too large", "migration/0", KERNEL_THREAD, "1 2 18446744073709551616\n", "not three numbers" },
                { "a negative one", "migration/0", KERNEL_THREAD, "-1 2 3\n", "not three numbers" },
                { "larger than 64 bits", "migration/0", KERNEL_THREAD, "18446744073709551616 2 3\n", "not three numbers" },
                { "huge", "migration/0", KERNEL_THREAD,
                  "1 2 3                                                                                                    \n", "not three numbers" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(1);
                _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
                UcsError e = {};
                UcsStall s;

                tree_thread(20, table[i].comm, table[i].flags, table[i].schedstat);
                w = witness_new(_UCS_WITNESS_INVALID, m, &e);
                cr_expect_eq(ucs_witness_kind(w), UCS_WITNESS_WRITE, "%s", table[i].name);
                cr_expect(strstr(e.text, table[i].complaint), "%s: %s", table[i].name, e.text);

                ucs_stall_init(&s);
                cr_expect_eq(ucs_witness_arm(w), 0);
                cr_expect_eq(ucs_witness_collect(w, &s), 0);
                cr_expect_eq(s.witness, UCS_WITNESS_WRITE);
                cr_expect(s.witnessed[UCS_WITNESS_WRITE].on);
                cr_expect_not(s.witnessed[UCS_WITNESS_SCHEDSTAT].on);
                cr_expect_eq(s.n_cpus, 1, "the CPUs are there, without evidence");
                cr_expect_eq(s.cpus[0].stall_nsec, UCS_UNKNOWN);
                ucs_stall_done(&s);
                tree_remove("proc/20");
        }
}

witness_test(no_proc) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(1);
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        UcsError e = {};

        w = witness_new(_UCS_WITNESS_INVALID, m, &e);
        cr_expect_eq(ucs_witness_kind(w), UCS_WITNESS_WRITE);
        cr_expect_str_eq(e.text, "perf: perf events are of this machine alone, and the root is another's; "
                                 "schedstat: cannot open /proc: No such file or directory");
}

/* All that are asked for and there are on, the write always; "missing" are those of which it is said why they are not there. */
witness_test(asked_for) {
        static const struct {
                UcsWitnessKind asked, decides;
                bool schedstat;
                const char *missing;
        } table[] = {
                { _UCS_WITNESS_INVALID, UCS_WITNESS_SCHEDSTAT, true, "perf: " },
                { UCS_WITNESS_SCHEDSTAT, UCS_WITNESS_SCHEDSTAT, true, NULL },
                { UCS_WITNESS_PERF, UCS_WITNESS_SCHEDSTAT, true, "perf: " },     /* no perf events of another machine */
                { UCS_WITNESS_KERNEL, UCS_WITNESS_SCHEDSTAT, true, "; perf: " }, /* no tracefs, and no perf either */
                { UCS_WITNESS_WRITE, UCS_WITNESS_WRITE, false, NULL },
                { UCS_WITNESS_NONE, UCS_WITNESS_WRITE, false, NULL },
        };

        tree_stopper(0);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(1);
                _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
                const char *name = ucs_witness_to_string(table[i].asked) ?: "any";
                UcsError e = {};

                w = witness_new(table[i].asked, m, &e);
                cr_expect_eq(ucs_witness_kind(w), table[i].decides, "asked for %s", name);
                cr_expect_eq(ucs_witness_on(w, UCS_WITNESS_SCHEDSTAT), table[i].schedstat, "asked for %s", name);
                cr_expect(ucs_witness_on(w, UCS_WITNESS_WRITE), "asked for %s", name);
                cr_expect_not(ucs_witness_on(w, UCS_WITNESS_PERF));
                cr_expect_not(ucs_witness_on(w, UCS_WITNESS_KERNEL));
                cr_expect_not(ucs_witness_on(w, UCS_WITNESS_NONE));
                if (table[i].missing)
                        cr_expect(strstr(e.text, table[i].missing), "asked for %s: %s", name, e.text);
                else
                        cr_expect_eq(e.code, 0, "asked for %s: %s", name, e.text);
        }
}

/* What the account says, against what is made of it. */
witness_test(accounts) {
        static const struct {
                const char *name;
                uint64_t nsec, runs; /* since the baseline */
                uint64_t stall, runs_seen;
        } table[] = {
                { "ran once", 12450000, 1, 12450000, 1 },
                { "ran twice: mixed", 12450000, 2, 12450000, 2 },
                { "did not run", 0, 0, UCS_UNKNOWN, 0 },
                { "time without a run is no evidence", 500, 0, UCS_UNKNOWN, 0 },
                { "never charged", 0, 1, UCS_UNKNOWN, 1 },
                { "runs backwards", 500, (uint64_t) -1, UCS_UNKNOWN, UCS_UNKNOWN },
                { "time backwards", (uint64_t) -500, 1, UCS_UNKNOWN, UCS_UNKNOWN },
        };
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(ELEMENTSOF(table));
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        UcsError e = {};
        UcsStall s;

        for (unsigned i = 0; i < ELEMENTSOF(table); i++)
                tree_stopper(i);
        w = witness_new(_UCS_WITNESS_INVALID, m, &e);
        cr_expect_str_eq(e.text, "perf: perf events are of this machine alone, and the root is another's", "%s", e.text);
        cr_assert_eq(ucs_witness_arm(w), 0);
        for (unsigned i = 0; i < ELEMENTSOF(table); i++)
                tree_ran(i, table[i].nsec, table[i].runs);

        ucs_stall_init(&s);
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_SCHEDSTAT);
        cr_expect(s.witnessed[UCS_WITNESS_SCHEDSTAT].on);
        cr_expect_eq(s.witnessed[UCS_WITNESS_SCHEDSTAT].nsec, 12450000);
        cr_assert_eq(s.n_cpus, ELEMENTSOF(table));
        for (unsigned i = 0; i < ELEMENTSOF(table); i++) {
                const UcsCpuStall *c = &s.cpus[i];

                cr_expect_eq(c->stall_nsec, table[i].stall, "%s: %ju", table[i].name, (uintmax_t) c->stall_nsec);
                cr_expect_eq(c->runs, table[i].runs_seen, "%s: %ju runs", table[i].name, (uintmax_t) c->runs);
                cr_expect_eq(c->entry_nsec, UCS_UNKNOWN, "%s", table[i].name);
                cr_expect_eq(c->cpu, i);
                cr_expect_eq(c->apic_id, i * 9);
                cr_expect_eq(c->cluster, i * 9 / 16);
                cr_expect_eq(c->package, i / 2);
        }

        /* armed again, all counts from there */
        cr_assert_eq(ucs_witness_arm(w), 0);
        tree_ran(0, 12450000 + 77, 2);
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect_eq(s.cpus[0].stall_nsec, 77);
        cr_expect_eq(s.cpus[1].runs, 0);
        cr_expect_eq(s.witnessed[UCS_WITNESS_SCHEDSTAT].nsec, 77);

        /* nobody ran, and that is known: not the rows of a witness that has not even looked */
        cr_assert_eq(ucs_witness_arm(w), 0);
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_WRITE);
        cr_expect(s.witnessed[UCS_WITNESS_SCHEDSTAT].on);
        cr_expect_eq(s.witnessed[UCS_WITNESS_SCHEDSTAT].nsec, UCS_UNKNOWN);
        cr_expect_eq(s.cpus[0].runs, 0);
        ucs_stall_done(&s);
}

/* A thread that is not there, goes away, or has no APIC id is that CPU's loss alone. */
witness_test(some_missing) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(4);
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        UcsStall s;

        m->cpus[3].apic_id = UCS_ID_UNKNOWN;
        tree_stopper(0);
        tree_stopper(2);
        tree_stopper(3);
        w = witness_new(UCS_WITNESS_SCHEDSTAT, m, NULL);
        cr_expect_eq(ucs_witness_kind(w), UCS_WITNESS_SCHEDSTAT);
        tmproot_text("proc/32/schedstat", "garbage\n");
        cr_assert_eq(ucs_witness_arm(w), 0);
        tree_ran(0, 100, 1);
        tree_ran(2, 100, 1);
        tree_ran(3, 200, 1);

        ucs_stall_init(&s);
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect_eq(s.cpus[0].stall_nsec, 100);
        cr_expect_eq(s.cpus[1].stall_nsec, UCS_UNKNOWN);
        cr_expect_eq(s.cpus[1].runs, UCS_UNKNOWN);
        cr_expect_eq(s.cpus[2].stall_nsec, UCS_UNKNOWN, "no baseline, no evidence");
        cr_expect_eq(s.cpus[3].stall_nsec, 200);
        cr_expect_eq(s.cpus[3].cluster, UCS_ID_UNKNOWN);
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.n_missing, 2);
        cr_expect_eq(s.stall_nsec, 100);
        ucs_stall_done(&s);

        /* and no baseline at all */
        for (unsigned cpu = 0; cpu < 4; cpu++)
                tree_printf(tree_path("proc/%u/schedstat", STOPPER(cpu)), "garbage\n");
        cr_expect_eq(ucs_witness_arm(w), -ENODATA);
}

/* The pauses between two looks at an account, in which the scheduler may charge it: this takes the place of libc's. */
static unsigned pauses, charge_at_pause;

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *remain) {
        if (++pauses == charge_at_pause)
                tree_ran(1, 12450000, 1);
        return 0;
}

witness_test(charged_late) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(2);
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        UcsStall s;

        tree_stopper(0);
        tree_stopper(1);
        w = witness_new(UCS_WITNESS_SCHEDSTAT, m, NULL);
        cr_assert_eq(ucs_witness_arm(w), 0);
        tree_ran(0, 12450000, 1);
        tree_ran(1, 0, 1);
        charge_at_pause = 3;
        ucs_stall_init(&s);
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect_eq(pauses, 3, "%u pauses", pauses);
        cr_expect_eq(s.cpus[0].stall_nsec, 12450000);
        cr_expect_eq(s.cpus[1].stall_nsec, 12450000);
        cr_expect_eq(s.cpus[1].runs, 1);

        /* and never: looked at more than once, then it is missing, not 0 */
        cr_assert_eq(ucs_witness_arm(w), 0);
        tree_ran(1, 12450000, 2);
        charge_at_pause = pauses = 0;
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect(pauses >= 4, "%u pauses", pauses);
        cr_expect_eq(s.cpus[1].stall_nsec, UCS_UNKNOWN);
        cr_expect_eq(s.cpus[1].runs, 1);
        ucs_stall_done(&s);
}

/* The real threads, where they can be seen: they are found, all of them, and are those of their CPUs. */
ucs_test(witness, of_this_machine) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        _cleanup_free_ char *text = NULL;
        _cleanup_fd_ int root = -EBADF;
        UcsCpuSet online;
        UcsError e = {};
        UcsStall s;

        cr_assert_eq(ucs_root_open("/", &root, NULL), 0);
        if (ucs_root_read(root, TREE_CPU "/online", 65536, &text, NULL, NULL) < 0 || ucs_cpuset_parse(text, &online, NULL) < 0)
                cr_skip("no list of CPUs");
        m = machine_of(ucs_cpuset_count(&online));
        m->n_cpus = 0;
        FOREACH_CPU(cpu, &online)
                m->cpus[m->n_cpus++].cpu = cpu;

        cr_assert_eq(ucs_witness_open(root, UCS_WITNESS_SCHEDSTAT, m, &w, &e), 0);
        if (ucs_witness_kind(w) != UCS_WITNESS_SCHEDSTAT)
                cr_skip("%s", e.text);
        cr_assert_eq(ucs_witness_arm(w), 0);
        ucs_stall_init(&s);
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_expect_eq(s.n_cpus, m->n_cpus);
        for (size_t i = 0; i < s.n_cpus; i++)
                cr_expect_neq(s.cpus[i].runs, UCS_UNKNOWN, "the account of CPU %u was read", s.cpus[i].cpu);
        ucs_stall_done(&s);
}

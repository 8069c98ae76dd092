/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The witnesses that need a privilege: the kernel's own p0 and p1 over a tracefs in a directory, and perf on this machine's real threads. */

#include <pthread.h>
#include <sched.h>

#include "os/witness/witness.h"
#include "stopper-tree.h"

#define witness_test(name) ucs_test(witness_more, name, .init = tmproot_init, .fini = tmproot_done)

static UcsWitness *witness_new(UcsWitnessKind kind, const UcsMachine *m, UcsError *e) {
        UcsWitness *w = NULL;

        cr_assert_eq(ucs_witness_open(tmproot, kind, m, &w, e), 0);
        cr_assert(w);
        return w;
}

#define TRACING "sys/kernel/tracing"
#define INSTANCE TRACING "/instances/ucodesync"

/* tracefs as far as the witness writes to it, of a machine whose TSC runs at 2.4 GHz. */
static void tree_tracing(void) {
        const uint32_t leaf0[] = { 0x16, 0, 0, 0 }, crystal[] = { 2, 192, 25000000, 0 };
        char cpuid[0x15 + 16] = {};

        memcpy(cpuid, leaf0, sizeof(leaf0));
        memcpy(cpuid + 0x15, crystal, sizeof(crystal));
        tmproot_write("dev/cpu/0/cpuid", cpuid, sizeof(cpuid));
        tmproot_text("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        tmproot_text(TRACING "/kprobe_events", "");
        tmproot_text(INSTANCE "/trace_clock", "");
        tmproot_text(INSTANCE "/events/ucodesync/enable", "");
        tmproot_text(INSTANCE "/trace", "");
}

static void expect_text(const char *path, const char *expected) {
        _cleanup_free_ char *text = NULL;

        cr_assert_eq(ucs_root_read(tmproot, path, 4096, &text, NULL, NULL), 0);
        cr_expect_str_eq(text, expected, "%s: %s", path, text);
}

witness_test(kernel) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(1);
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        UcsError e = {};
        UcsStall s;

        tree_tracing();
        tree_stopper(0);
        w = witness_new(_UCS_WITNESS_INVALID, m, &e);
        cr_expect_eq(ucs_witness_kind(w), UCS_WITNESS_SCHEDSTAT, "never by itself");
        w = ucs_witness_close(w);
        expect_text(TRACING "/kprobe_events", "");

        w = witness_new(UCS_WITNESS_KERNEL, m, &e);
        cr_assert_eq(ucs_witness_kind(w), UCS_WITNESS_KERNEL, "%s", e.text);
        expect_text(TRACING "/kprobe_events", "-:ucodesync/stop_in\n-:ucodesync/stop_out\n"
                                              "p:ucodesync/stop_in stop_machine_cpuslocked\nr:ucodesync/stop_out stop_machine_cpuslocked\n");
        expect_text(INSTANCE "/trace_clock", "x86-tsc\n");
        cr_assert_eq(ucs_witness_arm(w), 0);
        tree_printf(INSTANCE "/trace",
                    "# tracer: nop\n"
                    "  ucodesync-load-%d  [001] ..... 1000000000: stop_in: (stop_machine_cpuslocked+0x0/0x50)\n"
                    "  ucodesync-load-%d  [001] ..... 1029889604: stop_out: (load_late_locked+0x1/0x2 <- stop_machine_cpuslocked)\n",
                    gettid(), gettid());
        ucs_stall_init(&s);
        s.write_nsec = 20 * NSEC_PER_MSEC;
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_KERNEL);
        cr_expect_eq(s.tsc_hz, UINT64_C(2400000000));
        cr_expect_eq(s.stall_nsec, 12454001, "%ju", (uintmax_t) s.stall_nsec);
        cr_expect_eq(s.n_missing, 1);
        cr_expect_eq(s.witnessed[UCS_WITNESS_KERNEL].nsec, 12454001);
        cr_expect_eq(s.witnessed[UCS_WITNESS_SCHEDSTAT].nsec, UCS_UNKNOWN, "on, and the thread did not run");
        cr_expect_eq(s.witnessed[UCS_WITNESS_WRITE].nsec, 20 * NSEC_PER_MSEC);
        ucs_stall_done(&s);

        /* beside the accounts: the kernel decides, the CPUs are theirs */
        tree_ran(0, 12000000, 1);
        s.write_nsec = 20 * NSEC_PER_MSEC;
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_KERNEL);
        cr_expect_eq(s.stall_nsec, 12454001);
        cr_expect_eq(s.worst_nsec, 12000000);
        cr_expect_eq(s.n_witnessed, 1);
        cr_expect_eq(s.witnessed[UCS_WITNESS_SCHEDSTAT].nsec, 12000000);
        ucs_stall_done(&s);

        /* emptied by the next baseline: nothing was seen, the write speaks */
        cr_assert_eq(ucs_witness_arm(w), 0);
        s.write_nsec = 20 * NSEC_PER_MSEC;
        cr_assert_eq(ucs_witness_collect(w, &s), 0);
        cr_assert_eq(ucs_stall_summarize(&s), 0);
        cr_expect_eq(s.witness, UCS_WITNESS_WRITE);
        ucs_stall_done(&s);

        /* and nothing is left when it is closed */
        tmproot_text(TRACING "/kprobe_events", "");
        w = ucs_witness_close(w);
        expect_text(TRACING "/kprobe_events", "-:ucodesync/stop_in\n-:ucodesync/stop_out\n");
        expect_text(INSTANCE "/events/ucodesync/enable", "0\n");
}

witness_test(kernel_unfit) {
        static const struct {
                const char *path, *text; /* NULL: missing */
                const char *complaint;
        } table[] = {
                { TRACING "/kprobe_events", NULL, "kernel: cannot write to /sys/kernel/tracing/kprobe_events: No such file" },
                { INSTANCE "/trace_clock", NULL, "/instances/ucodesync/trace_clock" },
                { INSTANCE "/events/ucodesync/enable", NULL, "/events/ucodesync/enable" },
                { "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "the clocksource is not the TSC" },
                { TRACING, NULL, "kernel: cannot open /sys/kernel/tracing" },
        };

        tree_stopper(0);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(1);
                _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
                UcsError e = {};

                tree_tracing();
                if (table[i].text)
                        tmproot_text(table[i].path, table[i].text);
                else
                        tree_remove(table[i].path);
                w = witness_new(UCS_WITNESS_KERNEL, m, &e);
                cr_expect_eq(ucs_witness_kind(w), UCS_WITNESS_SCHEDSTAT, "row %zu", i);
                cr_expect(strstr(e.text, table[i].complaint), "row %zu: %s", i, e.text);
        }
}

static void *run_here_and_there(void *stop) {
        for (unsigned cpu = 0; !__atomic_load_n((bool *) stop, __ATOMIC_RELAXED); cpu ^= 1) {
                cpu_set_t set;

                CPU_ZERO(&set);
                CPU_SET(cpu, &set);
                (void) sched_setaffinity(0, sizeof(set), &set);
        }
        return NULL;
}

/* The real threads through both witnesses at once: a running program that is moved from CPU to CPU is moved by the stoppers. What perf
 * saw in time was charged to the account too. */
ucs_test(witness_more, perf_beside_schedstat) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(2);
        _cleanup_(ucs_witness_closep) UcsWitness *perf = NULL, *schedstat = NULL;
        _cleanup_fd_ int root = -EBADF;
        UcsStall p, s;
        pthread_t thread;
        bool stop = false;
        UcsError e = {};
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof(set), &set) < 0 || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
                cr_skip("not on CPUs 0 and 1");
        cr_assert_eq(ucs_root_open("/", &root, NULL), 0);
        cr_assert_eq(ucs_witness_open(root, UCS_WITNESS_PERF, m, &perf, &e), 0);
        if (ucs_witness_kind(perf) != UCS_WITNESS_PERF)
                cr_skip("%s", e.text);
        cr_assert_eq(ucs_witness_open(root, UCS_WITNESS_SCHEDSTAT, m, &schedstat, &e), 0);
        cr_assert_eq(ucs_witness_kind(schedstat), UCS_WITNESS_SCHEDSTAT);

        ucs_stall_init(&p);
        ucs_stall_init(&s);
        cr_assert_eq(ucs_witness_arm(schedstat), 0);
        cr_assert_eq(ucs_witness_arm(perf), 0);
        cr_assert_eq(pthread_create(&thread, NULL, run_here_and_there, &stop), 0);
        do { /* until each stopper has run; a ring that has run over shows nothing, so it is emptied */
                ucs_stall_done(&p);
                cr_assert_eq(ucs_witness_collect(perf, &p), 0);
                for (size_t i = 0; i < p.n_cpus; i++)
                        if (p.cpus[i].runs == UCS_UNKNOWN)
                                cr_assert_eq(ucs_witness_arm(perf), 0);
        } while (p.cpus[0].stall_nsec == UCS_UNKNOWN || p.cpus[1].stall_nsec == UCS_UNKNOWN);
        __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
        cr_assert_eq(pthread_join(thread, NULL), 0);
        cr_assert_eq(ucs_witness_collect(schedstat, &s), 0);

        cr_expect_eq(p.witness, UCS_WITNESS_PERF);
        for (size_t i = 0; i < 2; i++) {
                cr_expect(p.cpus[i].runs >= 1);
                cr_expect_eq(p.cpus[i].exit_nsec - p.cpus[i].entry_nsec, p.cpus[i].stall_nsec);
                cr_expect(p.cpus[i].stall_nsec > 0 && p.cpus[i].stall_nsec < NSEC_PER_SEC);
                cr_expect_geq(s.cpus[i].runs, p.cpus[i].runs);
                cr_expect_neq(s.cpus[i].stall_nsec, UCS_UNKNOWN);
        }
        ucs_stall_done(&p);
        ucs_stall_done(&s);
}

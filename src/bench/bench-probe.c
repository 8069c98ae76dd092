/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodebench probe -- COMMAND: watch any command with a FIFO probe on every CPU (fifo-probe.h), and say when the whole machine stood still
 * meanwhile. An independent check of what the daemon says of a load, on hosts where one dares: it knows nothing of loads, of
 * migration/N, or of the kernel's accounts.
 *
 * It claims a stall of 0.3 ms or more that all watched CPUs had at once, and nothing else. The command runs as an ordinary process with the
 * policy, the CPUs and the priority that it would have had, and for as long as it likes; the window bounds the watching. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/busy.h"
#include "bench/fifo-probe.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/thread.h"
#include "os/clock.h"

#define WINDOW_DEFAULT_USEC (10 * USEC_PER_SEC)
#define PRELUDE_NSEC (5 * NSEC_PER_MSEC)
#define TAIL_NSEC (2 * NSEC_PER_MSEC)
#define CLAIMS_MAX 1024U
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128

extern char **environ;

/* What the shell would say of it. Under --json stdout is the object's: the command's goes to stderr. -errno: it could not be started. */
static int run_command(const Bench *b, char **argv, int *ret_status) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attr;
        sigset_t defaults;
        pid_t pid;
        int r, status;

        (void) sigemptyset(&defaults);
        (void) sigaddset(&defaults, SIGINT);
        (void) sigaddset(&defaults, SIGTERM);
        (void) sigaddset(&defaults, SIGHUP);
        r = posix_spawn_file_actions_init(&actions);
        if (r != 0)
                return -r;
        r = posix_spawnattr_init(&attr);
        if (r != 0) {
                (void) posix_spawn_file_actions_destroy(&actions);
                return -r;
        }
        (void) posix_spawnattr_setsigdefault(&attr, &defaults);
        (void) posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
        if (b->json != BENCH_JSON_OFF)
                (void) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        r = posix_spawnp(&pid, argv[0], &actions, &attr, argv, environ);
        (void) posix_spawnattr_destroy(&attr);
        (void) posix_spawn_file_actions_destroy(&actions);
        if (r != 0)
                return -r;
        /* a signal from the terminal is the command's as well: its end is waited for */
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
        return 0;
}

/* `cpu` of UINT32_MAX: all of them at once. */
static void report_gap(BenchReport *report, uint32_t cpu, const BenchGap *g, uint64_t begin_nsec, uint64_t gaps) {
        json_object *o = bench_report_object(report);
        const bool machine = cpu == UINT32_MAX, any = g->to_nsec > g->from_nsec;
        char stall[UCS_TIMESPAN_MAX];

        (void) json_object_object_add(o, "scope", json_object_new_string(machine ? "machine" : "cpu"));
        (void) json_object_object_add(o, "cpu", machine ? NULL : json_object_new_uint64(cpu));
        (void) json_object_object_add(o, "at_nsec", any ? json_object_new_int64((int64_t) (g->from_nsec - begin_nsec)) : NULL);
        (void) json_object_object_add(o, "stall_nsec", json_object_new_uint64(g->to_nsec - g->from_nsec));
        (void) json_object_object_add(o, "gaps", json_object_new_uint64(gaps));

        bench_report_row(report);
        if (machine)
                bench_report_cell(report, "the machine stood still");
        else
                bench_report_cell(report, "CPU %u, longest gap", cpu);
        if (any)
                bench_report_cell(report, "%.1f", (double) ((int64_t) (g->from_nsec - begin_nsec)) / 1e6);
        else
                bench_report_cell(report, "-");
        bench_report_cell(report, "%s", any ? ucs_format_stall(stall, g->to_nsec - g->from_nsec) : "-");
        bench_report_cell(report, "%" PRIu64, gaps);
}

static void report_all(BenchReport *report, const BenchTopology *t, const BenchFifoProbe *p, uint64_t begin_nsec) {
        BenchGap claims[CLAIMS_MAX];
        uint64_t lost = 0;
        size_t n;

        n = bench_fifo_probe_machine_wide(p, BENCH_PROBE_CLAIM_NSEC, claims, CLAIMS_MAX);
        for (size_t i = 0; i < n && i < CLAIMS_MAX; i++)
                report_gap(report, UINT32_MAX, &claims[i], begin_nsec, 1);
        for (size_t i = 0; i < t->n; i++) {
                BenchProbeCpu c;

                bench_fifo_probe_cpu(p, i, &c);
                report_gap(report, t->cpus[i].cpu, &c.longest, begin_nsec, c.gaps);
                lost += c.lost;
        }
        if (n == 0)
                bench_report_note(report, "No machine-wide stall of 0.3 ms or more; a shorter one is not resolved");
        if (n > CLAIMS_MAX)
                bench_report_note(report, "%zu more machine-wide stalls are not listed", n - CLAIMS_MAX);
        if (lost > 0)
                bench_report_note(report, "%" PRIu64 " gaps found no room: stalls may be missing", lost);
        if (t->n < t->n_online)
                bench_report_note(report, "%u CPUs were not watched: machine-wide means the others", t->n_online - (uint32_t) t->n);
}

int bench_probe(Bench *b, int argc, char **argv) {
        static const BenchColumn columns[] = { { "WHAT" }, { "AT ms", true }, { "STALL", true }, { "GAPS", true } };
        const uint64_t window_usec = b->window_usec ?: WINDOW_DEFAULT_USEC;
        _cleanup_(bench_fifo_probe_freep) BenchFifoProbe *probe = NULL;
        _cleanup_(bench_report_freep) BenchReport *report = NULL;
        _cleanup_topology_ BenchTopology t = {};
        uint64_t begin_nsec;
        UcsError e = {};
        int r, status = 0;

        /* the window is what was asked for, and most commands are shorter: only a long one needs an idle host */
        if (b->window_usec > 0) {
                r = bench_may_run(b, window_usec);
                if (r != BENCH_DONE)
                        return r;
        }
        if (bench_topology_read(b, &t, &e) < 0)
                return bench_fail(b, BENCH_UNSUPPORTED, "NotSupported", "%s", e.text);
        if (bench_report_new(b, "probe", bench_machine_describe(b, &t), columns, ELEMENTSOF(columns), &report) < 0)
                return bench_fail(b, BENCH_FAILED, "Failed", "out of memory");
        r = bench_fifo_probe_start(&t, MIN(window_usec, b->limit_usec) * NSEC_PER_USEC, &probe, &e);
        if (r < 0)
                return bench_fail(b, r == -EPERM ? BENCH_UNSUPPORTED : BENCH_FAILED, r == -EPERM ? "NotSupported" : "Failed", "%s", e.text);

        bench_sleep(PRELUDE_NSEC);
        begin_nsec = ucs_clock_monotonic_raw_nsec();
        r = run_command(b, argv, &status);
        bench_sleep(TAIL_NSEC);
        if (!bench_fifo_probe_stop(probe))
                bench_report_note(report, "The window of %" PRIu64 " ms ended before the command did: what came later was not watched",
                                  MIN(window_usec, b->limit_usec) / USEC_PER_MSEC);
        if (r < 0) {
                errno = -r;
                (void) bench_fail(b, BENCH_FAILED, "Failed", "cannot run '%s': %m", argv[0]);
                return EXIT_NOT_FOUND;
        }
        report_all(report, &t, probe, begin_nsec);
        r = bench_report_print(report);
        return r != BENCH_DONE ? r : status;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Context switches of a thread of our own: it blocks a known number of times, and each time is a record out and one in. Where the kernel does
 * not let us look, the tests are skipped; what does not need the kernel is tried everywhere. */

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/perf-switch.h"
#include "ucs-test.h"

#define ROUNDS 5

typedef struct Sleeper {
        pthread_t thread;
        uint32_t tid;
        sem_t go, done;
        bool stop;
} Sleeper;

static void *sleeper_run(void *userdata) {
        Sleeper *s = userdata;

        s->tid = (uint32_t) syscall(SYS_gettid);
        (void) sem_post(&s->done);
        for (;;) {
                while (sem_wait(&s->go) < 0)
                        ;
                if (s->stop)
                        return NULL;
                (void) sem_post(&s->done);
        }
}

static bool is_blocked(const Sleeper *s) {
        char path[64], stat[512], *p;
        FILE *f;
        size_t n;

        (void) snprintf(path, sizeof(path), "/proc/self/task/%u/stat", s->tid);
        f = fopen(path, "re");
        cr_assert_not_null(f);
        n = fread(stat, 1, sizeof(stat) - 1, f);
        (void) fclose(f);
        stat[n] = '\0';
        p = strrchr(stat, ')');
        return p && p[2] == 'S';
}

/* Until it has run and is off its CPU again: the record is written when it is switched out. */
static void wait_blocked(Sleeper *s) {
        (void) sem_wait(&s->done);
        while (!is_blocked(s))
                (void) usleep(100);
}

static void sleeper_start(Sleeper *s) {
        s->stop = false;
        cr_assert_eq(sem_init(&s->go, 0, 0), 0);
        cr_assert_eq(sem_init(&s->done, 0, 0), 0);
        cr_assert_eq(pthread_create(&s->thread, NULL, sleeper_run, s), 0);
        wait_blocked(s);
}

static void sleeper_stop(Sleeper *s) {
        s->stop = true;
        (void) sem_post(&s->go);
        (void) pthread_join(s->thread, NULL);
        (void) sem_destroy(&s->go);
        (void) sem_destroy(&s->done);
}

static bool may_watch(const Sleeper *s, UcsPerfSwitches **ret) {
        UcsError e = {};
        int r = ucs_perf_switches_open(&s->tid, 1, ret, &e);

        if (r >= 0)
                return true;
        cr_assert(r == -EACCES || r == -EPERM || r == -ENOSYS || r == -ENOENT || r == -EOPNOTSUPP, "%d: %s", r, e.text);
        cr_assert_neq(e.text[0], '\0');
        return false;
}

static void run_times(Sleeper *s, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                (void) sem_post(&s->go);
                wait_blocked(s);
        }
}

ucs_test(perf_switch, runs_since_the_mark) {
        UcsPerfSwitches *p = NULL;
        uint64_t begin, end;
        UcsSwitches seen;
        Sleeper s;

        sleeper_start(&s);
        if (!may_watch(&s, &p)) {
                sleeper_stop(&s);
                cr_skip_test("context switches may not be watched here");
        }
        run_times(&s, 1); /* before the mark: is forgotten */
        ucs_perf_switches_mark(p);
        cr_assert_eq(ucs_perf_switches_read(p, 0, &seen), 0);
        cr_assert_eq(seen.runs, 0);
        cr_assert(seen.entry_nsec == UCS_UNKNOWN && seen.exit_nsec == UCS_UNKNOWN);

        begin = ucs_clock_monotonic_raw_nsec();
        run_times(&s, ROUNDS);
        end = ucs_clock_monotonic_raw_nsec();
        for (int i = 0; i < 2; i++) { /* may be asked again */
                cr_assert_eq(ucs_perf_switches_read(p, 0, &seen), 0);
                /* a busy machine may take the CPU away in between, which is a run more */
                cr_assert(seen.runs >= ROUNDS, "%llu runs", (unsigned long long) seen.runs);
                cr_assert(!seen.running && seen.n_lost == 0);
                cr_assert(seen.entry_nsec >= begin && seen.exit_nsec <= end && seen.entry_nsec <= seen.exit_nsec, "another clock");
        }

        ucs_perf_switches_mark(p);
        cr_assert_eq(ucs_perf_switches_read(p, 0, &seen), 0);
        cr_assert_eq(seen.runs, 0);
        cr_assert_null(ucs_perf_switches_close(p));
        sleeper_stop(&s);
}

ucs_test(perf_switch, what_does_not_fit_is_not_passed_over) {
        static const struct {
                unsigned rounds;
                int expected;
        } rows[] = {
                { 1, 0 },
                { 40, 0 },
                { 400, -EOVERFLOW }, /* more than a page holds */
                { 1, 0 },            /* and a new mark begins afresh */
        };
        UcsPerfSwitches *p = NULL;
        UcsSwitches seen;
        Sleeper s;

        sleeper_start(&s);
        if (!may_watch(&s, &p)) {
                sleeper_stop(&s);
                cr_skip_test("context switches may not be watched here");
        }
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                int r;

                ucs_perf_switches_mark(p);
                run_times(&s, rows[i].rounds);
                r = ucs_perf_switches_read(p, 0, &seen);
                cr_assert_eq(r, rows[i].expected, "row %zu: %d", i, r);
        }
        cr_assert_null(ucs_perf_switches_close(p));
        sleeper_stop(&s);
}

ucs_test(perf_switch, no_such_thread) {
        const uint32_t tids[] = { UINT32_C(0x3fffffff) };
        UcsPerfSwitches *p = NULL;
        UcsError e = {};
        int r;

        r = ucs_perf_switches_open(tids, 1, &p, &e);
        cr_assert(r == -ESRCH || r == -EACCES || r == -EPERM || r == -ENOSYS, "%d", r);
        cr_assert_null(p);
        cr_assert_neq(e.text[0], '\0');
        cr_assert_eq(ucs_perf_switches_open(tids, 0, &p, &e), -EINVAL);
        cr_assert_null(ucs_perf_switches_close(NULL));
}

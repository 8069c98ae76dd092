/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stoppers' context switches as witness: a dummy perf event bound to each migration/N thread writes a record when the thread is switched
 * in and one when it is switched out, with the time of CLOCK_MONOTONIC_RAW. So each CPU's stall has a begin and an end, and the
 * machine's is a true intersection. Two records a CPU and load; needs CAP_PERFMON (witness-perf.conf) and this machine's own root.
 *
 * The events run from the opening on, so that the baseline interrupts no CPU: it only moves each ring's tail. */

#include <fcntl.h>
#include <time.h>

#include "base/timefmt.h"
#include "os/clock.h"
#include "os/perf-switch.h"
#include "os/root.h"
#include "os/witness/kinds.h"
#include "os/witness/stopper.h"

#define RETRY_NSEC NSEC_PER_MSEC
#define RETRIES_MIN 4

typedef struct Perf {
        UcsPerfSwitches *switches; /* in the order of the machine's CPUs */
        size_t n;
} Perf;

static void perf_close(void *state) {
        Perf *x = state;

        if (!x)
                return;
        ucs_perf_switches_close(x->switches);
        free(x);
}

static void perf_closep(Perf **x) {
        perf_close(*x);
}

/* The tids of all of them. */
static int find_stoppers(int root_fd, const UcsMachine *m, uint32_t *ret_tids, UcsError *e) {
        _cleanup_free_ UcsStopper *stoppers = NULL;
        _cleanup_fd_ int proc_fd = -EBADF;
        int r;

        stoppers = new0(UcsStopper, m->n_cpus);
        if (!stoppers)
                return -ENOMEM;
        for (size_t i = 0; i < m->n_cpus; i++)
                stoppers[i].cpu = m->cpus[i].cpu;
        proc_fd = ucs_root_openat(root_fd, "/proc", O_PATH | O_DIRECTORY);
        r = proc_fd < 0 ? proc_fd : ucs_stopper_find(proc_fd, stoppers, m->n_cpus);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot list /proc: %m");
        }
        if ((size_t) r < m->n_cpus)
                return ucs_error_set(e, -ESRCH, "only %d of %zu threads migration/N are seen in /proc", r, m->n_cpus);
        for (size_t i = 0; i < m->n_cpus; i++)
                ret_tids[i] = stoppers[i].tid;
        return 0;
}

static int perf_open(int root_fd, const UcsMachine *m, void **ret, UcsError *e) {
        _cleanup_(perf_closep) Perf *x = NULL;
        _cleanup_free_ uint32_t *tids = NULL;
        int r;

        if (!ucs_root_is_host(root_fd))
                return ucs_error_set(e, -EXDEV, "perf events are of this machine alone, and the root is another's");
        x = new0(Perf, 1);
        tids = new0(uint32_t, m->n_cpus);
        if (!x || !tids)
                return -ENOMEM;
        x->n = m->n_cpus;
        r = find_stoppers(root_fd, m, tids, e);
        if (r < 0)
                return r;
        r = ucs_perf_switches_open(tids, x->n, &x->switches, e);
        if (r < 0)
                return r == -ENOMEM ? -ENOBUFS : r; /* locked memory is short, not memory */
        *ret = TAKE_PTR(x);
        return 0;
}

static int perf_arm(void *state) {
        Perf *x = state;

        ucs_perf_switches_mark(x->switches);
        return 0;
}

/* One reading of one CPU. True: it is not out of its run yet. */
static bool collect_cpu(const Perf *x, size_t i, UcsCpuStall *c) {
        UcsSwitches s;

        c->stall_nsec = c->entry_nsec = c->exit_nsec = UCS_UNKNOWN;
        if (ucs_perf_switches_read(x->switches, i, &s) < 0) {
                c->runs = UCS_UNKNOWN;
                return false;
        }
        c->runs = s.runs;
        if (s.running)
                return true;
        if (s.entry_nsec != UCS_UNKNOWN) {
                c->entry_nsec = s.entry_nsec;
                c->exit_nsec = s.exit_nsec;
                c->stall_nsec = s.exit_nsec - s.entry_nsec;
        }
        return false;
}

static int perf_collect(void *state, UcsStall *s) {
        const uint64_t until_nsec = ucs_clock_monotonic_raw_nsec() + UCS_WITNESS_RETRY_USEC * NSEC_PER_USEC;
        const struct timespec rest = { .tv_nsec = RETRY_NSEC };
        Perf *x = state;
        bool late = true;

        for (int n = 0; late && (n < RETRIES_MIN || ucs_clock_monotonic_raw_nsec() < until_nsec); n++) {
                if (n > 0)
                        (void) clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
                late = false;
                for (size_t i = 0; i < x->n; i++)
                        late |= collect_cpu(x, i, &s->cpus[i]);
        }
        return 0;
}

const UcsWitnessOps witness_perf = {
        .kind = UCS_WITNESS_PERF,
        .automatic = true,
        .open = perf_open,
        .arm = perf_arm,
        .collect = perf_collect,
        .close = perf_close,
};

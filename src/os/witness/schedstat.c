/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stoppers' own accounts as witness. stop_machine() runs in migration/N, which nothing preempts, and the scheduler charges that thread
 * to the nanosecond: the difference of the first field of proc/TID/schedstat across the write is CPU N's stall, that of the third
 * (times run) the proof that the CPU took part (kernel/sched/stop_task.c, Documentation/scheduler/sched-stats.rst). No thread of ours
 * runs while the machine is stopped.
 *
 * The charge comes when the thread is switched out, which can be later than the writer's return: a run without time is read again. */

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "base/parse.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "os/clock.h"
#include "os/kept.h"
#include "os/root.h"
#include "os/witness/kinds.h"
#include "os/witness/stopper.h"

#define TEXT_MAX 96U /* three numbers of up to 20 digits */
#define RETRY_FIRST_NSEC (50 * NSEC_PER_USEC)
#define RETRY_LONGEST_NSEC (5 * NSEC_PER_MSEC)
#define RETRIES_MIN 4 /* however late it is: this thread too may have been kept waiting for a CPU */

typedef struct Account {
        uint64_t nsec; /* run time */
        uint64_t runs;
} Account;

typedef struct Entry {
        UcsKept file;
        bool armed;
        Account before;
} Entry;

typedef struct Schedstat {
        int proc_fd;
        UcsKeptPool pool;
        UcsStopper *stoppers;
        Entry *entries; /* both n, in the order of the machine's CPUs */
        size_t n;
} Schedstat;

static void schedstat_close(void *state) {
        Schedstat *x = state;

        if (!x)
                return;
        for (size_t i = 0; x->entries && i < x->n; i++)
                ucs_kept_close(&x->pool, &x->entries[i].file);
        ucs_kept_pool_done(&x->pool);
        fd_close(x->proc_fd);
        free(x->stoppers);
        free(x->entries);
        free(x);
}

static void schedstat_closep(Schedstat **x) {
        schedstat_close(*x);
}

/* "run-time wait-time times-run\n", the times in ns (fs/proc/base.c: proc_pid_schedstat()). */
static int parse_account(const char *text, Account *ret) {
        uint64_t fields[3];

        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                if ((i > 0 && *text++ != ' ') || ucs_parse_leading_u64(&text, &fields[i]) < 0)
                        return -EBADMSG;
        if (*text == '\n')
                text++;
        if (*text)
                return -EBADMSG;
        *ret = (Account){ .nsec = fields[0], .runs = fields[2] };
        return 0;
}

static int read_account(Schedstat *x, size_t i, Account *ret) {
        char path[32], text[TEXT_MAX];
        int n;

        if (x->stoppers[i].tid == 0)
                return -ESRCH;
        n = ucs_kept_read_again(&x->pool, &x->entries[i].file, text, sizeof(text));
        if (n < 0) {
                (void) snprintf(path, sizeof(path), "%u/schedstat", x->stoppers[i].tid);
                n = ucs_kept_read_path(&x->pool, &x->entries[i].file, path, text, sizeof(text));
        }
        if (n < 0)
                return n;
        if (n == (int) sizeof(text) - 1)
                return -EBADMSG;
        return parse_account(text, ret);
}

/* Opens them all, so that the baseline is one call a CPU; one that has ever been charged shows that the kernel keeps accounts. A kernel
 * without SCHED_INFO has no such file; before 5.14, without SCHEDSTATS and with delay accounting off, it reads 0 0 0 forever. */
static int check_accounts(Schedstat *x, UcsError *e) {
        int r = -ESRCH;

        for (size_t i = 0; i < x->n; i++) {
                Account a;
                int k;

                k = read_account(x, i, &a);
                if (k >= 0 && (a.nsec > 0 || a.runs > 0))
                        r = 0;
                else if (r < 0 && r != -EOPNOTSUPP && x->stoppers[i].tid != 0)
                        r = k < 0 ? k : -EOPNOTSUPP;
        }
        if (r == 0)
                return 0;
        if (r == -EOPNOTSUPP)
                return ucs_error_set(e, r, "the accounts of the migration threads in /proc/TID/schedstat read 0 0 0, this kernel keeps none");
        if (r == -ENOENT)
                return ucs_error_set(e, r, "there is no /proc/TID/schedstat, this kernel has no CONFIG_SCHED_INFO");
        if (r == -EBADMSG)
                return ucs_error_set(e, r, "/proc/TID/schedstat of the migration threads is not three numbers");
        errno = -r;
        return ucs_error_set(e, r, "cannot read /proc/TID/schedstat of the migration threads: %m");
}

static int schedstat_open(int root_fd, const UcsMachine *m, void **ret, UcsError *e) {
        _cleanup_(schedstat_closep) Schedstat *x = NULL;
        int r;

        x = new0(Schedstat, 1);
        if (!x)
                return -ENOMEM;
        x->pool.spare_fd = -EBADF;
        x->proc_fd = ucs_root_openat(root_fd, "/proc", O_PATH | O_DIRECTORY);
        if (x->proc_fd < 0) {
                errno = -x->proc_fd;
                return ucs_error_set(e, x->proc_fd, "cannot open /proc: %m");
        }
        ucs_kept_pool_init(&x->pool, x->proc_fd);

        x->stoppers = new0(UcsStopper, m->n_cpus);
        x->entries = new0(Entry, m->n_cpus);
        if (!x->stoppers || !x->entries)
                return -ENOMEM;
        for (; x->n < m->n_cpus; x->n++) {
                x->stoppers[x->n].cpu = m->cpus[x->n].cpu;
                x->entries[x->n].file = (UcsKept) UCS_KEPT_INIT;
        }
        r = ucs_stopper_find(x->proc_fd, x->stoppers, x->n);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot list /proc: %m");
        }
        if (r == 0)
                return ucs_error_set(e, -ESRCH, "no thread migration/N in /proc, it is hidden or another PID namespace's");
        r = check_accounts(x, e);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(x);
        return 0;
}

static int schedstat_arm(void *state) {
        Schedstat *x = state;
        bool any = false;

        for (size_t i = 0; i < x->n; i++) {
                x->entries[i].armed = read_account(x, i, &x->entries[i].before) >= 0;
                any |= x->entries[i].armed;
        }
        return any ? 0 : -ENODATA;
}

/* One reading of one CPU. True: it ran, and has not been charged. */
static bool collect_cpu(Schedstat *x, size_t i, UcsCpuStall *c) {
        const Entry *entry = &x->entries[i];
        Account now;

        if (!entry->armed || read_account(x, i, &now) < 0 || now.runs < entry->before.runs || now.nsec < entry->before.nsec) {
                c->runs = UCS_UNKNOWN;
                return false;
        }
        c->runs = now.runs - entry->before.runs;
        if (c->runs == 0)
                return false; /* it took no part: no evidence, whatever its account says */
        if (now.nsec == entry->before.nsec)
                return true;
        c->stall_nsec = now.nsec - entry->before.nsec;
        return false;
}

static int schedstat_collect(void *state, UcsStall *s) {
        const uint64_t until_nsec = ucs_clock_monotonic_raw_nsec() + UCS_WITNESS_RETRY_USEC * NSEC_PER_USEC;
        _cleanup_free_ size_t *late = NULL;
        uint64_t rest_nsec = RETRY_FIRST_NSEC;
        Schedstat *x = state;
        size_t n_late = 0;

        late = new0(size_t, x->n);
        if (!late)
                return -ENOMEM;
        for (size_t i = 0; i < x->n; i++)
                if (collect_cpu(x, i, &s->cpus[i]))
                        late[n_late++] = i;

        for (int n = 0; n_late > 0 && (n < RETRIES_MIN || ucs_clock_monotonic_raw_nsec() < until_nsec); n++) {
                const struct timespec rest = { .tv_nsec = (long) rest_nsec };
                size_t still = 0;

                (void) clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
                rest_nsec = MIN(rest_nsec * 2, RETRY_LONGEST_NSEC);
                for (size_t k = 0; k < n_late; k++)
                        if (collect_cpu(x, late[k], &s->cpus[late[k]]))
                                late[still++] = late[k];
                n_late = still;
        }
        return 0;
}

const UcsWitnessOps witness_schedstat = {
        .kind = UCS_WITNESS_SCHEDSTAT,
        .automatic = true,
        .open = schedstat_open,
        .arm = schedstat_arm,
        .collect = schedstat_collect,
        .close = schedstat_close,
};

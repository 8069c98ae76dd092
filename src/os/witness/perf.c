/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stoppers' context switches as witness: a dummy perf event bound to each migration/N thread writes a record when the thread is switched
 * in and one when it is switched out, with the time of CLOCK_MONOTONIC_RAW. So each CPU's stall has a begin and an end, and the
 * machine's is a true intersection. Two records a CPU and load; needs CAP_PERFMON (witness-perf.conf) and this machine's own root.
 *
 * The events run from the opening on, so that the baseline interrupts no CPU: it only moves each ring's tail. */

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/timefmt.h"
#include "os/clock.h"
#include "os/root.h"
#include "os/witness/kinds.h"
#include "os/witness/stopper.h"
#include "os/witness/switches.h"

#define DATA_PAGES 1U   /* 170 switches between two readings */
#define FULL_MARGIN 64U /* less room than a record and the one that reports a loss */
#define RETRY_NSEC NSEC_PER_MSEC
#define RETRIES_MIN 4

typedef struct Ring {
        int fd;
        struct perf_event_mmap_page *page; /* NULL: none */
        uint64_t tail;                     /* at the baseline */
        bool was_full; /* records were lost before the baseline, which the ring reports only behind it */
} Ring;

typedef struct Perf {
        UcsStopper *stoppers;
        Ring *rings; /* both n, in the order of the machine's CPUs */
        size_t n, page_size;
} Perf;

static void perf_close(void *state) {
        Perf *x = state;

        if (!x)
                return;
        for (size_t i = 0; x->rings && i < x->n; i++) {
                if (x->rings[i].page)
                        (void) munmap(x->rings[i].page, (1 + DATA_PAGES) * x->page_size);
                fd_close(x->rings[i].fd);
        }
        free(x->stoppers);
        free(x->rings);
        free(x);
}

static void perf_closep(Perf **x) {
        perf_close(*x);
}

static int ring_open(Perf *x, Ring *ring, uint32_t tid) {
        struct perf_event_attr attr = {
                .type = PERF_TYPE_SOFTWARE,
                .size = sizeof(attr),
                .config = PERF_COUNT_SW_DUMMY,
                .sample_type = PERF_SAMPLE_TIME,
                .sample_id_all = 1,
                .context_switch = 1,
                .use_clockid = 1,
                .clockid = CLOCK_MONOTONIC_RAW,
        };
        void *p;

        ring->fd = (int) syscall(SYS_perf_event_open, &attr, (pid_t) tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (ring->fd < 0)
                return -errno;
        p = mmap(NULL, (1 + DATA_PAGES) * x->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (p == MAP_FAILED)
                return -errno;
        ring->page = p;
        return 0;
}

static int perf_open(int root_fd, const UcsMachine *m, void **ret, UcsError *e) {
        _cleanup_(perf_closep) Perf *x = NULL;
        _cleanup_fd_ int proc_fd = -EBADF;
        int r;

        if (!ucs_root_is_host(root_fd))
                return ucs_error_set(e, -EXDEV, "perf events are of this machine alone, and the root is another's");
        x = new0(Perf, 1);
        if (!x)
                return -ENOMEM;
        x->page_size = (size_t) sysconf(_SC_PAGESIZE);
        x->stoppers = new0(UcsStopper, m->n_cpus);
        x->rings = new0(Ring, m->n_cpus);
        if (!x->stoppers || !x->rings)
                return -ENOMEM;
        for (; x->n < m->n_cpus; x->n++) {
                x->stoppers[x->n].cpu = m->cpus[x->n].cpu;
                x->rings[x->n].fd = -EBADF;
        }

        proc_fd = ucs_root_openat(root_fd, "/proc", O_PATH | O_DIRECTORY);
        r = proc_fd < 0 ? proc_fd : ucs_stopper_find(proc_fd, x->stoppers, x->n);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot list /proc: %m");
        }
        if ((size_t) r < x->n)
                return ucs_error_set(e, -ESRCH, "only %d of %zu threads migration/N are seen in /proc", r, x->n);
        for (size_t i = 0; i < x->n; i++) {
                r = ring_open(x, &x->rings[i], x->stoppers[i].tid);
                if (r < 0) {
                        errno = -r;
                        return ucs_error_set(e, r, "cannot open the events of migration/%u: %m", x->stoppers[i].cpu);
                }
        }
        *ret = TAKE_PTR(x);
        return 0;
}

/* The kernel moves data_head behind the data, and waits for room until data_tail is moved (include/uapi/linux/perf_event.h). */
static uint64_t ring_head(const Ring *ring) {
        return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

static int perf_arm(void *state) {
        Perf *x = state;

        for (size_t i = 0; i < x->n; i++) {
                Ring *ring = &x->rings[i];
                const uint64_t head = ring_head(ring);

                ring->was_full = head - ring->page->data_tail + FULL_MARGIN > DATA_PAGES * x->page_size;
                ring->tail = head;
                __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
        }
        return 0;
}

/* One reading of one CPU. True: it is not out of its run yet. */
static bool collect_cpu(const Perf *x, const Ring *ring, UcsCpuStall *c) {
        const uint8_t *data = (const uint8_t *) ring->page + x->page_size;
        UcsSwitches s;

        c->stall_nsec = c->entry_nsec = c->exit_nsec = UCS_UNKNOWN;
        if (ucs_switches_read(data, DATA_PAGES * x->page_size, ring->tail, ring_head(ring), &s) < 0 ||
            (s.n_lost > 0 && !ring->was_full)) {
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
                        late |= collect_cpu(x, &x->rings[i], &s->cpus[i]);
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

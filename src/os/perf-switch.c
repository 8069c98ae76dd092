/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Context switches of threads from the perf ring buffer; see perf-switch.h. The kernel moves data_head behind what it has written, we move
 * data_tail behind what we have read (include/uapi/linux/perf_event.h, struct perf_event_mmap_page). */

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/fd.h"
#include "os/perf-switch.h"

#define DATA_PAGES 1U

/* Less room than a record and the one that reports a loss: then records may have been lost that the kernel reports only behind the mark. */
#define FULL_MARGIN 64U

typedef struct Ring {
        int fd;
        void *map; /* a control page and DATA_PAGES; NULL: not mapped */
        bool was_full; /* at the mark */
} Ring;

struct UcsPerfSwitches {
        size_t page, n;
        Ring rings[];
};

static void ring_close(Ring *ring, size_t page) {
        if (ring->map)
                (void) munmap(ring->map, page * (1 + DATA_PAGES));
        *ring = (Ring){ .fd = fd_close(ring->fd) };
}

UcsPerfSwitches *ucs_perf_switches_close(UcsPerfSwitches *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n; i++)
                ring_close(&p->rings[i], p->page);
        free(p);
        return NULL;
}

static int fail(UcsError *e, int code, uint32_t tid) {
        switch (code) {
        case -EACCES:
        case -EPERM:
                return ucs_error_set(e, code, "context switches of thread %u may not be watched; that takes CAP_PERFMON and perf_event_open",
                                     tid);
        case -EMFILE:
        case -ENFILE:
                return ucs_error_set(e, code, "no descriptor left to watch thread %u with", tid);
        case -ENOMEM:
                return ucs_error_set(e, code, "no memory to watch thread %u with, or RLIMIT_MEMLOCK is in the way", tid);
        case -ESRCH:
                return ucs_error_set(e, code, "there is no thread %u to be watched", tid);
        default:
                errno = -code;
                return ucs_error_set(e, code, "cannot watch context switches of thread %u: %m", tid);
        }
}

static int ring_open(Ring *ring, size_t page, uint32_t tid) {
        struct perf_event_attr attr = {
                .type = PERF_TYPE_SOFTWARE,
                .size = sizeof(attr),
                .config = PERF_COUNT_SW_DUMMY,
                .sample_type = PERF_SAMPLE_TIME,
                .exclude_kernel = 1, /* of samples, and there are none; without it perf_event_paranoid 2 forbids one's own threads */
                .exclude_hv = 1,
                .context_switch = 1,
                .sample_id_all = 1,
                .use_clockid = 1,
                .clockid = CLOCK_MONOTONIC_RAW,
        };
        void *map;
        int r;

        *ring = (Ring){ .fd = (int) syscall(SYS_perf_event_open, &attr, (pid_t) tid, -1, -1, PERF_FLAG_FD_CLOEXEC) };
        if (ring->fd < 0)
                return -errno;
        map = mmap(NULL, page * (1 + DATA_PAGES), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (map == MAP_FAILED) {
                /* perf's own word for "over the limit of locked memory" */
                r = errno == EPERM ? -ENOMEM : -errno;
                ring_close(ring, page);
                return r;
        }
        ring->map = map;
        return 0;
}

int ucs_perf_switches_open(const uint32_t *tids, size_t n, UcsPerfSwitches **ret, UcsError *e) {
        _cleanup_(ucs_perf_switches_closep) UcsPerfSwitches *p = NULL;
        size_t size;
        int r;

        if (n == 0)
                return ucs_error_set(e, -EINVAL, "there is no thread to be watched");
        if (__builtin_mul_overflow(n, sizeof(Ring), &size) || __builtin_add_overflow(size, sizeof(*p), &size))
                return ucs_error_set(e, -ENOMEM, "no memory for %zu threads", n);
        p = calloc(1, size);
        if (!p)
                return ucs_error_set(e, -ENOMEM, "no memory for %zu threads", n);
        p->page = (size_t) sysconf(_SC_PAGESIZE);
        for (; p->n < n; p->n++) {
                r = ring_open(&p->rings[p->n], p->page, tids[p->n]);
                if (r < 0)
                        return fail(e, r, tids[p->n]);
        }
        *ret = TAKE_PTR(p);
        return 0;
}

static uint64_t head_of(const Ring *ring) {
        const struct perf_event_mmap_page *control = ring->map;

        return __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
}

void ucs_perf_switches_mark(UcsPerfSwitches *p) {
        for (size_t i = 0; i < p->n; i++) {
                Ring *ring = &p->rings[i];
                struct perf_event_mmap_page *control = ring->map;
                const uint64_t head = head_of(ring);

                ring->was_full = head - control->data_tail + FULL_MARGIN > p->page * DATA_PAGES;
                __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
        }
}

int ucs_perf_switches_read(const UcsPerfSwitches *p, size_t i, UcsSwitches *ret) {
        const Ring *ring = &p->rings[i];
        const struct perf_event_mmap_page *control = ring->map;
        const uint8_t *data = (const uint8_t *) ring->map + p->page;
        const uint64_t head = head_of(ring);
        UcsSwitches s;
        int r;

        r = ucs_switches_read(data, p->page * DATA_PAGES, control->data_tail, head, &s);
        if (r < 0)
                return r;
        /* a ring without room for one more says so only with the next record that fits */
        if ((s.n_lost > 0 && !ring->was_full) || head - control->data_tail + FULL_MARGIN > p->page * DATA_PAGES)
                return -EOVERFLOW;
        *ret = s;
        return 0;
}

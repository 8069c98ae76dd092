/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Context switches of threads from the perf ring buffer; see perf-switch.h. The kernel moves data_head behind what it has written, we move
 * data_tail behind what we have read (include/uapi/linux/perf_event.h, struct perf_event_mmap_page). */

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/fd.h"
#include "os/perf-switch.h"

#define DATA_PAGES 1U

typedef struct Ring {
        int fd;
        void *map; /* a control page and DATA_PAGES; NULL: not mapped */
} Ring;

struct UcsPerfSwitches {
        size_t page, n;
        Ring rings[];
};

/* What `sample_type` below makes of a record: the time, then the CPU (struct sample_id, in the order of that comment in the kernel's header). */
typedef struct Record {
        struct perf_event_header header;
        uint64_t raw_nsec;
        uint32_t cpu, reserved;
} Record;

_Static_assert(sizeof(Record) == 24, "a record of the ring");

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
                .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
                .disabled = 1,
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

static void release_until(Ring *ring, uint64_t head) {
        struct perf_event_mmap_page *control = ring->map;

        __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

int ucs_perf_switches_enable(UcsPerfSwitches *p) {
        for (size_t i = 0; i < p->n; i++) {
                release_until(&p->rings[i], head_of(&p->rings[i]));
                if (ioctl(p->rings[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
                        return -errno;
        }
        return 0;
}

int ucs_perf_switches_disable(UcsPerfSwitches *p) {
        int r = 0;

        for (size_t i = 0; i < p->n; i++)
                if (ioctl(p->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0) < 0 && r == 0)
                        r = -errno;
        return r;
}

/* The ring is a power of two in size and records may lie across its end. */
static void copy_out(const Ring *ring, size_t page, uint64_t from, void *ret, size_t n) {
        const uint8_t *data = (const uint8_t *) ring->map + page;
        const size_t size = page * DATA_PAGES, at = (size_t) (from % size), first = MIN(n, size - at);

        memcpy(ret, data + at, first);
        memcpy((uint8_t *) ret + first, data, n - first);
}

int ucs_perf_switches_read(UcsPerfSwitches *p, size_t i, UcsPerfSwitch *ret, size_t max) {
        Ring *ring = &p->rings[i];
        const struct perf_event_mmap_page *control = ring->map;
        const uint64_t head = head_of(ring);
        uint64_t at = control->data_tail;
        size_t n = 0;
        int r = 0;

        while (r == 0 && at < head) {
                Record record = {};

                copy_out(ring, p->page, at, &record.header, sizeof(record.header));
                if (record.header.size < sizeof(record.header) || record.header.size > head - at) {
                        r = -EBADMSG;
                        break;
                }
                if (record.header.type == PERF_RECORD_LOST)
                        r = -EOVERFLOW;
                else if (record.header.type == PERF_RECORD_SWITCH) {
                        if (record.header.size != sizeof(record))
                                r = -EBADMSG;
                        else if (n == max)
                                r = -EOVERFLOW;
                        else {
                                copy_out(ring, p->page, at, &record, sizeof(record));
                                ret[n++] = (UcsPerfSwitch){
                                        .raw_nsec = record.raw_nsec,
                                        .cpu = record.cpu,
                                        .in = !(record.header.misc & PERF_RECORD_MISC_SWITCH_OUT),
                                };
                        }
                }
                at += record.header.size;
        }
        /* a ring without room for one more may have lost some, and says so only with the next record that fits */
        if (r == 0 && head - control->data_tail > p->page * DATA_PAGES - sizeof(Record))
                r = -EOVERFLOW;
        release_until(ring, head);
        return r < 0 ? r : (int) n;
}

bool ucs_perf_switches_longest(const UcsPerfSwitch *records, size_t n, uint64_t *ret_in_nsec, uint64_t *ret_out_nsec) {
        uint64_t longest = 0;
        bool found = false;

        for (size_t i = 0; i + 1 < n; i++) {
                const UcsPerfSwitch *a = &records[i], *b = &records[i + 1];

                if (!a->in || b->in || b->raw_nsec < a->raw_nsec || (found && b->raw_nsec - a->raw_nsec <= longest))
                        continue;
                longest = b->raw_nsec - a->raw_nsec;
                *ret_in_nsec = a->raw_nsec;
                *ret_out_nsec = b->raw_nsec;
                found = true;
        }
        return found;
}

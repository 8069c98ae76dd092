/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Known stalls; see hog.h. A mutex and a condition carry the slow part (armed, released, ended), atomics the fast one (who has arrived, and
 * when). */

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/hog.h"
#include "bench/thread.h"
#include "os/clock.h"

#define RENDEZVOUS_NSEC (100 * NSEC_PER_MSEC) /* as long do they wait for each other */

typedef enum Phase {
        PHASE_ARMED,
        PHASE_RELEASED,
        PHASE_OVER,
} Phase;

typedef struct Hog {
        BenchHogs *hogs;
        pthread_t thread;
        size_t index;
        uint64_t in_nsec, out_nsec, gap_nsec;
        bool preempted;
} Hog;

struct BenchHogs {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        Phase phase;
        size_t n_armed, n_asleep, n_ended;
        uint64_t start_monotonic_nsec, length_nsec;
        atomic_size_t n_arrived;
        atomic_ullong last_in_nsec;
        size_t n; /* started */
        uint32_t *tids;
        Hog *hogs;
};

/* How often this thread has had to make way for another. */
static long count_preemptions(void) {
        struct rusage u;

        return getrusage(RUSAGE_THREAD, &u) < 0 ? 0 : u.ru_nivcsw;
}

/* Hold the CPU until `length_nsec` after the last of them has come in. */
static void hold(Hog *hog) {
        BenchHogs *h = hog->hogs;
        uint64_t now, before, length = h->length_nsec, n = h->n;
        unsigned long long last;
        long preemptions = count_preemptions();

        hog->in_nsec = before = ucs_clock_monotonic_raw_nsec();
        last = atomic_load(&h->last_in_nsec);
        while (last < hog->in_nsec && !atomic_compare_exchange_weak(&h->last_in_nsec, &last, hog->in_nsec))
                ;
        (void) atomic_fetch_add(&h->n_arrived, 1);
        for (;;) {
                now = ucs_clock_monotonic_raw_nsec();
                if (now - before > hog->gap_nsec)
                        hog->gap_nsec = now - before;
                before = now;
                if (atomic_load(&h->n_arrived) < n) {
                        if (now - hog->in_nsec > RENDEZVOUS_NSEC)
                                break;
                } else if (now >= atomic_load(&h->last_in_nsec) + length)
                        break;
        }
        hog->out_nsec = now;
        hog->preempted = count_preemptions() != preemptions;
}

static void *run(void *userdata) {
        Hog *hog = userdata;
        BenchHogs *h = hog->hogs;

        (void) pthread_mutex_lock(&h->lock);
        h->tids[hog->index] = (uint32_t) syscall(SYS_gettid);
        h->n_armed++;
        (void) pthread_cond_broadcast(&h->changed);
        while (h->phase == PHASE_ARMED)
                (void) pthread_cond_wait(&h->changed, &h->lock);
        if (h->phase == PHASE_RELEASED) {
                h->n_asleep++;
                (void) pthread_cond_broadcast(&h->changed);
                (void) pthread_mutex_unlock(&h->lock);
                bench_sleep_until(h->start_monotonic_nsec);
                hold(hog);
                (void) pthread_mutex_lock(&h->lock);
                h->n_ended++;
                (void) pthread_cond_broadcast(&h->changed);
                while (h->phase != PHASE_OVER)
                        (void) pthread_cond_wait(&h->changed, &h->lock);
        }
        (void) pthread_mutex_unlock(&h->lock);
        return NULL;
}

BenchHogs *bench_hogs_free(BenchHogs *h) {
        if (!h)
                return NULL;
        (void) pthread_mutex_lock(&h->lock);
        h->phase = PHASE_OVER;
        (void) pthread_cond_broadcast(&h->changed);
        (void) pthread_mutex_unlock(&h->lock);
        for (size_t i = 0; i < h->n; i++)
                (void) pthread_join(h->hogs[i].thread, NULL);
        (void) pthread_cond_destroy(&h->changed);
        (void) pthread_mutex_destroy(&h->lock);
        free(h->tids);
        free(h->hogs);
        free(h);
        return NULL;
}

int bench_hogs_new(const BenchTopology *t, BenchHogs **ret, UcsError *e) {
        _cleanup_(bench_hogs_freep) BenchHogs *h = new0(BenchHogs, 1);
        int r;

        if (!h)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        (void) pthread_mutex_init(&h->lock, NULL);
        (void) pthread_cond_init(&h->changed, NULL);
        h->tids = new0(uint32_t, t->n);
        h->hogs = new0(Hog, t->n);
        if (!h->tids || !h->hogs)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (; h->n < t->n; h->n++) {
                Hog *hog = &h->hogs[h->n];

                hog->hogs = h;
                hog->index = h->n;
                r = bench_thread_start(&hog->thread, t->cpus[h->n].cpu, SCHED_FIFO, BENCH_PRIORITY_HOG, run, hog, e);
                if (r < 0)
                        return r;
        }
        (void) pthread_mutex_lock(&h->lock);
        while (h->n_armed < h->n)
                (void) pthread_cond_wait(&h->changed, &h->lock);
        (void) pthread_mutex_unlock(&h->lock);
        *ret = TAKE_PTR(h);
        return 0;
}

const uint32_t *bench_hogs_tids(const BenchHogs *h) {
        return h->tids;
}

void bench_hogs_release(BenchHogs *h, uint64_t lead_nsec, uint64_t length_nsec) {
        (void) pthread_mutex_lock(&h->lock);
        h->length_nsec = MIN(length_nsec, BENCH_HOG_MAX_NSEC);
        h->start_monotonic_nsec = bench_monotonic_nsec() + lead_nsec;
        h->phase = PHASE_RELEASED;
        (void) pthread_cond_broadcast(&h->changed);
        while (h->n_asleep < h->n)
                (void) pthread_cond_wait(&h->changed, &h->lock);
        (void) pthread_mutex_unlock(&h->lock);
}

bool bench_hogs_begun(const BenchHogs *h) {
        return bench_monotonic_nsec() >= h->start_monotonic_nsec;
}

void bench_hogs_wait(BenchHogs *h) {
        (void) pthread_mutex_lock(&h->lock);
        while (h->n_ended < h->n)
                (void) pthread_cond_wait(&h->changed, &h->lock);
        (void) pthread_mutex_unlock(&h->lock);
}

int bench_hogs_result(const BenchHogs *h, BenchStall *ret) {
        BenchStall s = { .to_nsec = UINT64_MAX };

        for (size_t i = 0; i < h->n; i++) {
                s.from_nsec = MAX(s.from_nsec, h->hogs[i].in_nsec);
                s.to_nsec = MIN(s.to_nsec, h->hogs[i].out_nsec);
                s.gap_nsec = MAX(s.gap_nsec, h->hogs[i].gap_nsec);
                s.broken = s.broken || h->hogs[i].preempted;
        }
        if (s.from_nsec >= s.to_nsec)
                return -ENODATA;
        *ret = s;
        return 0;
}

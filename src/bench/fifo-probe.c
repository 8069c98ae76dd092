/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The FIFO probe; see fifo-probe.h. A thread writes only to its own cache lines and its own gaps, and who reads them waits for its end: no
 * lock, no ring. */

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "bench/fifo-probe.h"
#include "bench/thread.h"
#include "os/clock.h"

#define KEEP_NSEC (BENCH_PROBE_PERIOD_NSEC * 3 / 2)
#define GAPS_MAX 4096U
#define GAPS_MIN 64U
#define GAPS_TOTAL (1U << 22) /* 64 MiB for all CPUs */

typedef struct Watcher {
        alignas(128) BenchFifoProbe *probe;
        pthread_t thread;
        uint64_t phase_nsec;
        bool ended_early;
        BenchProbeCpu seen;
        size_t n_gaps;
        BenchGap *gaps; /* probe->max_gaps */
} Watcher;

struct BenchFifoProbe {
        atomic_bool stop;
        atomic_size_t n_ready;
        pthread_mutex_t lock;
        pthread_cond_t ready;
        uint64_t window_nsec;
        size_t n, max_gaps;
        bool joined;
        Watcher *watchers;
        BenchGap *gaps;
};

static void keep(Watcher *w, uint64_t from, uint64_t to) {
        w->seen.gaps++;
        if (to - from > w->seen.longest.to_nsec - w->seen.longest.from_nsec)
                w->seen.longest = (BenchGap){ from, to };
        if (w->n_gaps < w->probe->max_gaps)
                w->gaps[w->n_gaps++] = (BenchGap){ from, to };
        else
                w->seen.lost++;
}

/* The next moment of this thread's own grid. */
static void sleep_a_period(const Watcher *w) {
        const uint64_t now = bench_monotonic_nsec() - w->phase_nsec;

        bench_sleep_until(now / BENCH_PROBE_PERIOD_NSEC * BENCH_PROBE_PERIOD_NSEC + BENCH_PROBE_PERIOD_NSEC + w->phase_nsec);
}

static void *watch(void *userdata) {
        Watcher *w = userdata;
        BenchFifoProbe *p = w->probe;
        uint64_t last, deadline;

        last = ucs_clock_monotonic_raw_nsec();
        deadline = last + p->window_nsec;
        w->seen.samples = 1;
        (void) pthread_mutex_lock(&p->lock);
        (void) atomic_fetch_add(&p->n_ready, 1);
        (void) pthread_cond_signal(&p->ready);
        (void) pthread_mutex_unlock(&p->lock);

        for (;;) {
                uint64_t now;
                bool stop;

                sleep_a_period(w);
                stop = atomic_load_explicit(&p->stop, memory_order_acquire);
                now = ucs_clock_monotonic_raw_nsec();
                if (now - last >= KEEP_NSEC)
                        keep(w, last, now);
                last = now;
                w->seen.samples++;
                if (stop || now >= deadline) {
                        w->ended_early = !stop;
                        return NULL;
                }
        }
}

bool bench_fifo_probe_stop(BenchFifoProbe *p) {
        bool whole = true;

        atomic_store_explicit(&p->stop, true, memory_order_release);
        for (size_t i = 0; i < p->n; i++) {
                if (!p->joined)
                        (void) pthread_join(p->watchers[i].thread, NULL);
                whole = whole && !p->watchers[i].ended_early;
        }
        p->joined = true;
        return whole;
}

BenchFifoProbe *bench_fifo_probe_free(BenchFifoProbe *p) {
        if (!p)
                return NULL;
        (void) bench_fifo_probe_stop(p);
        (void) pthread_cond_destroy(&p->ready);
        (void) pthread_mutex_destroy(&p->lock);
        free(p->watchers);
        free(p->gaps);
        free(p);
        return NULL;
}

static int allocate(BenchFifoProbe *p, size_t n) {
        void *watchers = NULL;
        size_t size;

        p->max_gaps = MIN((size_t) GAPS_MAX, GAPS_TOTAL / n);
        p->max_gaps = MAX(p->max_gaps, (size_t) GAPS_MIN);
        if (__builtin_mul_overflow(n, sizeof(Watcher), &size) || posix_memalign(&watchers, alignof(Watcher), size) != 0)
                return -ENOMEM;
        memset(watchers, 0, size);
        p->watchers = watchers;
        p->gaps = reallocarray(NULL, n, p->max_gaps * sizeof(BenchGap));
        if (!p->gaps)
                return -ENOMEM;
        /* no page fault while the probe runs */
        memset(p->gaps, 0xff, n * p->max_gaps * sizeof(BenchGap));
        return 0;
}

int bench_fifo_probe_start(const BenchTopology *t, uint64_t window_nsec, BenchFifoProbe **ret, UcsError *e) {
        _cleanup_(bench_fifo_probe_freep) BenchFifoProbe *p = new0(BenchFifoProbe, 1);
        int r;

        if (!p)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        (void) pthread_mutex_init(&p->lock, NULL);
        (void) pthread_cond_init(&p->ready, NULL);
        p->window_nsec = window_nsec;
        r = allocate(p, t->n);
        if (r < 0)
                return ucs_error_set(e, r, "out of memory");
        for (; p->n < t->n; p->n++) {
                Watcher *w = &p->watchers[p->n];

                *w = (Watcher){
                        .probe = p,
                        .phase_nsec = BENCH_PROBE_PERIOD_NSEC * p->n / t->n,
                        .gaps = p->gaps + p->n * p->max_gaps,
                };
                r = bench_thread_start(&w->thread, t->cpus[p->n].cpu, SCHED_FIFO, BENCH_PRIORITY_PROBE, watch, w, e);
                if (r < 0)
                        return r;
        }
        (void) pthread_mutex_lock(&p->lock);
        while (atomic_load(&p->n_ready) < p->n)
                (void) pthread_cond_wait(&p->ready, &p->lock);
        (void) pthread_mutex_unlock(&p->lock);
        *ret = TAKE_PTR(p);
        return 0;
}

/* Both lists are in order, and so is what they have in common. `ret` has room for both together. */
static size_t intersect(const BenchGap *a, size_t n_a, const BenchGap *b, size_t n_b, BenchGap *ret) {
        size_t i = 0, k = 0, n = 0;

        while (i < n_a && k < n_b) {
                const uint64_t from = MAX(a[i].from_nsec, b[k].from_nsec), to = MIN(a[i].to_nsec, b[k].to_nsec);

                if (from < to)
                        ret[n++] = (BenchGap){ from, to };
                if (a[i].to_nsec < b[k].to_nsec)
                        i++;
                else
                        k++;
        }
        return n;
}

size_t bench_fifo_probe_machine_wide(const BenchFifoProbe *p, uint64_t min_nsec, BenchGap *ret, size_t max) {
        const uint64_t taken_off = BENCH_PROBE_PERIOD_NSEC / p->n / 2;
        _cleanup_free_ BenchGap *common = NULL, *next = NULL;
        const size_t room = p->n * p->max_gaps;
        size_t n, found = 0;

        /* one intersection has fewer members than its two sides together, and so all of them fewer than all gaps */
        common = new0(BenchGap, room);
        next = new0(BenchGap, room);
        if (!common || !next)
                return 0;
        n = p->watchers[0].n_gaps;
        memcpy(common, p->watchers[0].gaps, n * sizeof(*common));
        for (size_t i = 1; i < p->n; i++) {
                BenchGap *swap = common;

                n = intersect(common, n, p->watchers[i].gaps, p->watchers[i].n_gaps, next);
                common = next;
                next = swap;
        }
        for (size_t i = 0; i < n; i++) {
                const BenchGap g = { common[i].from_nsec + taken_off, common[i].to_nsec };

                if (g.from_nsec >= g.to_nsec || g.to_nsec - g.from_nsec < min_nsec)
                        continue;
                if (found < max)
                        ret[found] = g;
                found++;
        }
        return found;
}

void bench_fifo_probe_cpu(const BenchFifoProbe *p, size_t i, BenchProbeCpu *ret) {
        *ret = p->watchers[i].seen;
}

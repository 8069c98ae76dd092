/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPUs of this host, really standing still: one SCHED_FIFO 99 thread on each, as the kernel's stoppers
 * are.
 *
 * The threads are created armed, with policy and affinity in their attributes: one that asks for its
 * priority itself must first win a slot as an ordinary task. They are let go by the clock, not by a wake-up:
 * the thread that would wake the others may be the first one to be driven off its CPU. What is measured is
 * from entry to exit of each, by its own clock. It will not hold CPUs outside the affinity mask of the
 * simulator, and never for longer than SIM_REAL_STALL_MAX_NSEC. */

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/timefmt.h"
#include "stall.h"

#define LEAD_NSEC       (5 * NSEC_PER_MSEC)   /* from the last thread's being ready to the common start */
#define RENDEZVOUS_NSEC (100 * NSEC_PER_MSEC) /* as long do they wait for each other */

typedef struct Stop {
        uint64_t nsec;
        unsigned n_threads;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        unsigned n_ready;
        uint64_t start_nsec; /* 0: not known yet; UINT64_MAX: called off */
        atomic_uint n_arrived;
        atomic_ullong last_in_nsec;
} Stop;

typedef struct Holder {
        Stop *stop;
        pthread_t thread;
        uint64_t in_nsec, out_nsec;
} Holder;

static void sleep_until(uint64_t nsec) {
        struct timespec ts = { .tv_sec = (time_t) (nsec / NSEC_PER_SEC),
                               .tv_nsec = (long) (nsec % NSEC_PER_SEC) };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
                ;
}

static void *holder_run(void *userdata) {
        Holder *h = userdata;
        Stop *s = h->stop;
        uint64_t start;
        unsigned long long last;

        (void) pthread_mutex_lock(&s->lock);
        s->n_ready++;
        (void) pthread_cond_broadcast(&s->changed);
        while (s->start_nsec == 0)
                (void) pthread_cond_wait(&s->changed, &s->lock);
        start = s->start_nsec;
        (void) pthread_mutex_unlock(&s->lock);
        if (start == UINT64_MAX)
                return NULL;

        sleep_until(start);
        h->in_nsec = sim_now_nsec();
        last = atomic_load(&s->last_in_nsec);
        while (last < h->in_nsec && !atomic_compare_exchange_weak(&s->last_in_nsec, &last, h->in_nsec))
                ;
        (void) atomic_fetch_add(&s->n_arrived, 1);
        while (atomic_load(&s->n_arrived) < s->n_threads && sim_now_nsec() < h->in_nsec + RENDEZVOUS_NSEC)
                ;
        do
                h->out_nsec = sim_now_nsec();
        while (h->out_nsec < atomic_load(&s->last_in_nsec) + s->nsec);
        return NULL;
}

/* pthread_create() reads the CPU set whole, so each thread gets one of the dynamic kind. */
static int holder_start(Holder *h, unsigned cpu, size_t mask_size, cpu_set_t *mask) {
        struct sched_param param = { .sched_priority = 99 };
        pthread_attr_t attr;
        int r;

        CPU_ZERO_S(mask_size, mask);
        CPU_SET_S(cpu, mask_size, mask);
        r = pthread_attr_init(&attr);
        if (r != 0)
                return -r;
        r = pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
        if (r == 0)
                r = pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
        if (r == 0)
                r = pthread_attr_setschedparam(&attr, &param);
        if (r == 0)
                r = pthread_attr_setaffinity_np(&attr, mask_size, mask);
        if (r == 0)
                r = pthread_create(&h->thread, &attr, holder_run, h);
        (void) pthread_attr_destroy(&attr);
        return -r;
}

static uint64_t shortest(const Holder *holders, unsigned n) {
        uint64_t min = UINT64_MAX;

        for (unsigned i = 0; i < n; i++)
                min = MIN(min, holders[i].out_nsec - holders[i].in_nsec);
        return min;
}

int sim_real_stall(uint64_t nsec, uint64_t *ret) {
        _cleanup_free_ Holder *holders = NULL;
        _cleanup_free_ cpu_set_t *allowed = NULL, *mask = NULL;
        size_t mask_size = CPU_ALLOC_SIZE(UCS_CPU_MAX);
        Stop s = { .nsec = nsec };
        unsigned n = 0, n_cpus;
        int r = 0;

        if (nsec > SIM_REAL_STALL_MAX_NSEC)
                return -ERANGE;
        allowed = calloc(1, mask_size);
        mask = calloc(1, mask_size);
        if (!allowed || !mask)
                return -ENOMEM;
        if (sched_getaffinity(0, mask_size, allowed) < 0)
                return -errno;
        n_cpus = (unsigned) CPU_COUNT_S(mask_size, allowed);
        holders = new0(Holder, n_cpus);
        if (!holders)
                return -ENOMEM;

        s.n_threads = n_cpus;
        (void) pthread_mutex_init(&s.lock, NULL);
        (void) pthread_cond_init(&s.changed, NULL);
        for (unsigned cpu = 0; cpu < UCS_CPU_MAX && r == 0; cpu++) {
                if (!CPU_ISSET_S(cpu, mask_size, allowed))
                        continue;
                holders[n].stop = &s;
                r = holder_start(&holders[n], cpu, mask_size, mask);
                if (r == 0)
                        n++;
        }

        (void) pthread_mutex_lock(&s.lock);
        while (s.n_ready < n)
                (void) pthread_cond_wait(&s.changed, &s.lock);
        s.start_nsec = r < 0 ? UINT64_MAX : sim_now_nsec() + LEAD_NSEC;
        (void) pthread_cond_broadcast(&s.changed);
        (void) pthread_mutex_unlock(&s.lock);
        for (unsigned i = 0; i < n; i++)
                (void) pthread_join(holders[i].thread, NULL);
        (void) pthread_cond_destroy(&s.changed);
        (void) pthread_mutex_destroy(&s.lock);

        if (r < 0)
                return r;
        *ret = shortest(holders, n);
        return 0;
}

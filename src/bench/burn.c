/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Load; see burn.h. */

#include <errno.h>
#include <stdatomic.h>

#include "bench/burn.h"
#include "bench/thread.h"

struct BenchBurn {
        atomic_bool stop;
        size_t n;
        pthread_t *threads;
};

static void *run(void *userdata) {
        BenchBurn *burn = userdata;

        while (!atomic_load_explicit(&burn->stop, memory_order_relaxed))
                ;
        return NULL;
}

BenchBurn *bench_burn_stop(BenchBurn *burn) {
        if (!burn)
                return NULL;
        atomic_store(&burn->stop, true);
        for (size_t i = 0; i < burn->n; i++)
                (void) pthread_join(burn->threads[i], NULL);
        free(burn->threads);
        free(burn);
        return NULL;
}

int bench_burn_start(const BenchTopology *t, unsigned per_cpu, BenchBurn **ret, UcsError *e) {
        _cleanup_(bench_burn_stopp) BenchBurn *burn = new0(BenchBurn, 1);
        int r;

        if (!burn)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        burn->threads = new0(pthread_t, t->n * per_cpu);
        if (!burn->threads)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        for (; burn->n < t->n * per_cpu; burn->n++) {
                r = bench_thread_start(&burn->threads[burn->n], t->cpus[burn->n % t->n].cpu, SCHED_OTHER, 0, run, burn, e);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(burn);
        return 0;
}

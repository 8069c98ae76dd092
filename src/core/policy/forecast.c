/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The forecast of the stall; see forecast.h.
 *
 * Figures: kernels up to 5.4 load core after core, 5 to 10 ms each (72 threads on 36 cores: 842 898 034 TSC ticks, about 350 ms); later ones
 * load all cores at once, 10 to 60 ms in all ("Parallel microcode update in Linux", 2019). Where nothing tells which of the two this kernel
 * does, the range spans both until its first load here. */

#include <errno.h>

#include "base/timefmt.h"
#include "core/policy/forecast.h"

#define PARALLEL_LOW_NSEC (10 * NSEC_PER_MSEC)
#define PARALLEL_HIGH_NSEC (60 * NSEC_PER_MSEC)
#define SERIAL_CORE_NSEC (10 * NSEC_PER_MSEC)

/* What was measured here counts with half of it on top: two loads of one host differ, by the update's size and by luck. */
#define HISTORY_MARGIN(x) ((x) + (x) / 2)
#define HISTORY_DEPTH 8

unsigned ucs_machine_cores(const UcsMachine *m) {
        unsigned n = 0;

        /* CPUs are sorted by number and siblings are few: look back for the same core */
        for (size_t i = 0; i < m->n_cpus; i++) {
                bool seen = false;

                if (m->cpus[i].package != UCS_ID_UNKNOWN && m->cpus[i].core != UCS_ID_UNKNOWN)
                        for (size_t k = 0; k < i && !seen; k++)
                                seen = m->cpus[k].package == m->cpus[i].package && m->cpus[k].core == m->cpus[i].core;
                n += !seen;
        }
        return n;
}

void ucs_forecast(const UcsMachine *m, const UcsKernel *kernel, const UcsHistory *h, UcsForecast *ret) {
        uint64_t low = UCS_UNKNOWN, high = 0;
        unsigned found = 0;

        for (size_t i = h->n_entries; i > 0 && found < HISTORY_DEPTH; i--) {
                const UcsHistoryEntry *e = &h->entries[i - 1];

                /* only loads of all the CPUs that would be stopped now, and only where somebody saw the stall */
                if (e->result != UCS_RESULT_SUCCESS || e->n_cpus != m->n_cpus || e->stall_nsec == UCS_UNKNOWN || e->worst_nsec == UCS_UNKNOWN)
                        continue;
                low = MIN(low, e->stall_nsec);
                high = MAX(high, e->worst_nsec);
                high = MAX(high, e->stall_nsec); /* the kernel's own figure may be the longer one */
                found++;
        }
        if (found > 0) {
                *ret = (UcsForecast){ low, HISTORY_MARGIN(high) };
                return;
        }
        if (m->n_cpus == 0) {
                *ret = (UcsForecast){ UCS_UNKNOWN, UCS_UNKNOWN };
                return;
        }
        *ret = (UcsForecast){ PARALLEL_LOW_NSEC, PARALLEL_HIGH_NSEC };
        if (!kernel || !kernel->parallel)
                ret->high_nsec = MAX(PARALLEL_HIGH_NSEC, ucs_machine_cores(m) * SERIAL_CORE_NSEC);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The forecast of the stall: by the kernel's kind before the first load, by what was measured afterwards. */

#include "base/timefmt.h"
#include "core/policy/forecast.h"
#include "ucs-test.h"

#define MSEC NSEC_PER_MSEC
#define MACHINE_MAX 72U

static void machine_make(UcsMachine *m, UcsCpu cpus[static MACHINE_MAX], unsigned n_cpus, unsigned n_cores) {
        for (unsigned i = 0; i < n_cpus; i++)
                cpus[i] = (UcsCpu){ .cpu = i, .package = i % n_cores / 18, .core = i % n_cores % 18 };
        *m = (UcsMachine){ .cpus = cpus, .n_cpus = n_cpus };
}

ucs_test(forecast, table) {
        static const struct {
                const char *name;
                unsigned cpus, cores;
                bool known, parallel;
                UcsHistoryEntry history[3];
                size_t n_history;
                uint64_t low, high;
        } table[] = {
                { "36 cores, all at once", 72, 36, true, true, {}, 0, 10 * MSEC, 60 * MSEC },
                { "36 cores, perhaps one by one", 72, 36, true, false, {}, 0, 10 * MSEC, 360 * MSEC },
                { "36 cores, and nothing is known", 72, 36, false, false, {}, 0, 10 * MSEC, 360 * MSEC },
                { "4 cores, perhaps one by one", 8, 4, true, false, {}, 0, 10 * MSEC, 60 * MSEC },
                { "no CPU", 0, 1, true, true, {}, 0, UCS_UNKNOWN, UCS_UNKNOWN },
                { "measured", 72, 36, true, true, { { .result = UCS_RESULT_SUCCESS, .n_cpus = 72, .stall_nsec = 12 * MSEC, .worst_nsec = 14 * MSEC } }, 1, 12 * MSEC, 21 * MSEC },
                { "measured: it was one by one after all", 72, 36, true, true, { { .result = UCS_RESULT_SUCCESS, .n_cpus = 72, .stall_nsec = 351 * MSEC, .worst_nsec = 352 * MSEC } }, 1, 351 * MSEC, 528 * MSEC },
                { "measured twice", 72, 36, true, false,
                  { { .result = UCS_RESULT_SUCCESS, .n_cpus = 72, .stall_nsec = 12 * MSEC, .worst_nsec = 14 * MSEC }, { .result = UCS_RESULT_SUCCESS, .n_cpus = 72, .stall_nsec = 20 * MSEC, .worst_nsec = 22 * MSEC } },
                  2, 12 * MSEC, 33 * MSEC },
                { "the kernel's own figure is longer than any CPU's", 72, 36, true, true, { { .result = UCS_RESULT_SUCCESS, .n_cpus = 72, .stall_nsec = 16 * MSEC, .worst_nsec = 14 * MSEC } }, 1, 16 * MSEC, 24 * MSEC },
                { "measured with fewer CPUs, in a failure, unseen: does not count", 72, 36, true, false,
                  { { .result = UCS_RESULT_SUCCESS, .n_cpus = 36, .stall_nsec = 12 * MSEC, .worst_nsec = 14 * MSEC }, { .result = UCS_RESULT_IO_ERROR, .n_cpus = 72, .stall_nsec = 1, .worst_nsec = 1 },
                    { .result = UCS_RESULT_SUCCESS, .n_cpus = 72, .stall_nsec = UCS_UNKNOWN, .worst_nsec = UCS_UNKNOWN } },
                  3, 10 * MSEC, 360 * MSEC },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsHistory h = { .entries = (UcsHistoryEntry *) table[i].history, .n_entries = table[i].n_history };
                UcsKernel kernel = { .parallel = table[i].parallel };
                UcsCpu cpus[MACHINE_MAX];
                UcsForecast f = {};
                UcsMachine m;

                machine_make(&m, cpus, table[i].cpus, table[i].cores);
                ucs_forecast(&m, table[i].known ? &kernel : NULL, &h, &f);
                cr_expect_eq(f.low_nsec, table[i].low, "%s: from %lu", table[i].name, f.low_nsec);
                cr_expect_eq(f.high_nsec, table[i].high, "%s: to %lu", table[i].name, f.high_nsec);
        }
}

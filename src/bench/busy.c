/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Is the host busy? By the share of CPU time that was not idle; see busy.h. The counters are the daemon's own (os/pressure). */

#include "bench/busy.h"
#include "bench/report.h"
#include "bench/thread.h"
#include "os/pressure.h"

#define LOOK_NSEC (250 * NSEC_PER_MSEC)
#define BUSY_PPM 250000U /* a quarter of all CPU time */

/* In millionths; UINT32_MAX: cannot be told. */
static uint32_t utilization(const Bench *b) {
        _cleanup_(ucs_pressure_freep) UcsPressure *p = NULL;
        UcsLoadReading before, after;
        UcsLoadSample s;

        if (ucs_pressure_new(b->root_fd, &p) < 0 || ucs_pressure_read(p, 1, &before, NULL) < 0)
                return UINT32_MAX;
        bench_sleep(LOOK_NSEC);
        if (ucs_pressure_read(p, 1, &after, NULL) < 0)
                return UINT32_MAX;
        s = ucs_load_sample(UCS_LOAD_UTILIZATION, &before, &after);
        return s.valid ? s.value_ppm : UINT32_MAX;
}

int bench_may_run(const Bench *b, uint64_t usec) {
        char span[UCS_TIMESPAN_MAX];
        uint32_t ppm;

        if (b->yes || usec <= BENCH_SHORT_USEC)
                return BENCH_DONE;
        ppm = utilization(b);
        if (ppm == UINT32_MAX)
                return bench_fail(b, BENCH_REFUSED, "Busy", "cannot tell whether this host is busy; --yes measures all the same");
        if (ppm <= BUSY_PPM)
                return BENCH_DONE;
        return bench_fail(b, BENCH_REFUSED, "Busy",
                          "this host is busy (%u %% of its CPU time is in use), and this would take about %s of it; --yes measures all the same",
                          ppm / 10000, ucs_format_timespan(span, (usec + USEC_PER_SEC - 1) / USEC_PER_SEC * USEC_PER_SEC));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How loaded the machine is, and for how long it has been quiet; see load.h. Every doubt (a counter that is missing, runs backwards or
 * stands still, a sample that does not come) counts as "not quiet". */

#include <assert.h>

#include "base/enum.h"
#include "base/timefmt.h"
#include "core/schedule/load.h"

#define PPM UINT64_C(1000000)

static const char *const metric_names[_UCS_LOAD_METRIC_MAX] = {
        [UCS_LOAD_AUTO] = "auto",
        [UCS_LOAD_PRESSURE] = "pressure",
        [UCS_LOAD_UTILIZATION] = "utilization",
        [UCS_LOAD_LOADAVG] = "loadavg",
};
DEFINE_ENUM_STRINGS(ucs_load_metric, UcsLoadMetric, metric_names);

static bool has_metric(const UcsLoadReading *r, UcsLoadMetric metric) {
        switch (metric) {
        case UCS_LOAD_PRESSURE:
                return r->have_pressure;
        case UCS_LOAD_UTILIZATION:
                return r->have_stat;
        case UCS_LOAD_LOADAVG:
                return r->have_loadavg;
        case UCS_LOAD_AUTO:
        case _UCS_LOAD_METRIC_MAX:
        case _UCS_LOAD_METRIC_INVALID:
                break;
        }
        return false;
}

/* part/whole in millionths, not above 1. False: the counters did not move on. */
static bool share_ppm(uint64_t part_before, uint64_t part_after, uint64_t whole_before, uint64_t whole_after, uint32_t *ret) {
        uint64_t part, whole;

        if (part_after < part_before || whole_after <= whole_before)
                return false;
        whole = whole_after - whole_before;
        part = MIN(part_after - part_before, whole);
        while (part > UINT64_MAX / PPM) { /* a ratio of such counters has digits to spare */
                part >>= 1;
                whole >>= 1;
        }
        *ret = (uint32_t) (part * PPM / whole);
        return true;
}

UcsLoadSample ucs_load_sample(UcsLoadMetric metric, const UcsLoadReading *before, const UcsLoadReading *after) {
        UcsLoadSample s = { .guest_ppm = UINT32_MAX, .boottime_usec = after->boottime_usec };

        if (metric == UCS_LOAD_AUTO)
                metric = before->have_pressure && after->have_pressure ? UCS_LOAD_PRESSURE : UCS_LOAD_UTILIZATION;
        s.metric = metric;
        if (!has_metric(before, metric) || !has_metric(after, metric) || after->boottime_usec <= before->boottime_usec)
                return s;

        if (before->have_stat && after->have_stat &&
            !share_ppm(before->guest_ticks, after->guest_ticks, before->total_ticks, after->total_ticks, &s.guest_ppm))
                s.guest_ppm = UINT32_MAX;

        switch (metric) {
        case UCS_LOAD_PRESSURE:
                s.valid = share_ppm(before->some_usec, after->some_usec, before->boottime_usec, after->boottime_usec,
                                    &s.value_ppm);
                break;
        case UCS_LOAD_UTILIZATION:
                s.valid = share_ppm(before->busy_ticks, after->busy_ticks, before->total_ticks, after->total_ticks,
                                    &s.value_ppm);
                break;
        case UCS_LOAD_LOADAVG:
                s.valid = true;
                s.value_ppm = after->loadavg_ppm;
                break;
        case UCS_LOAD_AUTO:
        case _UCS_LOAD_METRIC_MAX:
        case _UCS_LOAD_METRIC_INVALID:
                break;
        }
        return s;
}

void ucs_load_tracker_feed(UcsLoadTracker *t, const UcsLoadSample *s, uint32_t threshold_ppm, uint32_t guest_threshold_ppm) {
        bool quiet, continues;

        /* an unknown share of guests passes only where any share would */
        quiet = s->valid && s->value_ppm <= threshold_ppm &&
                (guest_threshold_ppm >= PPM || s->guest_ppm <= guest_threshold_ppm);
        continues = t->last.valid && s->boottime_usec >= t->last.boottime_usec &&
                    s->boottime_usec - t->last.boottime_usec <= UCS_LOAD_HOLE_USEC;

        if (!quiet)
                t->quiet_since_boottime_usec = 0;
        else if (t->quiet_since_boottime_usec == 0 || !continues)
                t->quiet_since_boottime_usec = MAX(s->boottime_usec, UINT64_C(1)); /* 0 is "not quiet" */
        t->last = *s;
}

bool ucs_load_tracker_quiet(const UcsLoadTracker *t, uint64_t now_boottime_usec, uint64_t quiet_usec) {
        return t->quiet_since_boottime_usec > 0 && t->last.valid && now_boottime_usec >= t->last.boottime_usec &&
               now_boottime_usec - t->last.boottime_usec <= UCS_LOAD_HOLE_USEC &&
               now_boottime_usec >= t->quiet_since_boottime_usec &&
               now_boottime_usec - t->quiet_since_boottime_usec >= quiet_usec;
}

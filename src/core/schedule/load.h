/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When the machine is quiet. Raw counters in (os/pressure reads them), a share of time out, and how long it has not been above
 * the threshold. Not quiet at once when a sample is above; quiet only after QuietSec of samples at or below: a threshold of 100%
 * switches a gate off, one of 0% wants no load at all. */

#include <errno.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef enum UcsLoadMetric {
        UCS_LOAD_AUTO,        /* "auto": pressure if readable, else utilization */
        UCS_LOAD_PRESSURE,    /* "pressure": PSI, share of time in which some task waited for a CPU */
        UCS_LOAD_UTILIZATION, /* "utilization": share of CPU time that was not idle */
        UCS_LOAD_LOADAVG,     /* "loadavg": one-minute load average over the number of online CPUs */
        _UCS_LOAD_METRIC_MAX,
        _UCS_LOAD_METRIC_INVALID = -EINVAL,
} UcsLoadMetric;

const char *ucs_load_metric_to_string(UcsLoadMetric m);
UcsLoadMetric ucs_load_metric_from_string(const char *s);

/* One reading of the counters. A source that could not be read has its `have_` false. */
typedef struct UcsLoadReading {
        uint64_t boottime_usec; /* CLOCK_BOOTTIME of the reading */
        bool have_pressure;
        uint64_t some_usec; /* total= of the "some" line of /proc/pressure/cpu */
        bool have_stat;
        /* the "cpu" line of /proc/stat: idle and iowait are not busy, steal is; guest time is part of busy */
        uint64_t busy_ticks, guest_ticks, total_ticks;
        bool have_loadavg;
        uint32_t loadavg_ppm; /* load1 / online CPUs, in millionths, may exceed 1000000 */
} UcsLoadReading;

/* Parse the files' text; each returns 0 or -EBADMSG with `e`, and touches only its own fields of `r`, on success only. Of
 * /proc/stat the first line is enough; loadavg wants `n_cpus` > 0. */
int ucs_load_parse_pressure(const char *text, UcsLoadReading *r, UcsError *e);
int ucs_load_parse_stat(const char *text, UcsLoadReading *r, UcsError *e);
int ucs_load_parse_loadavg(const char *text, unsigned n_cpus, UcsLoadReading *r, UcsError *e);

/* What lies between two readings. */
typedef struct UcsLoadSample {
        bool valid;
        UcsLoadMetric metric; /* which one spoke, never UCS_LOAD_AUTO */
        uint32_t value_ppm;   /* millionths; not above 1000000 but for loadavg */
        uint32_t guest_ppm;   /* share of all CPU time spent in guests; UINT32_MAX: unknown */
        uint64_t boottime_usec;
} UcsLoadSample;

/* `.valid` is false when the metric asked for is not in both readings, or the counters ran backwards or not at all. */
UcsLoadSample ucs_load_sample(UcsLoadMetric metric, const UcsLoadReading *before, const UcsLoadReading *after);

typedef struct UcsLoadTracker {
        uint64_t quiet_since_boottime_usec; /* 0: not quiet now, or not known */
        UcsLoadSample last;
} UcsLoadTracker;

/* The longest way from one sample to the next, and from the last to now. What lay in a longer hole (a suspend, a stall) is unknown. */
#define UCS_LOAD_HOLE_USEC (10 * UINT64_C(1000000))

/* Feed one sample; an invalid one (or a hole since the last) ends the quiet time: gates fail closed. The time counts from the end of
 * the first quiet sample. */
void ucs_load_tracker_feed(UcsLoadTracker *t, const UcsLoadSample *s, uint32_t threshold_ppm, uint32_t guest_threshold_ppm);

/* False also when the last sample is older than UCS_LOAD_HOLE_USEC: nobody has looked since. */
bool ucs_load_tracker_quiet(const UcsLoadTracker *t, uint64_t now_boottime_usec, uint64_t quiet_usec);

/* How often the counters are read while somebody waits for quiet. */
#define UCS_LOAD_SAMPLE_USEC (2 * UINT64_C(1000000))

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The load: the kernel's text, the share between two readings, and how long it has been quiet. */

#include <stdio.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/load.h"
#include "ucs-test.h"

#define UNKNOWN UINT32_MAX
#define SOME "some avg10=1.50 avg60=0.42 avg300=0.09 total=123456789\n"
#define FULL "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"

ucs_test(load, metric_names) {
        static const char *const names[] = { "auto", "pressure", "utilization", "loadavg" };

        for (int m = 0; m < _UCS_LOAD_METRIC_MAX; m++) {
                cr_expect_str_eq(ucs_load_metric_to_string((UcsLoadMetric) m), names[m]);
                cr_expect_eq(ucs_load_metric_from_string(names[m]), (UcsLoadMetric) m);
        }
        cr_expect_null(ucs_load_metric_to_string(_UCS_LOAD_METRIC_MAX));
        cr_expect_eq(ucs_load_metric_from_string("Auto"), _UCS_LOAD_METRIC_INVALID);
        cr_expect_eq(ucs_load_metric_from_string(NULL), _UCS_LOAD_METRIC_INVALID);
}

ucs_test(load, parse_pressure) {
        static const struct {
                const char *text;
                uint64_t some;    /* when it is right */
                const char *says; /* when it is wrong */
        } table[] = {
                { SOME FULL, 123456789, NULL },
                { SOME, 123456789, NULL },
                { FULL SOME, 123456789, NULL },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=123456789", 123456789, NULL }, /* no newline */
                { "some total=7 avg300=0.09 avg60=0.42 avg10=100.00\n", 7, NULL },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=18446744073709551615\n", UINT64_MAX, NULL },
                { "some avg5=1.00 avg10=1.50 avg60=0.42 avg300=0.09 total=5 new=x\n", 5, NULL }, /* of a newer kernel */
                { "irq avg10=0.00\n" SOME, 123456789, NULL },

                { "", 0, "no 'some' line" },
                { FULL, 0, "no 'some' line" },
                { "something avg10=1.50 avg60=0.42 avg300=0.09 total=1\n", 0, "no 'some' line" },
                { SOME SOME, 0, "two 'some' lines" },
                { SOME FULL FULL, 0, "two 'full' lines" },
                { "some avg60=0.42 avg300=0.09 total=1\n", 0, "the 'some' line of the CPU pressure lacks 'avg10='" },
                { "some avg10=1.50 avg300=0.09 total=1\n", 0, "lacks 'avg60='" },
                { "some avg10=1.50 avg60=0.42 total=1\n", 0, "lacks 'avg300='" },
                { "some avg10=1.50 avg60=0.42 avg300=0.09\n" "total=1\n", 0, "lacks 'total='" },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=1 total=2\n", 0, "has 'total=' twice" },
                { "some avg10=1.50 avg10=1.50 avg60=0.42 avg300=0.09 total=1\n", 0, "has 'avg10=' twice" },
                { "some avg10=1.5 avg60=0.42 avg300=0.09 total=1\n", 0, "has 'avg10=1.5'" },
                { "some avg10=1,50 avg60=0.42 avg300=0.09 total=1\n", 0, "has 'avg10=1,50'" },
                { "some avg10=.50 avg60=0.42 avg300=0.09 total=1\n", 0, "has 'avg10=.50'" },
                { "some avg10=-1.50 avg60=0.42 avg300=0.09 total=1\n", 0, "has 'avg10=-1.50'" },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=\n", 0, "has 'total='" },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=-1\n", 0, "has 'total=-1'" },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=0x1\n", 0, "has 'total=0x1'" },
                { "some avg10=1.50 avg60=0.42 avg300=0.09 total=18446744073709551616\n", 0, "has 'total=18446744073709551616'" },
                { SOME "full avg10=0.00\n", 0, "the 'full' line of the CPU pressure lacks 'avg60='" },
                { "some xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx total=1\n", 0, "overlong word" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsLoadReading r = { .boottime_usec = 1, .busy_ticks = 2, .some_usec = 3 };
                UcsError e = {};
                int k;

                k = ucs_load_parse_pressure(table[i].text, &r, &e);
                if (table[i].says) {
                        cr_expect(k == -EBADMSG && !r.have_pressure && r.some_usec == 3, "'%s' was taken", table[i].text);
                        cr_expect(strstr(e.text, table[i].says), "'%s': %s", table[i].text, e.text);
                } else
                        cr_expect(k == 0 && r.have_pressure && r.some_usec == table[i].some, "'%s': %s", table[i].text, e.text);
                cr_expect(r.boottime_usec == 1 && r.busy_ticks == 2 && !r.have_stat && !r.have_loadavg);
        }
}

ucs_test(load, parse_stat) {
        static const struct {
                const char *text;
                uint64_t busy, guest, total;
                const char *says;
        } table[] = {
                /* user nice system idle iowait irq softirq steal guest guest_nice */
                { "cpu  100 20 30 1000 50 1 2 3 40 5\ncpu0 1 2\n", 156, 45, 1206, NULL },
                { "cpu 100 20 30 1000 50 1 2 3 40 5\n", 156, 45, 1206, NULL },
                { "cpu  100 20 30 1000 50 1 2 3 40 5 99 98\n", 156, 45, 1206, NULL }, /* columns of a newer kernel */
                { "cpu  0 0 0 0 0 0 0 0 0 0\n", 0, 0, 0, NULL },
                { "cpu  9223372036854775807 0 0 9223372036854775807 1 0 0 0 0 0\n", 9223372036854775807U, 0, UINT64_MAX, NULL },

                { "", 0, 0, 0, "does not begin with the 'cpu' line" },
                { "cpu0 1 2 3 4 5 6 7 8 9 10\n", 0, 0, 0, "does not begin with the 'cpu' line" },
                { "intr 1\ncpu  1 2 3 4 5 6 7 8 9 10\n", 0, 0, 0, "does not begin with the 'cpu' line" },
                { "cpu  1 2 3 4 5 6 7 8 9 10", 0, 0, 0, "has no end" }, /* cut off: the last number may be longer */
                { "cpu  1 2 3 4 5 6 7 8 9\n", 0, 0, 0, "column 10 of the 'cpu' line of /proc/stat is no number, expected 10" },
                { "cpu  1 2 3 4\ncpu0 5 6 7 8 9 10\n", 0, 0, 0, "column 5" },
                { "cpu  1 2 3 -4 5 6 7 8 9 10\n", 0, 0, 0, "column 4" },
                { "cpu  1 2 3 4x 5 6 7 8 9 10\n", 0, 0, 0, "column 4" },
                { "cpu  1 2 3 18446744073709551616 5 6 7 8 9 10\n", 0, 0, 0, "column 4" },
                { "cpu  18446744073709551615 1 0 0 0 0 0 0 0 0\n", 0, 0, 0, "more than 2^64 ticks" },
                { "cpu  0 0 0 0 0 0 0 0 18446744073709551615 1\n", 0, 0, 0, "more than 2^64 ticks" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsLoadReading r = { .busy_ticks = 1, .guest_ticks = 2, .total_ticks = 3, .some_usec = 4 };
                UcsError e = {};
                int k;

                k = ucs_load_parse_stat(table[i].text, &r, &e);
                if (table[i].says) {
                        cr_expect(k == -EBADMSG && !r.have_stat && r.busy_ticks == 1 && r.guest_ticks == 2 && r.total_ticks == 3,
                                  "'%s' was taken", table[i].text);
                        cr_expect(strstr(e.text, table[i].says), "'%s': %s", table[i].text, e.text);
                } else
                        cr_expect(k == 0 && r.have_stat && r.busy_ticks == table[i].busy && r.guest_ticks == table[i].guest &&
                                          r.total_ticks == table[i].total,
                                  "'%s': %s %lu %lu %lu", table[i].text, e.text, (unsigned long) r.busy_ticks,
                                  (unsigned long) r.guest_ticks, (unsigned long) r.total_ticks);
                cr_expect(r.some_usec == 4 && !r.have_pressure && !r.have_loadavg);
        }
}

ucs_test(load, parse_loadavg) {
        static const struct {
                const char *text;
                unsigned n_cpus;
                uint32_t ppm;
                const char *says;
        } table[] = {
                { "0.20 0.18 0.12 1/80 11206\n", 1, 200000, NULL },
                { "0.20 0.18 0.12 1/80 11206", 4, 50000, NULL },
                { "7.00 0.18 0.12 1/80 11206\n", 2, 3500000, NULL },
                { "1.00 0.18 0.12 1/80 11206\n", 3, 333333, NULL },
                { "99999999.99 0.18 0.12 1/80 11206\n", 1, UINT32_MAX, NULL },
                { "0.00 0.00 0.00 1/1 1\n", 72, 0, NULL },

                { "0.20 0.18 0.12 1/80 11206\n", 0, 0, "no CPU at all" },
                { "", 1, 0, "word 1 of /proc/loadavg" },
                { "0.2 0.18 0.12 1/80 11206\n", 1, 0, "word 1 of /proc/loadavg is no load" },
                { "-0.20 0.18 0.12 1/80 11206\n", 1, 0, "word 1" },
                { "0.20 x 0.12 1/80 11206\n", 1, 0, "word 2" },
                { "0.20 0.18\n0.12 1/80 11206\n", 1, 0, "word 3" },
                { "0.20 0.18 0.12\n", 1, 0, "word 4" },
                { "0.20 0.18 0.12 180\n", 1, 0, "word 4" },
                { "99999999999999999999.00 0.18 0.12 1/80 1\n", 1, 0, "word 1" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsLoadReading r = { .loadavg_ppm = 1, .some_usec = 4 };
                UcsError e = {};
                int k;

                k = ucs_load_parse_loadavg(table[i].text, table[i].n_cpus, &r, &e);
                if (table[i].says) {
                        cr_expect(k == -EBADMSG && !r.have_loadavg && r.loadavg_ppm == 1, "'%s' was taken", table[i].text);
                        cr_expect(strstr(e.text, table[i].says), "'%s': %s", table[i].text, e.text);
                } else
                        cr_expect(k == 0 && r.have_loadavg && r.loadavg_ppm == table[i].ppm, "'%s': %s %u", table[i].text, e.text,
                                  r.loadavg_ppm);
        }
}

/* Readings: time, some; busy, guest, total; load. A UNKNOWN source was not read. */
#define NO UINT64_MAX

static UcsLoadReading reading(const uint64_t v[static 6]) {
        return (UcsLoadReading){
                .boottime_usec = v[0],
                .have_pressure = v[1] != NO, .some_usec = v[1],
                .have_stat = v[2] != NO, .busy_ticks = v[2], .guest_ticks = v[3], .total_ticks = v[4],
                .have_loadavg = v[5] != NO, .loadavg_ppm = (uint32_t) v[5],
        };
}

ucs_test(load, sample) {
        static const struct {
                const char *name;
                UcsLoadMetric ask;
                uint64_t before[6], after[6];
                bool valid;
                UcsLoadMetric metric;
                uint32_t value, guest;
        } table[] = {
                { "pressure", UCS_LOAD_PRESSURE, { 1000000, 50, 0, 0, 0, 0 }, { 3000000, 200050, 30, 10, 400, 9 }, true, UCS_LOAD_PRESSURE, 100000, 25000 },
                { "utilization", UCS_LOAD_UTILIZATION, { 1000000, 50, 100, 0, 1000, 0 }, { 3000000, 200050, 130, 10, 1400, 9 }, true, UCS_LOAD_UTILIZATION, 75000, 25000 },
                { "loadavg is the later one", UCS_LOAD_LOADAVG, { 1000000, 50, 100, 0, 1000, 7 }, { 3000000, 200050, 130, 10, 1400, 2500000 }, true, UCS_LOAD_LOADAVG, 2500000, 25000 },
                { "auto prefers pressure", UCS_LOAD_AUTO, { 1000000, 50, 100, 0, 1000, 0 }, { 3000000, 200050, 130, 10, 1400, 9 }, true, UCS_LOAD_PRESSURE, 100000, 25000 },
                { "auto without pressure", UCS_LOAD_AUTO, { 1000000, NO, 100, 0, 1000, 0 }, { 3000000, 200050, 130, 10, 1400, 9 }, true, UCS_LOAD_UTILIZATION, 75000, 25000 },
                { "auto never takes loadavg", UCS_LOAD_AUTO, { 1000000, NO, NO, 0, 0, 0 }, { 3000000, NO, NO, 0, 0, 9 }, false, UCS_LOAD_UTILIZATION, 0, UNKNOWN },
                { "no stat: guests are unknown", UCS_LOAD_PRESSURE, { 1000000, 50, NO, 0, 0, 0 }, { 3000000, 50, 130, 10, 1400, 9 }, true, UCS_LOAD_PRESSURE, 0, UNKNOWN },
                { "no pressure", UCS_LOAD_PRESSURE, { 1000000, NO, 0, 0, 0, 0 }, { 3000000, 50, 1, 0, 4, 0 }, false, UCS_LOAD_PRESSURE, 0, UNKNOWN },
                { "no pressure any more", UCS_LOAD_PRESSURE, { 1000000, 50, 0, 0, 0, 0 }, { 3000000, NO, 1, 0, 4, 0 }, false, UCS_LOAD_PRESSURE, 0, UNKNOWN },
                { "no stat", UCS_LOAD_UTILIZATION, { 1000000, 0, 0, 0, 0, 0 }, { 3000000, 50, NO, 0, 0, 0 }, false, UCS_LOAD_UTILIZATION, 0, UNKNOWN },
                { "no loadavg", UCS_LOAD_LOADAVG, { 1000000, 0, 0, 0, 0, NO }, { 3000000, 50, 1, 0, 4, 5 }, false, UCS_LOAD_LOADAVG, 0, UNKNOWN },
                { "pressure backwards", UCS_LOAD_PRESSURE, { 1000000, 51, 0, 0, 0, 0 }, { 3000000, 50, 30, 10, 400, 9 }, false, UCS_LOAD_PRESSURE, 0, 25000 },
                { "busy backwards", UCS_LOAD_UTILIZATION, { 1000000, 50, 100, 0, 1000, 0 }, { 3000000, 50, 99, 10, 1400, 9 }, false, UCS_LOAD_UTILIZATION, 0, 25000 },
                { "total stands still", UCS_LOAD_UTILIZATION, { 1000000, 50, 100, 0, 1000, 0 }, { 3000000, 50, 100, 0, 1000, 9 }, false, UCS_LOAD_UTILIZATION, 0, UNKNOWN },
                { "guests backwards", UCS_LOAD_PRESSURE, { 1000000, 50, 100, 9, 1000, 0 }, { 3000000, 50, 130, 8, 1400, 9 }, true, UCS_LOAD_PRESSURE, 0, UNKNOWN },
                { "no time", UCS_LOAD_PRESSURE, { 3000000, 50, 100, 0, 1000, 0 }, { 3000000, 60, 130, 8, 1400, 9 }, false, UCS_LOAD_PRESSURE, 0, UNKNOWN },
                { "time backwards", UCS_LOAD_LOADAVG, { 3000001, 50, 100, 0, 1000, 0 }, { 3000000, 60, 130, 8, 1400, 9 }, false, UCS_LOAD_LOADAVG, 0, UNKNOWN },
                { "a little more than all", UCS_LOAD_PRESSURE, { 1000000, 0, NO, 0, 0, 0 }, { 3000000, 2000100, NO, 0, 0, 0 }, true, UCS_LOAD_PRESSURE, 1000000, UNKNOWN },
                { "large counters", UCS_LOAD_UTILIZATION, { 1, 0, 0, 0, 0, 0 }, { 2, 0, UINT64_MAX / 2, 0, UINT64_MAX, 0 }, true, UCS_LOAD_UTILIZATION, 499999, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsLoadReading before = reading(table[i].before), after = reading(table[i].after);
                UcsLoadSample s = ucs_load_sample(table[i].ask, &before, &after);

                cr_expect(s.valid == table[i].valid && s.metric == table[i].metric && s.boottime_usec == table[i].after[0] &&
                                  s.value_ppm == table[i].value && s.guest_ppm == table[i].guest,
                          "%s: %d %s %u %u", table[i].name, s.valid, ucs_load_metric_to_string(s.metric), s.value_ppm, s.guest_ppm);
        }
}

/* A story a row: samples two seconds apart unless it says otherwise, threshold 10%, then the question at the time of the last sample
 * plus `later`, with QuietSec=6s. */
#define S (UINT64_C(1000000))

typedef struct Step {
        uint64_t at_sec;
        uint32_t value, guest;
        bool invalid;
} Step;

ucs_test(load, tracker) {
        static const struct {
                const char *name;
                Step steps[8];
                uint32_t guest_threshold;
                uint64_t later_usec, quiet_usec;
                bool quiet;
        } table[] = {
                { "nothing was seen", {}, 1000000, 0, 0, false },
                { "one is a beginning", { { 2, 0, 0 } }, 1000000, 0, 6 * S, false },
                { "one is enough for nothing", { { 2, 0, 0 } }, 1000000, 0, 0, true },
                { "not long enough", { { 2, 0, 0 }, { 4, 0, 0 }, { 6, 0, 0 } }, 1000000, 0, 6 * S, false },
                { "a microsecond short", { { 2, 0, 0 }, { 4, 0, 0 }, { 6, 0, 0 } }, 1000000, 2 * S - 1, 6 * S, false },
                { "long enough", { { 2, 0, 0 }, { 4, 0, 0 }, { 6, 0, 0 } }, 1000000, 2 * S, 6 * S, true },
                { "the threshold itself is quiet", { { 2, 100000, 0 }, { 4, 100000, 0 }, { 8, 100000, 0 } }, 1000000, 0, 6 * S, true },
                { "one above ends it at once", { { 2, 0, 0 }, { 4, 0, 0 }, { 8, 0, 0 }, { 10, 100001, 0 } }, 1000000, 0, 0, false },
                { "and it begins anew", { { 2, 0, 0 }, { 8, 100001, 0 }, { 10, 0, 0 }, { 12, 0, 0 } }, 1000000, 0, 6 * S, false },
                { "anew, long enough", { { 2, 0, 0 }, { 8, 100001, 0 }, { 10, 0, 0 }, { 16, 0, 0 } }, 1000000, 0, 6 * S, true },
                { "invalid ends it", { { 2, 0, 0 }, { 8, 0, 0 }, { 9, 0, 0, true } }, 1000000, 0, 0, false },
                { "after an invalid one", { { 2, 0, 0 }, { 8, 0, 0 }, { 9, 0, 0, true }, { 10, 0, 0 } }, 1000000, 0, 6 * S, false },
                { "ten seconds are no hole", { { 2, 0, 0 }, { 12, 0, 0 } }, 1000000, 0, 6 * S, true },
                { "more are one", { { 2, 0, 0 }, { 13, 0, 0 } }, 1000000, 0, 6 * S, false },
                { "time backwards is one", { { 20, 0, 0 }, { 12, 0, 0 } }, 1000000, 0, 6 * S, false },
                { "an old sample says nothing", { { 2, 0, 0 }, { 12, 0, 0 } }, 1000000, 10 * S + 1, 6 * S, false },
                { "ten seconds are not old", { { 2, 0, 0 }, { 12, 0, 0 } }, 1000000, 10 * S, 6 * S, true },
                { "at the very boot", { { 0, 0, 0 }, { 8, 0, 0 } }, 1000000, 0, 6 * S, true },
                { "guests above", { { 2, 0, 0 }, { 8, 0, 500001 } }, 500000, 0, 0, false },
                { "guests below", { { 2, 0, 500000 }, { 8, 0, 500000 } }, 500000, 0, 6 * S, true },
                { "guests unknown, and it matters", { { 2, 0, UNKNOWN }, { 8, 0, UNKNOWN } }, 999999, 0, 0, false },
                { "guests unknown, any would do", { { 2, 0, UNKNOWN }, { 8, 0, UNKNOWN } }, 1000000, 0, 6 * S, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsLoadTracker t = {};
                uint64_t last = 0;

                for (size_t k = 0; k < ELEMENTSOF(table[i].steps); k++) {
                        const Step *step = &table[i].steps[k];
                        UcsLoadSample s = { .valid = !step->invalid, .metric = UCS_LOAD_PRESSURE, .value_ppm = step->value,
                                            .guest_ppm = step->guest, .boottime_usec = step->at_sec * S };

                        if (k > 0 && step->at_sec == 0)
                                break;
                        if (k == 0 && streq(table[i].name, "nothing was seen"))
                                break;
                        ucs_load_tracker_feed(&t, &s, 100000, table[i].guest_threshold);
                        last = step->at_sec * S;
                }
                cr_expect_eq(ucs_load_tracker_quiet(&t, last + table[i].later_usec, table[i].quiet_usec), table[i].quiet, "%s",
                             table[i].name);
        }
}

/* A clock that stands before the last sample is no clock to trust. */
ucs_test(load, tracker_asked_from_the_past) {
        UcsLoadSample s = { .valid = true, .metric = UCS_LOAD_PRESSURE, .boottime_usec = 100 * S };
        UcsLoadTracker t = {};

        ucs_load_tracker_feed(&t, &s, 100000, 1000000);
        cr_expect(ucs_load_tracker_quiet(&t, 100 * S, 0));
        cr_expect_not(ucs_load_tracker_quiet(&t, 100 * S - 1, 0));
}

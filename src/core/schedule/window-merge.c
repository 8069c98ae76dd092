/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When a list of windows is open. An interval grows from a first window in both directions until no window of the list touches it any
 * more. One step a window would be half a million steps a year for "*:* for 1min", so a window whose times of a day all touch is
 * taken a day at a time, or, where every date matches, from one change of the zone's offset to the next: between two changes
 * wall-clock distances are elapsed time. Across a change it goes step by step, in moments, and so sees the hole that the autumn leaves
 * and the fold of the spring. */

#include <errno.h>

#include "base/timefmt.h"
#include "core/schedule/calendar-spec.h"
#include "core/schedule/window.h"

#define SEC_PER_DAY INT64_C(86400)

/* Steps for one edge. Windows of a few seconds that fill each other's gaps could ask for more. */
#define STEPS_MAX 100000U

/* Days that are walked at once: about the horizon. */
#define DAYS_MAX 7400U

/* Calendars end with 2199: until then a calendar for every day has its starts. 2199-12-30T00:00:00Z, whatever the zone. */
#define CALENDAR_END_SEC (INT64_C(84004) * SEC_PER_DAY)

/* A window with what it is asked for over and over. */
typedef struct Source {
        const UcsCalendar *calendar;
        const UcsZone *zone;
        uint64_t length_usec;
        uint64_t earliest_usec, latest_usec; /* edges beyond are far enough */
        unsigned *steps;
} Source;

static int source_next(const Source *s, uint64_t after_usec, uint64_t *ret) {
        ++*s->steps;
        return ucs_calendar_next(s->calendar, s->zone, after_usec, ret);
}

static uint64_t minus(uint64_t a, uint64_t b) {
        return a > b ? a - b : 0;
}

static uint64_t horizon_after(uint64_t at_usec) {
        uint64_t sum;

        return __builtin_add_overflow(at_usec, UCS_WINDOW_HORIZON_USEC, &sum) ? UINT64_MAX : sum;
}

/* The stretch of wall-clock time in which the starts around `start_sec` touch each other. */
typedef struct Run {
        UcsZoneSpan span;
        int64_t day; /* of the start */
        bool every_day;
        int64_t reach_sec; /* how far apart starts may be and still touch */
        int64_t step_sec;  /* how far apart they are at most, within the run */
} Run;

/* False where there is no such stretch: the times of a day do not touch, or the start is not one of them (in a gap it moved). */
static bool run_begin(const Source *s, int64_t start_sec, Run *ret) {
        const UcsCalendar *c = s->calendar;
        int64_t local, day, turn = c->first_sec + SEC_PER_DAY - c->last_sec;
        Run run = { .reach_sec = (int64_t) (s->length_usec / USEC_PER_SEC) };

        if (c->step_max_sec > run.reach_sec)
                return false;
        ucs_zone_span(s->zone, start_sec, &run.span);
        local = start_sec + run.span.offset_sec;
        run.day = local / SEC_PER_DAY;
        if (local < 0 || !ucs_calendar_day_from(c, run.day, &day) || day != run.day ||
            local < day * SEC_PER_DAY + c->first_sec || local > day * SEC_PER_DAY + c->last_sec)
                return false;
        run.every_day = c->every_day && turn <= run.reach_sec;
        run.step_sec = run.every_day ? MAX(c->step_max_sec, turn) : c->step_max_sec;
        *ret = run;
        return true;
}

/* Whether the last start of one day touches the first one of a later day. */
static bool days_touch(const Source *s, const Run *run, int64_t day, int64_t later) {
        return (later - day) * SEC_PER_DAY + s->calendar->first_sec - s->calendar->last_sec <= run->reach_sec;
}

/* A start at or after `start_usec`, as late as is cheap to find, with touching starts all the way. */
static uint64_t skip_forward(const Source *s, uint64_t start_usec) {
        int64_t start_sec = (int64_t) (start_usec / USEC_PER_SEC), last_sec, next, probe_sec;
        uint64_t found;
        Run run;

        if (!run_begin(s, start_sec, &run))
                return start_usec;

        if (run.every_day)
                last_sec = CALENDAR_END_SEC;
        else {
                for (unsigned n = 0; n < DAYS_MAX && ucs_calendar_day_from(s->calendar, run.day + 1, &next) &&
                     days_touch(s, &run, run.day, next) &&
                     next * SEC_PER_DAY + s->calendar->last_sec - run.span.offset_sec < run.span.until_sec;
                     n++)
                        run.day = next;
                last_sec = run.day * SEC_PER_DAY + s->calendar->last_sec - run.span.offset_sec;
        }

        /* either a start for sure, or the zone changes before it: then one step before the change there is one */
        if (last_sec >= run.span.until_sec || run.every_day)
                probe_sec = MIN(last_sec, run.span.until_sec - 1) - run.step_sec;
        else
                probe_sec = last_sec - 1;
        if (probe_sec <= start_sec || source_next(s, (uint64_t) probe_sec * USEC_PER_SEC, &found) < 0)
                return start_usec;
        return found;
}

/* The same backwards: a start at or before `start_usec`. */
static uint64_t skip_backward(const Source *s, uint64_t start_usec) {
        int64_t start_sec = (int64_t) (start_usec / USEC_PER_SEC), first_sec, previous;
        uint64_t found;
        Run run;

        if (!run_begin(s, start_sec, &run))
                return start_usec;

        first_sec = run.span.from_sec;
        if (!run.every_day) {
                for (unsigned n = 0; n < DAYS_MAX && ucs_calendar_day_until(s->calendar, run.day - 1, &previous) &&
                     days_touch(s, &run, previous, run.day) &&
                     previous * SEC_PER_DAY + s->calendar->first_sec - run.span.offset_sec >= run.span.from_sec;
                     n++)
                        run.day = previous;
                first_sec = MAX(first_sec, run.day * SEC_PER_DAY + s->calendar->first_sec - run.span.offset_sec);
        }

        /* the first start from there on; behind the end of summer time it comes only after the repeated hour */
        if (first_sec >= start_sec ||
            source_next(s, first_sec > 0 ? (uint64_t) first_sec * USEC_PER_SEC - 1 : 0, &found) < 0)
                return start_usec;
        return MIN(found, start_usec);
}

/* Let a window move the end on. False: it cannot. */
static bool grow_end(const Source *s, uint64_t *end_usec) {
        uint64_t start;

        if (source_next(s, minus(*end_usec, s->length_usec), &start) < 0 || start > *end_usec)
                return false;
        do {
                start = skip_forward(s, start);
                *end_usec = MAX(*end_usec, start + s->length_usec);
        } while (*end_usec < s->latest_usec && *s->steps < STEPS_MAX && source_next(s, start, &start) >= 0 &&
                 start <= *end_usec);
        return true;
}

/* Let a window move the start back. False: it cannot. */
static bool grow_start(const Source *s, uint64_t *start_usec) {
        uint64_t start;

        /* the first start whose window reaches ours, be it only to touch it */
        if (source_next(s, minus(*start_usec, s->length_usec + 1), &start) < 0 || start >= *start_usec)
                return false;
        *start_usec = skip_backward(s, start);
        return true;
}

/* Let all windows of a list move one edge, round and round, until none can, or it is as far away as anybody asks. */
static void grow(const UcsWindowList *l, const UcsZone *zone, bool (*move)(const Source *s, uint64_t *edge_usec),
                 uint64_t at_usec, uint64_t *edge_usec) {
        unsigned steps = 0;
        bool moved;

        do {
                moved = false;
                for (size_t i = 0; i < l->n && steps < STEPS_MAX; i++) {
                        const UcsCalendar *calendar = ucs_window_calendar(l->windows[i]);
                        Source s = {
                                .calendar = calendar,
                                .zone = calendar->zone ?: zone,
                                .length_usec = ucs_window_length_usec(l->windows[i]),
                                .earliest_usec = minus(at_usec, UCS_WINDOW_HORIZON_USEC),
                                .latest_usec = horizon_after(at_usec),
                                .steps = &steps,
                        };

                        if (*edge_usec > s.earliest_usec && *edge_usec < s.latest_usec)
                                moved |= move(&s, edge_usec);
                }
        } while (moved);
}

int ucs_window_list_next(const UcsWindowList *l, const UcsZone *zone, uint64_t at_usec, UcsInterval *ret) {
        UcsInterval open = { UINT64_MAX, 0 }, coming = { UINT64_MAX, 0 };

        for (size_t i = 0; i < l->n; i++) {
                uint64_t length = ucs_window_length_usec(l->windows[i]), start;

                if (ucs_calendar_next(ucs_window_calendar(l->windows[i]), zone, minus(at_usec, length), &start) < 0)
                        continue;
                if (start <= at_usec) {
                        open.start_usec = MIN(open.start_usec, start);
                        open.end_usec = MAX(open.end_usec, start + length);
                } else if (start < coming.start_usec)
                        coming = (UcsInterval){ start, start + length };
        }
        if (open.end_usec > 0)
                grow(l, zone, grow_start, at_usec, &open.start_usec);
        else if (coming.end_usec > 0) {
                open = coming; /* no window before it touches it: such a one would hold `at_usec` */
                at_usec = coming.start_usec;
        } else
                return -ENOENT;

        grow(l, zone, grow_end, at_usec, &open.end_usec);
        if (open.end_usec >= horizon_after(at_usec))
                open.end_usec = UINT64_MAX;
        *ret = open;
        return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Maintenance windows: "<calendar expression> for <length>". The length is elapsed time, whatever the clocks do. A window
 * belongs to the day on which it starts; overlapping and touching ones are one window. Blackouts have the same form. */

#include "core/schedule/calendar.h"

typedef struct UcsWindow UcsWindow;

/* Half open: start <= t < end, CLOCK_REALTIME usec. */
typedef struct UcsInterval {
        uint64_t start_usec;
        uint64_t end_usec;
} UcsInterval;

typedef struct UcsWindowList {
        UcsWindow **windows;
        size_t n;
} UcsWindowList;

/* The longest window, a leap year. Longer coverage comes from windows that touch. */
#define UCS_WINDOW_LENGTH_MAX_USEC (UINT64_C(366) * 24 * 3600 * 1000000)

/* -EINVAL with what was expected; a length of 0 or beyond UCS_WINDOW_LENGTH_MAX_USEC is one. -ENOENT: its time zone does not exist;
 * further errors as ucs_calendar_parse(). */
int ucs_window_parse(const char *s, const UcsZoneSource *zones, UcsWindow **ret, UcsError *e);
UcsWindow *ucs_window_free(UcsWindow *w);
DEFINE_CLEANUP(UcsWindow *, ucs_window_free);

/* The text that it was made of, without blanks around it, and its two halves. */
const char *ucs_window_expression(const UcsWindow *w);
const UcsCalendar *ucs_window_calendar(const UcsWindow *w);
uint64_t ucs_window_length_usec(const UcsWindow *w);

/* Takes ownership of `w` on success only. 0 or -ENOMEM. */
int ucs_window_list_add(UcsWindowList *l, UcsWindow *w);
void ucs_window_list_done(UcsWindowList *l);

/* How far an interval is followed, from `at_usec` or from its later start: 20 years. */
#define UCS_WINDOW_HORIZON_USEC (20 * UCS_WINDOW_LENGTH_MAX_USEC)

/* The merged interval that holds `at_usec`, else the first after it; end_usec = UINT64_MAX where the windows of a list leave no gap
 * (within the horizon; an interval that began before it may be given as starting anywhere before it). Windows without a zone of their
 * own are read in `zone`. -ENOENT: none any more (or an empty list). The work is bounded: windows of a few seconds that fill each
 * other's gaps for days on end may be given as a shorter interval around `at_usec`, to be asked again at its end. */
int ucs_window_list_next(const UcsWindowList *l, const UcsZone *zone, uint64_t at_usec, UcsInterval *ret);

static inline bool ucs_interval_contains(const UcsInterval *i, uint64_t t) {
        return t >= i->start_usec && t < i->end_usec;
}

/* The delay of this host into a window of `length_usec`: the same each time for the same `seed` (from the machine id), evenly
 * distributed over the hosts, below `spread_usec` (UINT64_MAX: "auto", half the window) and never above half the window. 0 for a
 * window without end (`length_usec` UINT64_MAX, or anything not below 2^62): it has no start that hosts could share. */
uint64_t ucs_window_spread(uint64_t length_usec, uint64_t spread_usec, uint64_t seed);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calendar expressions: the subset of systemd.time(7) without sub-second parts, e.g. "Mon..Fri *-*-8..14 02:30
 * Europe/Berlin", from 1970 to 2199. The oracle is `systemd-analyze calendar`, with one deliberate difference: a start inside a
 * spring gap is the transition itself, where systemd skips to the next day. docs/windows.md has the dialect, and the rest. */

#include "core/schedule/zone.h"

typedef struct UcsCalendar UcsCalendar;

/* `zones` serves the zone at the end of an expression ("UTC" needs none); NULL: no zone is known.
 * -EINVAL: not such an expression, `e` says what is wrong at which column; -ENOENT: no such zone; -ENOMEM; else what
 * `zones` answered for a zone that is there and cannot be read. */
int ucs_calendar_parse(const char *s, const UcsZoneSource *zones, UcsCalendar **ret, UcsError *e);
UcsCalendar *ucs_calendar_free(UcsCalendar *c);
DEFINE_CLEANUP(UcsCalendar *, ucs_calendar_free);

/* The normalized text, as `systemd-analyze calendar` prints it. 0 or -ENOMEM. */
int ucs_calendar_format(const UcsCalendar *c, char **ret);

/* The first moment strictly after `after_usec` (CLOCK_REALTIME), in the expression's own zone or else in `zone`. Several wall-clock
 * times inside one gap are one moment; of an overlap only the first pass counts, also for an `after_usec` within the
 * second. -ENOENT: never again. */
int ucs_calendar_next(const UcsCalendar *c, const UcsZone *zone, uint64_t after_usec, uint64_t *ret_usec);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The footer of a TZif file: the rule that holds after its last transition, in the form of POSIX's TZ variable with the extensions
 * of RFC 9636 (hours from -167 to 167): "CET-1CEST,M3.5.0,M10.5.0/3". Private to the zone. */

#include "core/schedule/zone.h"

/* Names in the tz database have at most 6 characters. */
#define UCS_ZONE_ABBREVIATION_MAX 16

typedef enum UcsZoneDayForm {
        UCS_ZONE_DAY_MONTH_WEEK, /* Mm.w.d: weekday d (0 = Sunday) of week w (5: the last) of month m */
        UCS_ZONE_DAY_JULIAN,     /* Jn: day n of 1..365, 29 February is never counted */
        UCS_ZONE_DAY_ORDINAL,    /* n: day n of 0..365, 29 February is counted */
} UcsZoneDayForm;

typedef struct UcsZoneRule {
        UcsZoneDayForm form;
        unsigned month, week, day; /* day: the weekday, or the number of the day */
        int32_t time_sec;          /* wall clock before the change, relative to 00:00 of that day */
} UcsZoneRule;

typedef struct UcsZoneTail {
        char standard[UCS_ZONE_ABBREVIATION_MAX];
        int32_t standard_offset_sec;
        bool has_summer;
        char summer[UCS_ZONE_ABBREVIATION_MAX];
        int32_t summer_offset_sec;
        UcsZoneRule to_summer, to_standard;
} UcsZoneTail;

/* -EBADMSG, `e` says what was expected where. */
int ucs_zone_tail_parse(const char *s, UcsZoneTail *ret, UcsError *e);

/* The span around a moment, as if the rule had always held. */
void ucs_zone_tail_span(const UcsZoneTail *t, int64_t utc_sec, UcsZoneSpan *ret);

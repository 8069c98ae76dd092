/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* TZif files. Holds of every zone that is taken: each moment lies in its span, wall clocks come back to the first moment that shows
 * them, what the clock has shown furthest splits wall clocks into been and to come, and calendars run on in it. */

#include "base/timefmt.h"
#include "core/schedule/calendar.h"
#include "fuzz.h"

/* Moments around the changes of real zones, and far away from them. */
static const int64_t moments[] = {
        INT64_MIN, -(INT64_C(1) << 56), -62135596800, -2147483648, -1, 0, 1, 1000000, 1774746000, 1792888200, 2147483647, 2147483648,
        4102444800, 7258118399, INT64_C(1) << 56, INT64_MAX,
};

static void check_moment(const UcsZone *z, int64_t t) {
        int64_t moment, furthest;
        UcsZoneSpan span;
        UcsCivil c;
        int r;

        ucs_zone_span(z, t, &span);
        if (t > -(INT64_C(1) << 55) && t < INT64_C(1) << 55)
                fuzz_check(span.from_sec <= t && t < span.until_sec);
        fuzz_check(span.offset_sec >= -604800 && span.offset_sec <= 604800 && strlen(span.abbreviation) < 65536);
        ucs_zone_to_civil(z, t, &c, NULL, NULL);
        fuzz_check(c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= 31 && c.hour < 24 && c.minute < 60 && c.second < 60 &&
                   c.weekday < 7);
        if (t < -(INT64_C(1) << 50) || t > INT64_C(1) << 50)
                return;

        r = ucs_zone_from_civil(z, &c, &moment);
        fuzz_check(r >= 0 && r <= 2);
        fuzz_check(r == 1 ? moment < t : r == 0 ? moment <= t : moment <= t);

        furthest = ucs_zone_furthest_local(z, t);
        fuzz_check(furthest >= t + span.offset_sec);
        (void) ucs_zone_from_local(z, furthest, &moment);
        fuzz_check(moment <= t);
        (void) ucs_zone_from_local(z, furthest + 1, &moment);
        fuzz_check(moment > t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(ucs_calendar_freep) UcsCalendar *calendar = NULL;
        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
        uint64_t last = 0, t = 0;
        UcsZoneSpan span;
        UcsError e = {};

        if (ucs_zone_new("Fuzz/Zone", data, size, &z, &e) < 0) {
                fuzz_check(e.code < 0 && *e.text);
                return 0;
        }
        for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
                check_moment(z, moments[i]);

        ucs_zone_span(z, -(INT64_C(1) << 50), &span);
        for (unsigned i = 0; i < 64 && span.until_sec < INT64_C(1) << 50; i++) {
                check_moment(z, span.until_sec - 1);
                check_moment(z, span.until_sec);
                check_moment(z, span.until_sec + 1);
                ucs_zone_span(z, span.until_sec, &span);
        }

        fuzz_check(ucs_calendar_parse("*-*-* 0/5:30", NULL, &calendar, NULL) == 0);
        for (unsigned i = 0; i < 32 && ucs_calendar_next(calendar, z, t, &t) >= 0; i++) {
                fuzz_check(t > last && t % USEC_PER_SEC == 0);
                last = t;
                t += i * USEC_PER_DAY * 30;
        }
        return 0;
}

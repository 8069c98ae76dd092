/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wall clocks and moments in real zones, the days that clocks change among them. */

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/zone.h"
#include "ucs-test.h"
#include "zones.h"

static int from_text(const UcsZone *z, const char *s, int64_t *ret) {
        UcsCivil c = {};

        cr_assert(sscanf(s, "%ld-%u-%u %u:%u:%u", &c.year, &c.month, &c.day, &c.hour, &c.minute, &c.second) == 6, "%s", s);
        return ucs_zone_from_civil(z, &c, ret);
}

ucs_test(zone, from_civil) {
        static const struct {
                const char *zone, *wall, *moment;
                int kind; /* 0 once, 1 in a gap, 2 twice */
        } table[] = {
                { "", "1970-01-01 00:00:00", "1970-01-01T00:00:00Z", 0 },
                { "", "2199-12-31 23:59:59", "2199-12-31T23:59:59Z", 0 },

                /* the spring gap begins at its first second and ends before the first that exists */
                { "Europe/Berlin", "2026-03-29 01:59:59", "2026-03-29T00:59:59Z", 0 },
                { "Europe/Berlin", "2026-03-29 02:00:00", "2026-03-29T01:00:00Z", 1 },
                { "Europe/Berlin", "2026-03-29 02:30:00", "2026-03-29T01:00:00Z", 1 }, /* 1774746000 */
                { "Europe/Berlin", "2026-03-29 02:59:59", "2026-03-29T01:00:00Z", 1 },
                { "Europe/Berlin", "2026-03-29 03:00:00", "2026-03-29T01:00:00Z", 0 },

                /* the autumn overlap is its first pass */
                { "Europe/Berlin", "2026-10-25 01:59:59", "2026-10-24T23:59:59Z", 0 },
                { "Europe/Berlin", "2026-10-25 02:00:00", "2026-10-25T00:00:00Z", 2 },
                { "Europe/Berlin", "2026-10-25 02:30:00", "2026-10-25T00:30:00Z", 2 }, /* 1792888200 */
                { "Europe/Berlin", "2026-10-25 02:59:59", "2026-10-25T00:59:59Z", 2 },
                { "Europe/Berlin", "2026-10-25 03:00:00", "2026-10-25T02:00:00Z", 0 },

                { "America/New_York", "2026-11-01 01:30:00", "2026-11-01T05:30:00Z", 2 }, /* 1793511000 */
                { "Australia/Lord_Howe", "2026-10-04 02:15:00", "2026-10-03T15:30:00Z", 1 },
                { "Australia/Lord_Howe", "2026-10-04 02:30:00", "2026-10-03T15:30:00Z", 0 },
                { "Australia/Lord_Howe", "2026-04-05 01:45:00", "2026-04-04T14:45:00Z", 2 },
                { "Pacific/Apia", "2011-12-29 23:59:59", "2011-12-30T09:59:59Z", 0 },
                { "Pacific/Apia", "2011-12-30 00:00:00", "2011-12-30T10:00:00Z", 1 },
                { "Pacific/Apia", "2011-12-30 23:59:59", "2011-12-30T10:00:00Z", 1 },
                { "Pacific/Apia", "2011-12-31 00:00:00", "2011-12-30T10:00:00Z", 0 },
                { "America/Sao_Paulo", "2018-11-04 00:00:00", "2018-11-04T03:00:00Z", 1 }, /* no midnight that day */
                { "America/Sao_Paulo", "2018-02-17 23:30:00", "2018-02-18T01:30:00Z", 2 },
                { "Europe/Dublin", "2026-10-25 01:30:00", "2026-10-25T00:30:00Z", 2 },
                { "Asia/Kolkata", "2026-07-01 05:30:00", "2026-07-01T00:00:00Z", 0 },

                /* by the footer alone, long after the data end */
                { "Europe/Berlin", "2150-03-29 02:30:00", "2150-03-29T01:00:00Z", 1 },
                { "Europe/Berlin", "2150-10-25 02:30:00", "2150-10-25T00:30:00Z", 2 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip(table[i].zone);
                int64_t moment;
                int r;

                r = from_text(z, table[i].wall, &moment);
                cr_expect(r == table[i].kind && moment == utc(table[i].moment), "%s %s: %d, %s", table[i].zone, table[i].wall, r,
                          iso(moment));
        }
}

ucs_test(zone, to_civil) {
        static const struct {
                const char *zone, *moment, *wall;
                unsigned weekday;
        } table[] = {
                { "", "1970-01-01T00:00:00Z", "1970-01-01 00:00:00 UTC", 3 },
                { "", "2000-02-29T12:00:00Z", "2000-02-29 12:00:00 UTC", 1 },
                { "Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29 01:59:59 CET", 6 },
                { "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29 03:00:00 CEST", 6 },
                { "Europe/Berlin", "2026-10-25T00:59:59Z", "2026-10-25 02:59:59 CEST", 6 },
                { "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25 02:00:00 CET", 6 },
                { "America/New_York", "1970-01-01T00:00:00Z", "1969-12-31 19:00:00 EST", 2 },
                { "Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-01 05:30:00 IST", 3 },
                { "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29 23:59:59 -10", 3 },
                { "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31 00:00:00 +14", 5 },
                { "Europe/Berlin", "2199-07-01T00:00:00Z", "2199-07-01 02:00:00 CEST", 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip(table[i].zone);
                char buf[64];
                UcsCivil c;

                cr_expect_str_eq(wall(z, utc(table[i].moment), buf), table[i].wall);
                ucs_zone_to_civil(z, utc(table[i].moment), &c, NULL, NULL);
                cr_expect(c.weekday == table[i].weekday, "%s: weekday %u", table[i].wall, c.weekday);
        }
}

/* Moments as far as they go: nothing overflows, and what is beyond is as far as it goes. */
ucs_test(zone, extremes) {
        static const int64_t table[] = { INT64_MIN, INT64_MIN + 1, -(INT64_C(1) << 55), 0, INT64_C(1) << 55, INT64_MAX - 1, INT64_MAX };
        _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip("Europe/Berlin");

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsCivil a, b;

                ucs_zone_to_civil(ucs_zone_utc(), table[i], &a, NULL, NULL);
                ucs_zone_to_civil(z, table[i], &b, NULL, NULL);
                cr_expect(a.month >= 1 && a.month <= 12 && a.day >= 1 && a.day <= 31 && a.weekday <= 6);
                cr_expect(a.year <= b.year);
        }
}

/* What zone.h promises, at every change of some zones with odd ones: the moment of a wall clock is the first at which it shows that
 * time or a later one, and the furthest reading splits the wall clocks exactly. */
ucs_test(zone, promises) {
        static const char *const zones[] = {
                "Europe/Berlin",    "America/New_York",  "Australia/Lord_Howe", "Pacific/Apia",        "Africa/Casablanca",
                "America/Sao_Paulo", "Europe/Dublin",    "Antarctica/Troll",    "Pacific/Kwajalein",   "America/St_Johns",
                "Asia/Gaza",        "Africa/Monrovia",   "Asia/Pyongyang",      "America/Caracas",     "Antarctica/Casey",
        };

        for (size_t i = 0; i < ELEMENTSOF(zones); i++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip(zones[i]);
                UcsZoneSpan span;

                ucs_zone_span(z, 0, &span);
                while (span.until_sec < utc("2050-01-01T00:00:00Z")) {
                        int64_t change = span.until_sec, last = INT64_MIN;
                        static const int64_t around[] = { -93600, -7201, -3600, -1800, -1, 0, 1, 1799, 3599, 3600, 3601, 7200, 93600 };

                        for (size_t k = 0; k < ELEMENTSOF(around); k++) {
                                int64_t t = change + around[k], furthest = ucs_zone_furthest_local(z, t), moment;
                                UcsZoneSpan here, before;

                                ucs_zone_span(z, t, &here);
                                cr_expect(furthest >= t + here.offset_sec && furthest >= last);
                                last = furthest;

                                /* the reading that was the furthest has been; the next has not */
                                (void) ucs_zone_from_local(z, furthest, &moment);
                                cr_expect(moment <= t, "%s at %s", zones[i], iso(t));
                                (void) ucs_zone_from_local(z, furthest + 1, &moment);
                                cr_expect(moment > t, "%s at %s", zones[i], iso(t));

                                /* no earlier second shows the reading or a later one */
                                ucs_zone_span(z, moment, &here);
                                ucs_zone_span(z, moment - 1, &before);
                                cr_expect(moment + here.offset_sec >= furthest + 1 &&
                                                  moment - 1 + before.offset_sec < furthest + 1,
                                          "%s at %s", zones[i], iso(t));
                        }
                        ucs_zone_span(z, change, &span);
                        cr_assert(span.from_sec == change);
                }
        }
}

/* The C library reads the same files: every zone that is installed, at every change from 1970 to 2100. */
ucs_test(zone, same_as_libc, .timeout = 120) {
        FILE *f = fopen("/usr/share/zoneinfo/tzdata.zi", "re");
        char line[1024];
        unsigned n_zones = 0, n_changes = 0;

        if (!f)
                cr_skip_test("the list of zones, /usr/share/zoneinfo/tzdata.zi, is not installed");
        while (fgets(line, sizeof(line), f)) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
                char name[128], tz[140];
                UcsZoneSpan span;

                if (sscanf(line, "Z %127s", name) != 1 && sscanf(line, "L %*s %127s", name) != 1)
                        continue;
                if (installed_zones.load(NULL, name, &z, NULL) < 0)
                        continue;
                n_zones++;
                (void) snprintf(tz, sizeof(tz), ":%s", name);
                cr_assert(setenv("TZ", tz, 1) == 0); /* this process is the test's own */
                tzset();

                ucs_zone_span(z, 0, &span);
                while (span.until_sec < utc("2100-01-01T00:00:00Z")) {
                        for (int64_t t = span.until_sec - 1; t <= span.until_sec; t++) {
                                time_t clock = (time_t) t;
                                const char *abbreviation;
                                int32_t offset;
                                struct tm tm;
                                UcsCivil c;

                                cr_assert(localtime_r(&clock, &tm));
                                ucs_zone_to_civil(z, t, &c, &offset, &abbreviation);
                                cr_expect(c.year == tm.tm_year + 1900 && (int) c.month == tm.tm_mon + 1 &&
                                                  (int) c.day == tm.tm_mday && (int) c.hour == tm.tm_hour &&
                                                  (int) c.minute == tm.tm_min && (int) c.second == tm.tm_sec &&
                                                  (int) c.weekday == (tm.tm_wday + 6) % 7 && offset == tm.tm_gmtoff &&
                                                  streq(abbreviation, tm.tm_zone),
                                          "%s at %s: %02u:%02u %s, libc %02d:%02d %s", name, iso(t), c.hour, c.minute,
                                          abbreviation, tm.tm_hour, tm.tm_min, tm.tm_zone);
                        }
                        n_changes++;
                        ucs_zone_span(z, span.until_sec, &span);
                }
        }
        (void) fclose(f);
        cr_log_info("%u zones, %u changes", n_zones, n_changes);
        cr_expect(n_zones > 100 && n_changes > 1000, "%u zones, %u changes", n_zones, n_changes);
}

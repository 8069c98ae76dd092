/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rule behind the last transition, in POSIX's form: what is read, what it means, what is refused. */

#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "core/schedule/zone-tail.h"
#include "ucs-test.h"
#include "zones.h"

/* The changes of a rule in 2026 and 2028 (a leap year), by hand from the calendar. */
ucs_test(tail, changes) {
        static const struct {
                const char *tail, *to_summer, *to_standard;
        } table[] = {
                { "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z" },
                { "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z" },
                { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30:00Z", "2026-04-04T15:00:00Z" },
                { "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25T01:00:00Z", "2026-03-29T01:00:00Z" }, /* winter is the exception */
                { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z" },
                { "EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", "2026-10-23T23:00:00Z" },
                { "IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00Z", "2026-10-24T23:00:00Z" },
                { "AAA0BBB,J60,J300/4", "2026-03-01T02:00:00Z", "2026-10-27T03:00:00Z" },
                { "AAA0BBB,J60,J300/4", "2028-03-01T02:00:00Z", "2028-10-27T03:00:00Z" },
                { "AAA0BBB,59,299/4", "2026-03-01T02:00:00Z", "2026-10-27T03:00:00Z" },
                { "AAA0BBB,59,299/4", "2028-02-29T02:00:00Z", "2028-10-26T03:00:00Z" },
                { "AAA0BBB,J1/-24,J365/24", "2025-12-31T00:00:00Z", "2026-12-31T23:00:00Z" },
                { "AAA3:30BBB2:29:30,M6.1.1/0:0:1,M9.1.6/167:59:59", "2026-06-01T03:30:01Z", "2026-09-12T02:29:29Z" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                int64_t to_summer = utc(table[i].to_summer), to_standard = utc(table[i].to_standard);
                UcsZoneSpan before, after;
                UcsError e = {};
                UcsZoneTail t;

                cr_assert(ucs_zone_tail_parse(table[i].tail, &t, &e) == 0, "%s", e.text);

                ucs_zone_tail_span(&t, to_summer - 1, &before);
                ucs_zone_tail_span(&t, to_summer, &after);
                cr_expect(before.offset_sec == t.standard_offset_sec && before.until_sec == to_summer &&
                                  after.offset_sec == t.summer_offset_sec && after.from_sec == to_summer &&
                                  streq(after.abbreviation, t.summer),
                          "%s: summer time begins at %s or %s", table[i].tail, iso(before.until_sec), iso(after.from_sec));

                ucs_zone_tail_span(&t, to_standard - 1, &before);
                ucs_zone_tail_span(&t, to_standard, &after);
                cr_expect(before.offset_sec == t.summer_offset_sec && before.until_sec == to_standard &&
                                  after.offset_sec == t.standard_offset_sec && after.from_sec == to_standard &&
                                  streq(after.abbreviation, t.standard),
                          "%s: standard time begins at %s or %s", table[i].tail, iso(before.until_sec), iso(after.from_sec));
        }
}

ucs_test(tail, permanent) {
        static const struct {
                const char *tail;
                int32_t offset;
        } table[] = {
                { "UTC0", 0 },
                { "IST-5:30", 19800 },
                { "<+1245>-12:45:30", 45930 },
                { "EST5EDT,0/0,J365/25", -14400 },     /* summer time all year, as zic writes it */
                { "XXX3EDT4,0/0,J365/23", -14400 },    /* the same for readers of version 2 */
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsZoneTail t;

                cr_assert(ucs_zone_tail_parse(table[i].tail, &t, NULL) == 0);
                for (int64_t sec = utc("2023-01-01T00:00:00Z"); sec < utc("2029-01-01T00:00:00Z"); sec += 3600) {
                        UcsZoneSpan span;

                        ucs_zone_tail_span(&t, sec, &span);
                        cr_assert(span.offset_sec == table[i].offset && span.from_sec <= sec && span.until_sec > sec,
                                  "%s at %s: %d", table[i].tail, iso(sec), span.offset_sec);
                }
        }
}

/* Spans of one rule follow each other without a hole, for all years that anybody asks for and some more. */
ucs_test(tail, spans_are_seamless) {
        static const char *const tails[] = {
                "CET-1CEST,M3.5.0,M10.5.0/3", "EET-2EEST,M3.4.4/50,M10.4.4/50", "AAA0BBB,J1/-167,J365/167",
                "AAA0BBB,0/-167,365/167",     "AAA12BBB-12,M1.1.0/-167,M1.1.0/167",
        };

        for (size_t i = 0; i < ELEMENTSOF(tails); i++) {
                int64_t sec = utc("1890-01-01T00:00:00Z");
                UcsZoneSpan span, next;
                UcsZoneTail t;

                cr_assert(ucs_zone_tail_parse(tails[i], &t, NULL) == 0);
                ucs_zone_tail_span(&t, sec, &span);
                while (sec < utc("2300-01-01T00:00:00Z")) {
                        cr_assert(span.from_sec <= sec && span.until_sec > sec, "%s at %s", tails[i], iso(sec));
                        sec = span.until_sec;
                        ucs_zone_tail_span(&t, sec, &next);
                        cr_assert(next.from_sec == sec, "%s: a hole at %s", tails[i], iso(sec));
                        span = next;
                }
        }
}

ucs_test(tail, refused) {
        static const struct {
                const char *tail;
                unsigned column;
        } table[] = {
                { "", 1 },
                { "CE-1", 3 },
                { "<+1", 1 },
                { "<+1>-1", 5 },
                { "<+0530-5:30", 1 },
                { "ABCDEFGHIJKLMNOP0", 17 },
                { "CET", 4 },
                { "CET-", 5 },
                { "CET-25", 5 },
                { "CET-1:60", 7 },
                { "CET-1:0:60", 9 },
                { "CET-1CE", 8 },
                { "CET-1CEST", 10 },
                { "CET-1CEST-", 11 },
                { "CET-1CEST,", 11 },
                { "CET-1CEST,M3.5.0", 17 },
                { "CET-1CEST,M0.5.0,M10.5.0", 13 },
                { "CET-1CEST,M13.5.0,M10.5.0", 12 },
                { "CET-1CEST,M3.0.0,M10.5.0", 15 },
                { "CET-1CEST,M3.6.0,M10.5.0", 14 },
                { "CET-1CEST,M3.5.7,M10.5.0", 16 },
                { "CET-1CEST,M3-5-0,M10.5.0", 13 },
                { "CET-1CEST,J0,J300", 13 },
                { "CET-1CEST,J366,J300", 12 },
                { "CET-1CEST,366,300", 11 },
                { "CET-1CEST,M3.5.0/168,M10.5.0", 18 },
                { "CET-1CEST,M3.5.0/,M10.5.0", 18 },
                { "CET-1CEST,M3.5.0,M10.5.0 ", 25 },
                { "CET-1CEST,M3.5.0,M10.5.0,", 25 },
                { ":Europe/Berlin", 1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char says[32];
                UcsZoneTail t;
                UcsError e = {};

                (void) snprintf(says, sizeof(says), "column %u:", table[i].column);
                cr_expect(ucs_zone_tail_parse(table[i].tail, &t, &e) == -EBADMSG, "'%s' was taken", table[i].tail);
                cr_expect(strstr(e.text, says), "'%s': %s", says, e.text);
        }
}

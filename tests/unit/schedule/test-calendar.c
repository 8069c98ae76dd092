/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calendar expressions: what is read and how it is spelled, what is refused and where, and the next times. The differential test
 * (tests/calendar) asks systemd the same; here stands what must hold without it. */

#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/calendar.h"
#include "ucs-test.h"
#include "zones.h"

ucs_test(calendar, normal_form) {
        static const struct {
                const char *expression, *normal;
        } table[] = {
                /* the examples of systemd.time(7), those without fractions */
                { "Sat,Thu,Mon..Wed,Sat..Sun", "Mon..Thu,Sat,Sun *-*-* 00:00:00" },
                { "Mon,Sun 12-*-* 2,1:23", "Mon,Sun 2012-*-* 01,02:23:00" },
                { "Wed *-1", "Wed *-*-01 00:00:00" },
                { "Wed..Wed,Wed *-1", "Wed *-*-01 00:00:00" },
                { "Wed, 17:48", "Wed *-*-* 17:48:00" },
                { "Wed..Sat,Tue 12-10-15 1:2:3", "Tue..Sat 2012-10-15 01:02:03" },
                { "*-*-7 0:0:0", "*-*-07 00:00:00" },
                { "10-15", "*-10-15 00:00:00" },
                { "monday *-12-* 17:00", "Mon *-12-* 17:00:00" },
                { "Mon,Fri *-*-3,1,2 *:30:45", "Mon,Fri *-*-01,02,03 *:30:45" },
                { "12,14,13,12:20,10,30", "*-*-* 12,13,14:10,20,30:00" },
                { "12..14:10,20,30", "*-*-* 12..14:10,20,30:00" },
                { "mon,fri *-1/2-1,3 *:30:45", "Mon,Fri *-01/2-01,03 *:30:45" },
                { "03-05 08:05:40", "*-03-05 08:05:40" },
                { "08:05:40", "*-*-* 08:05:40" },
                { "05:40", "*-*-* 05:40:00" },
                { "Sat,Sun 12-05 08:05:40", "Sat,Sun *-12-05 08:05:40" },
                { "Sat,Sun 08:05:40", "Sat,Sun *-*-* 08:05:40" },
                { "2003-03-05 05:40", "2003-03-05 05:40:00" },
                { "2003-02..04-05", "2003-02..04-05 00:00:00" },
                { "2003-03-05 05:40 UTC", "2003-03-05 05:40:00 UTC" },
                { "2003-03-05", "2003-03-05 00:00:00" },
                { "03-05", "*-03-05 00:00:00" },
                { "*:2/3", "*-*-* *:02/3:00" },

                { "minutely", "*-*-* *:*:00" },
                { "hourly", "*-*-* *:00:00" },
                { "daily", "*-*-* 00:00:00" },
                { "daily UTC", "*-*-* 00:00:00 UTC" },
                { "DAILY utc", "*-*-* 00:00:00 UTC" },
                { "weekly", "Mon *-*-* 00:00:00" },
                { "monthly", "*-*-01 00:00:00" },
                { "quarterly", "*-01,04,07,10-01 00:00:00" },
                { "semiannually", "*-01,07-01 00:00:00" },
                { "semi-annually", "*-01,07-01 00:00:00" },
                { "biannually", "*-01,07-01 00:00:00" },
                { "bi-annually", "*-01,07-01 00:00:00" },
                { "yearly", "*-01-01 00:00:00" },
                { "annually", "*-01-01 00:00:00" },
                { "anually", "*-01-01 00:00:00" },

                { "Mon", "Mon *-*-* 00:00:00" },
                { "Mon,", "Mon *-*-* 00:00:00" },
                { "Mon-Wed 1:00", "Mon..Wed *-*-* 01:00:00" },
                { "mon..SUNDAY", "*-*-* 00:00:00" },
                { "Thu,Sun", "Thu,Sun *-*-* 00:00:00" },
                { "Sat,Sun", "Sat,Sun *-*-* 00:00:00" },
                { "Fri..Sun,Mon", "Mon,Fri..Sun *-*-* 00:00:00" },
                { "Mon  *-*-*   2:30", "Mon *-*-* 02:30:00" },
                { "2024-01-01 ", "2024-01-01 00:00:00" },
                { "70-1-1", "1970-01-01 00:00:00" },
                { "69-1-1", "2069-01-01 00:00:00" },
                { "99..5-1-1", "1999..2005-01-01 00:00:00" },
                { "2030..2034/2-1-1", "2030..2034/2-01-01 00:00:00" },
                { "*~*", "*-*-* 00:00:00" },
                { "*-*~1", "*-*~01 00:00:00" },
                { "*-02~03", "*-02~03 00:00:00" },
                { "02~03", "*-02~03 00:00:00" },
                { "Mon *-05~07/1", "Mon *-05~07/1 00:00:00" },
                { "*-*~3..7", "*-*~03..07 00:00:00" },
                { "*-*~28", "*-*~28 00:00:00" },
                { "*-*~28,1", "*-*~01,28 00:00:00" },
                { "1..2/5:0", "*-*-* 01:00:00" },
                { "0..0:00", "*-*-* 00:00:00" },
                { "1..9/3:0", "*-*-* 01..07/3:00:00" },
                { "1/22:0", "*-*-* 01/22:00:00" },
                { "5/2,5/2,1..9/3:1", "*-*-* 01..07/3,05/2:01:00" },
                { "*:*:*", "*-*-* *:*:*" },
                { "*:*:0/1", "*-*-* *:*:*" },
                { "*:0/1", "*-*-* *:00/1:00" },
                { "*:*:0..59", "*-*-* *:*:00..59" },
                { "*:*:5,0/1,0..59", "*-*-* *:*:*" },
                { "*:0/1,5", "*-*-* *:00/1,05:00" },
                { "*:*:44..55/13", "*-*-* *:*:44" },
                { "@0", "1970-01-01 00:00:00 UTC" },
                { "@1700000500", "2023-11-14 22:21:40 UTC" },
                { "Mon @1700000500", "Mon 2023-11-14 22:21:40 UTC" },
                { "@7258118399", "2199-12-31 23:59:59 UTC" },
                { "2199-12-31 23:59:59", "2199-12-31 23:59:59" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL, *again = NULL;
                _cleanup_free_ char *s = NULL, *t = NULL;
                UcsError e = {};
                int r;

                r = ucs_calendar_parse(table[i].expression, NULL, &c, &e);
                cr_assert(r == 0, "%s", e.text);
                cr_assert(ucs_calendar_format(c, &s) == 0);
                cr_expect(streq(s, table[i].normal), "'%s' is '%s', expected '%s'", table[i].expression, s, table[i].normal);

                /* the normal form is its own */
                cr_assert(ucs_calendar_parse(s, NULL, &again, &e) == 0, "%s", e.text);
                cr_assert(ucs_calendar_format(again, &t) == 0);
                cr_expect_str_eq(t, s);
        }
}

ucs_test(calendar, refused) {
        static const struct {
                const char *expression;
                unsigned column; /* 0: the message is about no column */
                const char *says;
        } table[] = {
                { "", 1, "expected a weekday, a date, a time or a word such as 'daily'" },
                { " daily", 1, "expected a number or '*'" },
                { "daily ", 1, "expected a number or '*'" },
                { "fortnightly", 1, "expected a number or '*'" },
                { "*", 2, "expected ':' and the minute" },
                { "2", 2, "expected ':' and the minute" },
                { "2:", 3, "expected a number or '*'" },
                { "2:3:", 5, "expected a number or '*'" },
                { "2:3:4:5", 6, "expected the end, or a time zone" },
                { "2:3 4:5", 4, "expected ':', the end, or a time zone" },
                { "02:30:15.5", 9, "expected no fraction: times are whole seconds" },
                { "2.5:00", 2, "expected no fraction" },
                { "24:00", 1, "24 is outside the hours, 0 to 23" },
                { "1:60", 3, "60 is outside the minutes, 0 to 59" },
                { "1:1:60", 5, "60 is outside the seconds, 0 to 59" },
                { "*-0-1", 3, "0 is outside the months, 1 to 12" },
                { "*-13-1", 3, "13 is outside the months, 1 to 12" },
                { "*-*-0", 5, "0 is outside the days, 1 to 31" },
                { "*-*-32", 5, "32 is outside the days, 1 to 31" },
                { "*-*~29", 5, "29 is outside the days, 1 to 28 counted from the end of the month" },
                { "100-1-1", 1, "100 is outside the years, 1970 to 2199" },
                { "1969-1-1", 1, "1969 is outside the years, 1970 to 2199" },
                { "2200-1-1", 1, "2200 is outside the years, 1970 to 2199" },
                { "99999999999-1-1", 1, "expected a smaller number" },
                { "1..40:0", 1, "40 is outside the hours, 0 to 23" },
                { "5..3:0", 1, "the range 5..3 runs backwards" },
                { "1,5..3:0", 3, "the range 5..3 runs backwards" },
                { "1/23:0", 1, "from 1 a step of 23 leads out of the hours, 0 to 23" },
                { "1/0:0", 3, "expected a step of 1 or more" },
                { "1:2:3..59/2148", 11, "expected a smaller number" },
                { "1:2:0/2819", 7, "expected a smaller number" },
                { "1:2:4000", 5, "4000 is outside the seconds, 0 to 59" },
                { "*/2:0", 2, "expected '-', '~' or ':'" },
                { "*-*~15/15", 5, "from 15 a step of 15 leads out of the days, 1 to 28 counted from the end of the month" },
                { "1..:0", 4, "expected the number at which the range ends" },
                { "1/:0", 3, "expected the number of the step" },
                { "1,:0", 3, "expected a number or '*'" },
                { "1,*:0", 3, "expected a number or '*'" },
                { "1:2:0/1,75", 9, "75 is outside the seconds, 0 to 59" },
                { "1:2:5..5", 8, "expected a range of seconds that ends later than it begins" },
                { "1x:0", 2, "expected ',', '..', '/', '-', '~', ':', a blank or the end" },
                { "~03", 1, "expected a number or '*'" },
                { "*~1~1", 4, "expected a blank or the end behind the date" },
                { "*-*-1-1", 6, "expected a blank or the end behind the date" },
                { "*-*:1", 4, "expected '-', '~', a blank or the end" },
                { "* 1:00", 2, "expected '-', '~' or ':'" },
                { "10-12:00", 6, "expected '-', '~', a blank or the end" },
                { "Mon..", 6, "expected a weekday" },
                { "Mon.. 1:00", 6, "expected a weekday" },
                { "Mon.Tue", 4, "expected '..'" },
                { "Mon..Tue..Wed", 9, "expected ',' or a blank behind a range of weekdays" },
                { "Fri..Mon", 9, "expected a range of weekdays that runs from Monday towards Sunday" },
                { "Mon,,Tue", 5, "expected a weekday" },
                { "Mondays", 7, "expected ',', '..' or a blank behind the weekday" },
                { "Mon/2", 4, "expected ',', '..' or a blank behind the weekday" },
                { "Mon Tue", 5, "expected a number or '*'" },
                { "@", 2, "expected the seconds since the epoch" },
                { "@-5", 2, "expected the seconds since the epoch" },
                { "@ 5", 2, "expected the seconds since the epoch" },
                { "@5 1:00", 3, "expected the end, or a time zone" },
                { "@7258118400", 1, "2200 is outside the years, 1970 to 2199" },
                { "@99999999999999999999999", 2, "expected a moment before the year 2200" },
                { "UTC", 1, "expected a number or '*'" },
                { " UTC", 1, "expected a number or '*'" },
                { "Mon daily", 5, "expected a number or '*'" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsCalendar *c = NULL;
                char column[32];
                UcsError e = {};
                int r;

                r = ucs_calendar_parse(table[i].expression, &installed_zones, &c, &e);
                cr_assert(r == -EINVAL && !c, "'%s': %d", table[i].expression, r);
                (void) snprintf(column, sizeof(column), "column %u: ", table[i].column);
                cr_expect(e.code == r && strstr(e.text, column) && strstr(e.text, table[i].says), "'%s' says \"%s\"",
                          table[i].expression, e.text);
                cr_expect(ucs_calendar_parse(table[i].expression, NULL, &c, NULL) == -EINVAL);
        }
}

ucs_test(calendar, long_lists) {
        for (unsigned n = 240; n <= 243; n++) {
                _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL;
                _cleanup_text_ UcsText t = {};
                UcsError e = {};
                int r;

                ucs_text_append(&t, "*:");
                for (unsigned i = 0; i < n; i++)
                        ucs_text_appendf(&t, "%s%u", i > 0 ? "," : "", i % 60);
                r = ucs_calendar_parse(t.data, NULL, &c, &e);
                cr_expect(r == (n > 241 ? -EINVAL : 0), "%u items: %d", n, r);
                cr_expect(r == 0 || strstr(e.text, "expected no more than 241 items in one list"), "%s", e.text);
        }
}

/* A source that knows one zone, cannot read another one, and counts what it is asked for. */
static char asked[64];

static int load_counted(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        (void) snprintf(asked, sizeof(asked), "%s", name);
        if (streq(name, "Some/Zone")) {
                *ret = ucs_zone_utc();
                return 0;
        }
        if (streq(name, "Broken/Zone"))
                return ucs_error_set(e, -EBADMSG, "the file is broken");
        return -ENOENT;
}

ucs_test(calendar, zones) {
        static const UcsZoneSource source = { load_counted, NULL };
        static const struct {
                const char *expression, *asked;
                int r;
                const char *says; /* the normal form, or part of the message */
        } table[] = {
                { "2:30 Some/Zone", "Some/Zone", 0, "*-*-* 02:30:00 Some/Zone" },
                { "daily Some/Zone", "Some/Zone", 0, "*-*-* 00:00:00 Some/Zone" },
                { "Mon Some/Zone", "Some/Zone", 0, "Mon *-*-* 00:00:00 Some/Zone" },
                { "@5 Some/Zone", "Some/Zone", 0, "1970-01-01 00:00:05 UTC" },
                { "2:30 UTC", "", 0, "*-*-* 02:30:00 UTC" },
                { "2:30 Nope/Zone", "Nope/Zone", -ENOENT, "'2:30 Nope/Zone', column 6: there is no time zone 'Nope/Zone'" },
                { "2:30 CEST", "CEST", -ENOENT, "there is no time zone 'CEST'" },
                { "Mon 2:30 some/zone", "some/zone", -ENOENT, "column 10: there is no time zone 'some/zone'" },
                { "2:30 Broken/Zone", "Broken/Zone", -EBADMSG, "'2:30 Broken/Zone', column 6: the file is broken" },
                { "25:00 Some/Zone", "Some/Zone", -EINVAL, "column 1: 25 is outside the hours" },
                { "Mon Tue", "Tue", -EINVAL, "column 5: expected a number" },
                /* names that no source is asked for */
                { "2:30 ../../etc/shadow", "", -EINVAL, "column 5" },
                { "2:30 /etc/localtime", "", -EINVAL, "column 5" },
                { "2:30 Some//Zone", "", -EINVAL, "column 5" },
                { "2:30 Some/", "", -EINVAL, "column 5" },
                { "2:30 Some/Zone ", "", -EINVAL, "column 5" },
                { "2:30 Some.Zone", "", -EINVAL, "column 5" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL;
                _cleanup_free_ char *s = NULL;
                UcsError e = {};
                int r;

                *asked = '\0';
                r = ucs_calendar_parse(table[i].expression, &source, &c, &e);
                cr_assert(r == table[i].r, "'%s': %d %s", table[i].expression, r, e.text);
                cr_expect_str_eq(asked, table[i].asked);
                if (r == 0) {
                        cr_assert(ucs_calendar_format(c, &s) == 0);
                        cr_expect_str_eq(s, table[i].says);
                } else
                        cr_expect(!c && e.code == r && strstr(e.text, table[i].says), "%s", e.text);
        }
}

/* Expressions with what comes after a moment, in a zone. An empty string ends a list; "never" is no further time. */
static const struct {
        const char *zone, *expression, *after;
        const char *times[6];
} next_table[] = {
        { "", "*-*-* 02:00", "2026-01-01T02:00:00Z", { "2026-01-02T02:00:00Z", "2026-01-03T02:00:00Z" } }, /* strictly after */
        { "", "*-*-* 02:00", "2026-01-01T01:59:59Z", { "2026-01-01T02:00:00Z" } },
        { "", "*-*-* *:*:*", "2026-01-01T01:59:59Z", { "2026-01-01T02:00:00Z", "2026-01-01T02:00:01Z" } },
        { "", "*:*:7/13", "2023-11-14T22:59:50Z", { "2023-11-14T22:59:59Z", "2023-11-14T23:00:07Z" } }, /* systemd: 23:00:20 */
        { "", "*-*-12/18", "2023-12-31T13:50:00Z", { "2024-01-12T00:00:00Z", "2024-01-30T00:00:00Z" } }, /* systemd: 30 only */
        { "", "Mon *-*-8..14 03:30", "2026-01-01T00:00:00Z", { "2026-01-12T03:30:00Z", "2026-02-09T03:30:00Z" } },
        { "", "Mon *-05~07/1", "2026-01-01T00:00:00Z", { "2026-05-25T00:00:00Z", "2027-05-31T00:00:00Z" } },
        { "", "*-02~03", "2026-01-01T00:00:00Z", { "2026-02-26T00:00:00Z", "2027-02-26T00:00:00Z", "2028-02-27T00:00:00Z" } },
        { "", "*-*~1", "2026-01-31T00:00:00Z", { "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z" } },
        { "", "*-*~3..7/2", "2026-02-01T00:00:00Z", { "2026-02-22T00:00:00Z", "2026-02-24T00:00:00Z", "2026-02-26T00:00:00Z" } },
        { "", "*-*~7/3", "2026-02-01T00:00:00Z", { "2026-02-22T00:00:00Z", "2026-02-25T00:00:00Z", "2026-02-28T00:00:00Z" } },
        { "", "*-02-29", "2026-01-01T00:00:00Z", { "2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z" } },
        { "", "*-02-29", "2096-03-01T00:00:00Z", { "2104-02-29T00:00:00Z" } }, /* 2100 is no leap year */
        { "", "Mon *-02-29", "2026-01-01T00:00:00Z", { "2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z" } },
        { "", "*-02-30", "2026-01-01T00:00:00Z", { "never" } },
        { "", "*-04-31", "1970-01-01T00:00:00Z", { "never" } },
        { "", "Mon 2026-01-06", "1970-01-01T00:00:00Z", { "never" } }, /* a Tuesday */
        { "", "2025-*-*", "2026-01-01T00:00:00Z", { "never" } },
        { "", "daily", "2199-12-30T00:00:00Z", { "2199-12-31T00:00:00Z", "never" } },
        { "", "daily", "2500-01-01T00:00:00Z", { "never" } },
        { "", "@1700000500", "1970-01-01T00:00:00Z", { "2023-11-14T22:21:40Z", "never" } },
        { "Europe/Berlin", "@1700000500", "1970-01-01T00:00:00Z", { "2023-11-14T22:21:40Z", "never" } },
        { "Europe/Berlin", "@5 America/New_York", "1970-01-01T00:00:00Z", { "1970-01-01T00:00:05Z", "never" } },

        /* an expression's own zone wins */
        { "Europe/Berlin", "12:00 UTC", "2026-07-01T00:00:00Z", { "2026-07-01T12:00:00Z" } },
        { "", "12:00 Europe/Berlin", "2026-07-01T00:00:00Z", { "2026-07-01T10:00:00Z" } },
        { "Asia/Kolkata", "12:00", "2026-07-01T00:00:00Z", { "2026-07-01T06:30:00Z" } },

        /* the spring gap: the transition itself, 1774746000; the next day as ever */
        { "Europe/Berlin", "02:30", "2026-03-28T12:00:00Z", { "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z" } },
        { "Europe/Berlin", "02:30", "2026-03-29T00:59:59Z", { "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z" } },
        { "Europe/Berlin", "02:30", "2026-03-29T01:00:00Z", { "2026-03-30T00:30:00Z" } },
        { "Europe/Berlin", "2..4:30", "2026-03-28T12:00:00Z",
          { "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z", "2026-03-30T00:30:00Z" } },
        /* sixty times inside the gap, and the one right behind it, are one moment */
        { "Europe/Berlin", "*:*", "2026-03-29T00:58:59Z", { "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:01:00Z" } },
        { "Europe/Berlin", "2,3:00", "2026-03-29T00:00:00Z", { "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z" } },

        /* the autumn overlap: its first pass, 1792888200; the second has no start, wherever one asks from */
        { "Europe/Berlin", "02:30", "2026-10-24T12:00:00Z", { "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z" } },
        { "Europe/Berlin", "02:30", "2026-10-25T01:00:00Z", { "2026-10-26T01:30:00Z" } },
        { "Europe/Berlin", "*:0/30", "2026-10-24T23:45:00Z",
          { "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z", "2026-10-25T02:30:00Z" } },
        { "Europe/Berlin", "*:0/30", "2026-10-25T01:15:00Z", { "2026-10-25T02:00:00Z" } },

        { "America/New_York", "01:30", "2026-10-31T12:00:00Z", { "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z" } }, /* 1793511000 */
        { "America/New_York", "hourly", "1970-01-01T00:00:00Z", { "1970-01-01T01:00:00Z" } }, /* it is 1969 there */
        { "America/New_York", "2/4:00", "1970-01-01T00:00:00Z", { "1970-01-01T03:00:00Z" } },
        { "America/New_York", "1970-*-* 22:00", "1970-01-01T00:00:00Z", { "1970-01-02T03:00:00Z" } },

        /* half an hour */
        { "Australia/Lord_Howe", "02:15", "2026-10-03T00:00:00Z", { "2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z" } },
        { "Australia/Lord_Howe", "01:45", "2026-04-04T00:00:00Z", { "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z" } },

        /* a day that does not exist: its start is the end of the day before */
        { "Pacific/Apia", "02:30", "2011-12-29T00:00:00Z",
          { "2011-12-29T12:30:00Z", "2011-12-30T10:00:00Z", "2011-12-30T12:30:00Z", "2011-12-31T12:30:00Z" } },
        { "Pacific/Apia", "2011-12-30", "2011-12-01T00:00:00Z", { "2011-12-30T10:00:00Z", "never" } },
        { "Pacific/Apia", "Fri 2011-12-30", "2011-12-01T00:00:00Z", { "2011-12-30T10:00:00Z", "never" } },

        /* no midnight */
        { "America/Sao_Paulo", "daily", "2018-11-03T12:00:00Z", { "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z" } },
};

ucs_test(calendar, next) {
        for (size_t i = 0; i < ELEMENTSOF(next_table); i++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip(next_table[i].zone);
                _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL;
                uint64_t t = (uint64_t) utc(next_table[i].after) * USEC_PER_SEC;
                UcsError e = {};
                int r;

                cr_assert(ucs_calendar_parse(next_table[i].expression, &installed_zones, &c, &e) == 0, "%s", e.text);
                for (size_t k = 0; k < ELEMENTSOF(next_table[i].times) && next_table[i].times[k]; k++) {
                        const char *expected = next_table[i].times[k];

                        r = ucs_calendar_next(c, z, t, &t);
                        if (streq(expected, "never"))
                                cr_expect(r == -ENOENT, "%s '%s': %s", next_table[i].zone, next_table[i].expression,
                                          iso((int64_t) (t / USEC_PER_SEC)));
                        else
                                cr_expect(r == 0 && t == (uint64_t) utc(expected) * USEC_PER_SEC, "%s '%s': %d %s instead of %s",
                                          next_table[i].zone, next_table[i].expression, r, iso((int64_t) (t / USEC_PER_SEC)),
                                          expected);
                }
        }
}

ucs_test(calendar, parts_of_a_second) {
        static const struct {
                uint64_t after, next;
        } table[] = {
                { 0, 1000000 },           { 1, 1000000 },       { 999999, 1000000 },
                { 1000000, 2000000 },     { 1000001, 2000000 }, { 1999999, 2000000 },
        };
        _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL;
        uint64_t t = 7;

        cr_assert(ucs_calendar_parse("*:*:*", NULL, &c, NULL) == 0);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                cr_assert(ucs_calendar_next(c, ucs_zone_utc(), table[i].after, &t) == 0);
                cr_expect_eq(t, table[i].next);
        }
        t = 7;
        cr_expect(ucs_calendar_next(c, ucs_zone_utc(), UINT64_MAX, &t) == -ENOENT && t == 7);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times into text, and days into dates. */

#include "base/timefmt.h"
#include "ucs-test.h"

ucs_test(timefmt, timespan) {
        static const struct {
                uint64_t usec;
                const char *s;
        } table[] = {
                { 0, "0" },
                { 1, "1us" },
                { 999, "999us" },
                { 1000, "1ms" },
                { 12500, "12ms 500us" },
                { 999999, "999ms 999us" },
                { 1000000, "1s" },
                { 1500000, "1s 500ms" },
                { 59 * USEC_PER_SEC, "59s" },
                { 90 * USEC_PER_SEC, "1min 30s" },
                { 2 * USEC_PER_HOUR + 30 * USEC_PER_MINUTE, "2h 30min" },
                { 2 * USEC_PER_HOUR + 30 * USEC_PER_SEC, "2h" }, /* two units, the second is 0 */
                { 2 * USEC_PER_HOUR + 30 * USEC_PER_MINUTE + 59 * USEC_PER_SEC, "2h 30min" },
                { USEC_PER_DAY, "1d" },
                { 14 * USEC_PER_DAY + 3 * USEC_PER_HOUR, "14d 3h" },
                { UINT64_MAX, "213503982d 8h" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char buf[UCS_TIMESPAN_MAX];

                cr_expect_str_eq(ucs_format_timespan(buf, table[i].usec), table[i].s);
        }
}

ucs_test(timefmt, stall) {
        static const struct {
                uint64_t nsec;
                const char *s;
        } table[] = {
                { 0, "0 us" },
                { 999, "0 us" },
                { 84000, "84 us" },
                { 999999, "999 us" },
                { 1000000, "1.00 ms" },
                { 12454000, "12.45 ms" },
                { 99990000, "99.99 ms" },
                { 99999999, "100.0 ms" }, /* what rounds up to a hundred has the look of one */
                { 100000000, "100.0 ms" },
                { 350100000, "350.1 ms" },
                { 9999900000, "9999.9 ms" },
                { 9999990000, "10.0 s" },
                { UINT64_C(10000000000), "10.0 s" },
                { UINT64_C(61500000000), "61.5 s" },
                { UCS_UNKNOWN, "unknown" },
                { UCS_UNKNOWN - 1, "18446744073.7 s" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char buf[UCS_TIMESPAN_MAX];

                cr_expect_str_eq(ucs_format_stall(buf, table[i].nsec), table[i].s);
        }
}

static const struct {
        int64_t days, year;
        unsigned month, day;
} dates[] = {
        { 0, 1970, 1, 1 },         { -1, 1969, 12, 31 },     { 58, 1970, 2, 28 },      { 59, 1970, 3, 1 },
        { 789, 1972, 2, 29 },      { 790, 1972, 3, 1 },      { 11016, 2000, 2, 29 },   { 11017, 2000, 3, 1 },
        { 20541, 2026, 3, 29 },    { 47540, 2100, 2, 28 },   { 47541, 2100, 3, 1 },    { 84005, 2199, 12, 31 },
        { -719468, 0, 3, 1 },      { -719469, 0, 2, 29 },    { -719528, 0, 1, 1 },     { -719529, -1, 12, 31 },
        { -865565, -400, 3, 1 },   { 2932896, 9999, 12, 31 },
};

ucs_test(timefmt, dates) {
        for (size_t i = 0; i < ELEMENTSOF(dates); i++) {
                unsigned month, day;
                int64_t year;

                cr_expect_eq(ucs_days_from_civil(dates[i].year, dates[i].month, dates[i].day), dates[i].days, "%ld-%u-%u is %ld",
                             (long) dates[i].year, dates[i].month, dates[i].day,
                             (long) ucs_days_from_civil(dates[i].year, dates[i].month, dates[i].day));
                ucs_civil_from_days(dates[i].days, &year, &month, &day);
                cr_expect(year == dates[i].year && month == dates[i].month && day == dates[i].day, "%ld is %ld-%u-%u",
                          (long) dates[i].days, (long) year, month, day);
        }
}

/* Day by day through twelve centuries: each follows the one before as a calendar says. */
ucs_test(timefmt, every_day) {
        static const unsigned lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        int64_t days = ucs_days_from_civil(1400, 1, 1), year = 1400;
        unsigned month = 1, day = 1;

        while (year < 2600) {
                bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                unsigned m, d;
                int64_t y;

                ucs_civil_from_days(days, &y, &m, &d);
                cr_assert(y == year && m == month && d == day, "day %ld is %ld-%u-%u", (long) days, (long) y, m, d);
                cr_assert_eq(ucs_days_from_civil(y, m, d), days);
                days++;
                if (++day > lengths[month - 1] + (month == 2 && leap)) {
                        day = 1;
                        if (++month > 12) {
                                month = 1;
                                year++;
                        }
                }
        }
}

ucs_test(timefmt, utc) {
        static const struct {
                uint64_t usec;
                const char *s;
        } table[] = {
                { 0, "1970-01-01T00:00:00Z" },
                { 999999, "1970-01-01T00:00:00Z" },
                { UINT64_C(1774746000) * USEC_PER_SEC, "2026-03-29T01:00:00Z" },
                { UINT64_C(951827696) * USEC_PER_SEC, "2000-02-29T12:34:56Z" },
                { UINT64_C(7258118399) * USEC_PER_SEC, "2199-12-31T23:59:59Z" },
                { UINT64_MAX, "586524-01-19T08:01:49Z" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char buf[UCS_TIMESTAMP_MAX];

                cr_expect_str_eq(ucs_format_utc(buf, table[i].usec), table[i].s);
        }
}

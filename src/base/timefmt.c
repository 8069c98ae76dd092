/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times into text; see timefmt.h. The calendar arithmetic counts days from 1 March, so that the leap day is the last of
 * its year: a 400-year era has 146097 days. */

#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"

#define DAYS_PER_ERA INT64_C(146097)
#define DAYS_TO_EPOCH INT64_C(719468) /* from 0000-03-01 to 1970-01-01 */

int64_t ucs_days_from_civil(int64_t year, unsigned month, unsigned day) {
        int64_t era, year_of_era, day_of_year;

        if (month <= 2)
                year--;
        era = (year >= 0 ? year : year - 399) / 400;
        year_of_era = year - era * 400;
        day_of_year = (153 * (int64_t) (month > 2 ? month - 3 : month + 9) + 2) / 5 + (int64_t) day - 1;
        return era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
               DAYS_TO_EPOCH;
}

void ucs_civil_from_days(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day) {
        int64_t era, day_of_era, year_of_era, day_of_year, month;

        days += DAYS_TO_EPOCH;
        era = (days >= 0 ? days : days - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
        day_of_era = days - era * DAYS_PER_ERA;
        year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
        day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        month = (5 * day_of_year + 2) / 153;
        *ret_day = (unsigned) (day_of_year - (153 * month + 2) / 5 + 1);
        *ret_month = (unsigned) (month < 10 ? month + 3 : month - 9);
        *ret_year = year_of_era + era * 400 + (*ret_month <= 2);
}

const char *ucs_format_utc(char buf[static UCS_TIMESTAMP_MAX], uint64_t realtime_usec) {
        uint64_t second = realtime_usec / USEC_PER_SEC % 86400;
        unsigned month, day;
        int64_t year;

        ucs_civil_from_days((int64_t) (realtime_usec / USEC_PER_DAY), &year, &month, &day);
        (void) snprintf(buf, UCS_TIMESTAMP_MAX, "%04" PRId64 "-%02u-%02uT%02u:%02u:%02uZ", year, month, day,
                        (unsigned) (second / 3600), (unsigned) (second / 60 % 60), (unsigned) (second % 60));
        return buf;
}

const char *ucs_format_timespan(char buf[static UCS_TIMESPAN_MAX], uint64_t usec) {
        static const struct {
                const char *name;
                uint64_t usec;
        } steps[] = {
                { "d", USEC_PER_DAY }, { "h", USEC_PER_HOUR },  { "min", USEC_PER_MINUTE },
                { "s", USEC_PER_SEC }, { "ms", USEC_PER_MSEC }, { "us", 1 },
        };

        if (usec == 0)
                return snprintf(buf, UCS_TIMESPAN_MAX, "0"), buf;
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                uint64_t rest;

                if (usec < steps[i].usec)
                        continue;
                rest = i + 1 < ELEMENTSOF(steps) ? usec % steps[i].usec / steps[i + 1].usec : 0;
                if (rest > 0)
                        (void) snprintf(buf, UCS_TIMESPAN_MAX, "%" PRIu64 "%s %" PRIu64 "%s",
                                        usec / steps[i].usec, steps[i].name, rest, steps[i + 1].name);
                else
                        (void) snprintf(buf, UCS_TIMESPAN_MAX, "%" PRIu64 "%s", usec / steps[i].usec,
                                        steps[i].name);
                break;
        }
        return buf;
}

const char *ucs_format_stall(char buf[static UCS_TIMESPAN_MAX], uint64_t nsec) {
        if (nsec == UCS_UNKNOWN)
                (void) snprintf(buf, UCS_TIMESPAN_MAX, "unknown");
        else if (nsec < NSEC_PER_MSEC)
                (void) snprintf(buf, UCS_TIMESPAN_MAX, "%" PRIu64 " us", nsec / NSEC_PER_USEC);
        else if (nsec < 100 * NSEC_PER_MSEC - 5 * NSEC_PER_USEC) /* what would be rounded up to 100.00 is not of this kind */
                (void) snprintf(buf, UCS_TIMESPAN_MAX, "%.2f ms", (double) nsec / 1e6);
        else if (nsec < 10 * NSEC_PER_SEC - 50 * NSEC_PER_USEC)
                (void) snprintf(buf, UCS_TIMESPAN_MAX, "%.1f ms", (double) nsec / 1e6);
        else
                (void) snprintf(buf, UCS_TIMESPAN_MAX, "%.1f s", (double) nsec / 1e9);
        return buf;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rule after the last transition of a zone; see zone-tail.h. Summer time without rules ("CET-1CEST") is refused: what it means is
 * up to each implementation, and the tz database never writes it. */

#include <ctype.h>
#include <errno.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/zone-tail.h"

#define SEC_PER_DAY INT64_C(86400)

/* Every failure of this file. Moves nothing: the cursor stands where the text stopped to make sense. */
static int tail_expected(const char *s, const char *p, const char *what, UcsError *e) {
        return ucs_error_set(e, -EBADMSG, "footer '%.64s', column %zu: expected %s", s, (size_t) (p - s) + 1, what);
}

static bool parse_digits(const char **p, unsigned max, unsigned *ret) {
        const char *q = *p;
        unsigned v = 0;

        if (!isdigit((unsigned char) *q))
                return false;
        for (; isdigit((unsigned char) *q); q++) {
                v = v * 10 + (unsigned) (*q - '0');
                if (v > max)
                        return false;
        }
        *p = q;
        *ret = v;
        return true;
}

/* "CET" or "<+0530>" */
static bool parse_abbreviation(const char **p, char ret[static UCS_ZONE_ABBREVIATION_MAX]) {
        const char *start = *p, *q;
        size_t n;

        if (*start == '<') {
                start++;
                for (q = start; isalnum((unsigned char) *q) || *q == '+' || *q == '-'; q++)
                        ;
                if (*q != '>')
                        return false;
                *p = q + 1;
        } else {
                for (q = start; isalpha((unsigned char) *q); q++)
                        ;
                *p = q;
        }
        n = (size_t) (q - start);
        if (n < 3 || n >= UCS_ZONE_ABBREVIATION_MAX)
                return false;
        memcpy(ret, start, n);
        ret[n] = '\0';
        return true;
}

/* [+-]hh[:mm[:ss]] */
static bool parse_clock(const char **p, unsigned max_hours, int32_t *ret_sec) {
        unsigned hours, minutes = 0, seconds = 0;
        bool negative = **p == '-';
        int32_t v;

        if (**p == '-' || **p == '+')
                (*p)++;
        if (!parse_digits(p, max_hours, &hours))
                return false;
        if (**p == ':') {
                (*p)++;
                if (!parse_digits(p, 59, &minutes))
                        return false;
                if (**p == ':') {
                        (*p)++;
                        if (!parse_digits(p, 59, &seconds))
                                return false;
                }
        }
        v = (int32_t) (hours * 3600 + minutes * 60 + seconds);
        *ret_sec = negative ? -v : v;
        return true;
}

/* ",M3.5.0/2" */
static bool parse_rule(const char **p, UcsZoneRule *ret) {
        UcsZoneRule r = { .time_sec = 2 * 3600 };

        if (**p != ',')
                return false;
        (*p)++;
        if (**p == 'M') {
                r.form = UCS_ZONE_DAY_MONTH_WEEK;
                (*p)++;
                if (!parse_digits(p, 12, &r.month) || r.month < 1 || **p != '.')
                        return false;
                (*p)++;
                if (!parse_digits(p, 5, &r.week) || r.week < 1 || **p != '.')
                        return false;
                (*p)++;
                if (!parse_digits(p, 6, &r.day))
                        return false;
        } else if (**p == 'J') {
                r.form = UCS_ZONE_DAY_JULIAN;
                (*p)++;
                if (!parse_digits(p, 365, &r.day) || r.day < 1)
                        return false;
        } else {
                r.form = UCS_ZONE_DAY_ORDINAL;
                if (!parse_digits(p, 365, &r.day))
                        return false;
        }
        if (**p == '/') {
                (*p)++;
                if (!parse_clock(p, 167, &r.time_sec))
                        return false;
        }
        *ret = r;
        return true;
}

int ucs_zone_tail_parse(const char *s, UcsZoneTail *ret, UcsError *e) {
        const char *p = s;
        UcsZoneTail t = {};
        int32_t west;

        if (!parse_abbreviation(&p, t.standard))
                return tail_expected(s, p, "a zone abbreviation of 3 to 15 characters", e);
        if (!parse_clock(&p, 24, &west))
                return tail_expected(s, p, "an offset [+-]hh[:mm[:ss]] of at most 24 hours", e);
        t.standard_offset_sec = -west; /* POSIX counts west of Greenwich */
        if (*p == '\0') {
                *ret = t;
                return 0;
        }

        t.has_summer = true;
        if (!parse_abbreviation(&p, t.summer))
                return tail_expected(s, p, "the abbreviation of summer time", e);
        t.summer_offset_sec = t.standard_offset_sec + 3600;
        if (*p != ',' && *p != '\0') {
                if (!parse_clock(&p, 24, &west))
                        return tail_expected(s, p, "the offset of summer time", e);
                t.summer_offset_sec = -west;
        }
        if (!parse_rule(&p, &t.to_summer))
                return tail_expected(s, p, "',' and the day on which summer time begins", e);
        if (!parse_rule(&p, &t.to_standard))
                return tail_expected(s, p, "',' and the day on which summer time ends", e);
        if (*p)
                return tail_expected(s, p, "the end", e);
        *ret = t;
        return 0;
}

static bool is_leap_year(int64_t year) {
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The day of a rule in a year, in days since 1970-01-01. */
static int64_t rule_day(const UcsZoneRule *r, int64_t year) {
        int64_t first, day, next_month;

        switch (r->form) {
        case UCS_ZONE_DAY_MONTH_WEEK:
                first = ucs_days_from_civil(year, r->month, 1);
                next_month = r->month == 12 ? ucs_days_from_civil(year + 1, 1, 1) :
                                              ucs_days_from_civil(year, r->month + 1, 1);
                /* 1970-01-01 was a Thursday, day 4 of a week that begins with Sunday; the sum stays positive */
                day = first + ((int64_t) r->day + 7 - ((first + 4) % 7 + 7) % 7) % 7 + 7 * (int64_t) (r->week - 1);
                return day < next_month ? day : day - 7;
        case UCS_ZONE_DAY_JULIAN:
                return ucs_days_from_civil(year, 1, 1) + r->day - 1 + (is_leap_year(year) && r->day >= 60);
        case UCS_ZONE_DAY_ORDINAL:
                break;
        }
        return ucs_days_from_civil(year, 1, 1) + r->day;
}

void ucs_zone_tail_span(const UcsZoneTail *t, int64_t utc_sec, UcsZoneSpan *ret) {
        struct {
                int64_t sec;
                bool summer;
        } changes[10];
        size_t n = 0;
        int64_t year, days;
        unsigned month, day;
        bool summer = false;

        *ret = (UcsZoneSpan){ INT64_MIN, INT64_MAX, t->standard_offset_sec, t->standard };
        if (!t->has_summer)
                return;

        /* Hours up to 167 and an offset move a change less than nine days: two years to either side always hold both
         * neighbours. Sorted by time; of two at the same moment the later year's comes last and wins, which makes
         * the spelling of permanent summer time ("EST5EDT,0/0,J365/25") what it means. */
        days = (utc_sec + t->standard_offset_sec) / SEC_PER_DAY;
        ucs_civil_from_days(days, &year, &month, &day);
        for (int64_t y = year - 2; y <= year + 2; y++)
                for (unsigned i = 0; i < 2; i++) {
                        const UcsZoneRule *r = i == 0 ? &t->to_summer : &t->to_standard;
                        int32_t offset = i == 0 ? t->standard_offset_sec : t->summer_offset_sec;
                        int64_t sec = rule_day(r, y) * SEC_PER_DAY + r->time_sec - offset;
                        size_t k = n++;

                        for (; k > 0 && changes[k - 1].sec > sec; k--)
                                changes[k] = changes[k - 1];
                        changes[k].sec = sec;
                        changes[k].summer = i == 0;
                }

        for (size_t i = 0; i < n; i++) {
                if (changes[i].sec > utc_sec) {
                        ret->until_sec = changes[i].sec;
                        break;
                }
                ret->from_sec = changes[i].sec;
                summer = changes[i].summer;
        }
        if (summer) {
                ret->offset_sec = t->summer_offset_sec;
                ret->abbreviation = t->summer;
        }
}

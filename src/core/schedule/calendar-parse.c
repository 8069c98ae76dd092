/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader of calendar expressions. It accepts what `systemd-analyze calendar` accepts, oddities included ("Mon," and "Mon-Wed", a
 * list that repeats itself, blanks behind a date and nowhere else), but for fractions of a second, abbreviations of the
 * machine's own zone ("CEST": what they mean depends on the machine), and signs and blanks behind '@'. */

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/calendar-spec.h"

static const struct {
        const char *name, *expression;
} shorthands[] = {
        { "minutely", "*-*-* *:*:00" },
        { "hourly", "*-*-* *:00:00" },
        { "daily", "*-*-* 00:00:00" },
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
};

/* The longer name first: "Monday" begins with "Mon". */
static const char *const weekday_names[] = {
        "Monday", "Mon",    "Tuesday", "Tue",      "Wednesday", "Wed",    "Thursday",
        "Thu",    "Friday", "Fri",     "Saturday", "Sat",       "Sunday", "Sun",
};

/* The weekday at `*p`, 0 = Monday, or -1; moves behind its name. */
static int parse_weekday(const char **p) {
        for (size_t i = 0; i < ELEMENTSOF(weekday_names); i++) {
                size_t n = strlen(weekday_names[i]);

                if (strncasecmp(*p, weekday_names[i], n) == 0) {
                        *p += n;
                        return (int) i / 2;
                }
        }
        return -1;
}

static void skip_blanks(UcsCalendarCursor *c) {
        c->p += strspn(c->p, " ");
}

/* "Mon,Wed..Fri ", or nothing at all when no name of a weekday stands here. */
static int parse_weekdays(UcsCalendarCursor *c, UcsCalendar *calendar) {
        int from = -1, day;

        day = parse_weekday(&c->p);
        if (day < 0)
                return 0;
        for (;;) {
                if (!ucs_calendar_at(c, "-., "))
                        return ucs_calendar_expected(c, "',', '..' or a blank behind the weekday");
                if (from > day)
                        return ucs_calendar_expected(c, "a range of weekdays that runs from Monday towards Sunday");
                for (int i = from >= 0 ? from : day; i <= day; i++)
                        calendar->weekdays |= 1U << i;

                if (*c->p == '.' || *c->p == '-') {
                        if (from >= 0)
                                return ucs_calendar_expected(c, "',' or a blank behind a range of weekdays");
                        if (*c->p == '.' && c->p[1] != '.')
                                return ucs_calendar_expected(c, "'..'");
                        c->p += *c->p == '.' ? 2 : 1;
                        from = day;
                } else if (*c->p == ',') {
                        c->p++;
                        from = -1;
                        if (ucs_calendar_at(c, " ")) /* "Wed, 17:48" */
                                break;
                } else
                        break;

                day = parse_weekday(&c->p);
                if (day < 0)
                        return ucs_calendar_expected(c, "a weekday");
        }
        skip_blanks(c);
        return 0;
}

static int set_zone(UcsCalendar *calendar, UcsZone *zone, const char *name) {
        ucs_zone_unref(calendar->zone);
        calendar->zone = zone;
        return str_replace(&calendar->zone_name, name);
}

/* "@1700000000": one moment of UTC, spelled out as a date. */
static int parse_epoch(UcsCalendarCursor *c, UcsCalendar *calendar) {
        unsigned column = (unsigned) (c->p - c->whole) + 1, month, day;
        uint64_t sec = 0;
        const char *p;
        int64_t year;

        c->p++;
        if (!isdigit((unsigned char) *c->p))
                return ucs_calendar_expected(c, "the seconds since the epoch");
        for (p = c->p; isdigit((unsigned char) *p); p++) {
                sec = sec * 10 + (uint64_t) (*p - '0');
                if (sec > 4 * (uint64_t) UINT32_MAX) /* the year 2514 */
                        return ucs_calendar_expected(c, "a moment before the year 2200");
        }
        c->p = p;
        ucs_civil_from_days((int64_t) (sec / 86400), &year, &month, &day);

        const int values[_UCS_CALENDAR_FIELD_MAX] = {
                (int) year, (int) month, (int) day, (int) (sec / 3600 % 24), (int) (sec / 60 % 60), (int) (sec % 60),
        };
        for (size_t i = 0; i < _UCS_CALENDAR_FIELD_MAX; i++) {
                UcsCalendarItem item = { values[i], -1, 0, column };

                if (ucs_calendar_list_push(&calendar->lists[i], &item) < 0)
                        return ucs_error_set(c->e, -ENOMEM, "out of memory");
        }
        if (set_zone(calendar, ucs_zone_utc(), "UTC") < 0)
                return ucs_error_set(c->e, -ENOMEM, "out of memory");
        return 0;
}

/* "2026-10-25", "10-25", "*-02~03": two or three lists. Where a time stands instead, nothing, with the cursor where it was. */
static int parse_date(UcsCalendarCursor *c, UcsCalendar *calendar) {
        UcsCalendarList parts[3] = {};
        const char *start = c->p;
        size_t n = 0;
        int r;

        for (;;) {
                r = ucs_calendar_list_parse(c, UCS_CALENDAR_DAY, &parts[n]);
                if (r < 0)
                        goto finish;
                n++;
                if (n == 1 && ucs_calendar_at(c, ":")) {
                        c->p = start;
                        goto finish;
                }
                if (n >= 2 && ucs_calendar_at(c, " "))
                        break;
                if (n == 3 || calendar->from_month_end) {
                        r = ucs_calendar_expected(c, "a blank or the end behind the date");
                        goto finish;
                }
                if (*c->p == '~')
                        calendar->from_month_end = true;
                else if (*c->p != '-') {
                        r = ucs_calendar_expected(c, n == 1 ? "'-', '~' or ':'" : "'-', '~', a blank or the end");
                        goto finish;
                }
                c->p++;
        }

        skip_blanks(c);
        for (size_t i = 0; i < n; i++) {
                calendar->lists[UCS_CALENDAR_DAY + 1 - n + i] = parts[i];
                parts[i] = (UcsCalendarList){};
        }

finish:
        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                ucs_calendar_list_done(&parts[i]);
        return r;
}

/* "02:30", "02:30:15", or nothing, which is 00:00:00. */
static int parse_time(UcsCalendarCursor *c, UcsCalendar *calendar) {
        static const UcsCalendarItem zero = { .stop = -1 };
        UcsCalendarField field = UCS_CALENDAR_HOUR;
        int r;

        if (*c->p)
                for (;;) {
                        r = ucs_calendar_list_parse(c, field, &calendar->lists[field]);
                        if (r < 0)
                                return r;
                        field++;
                        if (*c->p == '\0' && field > UCS_CALENDAR_MINUTE)
                                break;
                        if (field == _UCS_CALENDAR_FIELD_MAX)
                                return ucs_calendar_expected(c, "the end, or a time zone");
                        if (*c->p != ':')
                                return ucs_calendar_expected(c, field == UCS_CALENDAR_MINUTE ? "':' and the minute" :
                                                                                               "':', the end, or a time zone");
                        c->p++;
                }
        for (; field < _UCS_CALENDAR_FIELD_MAX; field++) {
                r = ucs_calendar_list_push(&calendar->lists[field], &zero);
                if (r < 0)
                        return ucs_error_set(c->e, r, "out of memory");
        }
        return 0;
}

static const char *find_shorthand(const char *s) {
        for (size_t i = 0; i < ELEMENTSOF(shorthands); i++)
                if (strcasecmp(s, shorthands[i].name) == 0)
                        return shorthands[i].expression;
        return NULL;
}

static int parse_body(UcsCalendarCursor *c, UcsCalendar *calendar) {
        const char *expression;
        int r;

        if (*c->p == '\0')
                return ucs_calendar_expected(c, "a weekday, a date, a time or a word such as 'daily'");
        expression = find_shorthand(c->p);
        if (expression)
                c->whole = c->p = expression;

        r = parse_weekdays(c, calendar);
        if (r < 0)
                return r;
        if (*c->p == '@') {
                r = parse_epoch(c, calendar);
                if (r < 0)
                        return r;
                if (*c->p)
                        return ucs_calendar_expected(c, "the end, or a time zone");
        } else {
                if (*c->p) {
                        r = parse_date(c, calendar);
                        if (r < 0)
                                return r;
                }
                r = parse_time(c, calendar);
                if (r < 0)
                        return r;
        }

        if (calendar->lists[UCS_CALENDAR_DAY].n == 0)
                calendar->from_month_end = false;
        for (UcsCalendarField f = 0; f < _UCS_CALENDAR_FIELD_MAX; f++) {
                ucs_calendar_list_normalize(&calendar->lists[f], f);
                r = ucs_calendar_list_check(&calendar->lists[f], f, f == UCS_CALENDAR_DAY && calendar->from_month_end, c);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Only these names reach the source of zones: no absolute path, no "..", no empty part. */
static bool zone_name_is_valid(const char *s) {
        if (!isalpha((unsigned char) *s))
                return false;
        for (const char *p = s; *p; p++)
                if (!isalnum((unsigned char) *p) && !strchr("+-_", *p) && (*p != '/' || p[1] == '/' || p[1] == '\0'))
                        return false;
        return true;
}

/* A last word that is a time zone belongs to the expression as a whole. Returns 1 and where the word's blank is, 0 when there is
 * none; with a word that could be a zone but is not, also 0, and `ret_unknown` is that word. */
static int find_zone(const char *s, const UcsZoneSource *zones, UcsCalendar *calendar, const char **ret_blank,
                     const char **ret_unknown, UcsError *e) {
        const char *blank, *word, *p;
        UcsZone *zone;
        int r;

        blank = strrchr(s, ' ');
        if (!blank || blank == s || !zone_name_is_valid(blank + 1))
                return 0;
        word = blank + 1;

        if (strcasecmp(word, "UTC") == 0) {
                zone = ucs_zone_utc();
                word = "UTC";
        } else {
                r = zones ? zones->load(zones->userdata, word, &zone, e) : -ENOENT;
                if (r == -ENOENT) {
                        p = word;
                        if (parse_weekday(&p) < 0 && !find_shorthand(word))
                                *ret_unknown = word;
                        return 0;
                }
                if (r < 0)
                        return ucs_error_prefix(e, r, "'%.128s', column %zu", s, (size_t) (word - s) + 1);
        }
        if (set_zone(calendar, zone, word) < 0)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        *ret_blank = blank;
        return 1;
}

int ucs_calendar_parse(const char *s, const UcsZoneSource *zones, UcsCalendar **ret, UcsError *e) {
        _cleanup_(ucs_calendar_freep) UcsCalendar *calendar = NULL;
        _cleanup_free_ char *body = NULL;
        const char *blank = NULL, *unknown = NULL;
        UcsCalendarCursor c = { .e = e };
        int r;

        calendar = new0(UcsCalendar, 1);
        if (!calendar)
                return ucs_error_set(e, -ENOMEM, "out of memory");

        r = find_zone(s, zones, calendar, &blank, &unknown, e);
        if (r < 0)
                return r;
        body = r > 0 ? strndup(s, (size_t) (blank - s)) : strdup(s);
        if (!body)
                return ucs_error_set(e, -ENOMEM, "out of memory");

        c.whole = c.p = body;
        r = parse_body(&c, calendar);
        if (r == -EINVAL && unknown)
                return ucs_error_set(e, -ENOENT, "'%.128s', column %zu: there is no time zone '%.64s'", s,
                                     (size_t) (unknown - s) + 1, unknown);
        if (r < 0)
                return r;
        ucs_calendar_derive(calendar);
        *ret = TAKE_PTR(calendar);
        return 0;
}

UcsCalendar *ucs_calendar_free(UcsCalendar *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < _UCS_CALENDAR_FIELD_MAX; i++)
                ucs_calendar_list_done(&c->lists[i]);
        ucs_zone_unref(c->zone);
        free(c->zone_name);
        free(c);
        return NULL;
}

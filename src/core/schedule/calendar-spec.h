/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A calendar expression in memory. Private to the schedule: calendar-parse makes it, calendar-format prints its lists,
 * calendar-next and window-merge look at its sets, which are the lists spelled out value by value. */

#include "core/schedule/calendar.h"

/* The same years as systemd's. */
#define UCS_CALENDAR_YEAR_MIN 1970
#define UCS_CALENDAR_YEAR_MAX 2199

typedef enum UcsCalendarField {
        UCS_CALENDAR_YEAR,
        UCS_CALENDAR_MONTH,
        UCS_CALENDAR_DAY,
        UCS_CALENDAR_HOUR,
        UCS_CALENDAR_MINUTE,
        UCS_CALENDAR_SECOND,
        _UCS_CALENDAR_FIELD_MAX,
} UcsCalendarField;

/* "5", "5/2", "5..9", "5..9/2" */
typedef struct UcsCalendarItem {
        int start, stop; /* stop -1: none */
        int step;        /* 0: none */
        unsigned column; /* where it stood, for messages */
} UcsCalendarItem;

/* A list of them; an empty one is "*". */
typedef struct UcsCalendarList {
        UcsCalendarItem *items;
        size_t n, n_allocated;
} UcsCalendarList;

struct UcsCalendar {
        unsigned weekdays; /* bit 0: Monday; 0: any */
        bool from_month_end;
        UcsCalendarList lists[_UCS_CALENDAR_FIELD_MAX];
        UcsZone *zone;   /* NULL: the caller's */
        char *zone_name; /* as it was written */

        /* From here on filled by ucs_calendar_derive(). Bit n is value n; in `years` the one of UCS_CALENDAR_YEAR_MIN - 1 + n:
         * local time can lag behind the epoch, and "*" takes that year too. */
        uint64_t years[4];
        unsigned months;
        uint32_t days; /* `from_month_end`: bit 1 is the last day */
        uint32_t hours;
        uint64_t minutes, seconds;

        bool every_day;              /* there is no date that does not match */
        int64_t first_sec, last_sec; /* the first and the last time of a day, in seconds from 00:00 */
        int64_t step_max_sec;        /* the longest way from one time of a day to the next of the same day */
};

/* Where a parser stands. The column of a message counts bytes of `whole`, from 1. */
typedef struct UcsCalendarCursor {
        const char *whole;
        const char *p;
        UcsError *e;
} UcsCalendarCursor;

/* "'Mon *-13-1', column 7: expected …"; returns -EINVAL. */
int ucs_calendar_expected(const UcsCalendarCursor *c, const char *what);

/* At the end, or at one of the characters of `set`. */
bool ucs_calendar_at(const UcsCalendarCursor *c, const char *set);

/* calendar-list.c: one list. Read it ("*", or items between commas) into an empty `l`, which the caller frees also on failure; bring
 * it into its normal form; check it (-EINVAL); add its values to a set. While it is read, the field may be any but
 * UCS_CALENDAR_SECOND where it is not known yet. */
int ucs_calendar_list_parse(UcsCalendarCursor *c, UcsCalendarField field, UcsCalendarList *l);
int ucs_calendar_list_push(UcsCalendarList *l, const UcsCalendarItem *item);
void ucs_calendar_list_normalize(UcsCalendarList *l, UcsCalendarField field);
int ucs_calendar_list_check(const UcsCalendarList *l, UcsCalendarField field, bool from_month_end, UcsCalendarCursor *c);
void ucs_calendar_list_spell(const UcsCalendarList *l, UcsCalendarField field, bool from_month_end, uint64_t set[static 4]);
void ucs_calendar_list_done(UcsCalendarList *l);

/* Fill the sets from lists that have passed the check. */
void ucs_calendar_derive(UcsCalendar *c);

/* The first matching date at or after (the last at or before) `day`, both counted from 1970-01-01. False: none within the years. */
bool ucs_calendar_day_from(const UcsCalendar *c, int64_t day, int64_t *ret);
bool ucs_calendar_day_until(const UcsCalendar *c, int64_t day, int64_t *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When a calendar expression comes next. All work is on sets of bits, one month at a time, so an impossible date (30 February) ends
 * after the months from 1970 to 2199 and nothing loops for longer.
 *
 * The wall clock's way forward makes the rest simple: the moment of a wall-clock time is the first at which the clock shows it or a
 * later one (zone.h), which never decreases with the time. So the next moment is that of the smallest matching time beyond what the
 * clock has shown until now: no search in the zone, no duplicate in a gap, no second pass in an overlap. */

#include <assert.h>
#include <errno.h>

#include "base/timefmt.h"
#include "core/schedule/calendar-spec.h"

#define SEC_PER_DAY INT64_C(86400)
#define EVERY_WEEKDAY 0x7fU

static int64_t floor_div(int64_t a, int64_t b) {
        return a / b - (a % b < 0);
}

/* The first bit at or above `from`, -1: none. */
static int bit_from(uint64_t set, unsigned from) {
        if (from >= 64 || set >> from == 0)
                return -1;
        return (int) from + __builtin_ctzll(set >> from);
}

static int bit_last(uint64_t set) {
        return 63 - __builtin_clzll(set);
}

/* The longest way from one bit to the next. */
static int64_t bit_step_max(uint64_t set) {
        int step = 0;

        for (int bit = bit_from(set, 0), next; (next = bit_from(set, (unsigned) bit + 1)) >= 0; bit = next)
                step = MAX(step, next - bit);
        return step;
}

void ucs_calendar_derive(UcsCalendar *c) {
        uint64_t sets[_UCS_CALENDAR_FIELD_MAX][4] = {};
        int64_t hour_step, minute_step, minute_turn, hour_turn;

        for (UcsCalendarField f = 0; f < _UCS_CALENDAR_FIELD_MAX; f++)
                ucs_calendar_list_spell(&c->lists[f], f, f == UCS_CALENDAR_DAY && c->from_month_end, sets[f]);
        for (size_t i = 0; i < ELEMENTSOF(c->years); i++)
                c->years[i] = sets[UCS_CALENDAR_YEAR][i];
        c->months = (unsigned) sets[UCS_CALENDAR_MONTH][0];
        c->days = (uint32_t) sets[UCS_CALENDAR_DAY][0];
        c->hours = (uint32_t) sets[UCS_CALENDAR_HOUR][0];
        c->minutes = sets[UCS_CALENDAR_MINUTE][0];
        c->seconds = sets[UCS_CALENDAR_SECOND][0];

        c->every_day = c->lists[UCS_CALENDAR_YEAR].n == 0 && c->months == 0x1ffeU && c->days == 0xfffffffeU &&
                       (c->weekdays == 0 || c->weekdays == EVERY_WEEKDAY);

        c->first_sec = bit_from(c->hours, 0) * 3600 + bit_from(c->minutes, 0) * 60 + bit_from(c->seconds, 0);
        c->last_sec = bit_last(c->hours) * 3600 + bit_last(c->minutes) * 60 + bit_last(c->seconds);

        /* from the last second of a minute to the first of the next one, and the same for hours */
        minute_turn = bit_from(c->seconds, 0) - bit_last(c->seconds);
        hour_turn = (bit_from(c->minutes, 0) - bit_last(c->minutes)) * 60 + minute_turn;
        minute_step = bit_step_max(c->minutes);
        hour_step = bit_step_max(c->hours);
        c->step_max_sec = bit_step_max(c->seconds);
        if (minute_step > 0)
                c->step_max_sec = MAX(c->step_max_sec, minute_step * 60 + minute_turn);
        if (hour_step > 0)
                c->step_max_sec = MAX(c->step_max_sec, hour_step * 3600 + hour_turn);
}

static bool year_matches(const UcsCalendar *c, int64_t year) {
        int64_t bit = year - (UCS_CALENDAR_YEAR_MIN - 1);

        return bit >= 0 && year <= UCS_CALENDAR_YEAR_MAX && (c->years[bit / 64] >> (bit % 64) & 1);
}

/* The matching days of a month, bit 1 the first. `first` is the month's first day. */
static uint32_t month_days(const UcsCalendar *c, int64_t first, unsigned n_days) {
        uint32_t days = 0, all = (uint32_t) ((UINT64_C(2) << n_days) - 2);

        if (!c->from_month_end)
                days = c->days;
        else
                for (unsigned d = 1; d <= n_days; d++)
                        days |= (c->days >> (n_days + 1 - d) & 1) << d;

        if (c->weekdays != 0) {
                /* the week as it stands to the first of the month (1970-01-01 was a Thursday), repeated over the month */
                unsigned shift = (unsigned) (((first + 3) % 7 + 7) % 7);
                uint64_t week = (c->weekdays >> shift | c->weekdays << (7 - shift)) & EVERY_WEEKDAY;

                days &= (uint32_t) ((week | week << 7 | week << 14 | week << 21 | week << 28) << 1);
        }
        return days & all;
}

/* Both searches: month by month from that of `day`, towards `direction`. */
static bool find_day(const UcsCalendar *c, int64_t day, int direction, int64_t *ret) {
        unsigned month, day_of_month;
        uint32_t wanted;
        int64_t year;

        ucs_civil_from_days(day, &year, &month, &day_of_month);
        wanted = direction > 0 ? UINT32_MAX << day_of_month : (uint32_t) ((UINT64_C(2) << day_of_month) - 1);
        if (direction > 0 && year < UCS_CALENDAR_YEAR_MIN - 1) {
                year = UCS_CALENDAR_YEAR_MIN - 1;
                month = 1;
                wanted = UINT32_MAX;
        }
        if (direction < 0 && year > UCS_CALENDAR_YEAR_MAX) {
                year = UCS_CALENDAR_YEAR_MAX;
                month = 12;
                wanted = UINT32_MAX;
        }

        while (year >= UCS_CALENDAR_YEAR_MIN - 1 && year <= UCS_CALENDAR_YEAR_MAX) {
                if (year_matches(c, year) && (c->months >> month & 1)) {
                        int64_t first = ucs_days_from_civil(year, month, 1);
                        int64_t next = month == 12 ? ucs_days_from_civil(year + 1, 1, 1) :
                                                     ucs_days_from_civil(year, month + 1, 1);
                        uint32_t days = month_days(c, first, (unsigned) (next - first)) & wanted;

                        if (days != 0) {
                                *ret = first - 1 + (direction > 0 ? __builtin_ctz(days) : 31 - __builtin_clz(days));
                                return true;
                        }
                }
                wanted = UINT32_MAX;
                if (direction > 0 && ++month > 12) {
                        month = 1;
                        year++;
                }
                if (direction < 0 && --month < 1) {
                        month = 12;
                        year--;
                }
        }
        return false;
}

bool ucs_calendar_day_from(const UcsCalendar *c, int64_t day, int64_t *ret) {
        return find_day(c, day, 1, ret);
}

bool ucs_calendar_day_until(const UcsCalendar *c, int64_t day, int64_t *ret) {
        return find_day(c, day, -1, ret);
}

/* The first time of a day at or after `sec`, -1: none that day. */
static int64_t time_from(const UcsCalendar *c, int64_t sec) {
        unsigned want_hour = (unsigned) (sec / 3600), want_minute = (unsigned) (sec / 60 % 60);
        int hour, minute, second;

        hour = bit_from(c->hours, want_hour);
        if (hour < 0)
                return -1;
        if (hour > (int) want_hour)
                return hour * 3600 + c->first_sec % 3600;

        minute = bit_from(c->minutes, want_minute);
        if (minute == (int) want_minute) {
                second = bit_from(c->seconds, (unsigned) (sec % 60));
                if (second >= 0)
                        return hour * 3600 + minute * 60 + second;
                minute = bit_from(c->minutes, want_minute + 1);
        }
        if (minute >= 0)
                return hour * 3600 + minute * 60 + c->first_sec % 60;

        hour = bit_from(c->hours, want_hour + 1);
        return hour < 0 ? -1 : hour * 3600 + c->first_sec % 3600;
}

int ucs_calendar_next(const UcsCalendar *c, const UcsZone *zone, uint64_t after_usec, uint64_t *ret_usec) {
        int64_t local, day, want_day, time, moment;

        zone = c->zone ?: zone;
        assert(zone);

        /* whole seconds only: those after the microsecond are those after its second */
        local = ucs_zone_furthest_local(zone, (int64_t) (after_usec / USEC_PER_SEC)) + 1;
        want_day = floor_div(local, SEC_PER_DAY);
        if (!ucs_calendar_day_from(c, want_day, &day))
                return -ENOENT;
        time = day > want_day ? c->first_sec : time_from(c, local - want_day * SEC_PER_DAY);
        if (time < 0) {
                if (!ucs_calendar_day_from(c, want_day + 1, &day))
                        return -ENOENT;
                time = c->first_sec;
        }

        (void) ucs_zone_from_local(zone, day * SEC_PER_DAY + time, &moment);
        *ret_usec = (uint64_t) moment * USEC_PER_SEC;
        return 0;
}

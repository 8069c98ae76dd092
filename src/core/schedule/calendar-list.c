/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One list of a calendar expression, "5,7..9,12/3": reading, normal form, limits, and the values that it stands for. The limits are
 * systemd's to the letter, so that both accept the same expressions: a range must run upwards, a step must lead to a second value. */

#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "base/str.h"
#include "core/schedule/calendar-spec.h"

#define ITEMS_MAX 241

/* The 29th to 31st last day do not exist in every month; systemd refuses them, and so do we. */
#define DAYS_FROM_MONTH_END_MAX 28

static const struct {
        const char *plural;
        int min, max;
} fields[_UCS_CALENDAR_FIELD_MAX] = {
        [UCS_CALENDAR_YEAR] = { "years", UCS_CALENDAR_YEAR_MIN, UCS_CALENDAR_YEAR_MAX },
        [UCS_CALENDAR_MONTH] = { "months", 1, 12 },
        [UCS_CALENDAR_DAY] = { "days", 1, 31 },
        [UCS_CALENDAR_HOUR] = { "hours", 0, 23 },
        [UCS_CALENDAR_MINUTE] = { "minutes", 0, 59 },
        [UCS_CALENDAR_SECOND] = { "seconds", 0, 59 },
};

int ucs_calendar_expected(const UcsCalendarCursor *c, const char *what) {
        return ucs_error_set(c->e, -EINVAL, "'%.128s', column %zu: expected %s", c->whole,
                             (size_t) (c->p - c->whole) + 1, what);
}

bool ucs_calendar_at(const UcsCalendarCursor *c, const char *set) {
        return *c->p == '\0' || strchr(set, *c->p);
}

/* systemd keeps all numbers in an int, and those of seconds in microseconds: longer steps of seconds are none. */
#define STEP_SECONDS_MAX 2147

static int parse_number(UcsCalendarCursor *c, const char *what, int most, int *ret) {
        const char *p;
        int v = 0;

        if (!isdigit((unsigned char) *c->p))
                return ucs_calendar_expected(c, what);
        for (p = c->p; isdigit((unsigned char) *p); p++)
                if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v) || v > most)
                        return ucs_calendar_expected(c, "a smaller number");
        c->p = p;
        *ret = v;
        return 0;
}

/* One item, and a look at what follows it. */
static int parse_item(UcsCalendarCursor *c, UcsCalendarField field, UcsCalendarItem *ret) {
        UcsCalendarItem item = { .stop = -1, .column = (unsigned) (c->p - c->whole) + 1 };
        int r;

        r = parse_number(c, "a number or '*'", INT_MAX, &item.start);
        if (r < 0)
                return r;
        if (str_startswith(c->p, "..")) {
                c->p += 2;
                r = parse_number(c, "the number at which the range ends", INT_MAX, &item.stop);
                if (r < 0)
                        return r;
                item.step = 1;
                /* "5..5" is 5 everywhere but here: systemd counts seconds in millionths, and refuses a range below its step */
                if (field == UCS_CALENDAR_SECOND && *c->p != '/' && item.stop <= item.start) {
                        c->p--;
                        return ucs_calendar_expected(c, "a range of seconds that ends later than it begins");
                }
        }
        if (*c->p == '/') {
                c->p++;
                r = parse_number(c, "the number of the step", field == UCS_CALENDAR_SECOND ? STEP_SECONDS_MAX : INT_MAX, &item.step);
                if (r < 0)
                        return r;
                if (item.step == 0) {
                        c->p--;
                        return ucs_calendar_expected(c, "a step of 1 or more");
                }
        }
        if (*c->p == '.' && c->p[1] != '.')
                return ucs_calendar_expected(c, "no fraction: times are whole seconds");
        if (!ucs_calendar_at(c, " ,-~:"))
                return ucs_calendar_expected(c, "',', '..', '/', '-', '~', ':', a blank or the end");
        *ret = item;
        return 0;
}

int ucs_calendar_list_push(UcsCalendarList *l, const UcsCalendarItem *item) {
        if (l->n == l->n_allocated) {
                size_t n = l->n_allocated * 2 + 1;
                UcsCalendarItem *items;

                items = reallocarray(l->items, n, sizeof(*items));
                if (!items)
                        return -ENOMEM;
                l->items = items;
                l->n_allocated = n;
        }
        l->items[l->n++] = *item;
        return 0;
}

void ucs_calendar_list_done(UcsCalendarList *l) {
        free(l->items);
        *l = (UcsCalendarList){};
}

int ucs_calendar_list_parse(UcsCalendarCursor *c, UcsCalendarField field, UcsCalendarList *l) {
        UcsCalendarItem item;
        int r;

        if (*c->p == '*') {
                c->p++;
                return 0;
        }
        for (;;) {
                if (l->n == ITEMS_MAX)
                        return ucs_calendar_expected(c, "no more than 241 items in one list");
                r = parse_item(c, field, &item);
                if (r < 0)
                        return r;
                r = ucs_calendar_list_push(l, &item);
                if (r < 0)
                        return ucs_error_set(c->e, r, "out of memory");
                if (*c->p != ',')
                        return 0;
                c->p++;
        }
}

static int item_compare(const void *a, const void *b) {
        const UcsCalendarItem *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        if (x->stop != y->stop)
                return x->stop < y->stop ? -1 : 1;
        return (x->step > y->step) - (x->step < y->step);
}

/* 26 is 2026, 89 is 1989 */
static int full_year(int year) {
        if (year < 0 || year >= 100)
                return year;
        return year + (year < 70 ? 2000 : 1900);
}

void ucs_calendar_list_normalize(UcsCalendarList *l, UcsCalendarField field) {
        size_t n = 0;

        for (size_t i = 0; i < l->n; i++) {
                UcsCalendarItem *item = &l->items[i];

                if (field == UCS_CALENDAR_YEAR) {
                        item->start = full_year(item->start);
                        item->stop = full_year(item->stop);
                }
                if (item->stop > item->start && item->step > 0)
                        item->stop -= (item->stop - item->start) % item->step;
                if (item->stop == item->start) {
                        item->stop = -1;
                        item->step = 0;
                }
        }

        if (l->n > 1)
                qsort(l->items, l->n, sizeof(*l->items), item_compare);
        for (size_t i = 0; i < l->n; i++)
                if (n == 0 || item_compare(&l->items[n - 1], &l->items[i]) != 0)
                        l->items[n++] = l->items[i];
        l->n = n;
}

int ucs_calendar_list_check(const UcsCalendarList *l, UcsCalendarField field, bool from_month_end, UcsCalendarCursor *c) {
        const char *plural = fields[field].plural, *end = from_month_end ? " counted from the end of the month" : "";
        int min = fields[field].min, max = from_month_end ? DAYS_FROM_MONTH_END_MAX : fields[field].max;

        for (size_t i = 0; i < l->n; i++) {
                const UcsCalendarItem *item = &l->items[i];
                int outside = item->start < min || item->start > max ? item->start : item->stop;

                if (outside >= 0 && (outside < min || outside > max))
                        return ucs_error_set(c->e, -EINVAL, "'%.128s', column %u: %d is outside the %s, %d to %d%s",
                                             c->whole, item->column, outside, plural, min, max, end);
                if (item->stop >= 0 && item->stop < item->start)
                        return ucs_error_set(c->e, -EINVAL, "'%.128s', column %u: the range %d..%d runs backwards",
                                             c->whole, item->column, item->start, item->stop);
                if (item->step == 0 || item->stop >= 0)
                        continue;
                if (item->step > max - min ||
                    (from_month_end ? item->start - item->step < min : item->start + item->step > max))
                        return ucs_error_set(c->e, -EINVAL,
                                             "'%.128s', column %u: from %d a step of %d leads out of the %s, %d to %d%s",
                                             c->whole, item->column, item->start, item->step, plural, min, max, end);
        }
        return 0;
}

void ucs_calendar_list_spell(const UcsCalendarList *l, UcsCalendarField field, bool from_month_end, uint64_t set[static 4]) {
        int base = field == UCS_CALENDAR_YEAR ? UCS_CALENDAR_YEAR_MIN - 1 : 0;
        UcsCalendarItem every = { .start = base > 0 ? base : fields[field].min, .stop = fields[field].max, .step = 1 };

        for (size_t i = 0; i < MAX(l->n, (size_t) 1); i++) {
                const UcsCalendarItem *item = l->n > 0 ? &l->items[i] : &every;
                int from = item->start, to = item->stop >= 0 ? item->stop : item->start;

                /* an open end: a day that counts from the end of the month steps towards that end */
                if (item->stop < 0 && item->step > 0 && from_month_end)
                        from -= (from - fields[field].min) / item->step * item->step;
                else if (item->stop < 0 && item->step > 0)
                        to = fields[field].max;
                for (int v = from; v <= to; v += MAX(item->step, 1))
                        set[(v - base) / 64] |= UINT64_C(1) << ((v - base) % 64);
        }
}

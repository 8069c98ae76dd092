/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The normal form of a calendar expression, in the spelling of `systemd-analyze calendar`. */

#include "base/str.h"
#include "core/schedule/calendar-spec.h"

#define EVERY_WEEKDAY 0x7fU

/* Three days in a row are a range, two are a list. */
static void format_weekdays(UcsText *t, unsigned weekdays) {
        static const char *const names[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
        const char *comma = "";

        for (unsigned first = 0; first < ELEMENTSOF(names); first++) {
                unsigned last = first;

                if (!(weekdays >> first & 1))
                        continue;
                while (weekdays >> (last + 1) & 1)
                        last++;
                ucs_text_appendf(t, "%s%s", comma, names[first]);
                if (last > first)
                        ucs_text_appendf(t, "%s%s", last > first + 1 ? ".." : ",", names[last]);
                comma = ",";
                first = last;
        }
}

/* "0/1" among the seconds is "*", whatever else the list has. In other fields it stays as it is. */
static bool is_every_second(const UcsCalendarList *l) {
        for (size_t i = 0; i < l->n; i++)
                if (l->items[i].start == 0 && l->items[i].stop < 0 && l->items[i].step == 1)
                        return true;
        return l->n == 0;
}

static void format_list(UcsText *t, const UcsCalendarList *l, int width) {
        if (l->n == 0)
                ucs_text_append(t, "*");
        for (size_t i = 0; i < l->n; i++) {
                const UcsCalendarItem *item = &l->items[i];

                ucs_text_appendf(t, "%s%0*d", i > 0 ? "," : "", width, item->start);
                if (item->stop >= 0)
                        ucs_text_appendf(t, "..%0*d", width, item->stop);
                if (item->step > (item->stop >= 0 ? 1 : 0)) /* a range goes by one without saying so */
                        ucs_text_appendf(t, "/%d", item->step);
        }
}

int ucs_calendar_format(const UcsCalendar *c, char **ret) {
        static const char before[_UCS_CALENDAR_FIELD_MAX] = { '\0', '-', '-', ' ', ':', ':' };
        _cleanup_text_ UcsText t = {};

        if (c->weekdays != 0 && c->weekdays != EVERY_WEEKDAY) {
                format_weekdays(&t, c->weekdays);
                ucs_text_append(&t, " ");
        }
        for (UcsCalendarField f = 0; f < _UCS_CALENDAR_FIELD_MAX; f++) {
                char separator = f == UCS_CALENDAR_DAY && c->from_month_end ? '~' : before[f];

                if (separator)
                        ucs_text_append_bytes(&t, &separator, 1);
                if (f == UCS_CALENDAR_SECOND && is_every_second(&c->lists[f]))
                        ucs_text_append(&t, "*");
                else
                        format_list(&t, &c->lists[f], f == UCS_CALENDAR_YEAR ? 4 : 2);
        }
        if (c->zone_name)
                ucs_text_appendf(&t, " %s", c->zone_name);
        return ucs_text_take(&t, ret, NULL);
}

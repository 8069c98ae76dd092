/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One window, the list of them, and the delay of a host into it; see window.h. When windows are open is window-merge's. */

#include <ctype.h>
#include <errno.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/schedule/window.h"

struct UcsWindow {
        char *expression;
        UcsCalendar *calendar;
        uint64_t length_usec;
};

#define FORM "'<calendar expression> for <length>', such as 'Sat 02:00 for 2h'"

/* The last word "for" that stands by itself, or NULL. */
static char *find_for(char *s) {
        char *found = NULL;

        for (char *p = s; (p = strstr(p, "for")); p++)
                if (p > s && isspace((unsigned char) p[-1]) && (p[3] == '\0' || isspace((unsigned char) p[3])))
                        found = p;
        return found;
}

static int parse_length(const char *s, uint64_t *ret, UcsError *e) {
        uint64_t length;
        int r;

        r = ucs_parse_timespan(s, &length);
        if (r == -EINVAL)
                return ucs_error_set(e, -EINVAL, "'%.64s' is not a length, expected one such as '2h' or '1h 30min'", s);
        if (r < 0 || length > UCS_WINDOW_LENGTH_MAX_USEC)
                return ucs_error_set(e, -EINVAL, "a length of '%.64s' is beyond 366 days", s);
        if (length == 0)
                return ucs_error_set(e, -EINVAL, "a length of '%.64s' is no time at all", s);
        *ret = length;
        return 0;
}

int ucs_window_parse(const char *s, const UcsZoneSource *zones, UcsWindow **ret, UcsError *e) {
        _cleanup_(ucs_window_freep) UcsWindow *w = NULL;
        _cleanup_free_ char *copy = NULL;
        char *text, *word, *length;
        int r;

        copy = strdup(s);
        w = new0(UcsWindow, 1);
        if (!copy || !w)
                return ucs_error_set(e, -ENOMEM, "out of memory");

        text = str_strip(copy);
        r = str_replace(&w->expression, text);
        if (r < 0)
                return ucs_error_set(e, r, "out of memory");

        word = find_for(text);
        if (!word)
                return ucs_error_set(e, -EINVAL, "'%.128s' has no length, expected " FORM, text);
        *word = '\0';
        length = str_strip(word + strlen("for"));
        if (*length == '\0')
                return ucs_error_set(e, -EINVAL, "'%.128s' ends before the length, expected " FORM, w->expression);

        r = parse_length(length, &w->length_usec, e);
        if (r < 0)
                return r;
        r = ucs_calendar_parse(str_strip(text), zones, &w->calendar, e);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(w);
        return 0;
}

UcsWindow *ucs_window_free(UcsWindow *w) {
        if (!w)
                return NULL;
        free(w->expression);
        ucs_calendar_free(w->calendar);
        free(w);
        return NULL;
}

const char *ucs_window_expression(const UcsWindow *w) {
        return w->expression;
}

const UcsCalendar *ucs_window_calendar(const UcsWindow *w) {
        return w->calendar;
}

uint64_t ucs_window_length_usec(const UcsWindow *w) {
        return w->length_usec;
}

int ucs_window_list_add(UcsWindowList *l, UcsWindow *w) {
        UcsWindow **windows;

        windows = reallocarray(l->windows, l->n + 1, sizeof(*windows));
        if (!windows)
                return -ENOMEM;
        windows[l->n] = w;
        l->windows = windows;
        l->n++;
        return 0;
}

void ucs_window_list_done(UcsWindowList *l) {
        for (size_t i = 0; i < l->n; i++)
                ucs_window_free(l->windows[i]);
        free(l->windows);
        *l = (UcsWindowList){};
}

/* The finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). Seeds may be small or
 * alike; what comes out is not. Never change it: hosts would move within their windows. */
static uint64_t mix(uint64_t v) {
        v += UINT64_C(0x9e3779b97f4a7c15);
        v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
        return v ^ v >> 31;
}

uint64_t ucs_window_spread(uint64_t length_usec, uint64_t spread_usec, uint64_t seed) {
        if (length_usec >= UINT64_C(1) << 62)
                return 0;
        /* the upper half of the product is evenly below the limit, without the bias of a remainder */
        return (uint64_t) ((unsigned __int128) mix(seed) * MIN(spread_usec, length_usec / 2) >> 64);
}

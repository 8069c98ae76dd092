/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The examples of docs/windows.md. Its code blocks are marked:
 *
 *     windows zone=… after=…     Window= or Blackout= lines (several in a row are one list), below them the intervals that come, in
 *                                order, "START .. END", or the words "always" and "never" for what follows
 *     calendar                   an expression, two blanks or more, its normal form
 *     refused                    a window, two blanks or more, what is said about it
 */

#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/window.h"
#include "ucs-test.h"
#include "zones.h"

#ifndef UCS_SOURCE_DIR
#define UCS_SOURCE_DIR "."
#endif
#define PAGE UCS_SOURCE_DIR "/docs/windows.md"

typedef struct Reader {
        FILE *f;
        char *line;
        size_t size;
        unsigned number;
} Reader;

/* The next line without its newline, false at the end. */
static bool next_line(Reader *r) {
        ssize_t n = getline(&r->line, &r->size, r->f);

        if (n < 0)
                return false;
        r->number++;
        r->line[strcspn(r->line, "\n")] = '\0';
        return true;
}

static bool in_block(Reader *r) {
        return next_line(r) && !streq(r->line, "```");
}

/* The two columns of a line. */
static void split(Reader *r, char **ret_left, char **ret_right) {
        char *gap = strstr(r->line, "  ");

        cr_assert(gap, "line %u has no two columns: %s", r->number, r->line);
        *gap = '\0';
        *ret_left = r->line;
        *ret_right = str_strip(gap + 1);
}

static unsigned check_calendar(Reader *r) {
        unsigned n = 0;

        while (in_block(r)) {
                _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL;
                _cleanup_free_ char *s = NULL;
                char *expression, *normal;
                UcsError e = {};

                split(r, &expression, &normal);
                cr_assert(ucs_calendar_parse(expression, &installed_zones, &c, &e) == 0, "line %u: %s", r->number, e.text);
                cr_assert(ucs_calendar_format(c, &s) == 0);
                cr_expect(streq(s, normal), "line %u: %s", r->number, s);
                n++;
        }
        return n;
}

static unsigned check_refused(Reader *r) {
        unsigned n = 0;

        while (in_block(r)) {
                UcsWindow *w = NULL;
                char *s, *says;
                UcsError e = {};

                split(r, &s, &says);
                cr_expect(ucs_window_parse(s, &installed_zones, &w, &e) < 0, "line %u: '%s' is taken", r->number, s);
                cr_expect(streq(e.text, says), "line %u: %s", r->number, e.text);
                n++;
        }
        return n;
}

static void check_interval(Reader *r, const UcsWindowList *l, const UcsZone *z, uint64_t *at) {
        const char *expected = str_strip(r->line);
        char start[64], end[64], got[160];
        UcsInterval i = {};

        if (ucs_window_list_next(l, z, *at, &i) < 0)
                (void) snprintf(got, sizeof(got), "never");
        else if (i.end_usec == UINT64_MAX)
                (void) snprintf(got, sizeof(got), "always");
        else
                (void) snprintf(got, sizeof(got), "%s .. %s", wall(z, (int64_t) (i.start_usec / USEC_PER_SEC), start),
                                wall(z, (int64_t) (i.end_usec / USEC_PER_SEC), end));
        cr_expect(streq(got, expected), "line %u: %s", r->number, got);
        *at = i.end_usec;
}

static unsigned check_windows(Reader *r) {
        _cleanup_(ucs_window_list_done) UcsWindowList l = {};
        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
        char zone[64], after[64];
        uint64_t at = 0;
        unsigned n = 0;
        bool fresh = true;

        cr_assert(sscanf(r->line, "```windows zone=%63s after=%63s", zone, after) == 2, "line %u: %s", r->number, r->line);
        z = zone_or_skip(zone);
        while (in_block(r)) {
                const char *value = str_startswith(r->line, "Window=") ?: str_startswith(r->line, "Blackout=");
                UcsWindow *w;
                UcsError e = {};

                if (!value) {
                        cr_assert(str_startswith(r->line, "    "), "line %u: %s", r->number, r->line);
                        check_interval(r, &l, z, &at);
                        fresh = true;
                        n++;
                        continue;
                }
                if (fresh) {
                        ucs_window_list_done(&l);
                        at = (uint64_t) utc(after) * USEC_PER_SEC;
                        fresh = false;
                }
                if (!*value)
                        continue;
                cr_assert(ucs_window_parse(value, &installed_zones, &w, &e) == 0, "line %u: %s", r->number, e.text);
                cr_assert(ucs_window_list_add(&l, w) == 0);
        }
        cr_expect(fresh, "line %u: a window without a result", r->number);
        return n;
}

ucs_test(windows_md, examples) {
        Reader r = { .f = fopen(PAGE, "re") };
        unsigned windows = 0, calendars = 0, refused = 0;

        cr_assert(r.f, "cannot open %s", PAGE);
        while (next_line(&r)) {
                if (str_startswith(r.line, "```windows"))
                        windows += check_windows(&r);
                else if (streq(r.line, "```calendar"))
                        calendars += check_calendar(&r);
                else if (streq(r.line, "```refused"))
                        refused += check_refused(&r);
                else
                        cr_expect(!str_startswith(r.line, "```"), "line %u: a block that nobody checks", r.number);
        }
        (void) fclose(r.f);
        free(r.line);
        cr_log_info("%u intervals, %u normal forms, %u refusals", windows, calendars, refused);
        cr_expect(windows >= 30 && calendars >= 10 && refused >= 8, "%u, %u, %u", windows, calendars, refused);
}

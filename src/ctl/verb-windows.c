/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl windows: the maintenance windows that come next, as this host uses them. With --check=EXPRESSION
 * no daemon is asked: the expression is read as the daemon would read it, and said back in its normal form
 * with what it means. */

#include <errno.h>

#include "base/parse.h"
#include "core/schedule/window.h"
#include "ctl/ctl-args.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-table.h"
#include "ctl/ctl-time.h"
#include "os/clock.h"
#include "os/fd.h"

#define NEXT_DEFAULT 5U
#define NEXT_MAX     1000U

/* A window without a break has a start that is only as far back as was looked for it: no moment to show. */
static bool always_open(uint64_t start, uint64_t end, uint64_t now) {
        return end == UINT64_MAX && start < now && now - start > UCS_WINDOW_HORIZON_USEC / 2;
}

static int table_print(UcsCtl *ctl, const json_object *list, uint64_t now) {
        static const CtlColumn columns[] = {
                { "START" }, { "END" }, { "LENGTH" }, { "LEFT" }, { "REMARK", .cut = true }
        };
        _cleanup_(ctl_table_freep) CtlTable *t = NULL;

        if (ctl_table_new(ctl, columns, ELEMENTSOF(columns), &t) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        for (size_t i = 0; i < json_object_array_length(list); i++) {
                const json_object *w = json_object_array_get_idx(list, i);
                char text[CTL_TIME_MAX], span[UCS_TIMESPAN_MAX];
                uint64_t start = 0, end = UINT64_MAX;
                bool open;

                (void) ctl_u64(w, "start_usec", &start);
                (void) ctl_u64(w, "end_usec", &end);
                open = start <= now && now < end;
                ctl_table_row(t);
                ctl_table_cell(t, "%s", always_open(start, end, now) ? "always" : ctl_format_moment(ctl, text, start));
                ctl_table_cell(t, "%s", ctl_format_end(ctl, text, end, start));
                ctl_table_cell(t, "%s",
                               end == UINT64_MAX ? "for ever" : ucs_format_timespan(span, end - start));
                ctl_table_cell(t, "%s", open ? "open" : ctl_format_relative(text, start, now));
                if (open)
                        ctl_table_color(t, "green");
                ctl_table_cell(t, "%s", ctl_string(w, "expression") ?: "");
        }
        return ctl_table_print(t);
}

static void add_window(json_object *list, uint64_t start, uint64_t end, const char *expression) {
        json_object *o = json_object_new_object();

        (void) json_object_object_add(o, "start_usec", json_object_new_uint64(start));
        (void) json_object_object_add(o, "end_usec", end == UINT64_MAX ? NULL : json_object_new_uint64(end));
        if (expression)
                (void) json_object_object_add(o, "expression", json_object_new_string(expression));
        (void) json_object_array_add(list, o);
}

/* The next windows of one expression. 0 or -errno. */
static int list_windows(UcsWindow *w, const UcsZone *zone, uint64_t after, uint32_t n, json_object *list) {
        UcsWindow *one[] = { w };
        const UcsWindowList windows = { .windows = one, .n = 1 };

        for (uint32_t i = 0; i < n; i++) {
                UcsInterval v;

                if (ucs_window_list_next(&windows, zone, after, &v) < 0)
                        break;
                add_window(list, v.start_usec, v.end_usec, NULL);
                if (v.end_usec == UINT64_MAX)
                        break;
                after = v.end_usec;
        }
        return 0;
}

/* The same for an expression without a length: moments. */
static void list_moments(const UcsCalendar *c, const UcsZone *zone, uint64_t after, uint32_t n,
                         json_object *list) {
        uint64_t t;

        for (uint32_t i = 0; i < n && ucs_calendar_next(c, zone, after, &t) >= 0; i++) {
                add_window(list, t, t, NULL);
                after = t;
        }
}

static int show_check(UcsCtl *ctl, const char *text, const json_object *o, const json_object *list,
                      bool window, uint64_t now) {
        CtlScreen s;

        ctl_screen_begin(&s, ctl, CTL_LABEL_COLUMNS);
        ctl_row(&s, "Expression");
        ctl_put(&s, CTL_NORMAL, "%s", text);
        ctl_row(&s, "Normal form");
        ctl_put(&s, CTL_BOLD, "%s", ctl_string(o, "normalized") ?: "?");
        ctl_row(&s, "Zone");
        ctl_put(&s, CTL_NORMAL, "%s, unless the expression names one", ctl_string(o, "zone") ?: "?");
        if (json_object_array_length(list) == 0) {
                ctl_row(&s, "Next");
                ctl_put(&s, CTL_WARN, "never again");
        } else if (!window) {
                for (size_t i = 0; i < json_object_array_length(list); i++) {
                        char when[CTL_TIME_MAX];
                        uint64_t start = 0;

                        (void) ctl_u64(json_object_array_get_idx(list, i), "start_usec", &start);
                        ctl_row(&s, i == 0 ? "Next" : "");
                        ctl_put(&s, CTL_NORMAL, "%s", ctl_format_moment_relative(ctl, when, start));
                }
                ctl_row(&s, "Mind");
                ctl_put(&s, CTL_WARN, "Window= and Blackout= need a length too, such as '%s for 2h'", text);
        } else
                ctl_gap(&s);
        ctl_screen_end(&s);
        return window && json_object_array_length(list) > 0 ? table_print(ctl, list, now) : 0;
}

/* The calendar expression of "EXPRESSION for LENGTH", or the whole. New memory, NULL without. `*ret_length`
 * is NULL without one. */
static char *split_length(const char *text, const char **ret_length) {
        const char *found = NULL;

        for (const char *p = text; (p = strstr(p, " for ")); p++)
                found = p;
        *ret_length = found ? found + strlen(" for ") : NULL;
        return found ? strndup(text, (size_t) (found - text)) : strdup(text);
}

static int check(UcsCtl *ctl, const char *text, uint64_t after, uint32_t n) {
        _cleanup_(ucs_calendar_freep) UcsCalendar *calendar = NULL;
        _cleanup_json_ json_object *o = json_object_new_object();
        _cleanup_(ucs_window_freep) UcsWindow *window = NULL;
        _cleanup_free_ char *expression = NULL, *normal = NULL;
        _cleanup_text_ UcsText whole = {};
        _cleanup_fd_ int root = -EBADF;
        json_object *list = json_object_new_array();
        UcsZoneSource zones;
        const char *length;
        UcsError e = {};
        int r;

        (void) json_object_object_add(o, "expression", json_object_new_string(text));
        (void) json_object_object_add(o, "occurrences", list);
        root = ctl_root(ctl);
        if (root < 0)
                return UCS_EXIT_FAILED;
        zones = ctl_zone_source(&root);
        expression = split_length(text, &length);
        if (!expression)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");

        r = length ? ucs_window_parse(text, &zones, &window, &e) : 0;
        if (r >= 0)
                r = ucs_calendar_parse(expression, &zones, &calendar, &e);
        if (r < 0)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "--check: %s", e.text);
        if (ucs_calendar_format(calendar, &normal) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        ucs_text_append(&whole, normal);
        if (length) {
                char span[UCS_TIMESPAN_MAX];
                uint64_t usec = 0;

                if (ucs_parse_timespan(length, &usec) >= 0)
                        ucs_text_appendf(&whole, " for %s", ucs_format_timespan(span, usec));
                (void) json_object_object_add(o, "length_usec", json_object_new_uint64(usec));
        } else
                (void) json_object_object_add(o, "length_usec", NULL);
        (void) json_object_object_add(o, "normalized", json_object_new_string(whole.data ?: ""));
        (void) json_object_object_add(o, "zone", json_object_new_string(ucs_zone_name(ctl_zone(ctl))));

        if (window)
                r = list_windows(window, ctl_zone(ctl), after, n, list);
        else
                list_moments(calendar, ctl_zone(ctl), after, n, list);
        if (json_object_array_length(list) == 0)
                r = UCS_EXIT_NOTHING;
        if (ctl->json == UCS_JSON_OFF)
                return show_check(ctl, text, o, list, window, after) ?: r;
        ctl_print_json(ctl, TAKE_PTR(o));
        return r;
}

static int ask(UcsCtl *ctl, uint64_t after, uint32_t n) {
        static const CtlField windows = { "", "", .members = ctl_window_members };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_json_ json_object *list = NULL;
        int r;

        r = ctl_call(ctl, &reply, "NextWindows", "tu", after, n);
        if (r != 0)
                return r;
        r = ctl_decode(reply, &windows, &list);
        if (r < 0)
                return ctl_fail_bus(ctl, "NextWindows", r, NULL);
        n = (uint32_t) json_object_array_length(list);
        if (ctl->json != UCS_JSON_OFF) {
                ctl_print_json(ctl, TAKE_PTR(list));
                return n > 0 ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
        }
        if (n == 0) {
                ctl_say(ctl, "No maintenance window comes any more: see Window= in ucodesyncd.conf(5)");
                return UCS_EXIT_NOTHING;
        }
        return table_print(ctl, list, ucs_clock_realtime_usec());
}

int verb_windows(UcsCtl *ctl, int argc, char **argv) {
        const char *next = ctl_option(ctl, "next"), *after_text = ctl_option(ctl, "after"),
                   *expression = ctl_option(ctl, "check");
        uint64_t after = 0;
        uint32_t n = NEXT_DEFAULT;
        int r;

        if (next) {
                r = ctl_parse_count(ctl, "--next", next, 1, NEXT_MAX, &n);
                if (r != 0)
                        return r;
        }
        if (after_text) {
                r = ctl_parse_moment(ctl, "--after", after_text, &after);
                if (r != 0)
                        return r;
        }
        if (expression)
                return check(ctl, expression, after ?: ucs_clock_realtime_usec(), n);
        return ask(ctl, after, n);
}

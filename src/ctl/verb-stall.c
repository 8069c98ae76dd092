/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl stall: the last load on one screen. For how long no CPU ran anything, the CPU that stood still
 * longest, what the CPUs have in common, and the histogram of all loads of this host; with --per-cpu a row
 * and a bar for each CPU. */

#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-table.h"

#define BAR_COLUMNS     30U
#define BAR_COLUMNS_MIN 8U

static uint64_t figure(const json_object *o, const char *key) {
        uint64_t v = UCS_UNKNOWN;

        (void) ctl_u64(o, key, &v);
        return v;
}

static void row_stall(CtlScreen *s, const char *label, const json_object *o, const char *key, uint64_t hz,
                      const char *what) {
        char text[CTL_STALL_MAX];
        uint64_t v = figure(o, key);

        if (v == UCS_UNKNOWN || v == 0)
                return;
        ctl_row(s, label);
        ctl_put(s, CTL_NORMAL, "%s", ctl_format_stall(text, v, hz));
        if (what)
                ctl_put(s, CTL_DIM, "%s", what);
}

static void show_last(CtlScreen *s, const json_object *o) {
        const char *witness = ctl_string(o, "witness");
        uint64_t hz = 0, v, missing = 0;
        char text[CTL_STALL_MAX];

        (void) ctl_u64(o, "tsc_hz", &hz);
        ctl_row(s, "Stall");
        v = figure(o, "stall_nsec");
        ctl_put(s, CTL_BOLD, "%s%s", witness && streq(witness, "write") ? "at most " : "",
                ctl_format_stall(text, v, hz));
        ctl_put(s, CTL_DIM, ", no CPU ran anything");
        v = figure(o, "worst_nsec");
        if (v != UCS_UNKNOWN) {
                uint64_t cpu;

                ctl_row(s, "Worst CPU");
                if (ctl_u64(o, "worst_cpu", &cpu))
                        ctl_put(s, CTL_BOLD, "%" PRIu64 ": ", cpu);
                ctl_put(s, CTL_NORMAL, "%s", ctl_format_stall(text, v, hz));
        }
        row_stall(s, "Median", o, "median_nsec", 0, " a CPU");
        row_stall(s, "P99", o, "p99_nsec", 0, " a CPU");
        row_stall(s, "Entry", o, "entry_spread_nsec", 0, " from the first CPU to the last");
        row_stall(s, "Exit", o, "exit_spread_nsec", 0, " from the first CPU to the last");
        row_stall(s, "Write", o, "write_nsec", 0, " until the kernel had answered");
        row_stall(s, "Stolen", o, "steal_nsec", 0, " by the hypervisor, all CPUs together");

        ctl_row(s, "Seen by");
        ctl_put(s, CTL_NORMAL, "%s", witness ?: "nobody");
        if (ctl_u64(o, "cpus_witnessed", &v) && v > 0)
                ctl_put(s, CTL_NORMAL, " on %" PRIu64 " CPU%s", v, v == 1 ? "" : "s");
        if (ctl_u64(o, "cpus_missing", &missing) && missing > 0)
                ctl_put(s, CTL_WARN, ", %" PRIu64 " without evidence", missing);
        if (hz > 0)
                ctl_put(s, CTL_DIM, "; the TSC ticks at %.3f GHz", (double) hz / 1e9);
}

/* The buckets between the first and the last that hold something. */
static void show_histogram(CtlScreen *s, const json_object *o) {
        size_t n, first, last = 0;
        json_object *buckets = ctl_array(o, "histogram", &n);
        uint64_t most = 0, count;

        first = n;
        for (size_t i = 0; i < n; i++) {
                if (!ctl_u64(json_object_array_get_idx(buckets, i), "count", &count) || count == 0)
                        continue;
                first = MIN(first, i);
                last = i;
                most = MAX(most, count);
        }
        for (size_t i = first; i <= last && i < n; i++) {
                const json_object *b = json_object_array_get_idx(buckets, i);
                uint64_t below = UCS_UNKNOWN;
                _cleanup_free_ char *bar = NULL;
                char span[UCS_TIMESPAN_MAX];

                count = 0;
                (void) ctl_u64(b, "count", &count);
                bar = ctl_bar(s->ctl, count, most, BAR_COLUMNS);
                ctl_row(s, i == first ? "Histogram" : "");
                if (ctl_u64(b, "below_nsec", &below))
                        ctl_put(s, CTL_NORMAL, "to %9s  ", ucs_format_stall(span, below));
                else
                        ctl_put(s, CTL_NORMAL, "%12s  ", "above");
                ctl_put(s, CTL_NORMAL, "%s%s%" PRIu64, bar ?: "", bar && *bar ? " " : "", count);
        }
}

static void show_totals(CtlScreen *s, const json_object *o) {
        uint64_t count = 0, total = 0, over = 0, max = UCS_UNKNOWN;
        char span[UCS_TIMESPAN_MAX];

        if (!ctl_u64(o, "stall_count", &count) || count == 0)
                return;
        (void) ctl_u64(o, "stall_total_nsec", &total);
        (void) ctl_u64(o, "stall_max_nsec", &max);
        ctl_gap(s);
        ctl_row(s, "All loads");
        ctl_put(s, CTL_NORMAL, "%" PRIu64 ", in which this host stood still for %s", count,
                ucs_format_stall(span, total));
        if (max != UCS_UNKNOWN)
                ctl_put(s, CTL_NORMAL, ", at most %s at a time", ucs_format_stall(span, max));
        if (ctl_u64(o, "over_budget_total", &over) && over > 0)
                ctl_put(s, CTL_WARN, "; %" PRIu64 " longer than MaxStallMSec=", over);
        show_histogram(s, o);
}

static json_object *package_of(const json_object *processors, uint64_t cpu) {
        size_t n = processors ? json_object_array_length(processors) : 0;
        json_object *v = NULL;
        uint64_t number;

        /* both lists are in the order of the CPUs, but need not hold the same ones */
        for (size_t i = 0; i < n; i++) {
                const json_object *p = json_object_array_get_idx(processors, i);

                if (ctl_u64(p, "cpu", &number) && number == cpu) {
                        (void) json_object_object_get_ex(p, "package", &v);
                        break;
                }
        }
        return v;
}

/* GetPerCPU, with the package from ListProcessors. */
static int get_per_cpu(UcsCtl *ctl, json_object **ret) {
        static const CtlField cpus = { "", "", .members = ctl_per_cpu_members },
                              all = { "", "", .members = ctl_processor_members };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL, *more = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_json_ json_object *list = NULL, *processors = NULL;
        sd_bus *bus;
        int r;

        r = ctl_bus(ctl, &bus);
        if (r < 0)
                return UCS_EXIT_FAILED;
        r = sd_bus_call_method(bus, CTL_BUS_NAME, CTL_BUS_PATH, CTL_STALL, "GetPerCPU", &error, &reply,
                               NULL);
        if (r < 0)
                return ctl_fail_bus(ctl, "GetPerCPU", r, &error);
        r = ctl_decode(reply, &cpus, &list);
        if (r < 0)
                return ctl_fail_bus(ctl, "GetPerCPU", r, NULL);
        r = ctl_call(ctl, &more, "ListProcessors", NULL);
        if (r != 0)
                return r;
        r = ctl_decode(more, &all, &processors);
        if (r < 0)
                return ctl_fail_bus(ctl, "ListProcessors", r, NULL);
        for (size_t i = 0; i < json_object_array_length(list); i++) {
                json_object *c = json_object_array_get_idx(list, i);
                uint64_t cpu;

                if (ctl_u64(c, "cpu", &cpu))
                        (void) json_object_object_add(c, "package",
                                                      json_object_get(package_of(processors, cpu)));
        }
        *ret = TAKE_PTR(list);
        return 0;
}

static void cell_number(CtlTable *t, const json_object *o, const char *key) {
        uint64_t v;

        if (ctl_u64(o, key, &v))
                ctl_table_cell(t, "%" PRIu64, v);
        else
                ctl_table_cell(t, "-");
}

static int show_per_cpu(UcsCtl *ctl, const json_object *list) {
        static const CtlColumn columns[] = {
                { "CPU", .right = true },
                { "PACKAGE", .right = true },
                { "CLUSTER", .right = true },
                { "STALL", .right = true },
                { "" },
        };
        const size_t fixed =
                5 + 7 + 7 + 9 + 4 * 2; /* columns of the others, when the headings are the widest */
        size_t n = json_object_array_length(list), columns_left;
        _cleanup_(ctl_table_freep) CtlTable *t = NULL;
        uint64_t worst = 0, v;

        if (n == 0) {
                ctl_say(ctl, "No CPU's stall is known: it is not kept over a restart of the daemon");
                return UCS_EXIT_NOTHING;
        }
        for (size_t i = 0; i < n; i++)
                if (ctl_u64(json_object_array_get_idx(list, i), "stall_nsec", &v))
                        worst = MAX(worst, v);
        columns_left = ctl->width == SIZE_MAX                 ? BAR_COLUMNS
                       : ctl->width > fixed + BAR_COLUMNS_MIN ? ctl->width - fixed
                                                              : BAR_COLUMNS_MIN;
        if (ctl_table_new(ctl, columns, ELEMENTSOF(columns), &t) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        for (size_t i = 0; i < n; i++) {
                const json_object *c = json_object_array_get_idx(list, i);
                bool known = ctl_u64(c, "stall_nsec", &v);
                _cleanup_free_ char *bar = NULL;
                char span[UCS_TIMESPAN_MAX];

                ctl_table_row(t);
                cell_number(t, c, "cpu");
                cell_number(t, c, "package");
                cell_number(t, c, "cluster");
                ctl_table_cell(t, "%s", known ? ucs_format_stall(span, v) : "unknown");
                if (!known || v == worst)
                        ctl_table_color(t, known ? "red" : "yellow");
                bar = known ? ctl_bar(ctl, v, worst, columns_left) : NULL;
                ctl_table_cell(t, "%s", bar ?: "");
                if (known && v == worst)
                        ctl_table_color(t, "red");
        }
        return ctl_table_print(t);
}

int verb_stall(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_json_ json_object *o = NULL, *per_cpu = NULL;
        CtlScreen s;
        bool known;
        int r;

        r = ctl_get_all(ctl, CTL_STALL, &o);
        if (r != 0)
                return r;
        known = figure(o, "stall_nsec") != UCS_UNKNOWN || figure(o, "write_nsec") != UCS_UNKNOWN;
        if (ctl_option(ctl, "per-cpu")) {
                r = get_per_cpu(ctl, &per_cpu);
                if (r != 0)
                        return r;
        }
        if (ctl->json != UCS_JSON_OFF) {
                if (per_cpu)
                        (void) json_object_object_add(o, "per_cpu", TAKE_PTR(per_cpu));
                ctl_print_json(ctl, TAKE_PTR(o));
                return known ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
        }
        if (per_cpu)
                return show_per_cpu(ctl, per_cpu);

        if (!known)
                ctl_say(ctl, "The daemon has measured no load since it was started");
        ctl_screen_begin(&s, ctl, CTL_LABEL_COLUMNS);
        if (known)
                show_last(&s, o);
        show_totals(&s, o);
        ctl_screen_end(&s);
        return known ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl stall: the last load on one screen. For how long no CPU ran anything, what each witness says of that, the CPU that stood still
 * longest, the packages and clusters, and the histogram of all loads of this host; with --per-cpu a bar for each CPU, with --svg= the same as
 * a picture. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "core/record/stall.h"
#include "ctl/ctl-show.h"
#include "ctl/stall-chart.h"
#include "ctl/stall-svg.h"
#include "os/fd.h"

#define BAR_COLUMNS 30U
#define BAR_MARGIN  (CTL_LABEL_COLUMNS + 2U + 14U + 8U) /* what stands before and behind a bar of the histogram */

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

/* One witness beside the one that decided. */
static void row_witness(CtlScreen *s, const char *label, const char *name, json_object *value, const char *decides,
                        uint64_t stall) {
        char span[UCS_TIMESPAN_MAX], apart[UCS_TIMESPAN_MAX];
        uint64_t v, difference;

        ctl_row(s, label);
        ctl_put(s, CTL_NORMAL, "%-9s  ", name);
        if (!json_object_is_type(value, json_type_int)) {
                ctl_put(s, CTL_DIM, "saw nothing");
                return;
        }
        v = json_object_get_uint64(value);
        ctl_put(s, CTL_NORMAL, "%9s", ucs_format_stall(span, v));
        if (decides && streq(name, decides))
                ctl_put(s, CTL_BOLD, "  decides");
        else if (stall != UCS_UNKNOWN) {
                difference = v > stall ? v - stall : stall - v;
                if (difference < NSEC_PER_USEC)
                        (void) snprintf(apart, sizeof(apart), "%" PRIu64 " ns", difference);
                else
                        (void) ucs_format_stall(apart, difference);
                ctl_put(s, CTL_NORMAL, "  %s%s", v < stall ? "-" : "+", apart);
        }
        if (streq(name, "write"))
                ctl_put(s, CTL_DIM, ", an upper bound");
}

/* Side by side: they measured the same load independently of each other. */
static void show_witnesses(CtlScreen *s, const json_object *o) {
        const char *decides = ctl_string(o, "witness"), *label = "Witnesses";
        const uint64_t stall = figure(o, "stall_nsec");
        json_object *witnesses, *v;

        if (!json_object_object_get_ex(o, "witnesses", &witnesses) || !json_object_is_type(witnesses, json_type_object) ||
            json_object_object_length(witnesses) == 0)
                return;
        for (UcsWitnessKind k = _UCS_WITNESS_MAX - 1; k > UCS_WITNESS_NONE; k--) {
                const char *name = ucs_witness_to_string(k);

                if (json_object_object_get_ex(witnesses, name, &v)) {
                        row_witness(s, label, name, v, decides, stall);
                        label = "";
                }
        }
        json_object_object_foreach(witnesses, name, value) {
                if ((int) ucs_witness_from_string(name) >= 0)
                        continue;
                row_witness(s, label, name, value, decides, stall); /* of a newer daemon */
                label = "";
        }
        for (UcsWitnessKind k = _UCS_WITNESS_MAX - 1; k > UCS_WITNESS_NONE; k--)
                if (!json_object_object_get_ex(witnesses, ucs_witness_to_string(k), &v)) {
                        ctl_row(s, "");
                        ctl_put(s, CTL_DIM, "%-9s  not on", ucs_witness_to_string(k));
                }
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
        show_witnesses(s, o);
}

/* The buckets between the first and the last that hold something. */
static void show_histogram(CtlScreen *s, const json_object *o) {
        size_t n, first, last = 0;
        json_object *buckets = ctl_array(o, "histogram", &n);
        const size_t columns = s->ctl->width < BAR_COLUMNS + BAR_MARGIN ? s->ctl->width - MIN(s->ctl->width - 1, (size_t) BAR_MARGIN) : BAR_COLUMNS;
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
                bar = ctl_bar(s->ctl, count, most, columns);
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

/* Both lists are in the order of the CPUs, but need not hold the same ones: `*from` is where the search begins. */
static json_object *package_of(const json_object *processors, uint64_t cpu, size_t *from) {
        const size_t n = json_object_array_length(processors);
        json_object *v = NULL;
        uint64_t number;

        for (size_t i = 0; i < n; i++) {
                const size_t at = (*from + i) % n;
                const json_object *p = json_object_array_get_idx(processors, at);

                if (ctl_u64(p, "cpu", &number) && number == cpu) {
                        (void) json_object_object_get_ex(p, "package", &v);
                        *from = at + 1;
                        break;
                }
        }
        return v;
}

/* GetPerCPU, with the package from ListProcessors. `needed` or not: then a daemon of another version that lacks it has no CPUs to show. */
static int get_per_cpu(UcsCtl *ctl, bool needed, json_object **ret) {
        static const CtlField cpus = { "", "", .members = ctl_per_cpu_members },
                              all = { "", "", .members = ctl_processor_members };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL, *more = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_json_ json_object *list = NULL, *processors = NULL;
        size_t from = 0;
        sd_bus *bus;
        int r;

        r = ctl_bus(ctl, &bus);
        if (r < 0)
                return UCS_EXIT_FAILED;
        r = sd_bus_call_method(bus, CTL_BUS_NAME, CTL_BUS_PATH, CTL_STALL, "GetPerCPU", &error, &reply,
                               NULL);
        if (r < 0 && !needed) {
                *ret = json_object_new_array();
                return 0;
        }
        if (r < 0)
                return ctl_fail_bus(ctl, "GetPerCPU", r, &error);
        r = ctl_decode(reply, &cpus, &list);
        if (r < 0)
                return ctl_fail_bus(ctl, "GetPerCPU", r, NULL);
        if (json_object_array_length(list) > 0) { /* the other list costs the daemon something */
                r = ctl_call(ctl, &more, "ListProcessors", NULL);
                if (r != 0)
                        return r;
                r = ctl_decode(more, &all, &processors);
                if (r < 0)
                        return ctl_fail_bus(ctl, "ListProcessors", r, NULL);
        }
        for (size_t i = 0; i < json_object_array_length(list); i++) {
                json_object *c = json_object_array_get_idx(list, i);
                uint64_t cpu;

                if (ctl_u64(c, "cpu", &cpu))
                        (void) json_object_object_add(c, "package",
                                                      json_object_get(package_of(processors, cpu, &from)));
        }
        *ret = TAKE_PTR(list);
        return 0;
}

/* The load that the figures are of; NULL where that is not known. */
static json_object *last_load(UcsCtl *ctl) {
        static const CtlField entries = { "", "", .members = ctl_history_fields };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_json_ json_object *list = NULL;
        sd_bus *bus;

        if (ctl_bus(ctl, &bus) < 0 ||
            sd_bus_call_method(bus, CTL_BUS_NAME, CTL_BUS_PATH, CTL_MANAGER, "ListHistory", NULL, &reply, "u", 1U) < 0 ||
            ctl_decode(reply, &entries, &list) < 0 || json_object_array_length(list) == 0)
                return NULL;
        return json_object_get(json_object_array_get_idx(list, 0));
}

static int write_all(int fd, const char *text) {
        for (size_t left = strlen(text); left > 0;) {
                const ssize_t n = write(fd, text, left);

                if (n < 0 && errno != EINTR)
                        return -errno;
                text += MAX(n, (ssize_t) 0);
                left -= (size_t) MAX(n, (ssize_t) 0);
        }
        return 0;
}

static int write_svg(UcsCtl *ctl, const char *path, const json_object *per_cpu, const json_object *stall) {
        _cleanup_(stall_model_done) StallModel m = {};
        _cleanup_json_ json_object *load = last_load(ctl);
        _cleanup_free_ char *text = NULL;
        _cleanup_fd_ int fd = -EBADF;
        int r;

        if (stall_model_new(per_cpu, stall, STALL_SORT_CLUSTER, &m) >= 0)
                text = stall_svg(ctl, &m, stall, load);
        if (!text)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        if (streq(path, "-")) {
                (void) fputs(text, stdout);
                return 0;
        }
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        r = fd < 0 ? -errno : write_all(fd, text);
        if (r >= 0 && close(TAKE_FD(fd)) < 0)
                r = -errno;
        if (r < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "cannot write %s: %s", path, strerror(-r));
        ctl_say(ctl, "%s: the stall of %zu CPUs, as a picture", path, m.n_rows);
        return 0;
}

static void show_screen(UcsCtl *ctl, const json_object *o, const StallModel *m, bool known) {
        CtlScreen s;

        if (!known)
                ctl_say(ctl, "The daemon has measured no load since it was started");
        ctl_screen_begin(&s, ctl, CTL_LABEL_COLUMNS);
        if (known)
                show_last(&s, o);
        if (m->span_nsec > 0) {
                ctl_gap(&s);
                stall_chart_groups(ctl, m);
        }
        show_totals(&s, o);
        ctl_screen_end(&s);
}

/* Everything that the screens are made of, in one object. */
static void complete(json_object *o, const StallModel *m, json_object *per_cpu) {
        for (size_t i = 0; i < m->n_rows; i++) { /* both in the order of the CPUs */
                json_object *c = json_object_array_get_idx(per_cpu, i);

                (void) json_object_object_add(c, "mixed", json_object_new_boolean(m->rows[i].mixed));
                (void) json_object_object_add(c, "late", json_object_new_boolean(m->rows[i].late));
        }
        (void) json_object_object_add(o, "packages", stall_groups_to_json(m->packages, m->n_packages, false));
        (void) json_object_object_add(o, "clusters", stall_groups_to_json(m->clusters, m->n_clusters, true));
        (void) json_object_object_add(o, "per_cpu", json_object_get(per_cpu));
}

static int parse_sort(UcsCtl *ctl, StallSort *ret) {
        const char *word = ctl_option(ctl, "sort");

        *ret = word ? stall_sort_from_string(word) : STALL_SORT_CPU;
        if ((int) *ret < 0)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "--sort: '%s' is none of cpu, entry, cluster", word);
        return 0;
}

int verb_stall(UcsCtl *ctl, int argc, char **argv) {
        const char *svg = ctl_option(ctl, "svg");
        bool rows = ctl_option(ctl, "per-cpu") || ctl_option(ctl, "sort"), known;
        _cleanup_json_ json_object *o = NULL, *per_cpu = NULL;
        _cleanup_(stall_model_done) StallModel m = {};
        StallSort sort;
        int r;

        r = parse_sort(ctl, &sort);
        if (r != 0)
                return r;
        if (svg && streq(svg, "-") && ctl->json != UCS_JSON_OFF)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "--svg=- and --json would both write to stdout");
        r = ctl_get_all(ctl, CTL_STALL, &o);
        if (r != 0)
                return r;
        r = get_per_cpu(ctl, rows || svg, &per_cpu);
        if (r != 0)
                return r;
        known = figure(o, "stall_nsec") != UCS_UNKNOWN || figure(o, "write_nsec") != UCS_UNKNOWN;
        if (stall_model_new(per_cpu, o, ctl->json == UCS_JSON_OFF ? sort : STALL_SORT_CPU, &m) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");

        if ((rows || svg) && ctl->json == UCS_JSON_OFF && m.n_rows == 0) {
                ctl_say(ctl, "No CPU's stall is known: it is not kept over a restart of the daemon");
                return UCS_EXIT_NOTHING;
        }
        if (svg && m.n_rows > 0) {
                r = write_svg(ctl, svg, per_cpu, o);
                if (r != 0)
                        return r;
        }
        if (ctl->json != UCS_JSON_OFF) {
                complete(o, &m, per_cpu);
                ctl_print_json(ctl, TAKE_PTR(o));
        } else if (rows) {
                stall_chart_cpus(ctl, &m);
                return UCS_EXIT_DONE;
        } else if (!svg)
                show_screen(ctl, o, &m, known);
        return known ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
}

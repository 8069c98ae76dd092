/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl processors: what every CPU runs, and a summary by group of equal signature and platform mask. A
 * CPU that does not run the highest revision of its group stands out. */

#include <inttypes.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-table.h"

static const CtlColumn columns[] = {
        { "CPU", .right = true },
        { "PACKAGE", .right = true },
        { "CLUSTER", .right = true },
        { "SIGNATURE" },
        { "PLATFORM" },
        { "REVISION" },
        { "REMARK" },
};

/* One revision space, as far as the list has been read. The strings belong to the list. */
typedef struct Group {
        const char *signature, *mask, *lowest, *highest; /* "0x…" of equal length: they compare as text */
        UcsCpuSet behind;
        uint64_t cpus;
} Group;

static const char *text(const json_object *o, const char *key) {
        return ctl_string(o, key) ?: "";
}

static Group *find(Group *groups, size_t n, const json_object *cpu) {
        for (size_t i = 0; i < n; i++)
                if (streq(groups[i].signature, text(cpu, "signature")) &&
                    streq(groups[i].mask, text(cpu, "platform_mask")))
                        return &groups[i];
        return NULL;
}

/* Sort the list into at most `n` groups. Returns how many there are. */
static size_t group(const json_object *list, size_t n, Group *groups) {
        size_t n_groups = 0;

        for (size_t i = 0; i < n; i++) {
                const json_object *cpu = json_object_array_get_idx(list, i);
                const char *revision = text(cpu, "revision");
                Group *g = find(groups, n_groups, cpu);

                if (!g) {
                        g = &groups[n_groups++];
                        *g = (Group){
                                text(cpu, "signature"), text(cpu, "platform_mask"), revision, revision, {}, 0
                        };
                }
                g->cpus++;
                if (strcmp(revision, g->lowest) < 0)
                        g->lowest = revision;
                if (strcmp(revision, g->highest) > 0)
                        g->highest = revision;
        }
        return n_groups;
}

static void cell_id(CtlTable *t, const json_object *cpu, const char *key) {
        uint64_t v;

        if (ctl_u64(cpu, key, &v))
                ctl_table_cell(t, "%" PRIu64, v);
        else
                ctl_table_cell(t, "-");
}

static void add_cpu(CtlTable *t, const json_object *cpu, Group *g) {
        const char *revision = text(cpu, "revision");
        bool behind = !streq(revision, g->highest);
        uint64_t v;

        ctl_table_row(t);
        cell_id(t, cpu, "cpu");
        cell_id(t, cpu, "package");
        cell_id(t, cpu, "cluster");
        ctl_table_cell(t, "%s", g->signature);
        ctl_table_cell(t, "%s", g->mask);
        ctl_table_cell(t, "%s", *revision ? revision : "unknown");
        if (behind)
                ctl_table_color(t, "red");
        ctl_table_cell(t, "%s", behind ? "behind" : "");
        if (behind)
                ctl_table_color(t, "red");
        if (behind && ctl_u64(cpu, "cpu", &v) && v < UCS_CPU_MAX)
                ucs_cpuset_add(&g->behind, (unsigned) v);
}

static void show_summary(UcsCtl *ctl, const Group *groups, size_t n) {
        CtlScreen s;

        ctl_screen_begin(&s, ctl, 0);
        ctl_gap(&s);
        for (size_t i = 0; i < n; i++) {
                const Group *g = &groups[i];
                _cleanup_free_ char *behind = NULL;

                ctl_row(&s, NULL);
                ctl_put(&s, CTL_NORMAL, "%" PRIu64 " CPU%s of signature %s, platform mask %s: ", g->cpus,
                        g->cpus == 1 ? "" : "s", g->signature, g->mask);
                ctl_put(&s, CTL_BOLD, "%s", *g->highest ? g->highest : "unknown");
                if (streq(g->lowest, g->highest))
                        continue;
                ctl_put(&s, CTL_BAD, ", mixed");
                if (ucs_cpuset_format(&g->behind, &behind) >= 0)
                        ctl_put(&s, CTL_NORMAL, ": %s %s behind, from %s on", behind,
                                ucs_cpuset_count(&g->behind) == 1 ? "is" : "are",
                                *g->lowest ? g->lowest : "unknown");
        }
        ctl_screen_end(&s);
}

static int show(UcsCtl *ctl, const json_object *list, size_t n) {
        _cleanup_(ctl_table_freep) CtlTable *t = NULL;
        _cleanup_free_ Group *groups = NULL;
        size_t n_groups;
        int r;

        groups = new0(Group,
                      n); /* untouched memory costs nothing, and a machine has one or two kinds of CPU */
        if (!groups || ctl_table_new(ctl, columns, ELEMENTSOF(columns), &t) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        n_groups = group(list, n, groups);
        for (size_t i = 0; i < n; i++) {
                const json_object *cpu = json_object_array_get_idx(list, i);

                add_cpu(t, cpu, find(groups, n_groups, cpu));
        }
        r = ctl_table_print(t);
        if (r == 0 && ctl->legend)
                show_summary(ctl, groups, n_groups);
        return r;
}

int verb_processors(UcsCtl *ctl, int argc, char **argv) {
        static const CtlField processors = { "", "", .members = ctl_processor_members };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_json_ json_object *list = NULL;
        size_t n;
        int r;

        r = ctl_call(ctl, &reply, "ListProcessors", NULL);
        if (r != 0)
                return r;
        r = ctl_decode(reply, &processors, &list);
        if (r < 0)
                return ctl_fail_bus(ctl, "ListProcessors", r, NULL);
        n = json_object_array_length(list);
        if (ctl->json != UCS_JSON_OFF) {
                ctl_print_json(ctl, TAKE_PTR(list));
                return n > 0 ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
        }
        if (n == 0) {
                ctl_say(ctl, "The daemon knows of no CPU");
                return UCS_EXIT_NOTHING;
        }
        return show(ctl, list, n);
}

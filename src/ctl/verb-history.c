/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl history: what was done to this machine, a line a load, the newest first. --json has every field
 * of an entry. */

#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "ctl/ctl-args.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-table.h"
#include "ctl/ctl-time.h"

static const CtlColumn columns[] = {
        { "WHEN" },
        { "RESULT" },
        { "FROM" },
        { "TO" },
        { "CPUS", .right = true },
        { "STALL", .right = true },
        { "WORST", .right = true },
        { "WORST CPU", .right = true },
        { "BY" },
        { "REMARK", .cut = true },
};

static const char *color_of(const char *result) {
        switch (ctl_result_exit(result)) {
        case UCS_EXIT_DONE:
                return "green";
        case UCS_EXIT_NOTHING:
        case UCS_EXIT_UNSUPPORTED:
                return "yellow";
        case UCS_EXIT_FAILED:
                break;
        }
        return "red";
}

static void cell_u64(CtlTable *t, const json_object *e, const char *key) {
        uint64_t v;

        if (ctl_u64(e, key, &v))
                ctl_table_cell(t, "%" PRIu64, v);
        else
                ctl_table_cell(t, "-");
}

static void cell_stall(CtlTable *t, const json_object *e, const char *key) {
        char span[UCS_TIMESPAN_MAX];
        uint64_t v;

        ctl_table_cell(t, "%s", ctl_u64(e, key, &v) ? ucs_format_stall(span, v) : "-");
}

static void add_entry(UcsCtl *ctl, CtlTable *t, const json_object *e) {
        const char *result = ctl_string(e, "result") ?: "unknown", *note = ctl_string(e, "note"),
                   *laggards = ctl_string(e, "laggards");
        char when[CTL_TIME_MAX];
        uint64_t v = 0;

        ctl_table_row(t);
        (void) ctl_u64(e, "when_usec", &v);
        ctl_table_cell(t, "%s", v ? ctl_format_moment(ctl, when, v) : "-");
        ctl_table_cell(t, "%s", result);
        ctl_table_color(t, color_of(result));
        ctl_table_cell(t, "%s", ctl_string(e, "old_revision") ?: "-");
        ctl_table_cell(t, "%s", ctl_string(e, "new_revision") ?: "-");
        cell_u64(t, e, "cpus");
        cell_stall(t, e, "stall_nsec");
        cell_stall(t, e, "worst_nsec");
        cell_u64(t, e, "worst_cpu");
        if (ctl_u64(e, "uid", &v))
                ctl_table_cell(t, "user %" PRIu64, v);
        else
                ctl_table_cell(t, "daemon");
        ctl_table_cell(t, "%s%s%s%s", laggards ? "behind: " : "", laggards ?: "",
                       laggards && note ? "; " : "", note ?: "");
}

int verb_history(UcsCtl *ctl, int argc, char **argv) {
        static const CtlField entries = { "", "", .members = ctl_history_fields };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_(ctl_table_freep) CtlTable *t = NULL;
        _cleanup_json_ json_object *list = NULL;
        const char *lines = ctl_option(ctl, "lines");
        uint32_t max = UINT32_MAX;
        size_t n;
        int r;

        if (lines) {
                r = ctl_parse_count(ctl, "--lines", lines, 1, UINT32_MAX, &max);
                if (r != 0)
                        return r;
        }
        r = ctl_call(ctl, &reply, "ListHistory", "u", max);
        if (r != 0)
                return r;
        r = ctl_decode(reply, &entries, &list);
        if (r < 0)
                return ctl_fail_bus(ctl, "ListHistory", r, NULL);

        n = json_object_array_length(list);
        if (ctl->json != UCS_JSON_OFF) {
                ctl_print_json(ctl, TAKE_PTR(list));
                return n > 0 ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
        }
        if (n == 0) {
                ctl_say(ctl, "Nothing was loaded on this machine yet");
                return UCS_EXIT_NOTHING;
        }
        if (ctl_table_new(ctl, columns, ELEMENTSOF(columns), &t) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        for (size_t i = 0; i < n; i++)
                add_entry(ctl, t, json_object_array_get_idx(list, i));
        return ctl_table_print(t);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl status: one screen. What runs, what is on disk, what the next boot will run; what holds the
 * update back and until when; for how long the machine stood still the last time. It only reads. */

#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "core/policy/policy.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-time.h"
#include "os/clock.h"
#include "os/root.h"

typedef struct StateRow {
        const char *state;
        CtlStyle style;
        UcsExit exit; /* of status --quiet */
        const char *sentence;
} StateRow;

static const StateRow state_rows[] = {
        { "current", CTL_GOOD, UCS_EXIT_DONE, "nothing newer than what runs is on disk" },
        { "pending", CTL_WARN, UCS_EXIT_NOTHING, "an update waits" },
        { "applying", CTL_WARN, UCS_EXIT_NOTHING, "the kernel is loading an update" },
        { "failed", CTL_BAD, UCS_EXIT_FAILED,
          "the update on disk was tried, and will not be again by itself" },
        { "unsupported", CTL_DIM, UCS_EXIT_UNSUPPORTED, "nothing can be loaded while this machine runs" },
};

static const StateRow *state_row(const char *state) {
        static const StateRow unknown = { "unknown", CTL_WARN, UCS_EXIT_FAILED,
                                          "a state that this ucodectl does not know" };

        for (size_t i = 0; state && i < ELEMENTSOF(state_rows); i++)
                if (streq(state_rows[i].state, state))
                        return &state_rows[i];
        return &unknown;
}

static void show_headline(CtlScreen *s, const json_object *o) {
        const char *state = ctl_string(o, "state"), *reason = ctl_string(o, "support_reason"), *why;
        const StateRow *row = state_row(state);

        ctl_row(s, NULL);
        ctl_put(s, row->style, "%s %s", ctl_dot(s->ctl), state ?: "unknown");
        ctl_put(s, CTL_NORMAL, ": ");
        why = reason ? ucs_support_reason_describe(ucs_support_reason_from_string(reason)) : NULL;
        if (row->exit == UCS_EXIT_UNSUPPORTED && reason)
                ctl_put(s, CTL_NORMAL, "%s", why ?: reason);
        else
                ctl_put(s, CTL_NORMAL, "%s", row->sentence);
        if (ctl_bool(o, "overdue"))
                ctl_put(s, CTL_BAD, ", for longer than it should (DeadlineSec=)");
}

/* "0x00000080" as people write a mask of few bits: "0x80". */
static const char *short_hex(const char *hex) {
        const char *p = hex ? str_startswith(hex, "0x") : NULL;

        while (p && *p == '0' && p[1])
                p++;
        return p ?: "?";
}

static void show_group(CtlScreen *s, const json_object *g, bool several) {
        uint64_t cpus = 0;

        (void) ctl_u64(g, "cpus", &cpus);
        ctl_put(s, CTL_BOLD, "%s", ctl_string(g, "running_revision") ?: "unknown");
        ctl_put(s, CTL_NORMAL, " on %" PRIu64 " CPU%s", cpus, cpus == 1 ? "" : "s");
        ctl_put(s, CTL_DIM, ", signature %s, platform mask 0x%s", ctl_string(g, "signature") ?: "?",
                short_hex(ctl_string(g, "platform_mask")));
        if (several && ctl_string(g, "candidate_revision"))
                ctl_put(s, CTL_NORMAL, ", %s on disk", ctl_string(g, "candidate_revision"));
}

static void show_running(CtlScreen *s, const json_object *o) {
        size_t n;
        json_object *groups = ctl_array(o, "groups", &n);

        ctl_row(s, "Running");
        if (n == 0)
                ctl_put(s, CTL_BOLD, "%s", ctl_string(o, "running_revision") ?: "unknown");
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        ctl_row(s, "");
                show_group(s, json_object_array_get_idx(groups, i), n > 1);
        }
        if (ctl_bool(o, "mixed_revisions")) {
                ctl_row(s, "");
                ctl_put(s, CTL_BAD,
                        "Mixed: some CPUs run something newer than that, 'ucodectl processors' names them");
        }
}

static void show_disk(CtlScreen *s, const json_object *o) {
        const char *revision = ctl_string(o, "candidate_revision"), *date = ctl_string(o, "candidate_date"),
                   *least = ctl_string(o, "candidate_min_revision"), *path = ctl_string(o, "candidate_path");

        ctl_row(s, "On disk");
        if (!revision) {
                ctl_put(s, CTL_NORMAL, "nothing newer");
                return;
        }
        ctl_put(s, CTL_BOLD, "%s", revision);
        if (date)
                ctl_put(s, CTL_NORMAL, " of %s", date);
        if (least)
                ctl_put(s, CTL_DIM, ", loads late from %s on", least);
        if (path) {
                ctl_row(s, "");
                ctl_put(s, CTL_DIM, "%s", path);
        }
}

static int compare_revisions(const char *a, const char *b) {
        uint32_t x, y;

        if (!a || !b || ucs_parse_u32(a, 16, &x) < 0 || ucs_parse_u32(b, 16, &y) < 0)
                return 0;
        return x < y ? -1 : x > y;
}

static void show_next_boot(CtlScreen *s, const json_object *o) {
        const char *early = ctl_string(o, "early_revision"), *path = ctl_string(o, "early_path");
        bool loaded = ctl_bool(o, "mitigations_need_reboot");

        if (early) {
                ctl_row(s, "Next boot");
                ctl_put(s, CTL_BOLD, "%s", early);
                if (compare_revisions(early, ctl_string(o, "running_revision")) < 0 && loaded)
                        ctl_put(s, CTL_WARN, ", older than what runs: rebuild the initramfs");
                else if (compare_revisions(early, ctl_string(o, "candidate_revision")) < 0)
                        ctl_put(s, CTL_WARN, ", older than what is on disk: rebuild the initramfs");
                else if (compare_revisions(early, ctl_string(o, "running_revision")) < 0)
                        ctl_put(s, CTL_NORMAL, ", or what the firmware of the board has, if that is newer");
        } else if (path) {
                ctl_row(s, "Next boot");
                ctl_put(s, loaded ? CTL_WARN : CTL_NORMAL, "what the firmware of the board has: the initramfs holds nothing for this CPU");
        }
        if (path) {
                ctl_row(s, "");
                ctl_put(s, CTL_DIM, "%s", path);
        }
        if (ctl_bool(o, "reboot_required")) {
                ctl_row(s, "Reboot");
                ctl_put(s, CTL_WARN, "needed for the update to take effect");
        }
        if (ctl_bool(o, "mitigations_need_reboot")) {
                ctl_row(s, "Mitigations");
                ctl_put(s, CTL_WARN,
                        "as they were at boot: loaded is not mitigated, the kernel's and KVM's need a reboot");
        }
}

/* The kernel's own list of old revisions (since Linux 6.16): a second opinion, and as old as the boot. It is nobody's but this machine's, and read here rather
 * than on the bus. */
static void add_old_microcode(UcsCtl *ctl, json_object *o) {
        _cleanup_free_ char *text = NULL, *uptime = NULL;
        _cleanup_fd_ int root = -EBADF;
        uint64_t seconds, boot = 0, now = ucs_clock_realtime_usec();
        const char *word = NULL;

        if (ucs_root_open(ctl->root ?: "/", &root, NULL) >= 0 &&
            ucs_root_read(root, "sys/devices/system/cpu/vulnerabilities/old_microcode", 4096, &text, NULL, NULL) >= 0)
                word = str_strip(text);
        if (word && ucs_root_read(root, "proc/uptime", 4096, &uptime, NULL, NULL) >= 0) {
                uptime[strcspn(uptime, ". \n")] = '\0';
                if (ucs_parse_u64(uptime, 10, &seconds) >= 0 && seconds < now / USEC_PER_SEC)
                        boot = now - seconds * USEC_PER_SEC;
        }
        (void) json_object_object_add(o, "old_microcode", word && *word ? json_object_new_string(word) : NULL);
        (void) json_object_object_add(o, "old_microcode_usec", boot > 0 ? json_object_new_int64((int64_t) boot) : NULL);
}

static void show_old_microcode(CtlScreen *s, const json_object *o) {
        const char *word = ctl_string(o, "old_microcode");
        char when[CTL_TIME_MAX];
        uint64_t boot;

        if (!word)
                return;
        ctl_row(s, "Kernel says");
        ctl_put(s, str_startswith(word, "Vulnerable") ? CTL_WARN : CTL_NORMAL, "%s", word);
        ctl_put(s, CTL_DIM, " (old_microcode, by a list of its own");
        if (ctl_u64(o, "old_microcode_usec", &boot))
                ctl_put(s, CTL_DIM, ", as of the boot %s", ctl_format_relative(when, boot, ucs_clock_realtime_usec()));
        ctl_put(s, CTL_DIM, ")");
}

static void show_window(CtlScreen *s, const json_object *o) {
        char start_text[CTL_TIME_MAX], end_text[CTL_TIME_MAX], relative[CTL_TIME_MAX];
        uint64_t start = 0, end = UINT64_MAX, now = ucs_clock_realtime_usec();

        ctl_row(s, "Window");
        (void) ctl_u64(o, "next_window_end_usec", &end);
        if (ctl_bool(o, "in_window")) {
                ctl_put(s, CTL_GOOD, "open");
                if (end != UINT64_MAX)
                        ctl_put(s, CTL_NORMAL, " until %s (%s)", ctl_format_end(s->ctl, end_text, end, now),
                                ctl_format_relative(relative, end, now));
        } else if (ctl_u64(o, "next_window_start_usec", &start))
                ctl_put(s, CTL_NORMAL, "%s %s %s (%s)", ctl_format_moment(s->ctl, start_text, start),
                        ctl_dash(s->ctl), ctl_format_end(s->ctl, end_text, end, start),
                        ctl_format_relative(relative, start, now));
        else
                ctl_put(s, CTL_WARN, "none comes any more");
}

static void show_waiting(CtlScreen *s, const json_object *o) {
        char text[CTL_TIME_MAX], span[UCS_TIMESPAN_MAX];
        const char *metric = ctl_string(o, "load_metric");
        double value = ctl_double(o, "load_value"), guests = ctl_double(o, "guest_share");
        uint64_t v;

        if (ctl_u64(o, "pending_since_usec", &v)) {
                ctl_row(s, "Pending");
                ctl_put(s, CTL_NORMAL, "since %s", ctl_format_moment_relative(s->ctl, text, v));
        }
        show_window(s, o);
        if (metric) {
                ctl_row(s, "Load");
                if (ctl_bool(o, "load_quiet"))
                        ctl_put(s, CTL_GOOD, "quiet, ");
                ctl_put(s, CTL_NORMAL, "%s", metric);
                if (value >= 0)
                        ctl_put(s, CTL_NORMAL, " %.1f%%", value * 100);
                if (guests > 0)
                        ctl_put(s, CTL_NORMAL, ", guests %.1f%%", guests * 100);
        }
        if (ctl_u64(o, "forecast_stall_nsec", &v)) {
                uint64_t low;

                ctl_row(s, "Forecast");
                if (ctl_u64(o, "forecast_low_nsec", &low) && low < v) {
                        ctl_put(s, CTL_NORMAL, "the machine would stand still for %s to ", ucs_format_stall(span, low));
                        ctl_put(s, CTL_NORMAL, "%s", ucs_format_stall(span, v));
                } else
                        ctl_put(s, CTL_NORMAL, "the machine would stand still for at most %s",
                                ucs_format_stall(span, v));
        }
}

/* The blockers that only a person's decision clears, by commas; "" when time alone does. */
static char *undecided(const json_object *blockers, size_t n) {
        _cleanup_text_ UcsText t = {};
        char *names;

        for (size_t i = 0; i < n; i++) {
                const json_object *o = json_object_array_get_idx(blockers, i);
                UcsBlocker b = ucs_blocker_from_string(ctl_string(o, "blocker"));
                uint64_t clears;

                if (b != _UCS_BLOCKER_INVALID && !ucs_blocker_clears_by_itself(b) &&
                    !ctl_u64(o, "clears_usec", &clears))
                        ucs_text_appendf(&t, "%s%s", t.length > 0 ? ", " : "", ucs_blocker_to_string(b));
        }
        return ucs_text_take(&t, &names, NULL) < 0 ? NULL : names;
}

static void show_blocked(CtlScreen *s, const json_object *o) {
        _cleanup_free_ char *names = NULL;
        char text[CTL_TIME_MAX];
        uint64_t earliest;
        size_t n;
        json_object *blockers = ctl_array(o, "blockers", &n);

        if (n == 0)
                return;
        ctl_gap(s);
        ctl_show_blockers(s, "Blocked by", blockers);
        names = undecided(blockers, n);
        if (names && *names) {
                ctl_row(s, "Earliest");
                ctl_put(s, CTL_NORMAL, "not before someone decides about %s", names);
        } else if (n > 1 && ctl_u64(o, "earliest_apply_usec", &earliest)) {
                ctl_row(s, "Earliest");
                ctl_put(s, CTL_NORMAL, "%s", ctl_format_moment_relative(s->ctl, text, earliest));
        }
}

/* The stall of one load, from its entry in the history. */
static void show_stall(CtlScreen *s, const json_object *e) {
        uint64_t stall = UCS_UNKNOWN, worst = UCS_UNKNOWN, cpu, write = UCS_UNKNOWN, hz = 0;
        char text[CTL_STALL_MAX], span[UCS_TIMESPAN_MAX];
        const char *witness = ctl_string(e, "witness");
        bool bound = witness && streq(witness, "write");

        (void) ctl_u64(e, "stall_nsec", &stall);
        (void) ctl_u64(e, "worst_nsec", &worst);
        (void) ctl_u64(e, "write_nsec", &write);
        (void) ctl_u64(e, "tsc_hz", &hz);
        if (stall == UCS_UNKNOWN && write == UCS_UNKNOWN)
                return;
        ctl_row(s, "Stall");
        if (stall != UCS_UNKNOWN) {
                ctl_put(s, CTL_BOLD, "%s%s", bound ? "at most " : "", ctl_format_stall(text, stall, hz));
                ctl_put(s, CTL_NORMAL, " in which no CPU ran anything");
        }
        if (worst != UCS_UNKNOWN && !bound) {
                ctl_row(s, "Worst CPU");
                if (ctl_u64(e, "worst_cpu", &cpu))
                        ctl_put(s, CTL_NORMAL, "%" PRIu64 ": ", cpu);
                ctl_put(s, CTL_NORMAL, "%s", ctl_format_stall(text, worst, hz));
        }
        ctl_row(s, "Seen by");
        ctl_put(s, CTL_NORMAL, "%s", witness ?: "nobody");
        if (write != UCS_UNKNOWN)
                ctl_put(s, CTL_NORMAL, "; the write to the kernel took %s", ucs_format_stall(span, write));
}

static void show_last_load(CtlScreen *s, const json_object *e) {
        const char *result = ctl_string(e, "result"), *laggards = ctl_string(e, "laggards"),
                   *note = ctl_string(e, "note"), *advice;
        char when[CTL_TIME_MAX];
        uint64_t v;

        ctl_gap(s);
        ctl_row(s, "Last load");
        ctl_put(s, result ? ctl_result_style(result) : CTL_WARN, "%s", result ?: "unknown");
        ctl_put(s, CTL_NORMAL, ": %s %s %s", ctl_revision(e, "old_revision"), ctl_arrow(s->ctl),
                ctl_revision(e, "new_revision"));
        if (ctl_u64(e, "cpus", &v))
                ctl_put(s, CTL_NORMAL, " on %" PRIu64 " CPU%s", v, v == 1 ? "" : "s");
        if (ctl_u64(e, "when_usec", &v)) {
                ctl_row(s, "");
                ctl_put(s, CTL_NORMAL, "%s", ctl_format_moment_relative(s->ctl, when, v));
        }
        if (laggards) {
                ctl_row(s, "Lag behind");
                ctl_put(s, CTL_BAD, "CPUs %s do not run %s", laggards, ctl_revision(e, "target_revision"));
        }
        show_stall(s, e);
        if (note) {
                ctl_row(s, "Note");
                ctl_put(s, CTL_NORMAL, "%s", note);
        }
        advice = result ? ctl_result_advice(result, laggards) : "";
        if (ctl_result_exit(result) != UCS_EXIT_DONE && *advice) {
                ctl_row(s, "Advice");
                ctl_put(s, CTL_NORMAL, "%s", advice);
        }
}

/* A daemon of another version may have the entry in its properties only. */
static json_object *last_load(UcsCtl *ctl, const json_object *o) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        static const CtlField entries = { "", "", .members = ctl_history_fields };
        _cleanup_json_ json_object *list = NULL;
        sd_bus *bus;

        if (ctl_string(o, "last_result") && ctl_bus(ctl, &bus) >= 0 &&
            sd_bus_call_method(bus, CTL_BUS_NAME, CTL_BUS_PATH, CTL_MANAGER, "ListHistory", NULL, &reply,
                               "u", 1U) >= 0 &&
            ctl_decode(reply, &entries, &list) >= 0 && json_object_array_length(list) > 0)
                return json_object_get(json_object_array_get_idx(list, 0));
        return NULL;
}

/* The lower end of the forecast, which is no property. */
static void add_forecast(UcsCtl *ctl, json_object *o) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        uint64_t low = UCS_UNKNOWN;
        sd_bus *bus;

        if (ctl_string(o, "candidate_revision") && ctl_bus(ctl, &bus) >= 0 &&
            sd_bus_call_method(bus, CTL_BUS_NAME, CTL_BUS_PATH, CTL_MANAGER, "Explain", NULL, &reply, "t", UINT64_C(0)) >= 0 &&
            sd_bus_message_skip(reply, "a(sst)i") >= 0)
                (void) sd_bus_message_read(reply, "t", &low);
        (void) json_object_object_add(o, "forecast_low_nsec", low == UCS_UNKNOWN ? NULL : json_object_new_uint64(low));
}

int verb_status(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_json_ json_object *o = NULL, *stall = NULL, *load = NULL;
        const StateRow *row;
        CtlScreen s;
        uint64_t v;
        int r;

        r = ctl_get_all(ctl, CTL_MANAGER, &o);
        if (r != 0)
                return r;
        row = state_row(ctl_string(o, "state"));
        if (ctl->quiet)
                return row->exit;
        load = last_load(ctl, o);
        add_forecast(ctl, o);
        add_old_microcode(ctl, o);
        if (ctl->json != UCS_JSON_OFF) {
                r = ctl_get_all(ctl, CTL_STALL, &stall);
                if (r != 0)
                        return r;
                (void) json_object_object_add(o, "stall", TAKE_PTR(stall));
                (void) json_object_object_add(o, "last_load", TAKE_PTR(load));
                ctl_print_json(ctl, TAKE_PTR(o));
                return UCS_EXIT_DONE;
        }

        ctl_screen_begin(&s, ctl, CTL_LABEL_COLUMNS);
        show_headline(&s, o);
        ctl_gap(&s);
        show_running(&s, o);
        show_disk(&s, o);
        show_next_boot(&s, o);
        show_old_microcode(&s, o);
        if (ctl_string(o, "candidate_revision") && row->exit != UCS_EXIT_UNSUPPORTED)
                show_waiting(&s, o);
        if (ctl_u64(o, "probation_until_usec", &v) && v > ucs_clock_realtime_usec()) {
                char text[CTL_TIME_MAX];

                ctl_row(&s, "Probation");
                ctl_put(&s, CTL_NORMAL, "until %s", ctl_format_moment_relative(ctl, text, v));
        }
        if (row->exit != UCS_EXIT_UNSUPPORTED)
                show_blocked(&s, o);
        ctl_show_advice(&s, o);
        if (load)
                show_last_load(&s, load);
        ctl_screen_end(&s);
        return UCS_EXIT_DONE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl apply: ask for a load; with --wait stay until it has ended, and say how. The request lives in the
 * daemon: whoever only waits for it may leave without taking it back. */

#include <inttypes.h>

#include "base/timefmt.h"
#include "core/policy/blocker.h"
#include "ctl/ctl-args.h"
#include "ctl/ctl-loop.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-time.h"

typedef struct Wait {
        uint64_t id, flags;
        char *waiting_for; /* as it was said last */
} Wait;

/* The end, as text or as one object. */
static int tell_end(UcsCtl *ctl, const Wait *w, json_object *applied) {
        const char *result = ctl_string(applied, "result") ?: "unknown", *advice = ctl_result_advice(result, NULL);
        uint64_t stall = UCS_UNKNOWN;
        char span[UCS_TIMESPAN_MAX];
        UcsExit code = ctl_result_exit(result);

        if (ctl->json != UCS_JSON_OFF) {
                ctl_print_json(ctl, json_object_get(applied));
                return code;
        }
        (void) ctl_u64(applied, "stall_nsec", &stall);
        if (w->flags & UCS_APPLY_DRY_RUN && streq(result, "no-change"))
                ctl_say(ctl, "Dry run: nothing stands in the way, and nothing was written");
        else if (streq(result, "success")) {
                ctl_say(ctl, "success: %s %s %s, the machine stood still for %s",
                        ctl_revision(applied, "old_revision"), ctl_arrow(ctl),
                        ctl_revision(applied, "new_revision"), ucs_format_stall(span, stall));
                ctl_say(ctl, "%s", advice);
        } else if (code == UCS_EXIT_DONE)
                ctl_say(ctl, "%s: %s runs. %s", result, ctl_revision(applied, "new_revision"), advice);
        else
                return ctl_fail(ctl, code, "request %" PRIu64 " ended in '%s'%s%s", w->id, result,
                                *advice ? ": " : "", advice);
        return code;
}

/* What the request itself waits for: the published set, less what its flags get past. */
static void tell_waiting(CtlLoop *l, const json_object *blockers) {
        Wait *w = l->userdata;
        size_t n = blockers ? json_object_array_length(blockers) : 0;
        _cleanup_text_ UcsText t = {};
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < n; i++) {
                const json_object *o = json_object_array_get_idx(blockers, i);
                UcsBlocker b = ucs_blocker_from_string(ctl_string(o, "blocker"));
                char when[CTL_TIME_MAX];
                uint64_t clears;

                if (b == UCS_BLOCKER_MANUAL || (b != _UCS_BLOCKER_INVALID && ucs_blocker_flag(b) & w->flags))
                        continue;
                ucs_text_appendf(&t, "%s%s", t.length > 0 ? ", " : "", ctl_string(o, "blocker") ?: "?");
                if (ctl_u64(o, "clears_usec", &clears))
                        ucs_text_appendf(&t, " until %s", ctl_format_moment(l->ctl, when, clears));
        }
        if (ucs_text_take(&t, &text, NULL) < 0 || !*text || (w->waiting_for && streq(text, w->waiting_for)))
                return;
        ctl_say(l->ctl, "Waiting: %s", text);
        (void) fflush(stdout);
        free(w->waiting_for);
        w->waiting_for = TAKE_PTR(text);
}

static void on_applied(CtlLoop *l, sd_bus_message *m) {
        _cleanup_json_ json_object *o = json_object_new_object();
        const Wait *w = l->userdata;
        const CtlSignal *s = ctl_signals;
        uint64_t id;

        while (!streq(s->bus, "Applied"))
                s++;
        if (ctl_decode_members(m, s->arguments, o) >= 0 && ctl_u64(o, "id", &id) && id == w->id)
                ctl_loop_end(l, tell_end(l->ctl, w, o));
}

static void on_changed(CtlLoop *l, sd_bus_message *m) {
        _cleanup_json_ json_object *changed = NULL;
        const char *interface;
        size_t n;

        if (sd_bus_message_read(m, "s", &interface) >= 0 && streq(interface, CTL_MANAGER) &&
            ctl_decode_dict(m, ctl_manager_fields, &changed) >= 0)
                tell_waiting(l, ctl_array(changed, "blockers", &n));
}

static void on_signal(CtlLoop *l, sd_bus_message *m) {
        int start;

        if (sd_bus_message_is_signal(m, CTL_MANAGER, "Applied"))
                on_applied(l, m);
        else if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Properties", "PropertiesChanged"))
                on_changed(l, m);
        else if (sd_bus_message_is_signal(m, CTL_MANAGER, "PrepareForApply") &&
                 sd_bus_message_read(m, "b", &start) >= 0 && start) {
                ctl_say(l->ctl, "Loading now");
                (void) fflush(stdout);
        }
}

static void on_owner(CtlLoop *l) {
        const Wait *w = l->userdata;

        if (w->id != 0)
                ctl_loop_end(l, ctl_fail_named(l->ctl, UCS_EXIT_FAILED, "NoReply",
                                               "ucodesyncd went away before request %" PRIu64
                                               " ended; a request does not outlive the daemon, "
                                               "'ucodectl history' shows whether it came to a load",
                                               w->id));
}

static int wait_for_end(CtlLoop *l) {
        const Wait *w = l->userdata;
        _cleanup_json_ json_object *status = NULL;
        size_t n;
        int r;

        if (l->ctl->json == UCS_JSON_OFF && !l->ctl->quiet) {
                r = ctl_get_all(l->ctl, CTL_MANAGER, &status);
                if (r != 0)
                        return r;
                tell_waiting(l, ctl_array(status, "blockers", &n));
        }
        r = ctl_loop_run(l);
        if (l->interrupted)
                return ctl_fail_named(l->ctl, UCS_EXIT_FAILED, "Interrupted",
                                      "no longer waiting; request %" PRIu64
                                      " stays open, 'ucodectl cancel %" PRIu64 "' takes it back",
                                      w->id, w->id);
        if (l->disconnected)
                return ctl_fail_named(l->ctl, UCS_EXIT_FAILED, "NoBus",
                                      "the system bus is gone; request %" PRIu64 " stays open", w->id);
        return r;
}

/* Ask, and say the request's number. `l` is NULL when nobody waits. */
static int request(UcsCtl *ctl, CtlLoop *l, Wait *w) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        uint32_t id;
        int r;

        r = ctl_call(ctl, &reply, "Apply", "t", w->flags);
        if (r != 0)
                return r;
        r = sd_bus_message_read(reply, "u", &id);
        if (r >= 0 && l)
                r = ctl_loop_trust(l, reply);
        if (r < 0)
                return ctl_fail_bus(ctl, "Apply", r, NULL);
        w->id = id;
        ctl_say(ctl, "Request %u is accepted", id);
        if (!l && ctl->json != UCS_JSON_OFF) {
                json_object *o = json_object_new_object();

                (void) json_object_object_add(o, "id", json_object_new_int64(id));
                ctl_print_json(ctl, o);
        }
        (void) fflush(stdout);
        return 0;
}

int verb_apply(UcsCtl *ctl, int argc, char **argv) {
        Wait w = {};
        CtlLoop l = { .on_signal = on_signal, .on_owner = on_owner, .userdata = &w };
        bool wait = ctl_option(ctl, "wait");
        int r;

        r = ctl_parse_flags(ctl, &w.flags);
        if (r != 0)
                return r;
        if (wait) {
                r = ctl_loop_begin(&l, ctl);
                if (r != 0)
                        goto finish;
        }
        r = request(ctl, wait ? &l : NULL, &w);
        if (r == 0 && wait)
                r = wait_for_end(&l);

finish:
        ctl_loop_done(&l);
        free(w.waiting_for);
        return r;
}

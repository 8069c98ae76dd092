/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl explain: what a load now would meet. What the kernel is expected to answer, for how long the
 * machine would stand still, that there is no way back, and what holds a request with the same --now and
 * --force= back. It changes nothing. */

#include <errno.h>
#include <inttypes.h>

#include "base/timefmt.h"
#include "core/policy/policy.h"
#include "ctl/ctl-args.h"
#include "ctl/ctl-show.h"

/* What the kernel's answers mean, for the few that it gives (arch/x86/kernel/cpu/microcode/core.c,
 * reload_store()). */
static const char *answer_sentence(int64_t e) {
        static const struct {
                int e;
                const char *sentence;
        } rows[] = {
                { 0, "would accept it" },
                { ENOENT, "would find nothing that it can use in the file" },
                { EBADFD, "would call the file malformed" },
                { EBUSY, "would refuse, as CPUs are offline that it needs" },
                { EINVAL,
                  "would refuse, as CPUs are offline that it needs or the file is not what it expects" },
                { EIO, "would fail on the CPUs" },
                { EPERM, "would not allow it" },
                { EACCES, "would not allow it" },
                { EROFS, "would not allow it, its reload file is read-only" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                if (rows[i].e == e)
                        return rows[i].sentence;
        return "would answer with an error";
}

static void show(UcsCtl *ctl, const json_object *status, const json_object *x) {
        const char *candidate = ctl_string(status, "candidate_revision"),
                   *reason = ctl_string(status, "support_reason"), *sentence;
        uint64_t low = UCS_UNKNOWN, high = UCS_UNKNOWN, answer;
        char a[UCS_TIMESPAN_MAX], b[UCS_TIMESPAN_MAX];
        CtlScreen s;
        size_t n;
        json_object *blockers = ctl_array(x, "blockers", &n);

        ctl_screen_begin(&s, ctl, CTL_LABEL_COLUMNS);
        ctl_row(&s, NULL);
        if (candidate)
                ctl_put(&s, CTL_BOLD, "A load now would take %" PRIu64 " CPUs from %s to %s",
                        ctl_count_cpus(status), ctl_revision(status, "running_revision"), candidate);
        else
                ctl_put(&s, CTL_BOLD, "There is nothing to load: nothing newer than %s is on disk",
                        ctl_revision(status, "running_revision"));
        if (reason) {
                sentence = ucs_support_reason_describe(ucs_support_reason_from_string(reason));
                ctl_row(&s, "Support");
                ctl_put(&s, CTL_WARN, "%s", sentence ?: reason);
        }
        if (candidate) {
                ctl_row(&s, "Kernel");
                if (ctl_u64(x, "predicted_errno", &answer)) {
                        ctl_put(&s, answer == 0 ? CTL_GOOD : CTL_BAD, "%s",
                                answer_sentence((int64_t) answer));
                        if (answer != 0)
                                ctl_put(&s, CTL_NORMAL, " (%s)", ctl_string(x, "predicted") ?: "?");
                } else
                        ctl_put(&s, CTL_NORMAL, "no prediction");
                (void) ctl_u64(x, "forecast_low_nsec", &low);
                (void) ctl_u64(x, "forecast_high_nsec", &high);
                ctl_row(&s, "Stall");
                if (high == UCS_UNKNOWN)
                        ctl_put(&s, CTL_NORMAL, "no forecast");
                else if (low == UCS_UNKNOWN || low == high)
                        ctl_put(&s, CTL_NORMAL, "about %s in which no CPU runs anything",
                                ucs_format_stall(a, high));
                else
                        ctl_put(&s, CTL_NORMAL, "%s to %s in which no CPU runs anything",
                                ucs_format_stall(a, low), ucs_format_stall(b, high));
                ctl_row(&s, "Way back");
                ctl_put(&s, CTL_NORMAL, "none until the next reset of the machine");
        }
        if (n > 0)
                ctl_show_blockers(&s, "Blocked by", blockers);
        else if (candidate) {
                ctl_row(&s, "Blocked by");
                ctl_put(&s, CTL_GOOD, "nothing");
        }
        ctl_show_advice(&s, status);
        ctl_screen_end(&s);
}

/* The answer as one object, with what it is about. */
static int ask(UcsCtl *ctl, uint64_t flags, const json_object *status, json_object **ret) {
        static const char *const copied[] = {
                "state",         "support", "support_reason", "running_revision", "candidate_revision",
                "candidate_path", "advice"
        };
        static const CtlField members[] = {
                { "", "blockers", .members = ctl_blocker_members },
                { "", "predicted_errno", CTL_ERRNO },
                { "", "forecast_low_nsec", CTL_SPAN },
                { "", "forecast_high_nsec", CTL_SPAN },
                {},
        };
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_json_ json_object *x = json_object_new_object();
        json_object *names;
        uint64_t answer;
        int r;

        r = ctl_call(ctl, &reply, "Explain", "t", flags);
        if (r != 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(copied); i++) {
                json_object *v = NULL;

                (void) json_object_object_get_ex(status, copied[i], &v);
                (void) json_object_object_add(x, copied[i], json_object_get(v));
        }
        names = json_object_new_array();
        for (uint64_t f = 1; f < _UCS_APPLY_ALL; f <<= 1)
                if (flags & f)
                        (void) json_object_array_add(names,
                                                     json_object_new_string(ucs_apply_flag_to_string(f)));
        (void) json_object_object_add(x, "flags", names);
        r = ctl_decode_members(reply, members, x);
        if (r < 0)
                return ctl_fail_bus(ctl, "Explain", r, NULL);
        if (ctl_u64(x, "predicted_errno", &answer)) {
                const char *name = answer == 0           ? "success"
                                   : answer <= INT32_MAX ? strerrorname_np((int) answer)
                                                         : NULL;

                (void) json_object_object_add(x, "predicted", name ? json_object_new_string(name) : NULL);
        } else
                (void) json_object_object_add(x, "predicted", NULL);
        *ret = TAKE_PTR(x);
        return 0;
}

int verb_explain(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_json_ json_object *status = NULL, *x = NULL;
        const char *state;
        uint64_t flags;
        size_t n;
        int code, r;

        r = ctl_parse_flags(ctl, &flags);
        if (r != 0)
                return r;
        r = ctl_get_all(ctl, CTL_MANAGER, &status);
        if (r != 0)
                return r;
        r = ask(ctl, flags, status, &x);
        if (r != 0)
                return r;

        state = ctl_string(status, "state");
        (void) ctl_array(x, "blockers", &n);
        code = state && streq(state, "unsupported")            ? UCS_EXIT_UNSUPPORTED
               : n > 0 || !ctl_string(x, "candidate_revision") ? UCS_EXIT_NOTHING
                                                               : UCS_EXIT_DONE;
        if (ctl->json == UCS_JSON_OFF)
                show(ctl, status, x);
        else
                ctl_print_json(ctl, TAKE_PTR(x));
        return code;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What several screens show; see ctl-show.h. Words that this version does not know are shown as they are. */

#include <inttypes.h>
#include <stdio.h>

#include "core/policy/blocker.h"
#include "core/policy/result.h"
#include "core/record/stall.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-time.h"

const char *ctl_revision(const json_object *o, const char *key) {
        return ctl_string(o, key) ?: "none";
}

uint64_t ctl_count_cpus(const json_object *status) {
        uint64_t sum = 0, cpus;
        size_t n;
        json_object *groups = ctl_array(status, "groups", &n);

        for (size_t i = 0; i < n; i++)
                if (ctl_u64(json_object_array_get_idx(groups, i), "cpus", &cpus))
                        sum += cpus;
        return sum;
}

/* What an administrator can do about a blocker that time will not clear. */
static void show_way_past(CtlScreen *s, const char *name) {
        UcsBlocker b = ucs_blocker_from_string(name);
        const char *flag;

        if (b == _UCS_BLOCKER_INVALID || ucs_blocker_clears_by_itself(b))
                return;
        if (b == UCS_BLOCKER_REJECTED || b == UCS_BLOCKER_SUSPECT_CRASH) {
                ctl_row(s, "");
                ctl_put(s, CTL_DIM, "  'ucodectl acknowledge' allows that file again");
                return;
        }
        if (b == UCS_BLOCKER_MANUAL) {
                ctl_row(s, "");
                ctl_put(s, CTL_DIM, "  'ucodectl apply' asks for it");
                return;
        }
        flag = ucs_apply_flag_to_string(ucs_blocker_flag(b));
        if (!flag)
                return;
        ctl_row(s, "");
        ctl_put(s, CTL_DIM, "  'ucodectl apply --force=%s' gets past it", flag);
}

void ctl_show_advice(CtlScreen *s, const json_object *o) {
        size_t n;
        json_object *advice = ctl_array(o, "advice", &n);

        for (size_t i = 0; i < n; i++) {
                ctl_row(s, i == 0 ? "Advice" : "");
                ctl_put(s, CTL_WARN, "%s", json_object_get_string(json_object_array_get_idx(advice, i)));
        }
}

void ctl_show_blockers(CtlScreen *s, const char *label, const json_object *blockers) {
        size_t n = blockers ? json_object_array_length(blockers) : 0;

        for (size_t i = 0; i < n; i++) {
                const json_object *b = json_object_array_get_idx(blockers, i);
                const char *name = ctl_string(b, "blocker"), *sentence = ctl_string(b, "sentence");
                char when[CTL_TIME_MAX];
                uint64_t clears;

                ctl_row(s, i == 0 ? label : "");
                ctl_put(s, CTL_WARN, "%s", name ?: "?");
                if (sentence)
                        ctl_put(s, CTL_NORMAL, ": %s", sentence);
                if (ctl_u64(b, "clears_usec", &clears)) {
                        ctl_row(s, "");
                        ctl_put(s, CTL_NORMAL, "  clears at %s",
                                ctl_format_moment_relative(s->ctl, when, clears));
                } else
                        show_way_past(s, name);
        }
}

const char *ctl_format_grouped(char buf[static CTL_GROUPED_MAX], uint64_t n) {
        char digits[24];
        size_t length, o = 0;

        length = (size_t) snprintf(digits, sizeof(digits), "%" PRIu64, n);
        for (size_t i = 0; i < length; i++) {
                if (i > 0 && (length - i) % 3 == 0)
                        buf[o++] = ' ';
                buf[o++] = digits[i];
        }
        buf[o] = '\0';
        return buf;
}

const char *ctl_format_stall(char buf[static CTL_STALL_MAX], uint64_t nsec, uint64_t tsc_hz) {
        uint64_t ticks = ucs_stall_ticks(nsec, tsc_hz);
        char span[UCS_TIMESPAN_MAX], grouped[CTL_GROUPED_MAX];

        if (ticks == UCS_UNKNOWN)
                (void) snprintf(buf, CTL_STALL_MAX, "%s", ucs_format_stall(span, nsec));
        else
                (void) snprintf(buf, CTL_STALL_MAX, "%s (%s ticks)", ucs_format_stall(span, nsec),
                                ctl_format_grouped(grouped, ticks));
        return buf;
}

CtlStyle ctl_result_style(const char *result) {
        switch (ctl_result_exit(result)) {
        case UCS_EXIT_DONE:
                return CTL_GOOD;
        case UCS_EXIT_NOTHING:
        case UCS_EXIT_UNSUPPORTED:
                return CTL_WARN;
        case UCS_EXIT_FAILED:
                break;
        }
        return CTL_BAD;
}

const char *ctl_result_advice(const char *result, const char *laggards) {
        UcsCpuSet cpus = {};

        if (laggards)
                (void) ucs_cpuset_parse(laggards, &cpus, NULL);
        return ucs_result_advice(ucs_result_from_string(result), &cpus);
}

UcsExit ctl_result_exit(const char *result) {
        switch (ucs_result_from_string(result)) {
        case UCS_RESULT_SUCCESS:
        case UCS_RESULT_NO_CHANGE:
                return UCS_EXIT_DONE;
        case UCS_RESULT_CANCELLED:
                return UCS_EXIT_NOTHING;
        case UCS_RESULT_NONE:
        case UCS_RESULT_REFUSED:
        case UCS_RESULT_MALFORMED:
        case UCS_RESULT_BUSY:
        case UCS_RESULT_IO_ERROR:
        case UCS_RESULT_MIXED_REVISIONS:
        case UCS_RESULT_DIGEST_REJECTED:
        case UCS_RESULT_UNEXPECTED_REVISION:
        case UCS_RESULT_NOT_PERMITTED:
        case UCS_RESULT_TIMEOUT:
        case UCS_RESULT_REGRESSED:
        case UCS_RESULT_EXTERNAL:
        case _UCS_RESULT_MAX:
        case _UCS_RESULT_INVALID:
                break;
        }
        return UCS_EXIT_FAILED;
}

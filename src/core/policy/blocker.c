/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of blockers and that of the request flags; see blocker.h. A blocker without a gate in policy.c is never in the set
 * yet: its place, its name and its flag are here so that clients know them. */

#include "base/enum.h"
#include "core/policy/blocker.h"

static const struct {
        const char *name;
        uint64_t flag;
        bool clears_by_itself;
} blockers[_UCS_BLOCKER_MAX] = {
        [UCS_BLOCKER_CONFIG_INVALID] = { "config-invalid", 0, false },
        [UCS_BLOCKER_UNSUPPORTED] = { "unsupported", 0, false },
        [UCS_BLOCKER_SETTLE] = { "settle", UCS_APPLY_IGNORE_SCHEDULE, true },
        [UCS_BLOCKER_MANUAL] = { "manual", 0, false },
        [UCS_BLOCKER_WINDOW] = { "window", UCS_APPLY_IGNORE_SCHEDULE, true },
        [UCS_BLOCKER_BLACKOUT] = { "blackout", UCS_APPLY_IGNORE_SCHEDULE, true },
        [UCS_BLOCKER_LOAD] = { "load", UCS_APPLY_IGNORE_LOAD, true },
        [UCS_BLOCKER_HOLD] = { "hold", UCS_APPLY_IGNORE_HOLD, true },
        [UCS_BLOCKER_INHIBITOR] = { "inhibitor", UCS_APPLY_IGNORE_INHIBITORS, true },
        [UCS_BLOCKER_SLEEP] = { "sleep", 0, true },
        [UCS_BLOCKER_SHUTDOWN] = { "shutdown", 0, false },
        [UCS_BLOCKER_JUST_BOOTED] = { "just-booted", UCS_APPLY_IGNORE_HEALTH, true },
        [UCS_BLOCKER_CPUS_OFFLINE] = { "cpus-offline", 0, true },
        [UCS_BLOCKER_UNHEALTHY] = { "unhealthy", UCS_APPLY_IGNORE_HEALTH, false },
        [UCS_BLOCKER_LATENCY_CRITICAL] = { "latency-critical", UCS_APPLY_IGNORE_HEALTH, false },
        [UCS_BLOCKER_BUDGET] = { "budget", UCS_APPLY_IGNORE_HEALTH, false },
        [UCS_BLOCKER_STATE_VOLATILE] = { "state-volatile", UCS_APPLY_IGNORE_HEALTH, false },
        [UCS_BLOCKER_MINREV] = { "minrev", UCS_APPLY_IGNORE_TRUST, false },
        [UCS_BLOCKER_UNAPPROVED] = { "unapproved", UCS_APPLY_IGNORE_TRUST, false },
        [UCS_BLOCKER_DENIED] = { "denied", 0, false },
        [UCS_BLOCKER_REFUSAL_PREDICTED] = { "refusal-predicted", UCS_APPLY_DESPITE_PREDICTION, false },
        [UCS_BLOCKER_REJECTED] = { "rejected", 0, false },
        [UCS_BLOCKER_SUSPECT_CRASH] = { "suspect-crash", 0, false },
        [UCS_BLOCKER_EARLY_LOADING_BROKEN] = { "early-loading-broken", UCS_APPLY_IGNORE_HEALTH, false },
        [UCS_BLOCKER_FLEET] = { "fleet", UCS_APPLY_IGNORE_HOLD, true },
        [UCS_BLOCKER_DRAIN] = { "drain", UCS_APPLY_IGNORE_INHIBITORS, true },
};

const char *ucs_blocker_to_string(UcsBlocker b) {
        return (int) b >= 0 && b < _UCS_BLOCKER_MAX ? blockers[b].name : NULL;
}

UcsBlocker ucs_blocker_from_string(const char *s) {
        for (size_t i = 0; s && i < ELEMENTSOF(blockers); i++)
                if (streq(blockers[i].name, s))
                        return (UcsBlocker) i;
        return _UCS_BLOCKER_INVALID;
}

uint64_t ucs_blocker_flag(UcsBlocker b) {
        return blockers[b].flag;
}

bool ucs_blocker_clears_by_itself(UcsBlocker b) {
        return blockers[b].clears_by_itself;
}

UcsBlockerSet ucs_blocker_set_override(UcsBlockerSet set, uint64_t flags) {
        for (UcsBlocker b = 0; b < _UCS_BLOCKER_MAX; b++)
                if (blockers[b].flag & flags)
                        set &= ~ucs_blocker_bit(b);
        return set;
}

static const char *const flag_names[] = {
        "ignore-schedule", "ignore-load", "ignore-inhibitors", "ignore-hold", "ignore-trust", "dry-run", "despite-prediction", "ignore-health",
};

const char *ucs_apply_flag_to_string(uint64_t flag) {
        for (size_t i = 0; i < ELEMENTSOF(flag_names); i++)
                if (flag == UINT64_C(1) << i)
                        return flag_names[i];
        return NULL;
}

int ucs_apply_flag_from_string(const char *s, uint64_t *ret) {
        for (size_t i = 0; s && i < ELEMENTSOF(flag_names); i++)
                if (streq(flag_names[i], s)) {
                        *ret = UINT64_C(1) << i;
                        return 0;
                }
        return -EINVAL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Everything that can hold an update back, in one table: its name (D-Bus, journal, ucodectl, ucodectl(8)), the request flag
 * that overrides it, and whether it goes away by itself. */

#include <errno.h>

#include "base/macro.h"

typedef enum UcsBlocker {
        UCS_BLOCKER_CONFIG_INVALID,
        UCS_BLOCKER_UNSUPPORTED,
        UCS_BLOCKER_SETTLE,
        UCS_BLOCKER_MANUAL,
        UCS_BLOCKER_WINDOW,
        UCS_BLOCKER_BLACKOUT,
        UCS_BLOCKER_LOAD,
        UCS_BLOCKER_HOLD,
        UCS_BLOCKER_INHIBITOR,
        UCS_BLOCKER_SLEEP,
        UCS_BLOCKER_SHUTDOWN,
        UCS_BLOCKER_JUST_BOOTED,
        UCS_BLOCKER_CPUS_OFFLINE,
        UCS_BLOCKER_UNHEALTHY,
        UCS_BLOCKER_LATENCY_CRITICAL,
        UCS_BLOCKER_BUDGET,
        UCS_BLOCKER_STATE_VOLATILE,
        UCS_BLOCKER_MINREV,
        UCS_BLOCKER_UNAPPROVED,
        UCS_BLOCKER_DENIED,
        UCS_BLOCKER_REFUSAL_PREDICTED,
        UCS_BLOCKER_REJECTED,
        UCS_BLOCKER_SUSPECT_CRASH,
        UCS_BLOCKER_EARLY_LOADING_BROKEN,
        UCS_BLOCKER_FLEET,
        UCS_BLOCKER_DRAIN,
        _UCS_BLOCKER_MAX,
        _UCS_BLOCKER_INVALID = -EINVAL,
} UcsBlocker;

/* Flags of a request (D-Bus: Apply, Explain; ucodectl apply --now, --force=). */
typedef enum UcsApplyFlags {
        UCS_APPLY_IGNORE_SCHEDULE = 1,
        UCS_APPLY_IGNORE_LOAD = 2,
        UCS_APPLY_IGNORE_INHIBITORS = 4,
        UCS_APPLY_IGNORE_HOLD = 8,
        UCS_APPLY_IGNORE_TRUST = 16,
        UCS_APPLY_DRY_RUN = 32,
        UCS_APPLY_DESPITE_PREDICTION = 64,
        UCS_APPLY_IGNORE_HEALTH = 128,
        _UCS_APPLY_ALL = 255,
} UcsApplyFlags;

/* "ignore-schedule", … one bit at a time. */
const char *ucs_apply_flag_to_string(uint64_t flag);
int ucs_apply_flag_from_string(const char *s, uint64_t *ret); /* -EINVAL */

const char *ucs_blocker_to_string(UcsBlocker b);
UcsBlocker ucs_blocker_from_string(const char *s);

/* The flag that overrides it; 0: none does ("never", or only Acknowledge). */
uint64_t ucs_blocker_flag(UcsBlocker b);

/* Whether waiting can clear it, without anyone's decision: a request that meets only such blockers is accepted and waits. */
bool ucs_blocker_clears_by_itself(UcsBlocker b);

typedef uint64_t UcsBlockerSet; /* bit per UcsBlocker */
static inline UcsBlockerSet ucs_blocker_bit(UcsBlocker b) {
        return UINT64_C(1) << b;
}

/* The set without what a request's flags override (any request overrides `manual`). */
UcsBlockerSet ucs_blocker_set_override(UcsBlockerSet set, uint64_t flags);

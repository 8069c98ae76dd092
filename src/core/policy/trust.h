/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the rules say about a load. One write loads for every group of CPUs, so a rule that speaks about any group's update speaks about the load. */

#include "core/policy/policy.h"

typedef enum UcsVerdict {
        UCS_VERDICT_FREE,    /* no rule blocks */
        UCS_VERDICT_BLOCKED, /* by `ret_block` */
        UCS_VERDICT_ALLOWED, /* `ret_block` would, and `ret_allow` gets past it */
} UcsVerdict;

/* Whether this candidate may be loaded on its group. What is not named above is left untouched. */
UcsVerdict ucs_trust_verdict(const UcsWorld *w, const UcsCandidate *k, UcsRuleMatch *ret_block, UcsRuleMatch *ret_allow);

/* A rule approves this candidate for its whole group. */
bool ucs_trust_approved(const UcsWorld *w, const UcsCandidate *k);

/* The next candidate that a load is about: those that are newer than what runs, and `also` (may be NULL), which someone insists on. `*i` begins
 * with 0; NULL at the end. */
const UcsCandidate *ucs_trust_next(const UcsWorld *w, const UcsCandidate *also, size_t *i);

#define UCS_ADVICE_MAX 384 /* bytes of a sentence, with its final NUL */

/* One sentence about each rule that does not block and still has something to say: a warning, the risk of a reboot after the load, a block that
 * was put aside. Each rule once. `*ret` is NULL when there are none. 0 or -ENOMEM. */
int ucs_trust_advise(const UcsWorld *w, char ***ret);

/* The same for a load that has happened in this boot: the risks of a reboot that it left behind. `k` is what was loaded, `from` what ran. */
int ucs_trust_advise_after(const UcsWorld *w, const UcsCandidate *k, uint32_t from, char ***ret);

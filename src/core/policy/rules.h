/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Rules as data: who vouches for an update, who warns of it. One section a rule; all that a rule names must match, what it leaves out
 * matches everything. A block holds whatever approves; only an allow from /etc gets past a block. os/rules reads the files. */

#include "core/policy/candidate.h"
#include "core/policy/kernel.h"

typedef enum UcsRuleAction {
        UCS_RULE_APPROVE,     /* "approve": stands in for a minimum revision, and is what Trust=approved asks for */
        UCS_RULE_BLOCK,       /* "block" */
        UCS_RULE_ALLOW,       /* "allow": past a block; only from /etc, logged as an override */
        UCS_RULE_WARN,        /* "warn": said, nothing else */
        UCS_RULE_REBOOT_RISK, /* "reboot-risk": after this load a warm reboot may hang */
        _UCS_RULE_ACTION_MAX,
        _UCS_RULE_ACTION_INVALID = -EINVAL,
} UcsRuleAction;

const char *ucs_rule_action_to_string(UcsRuleAction a);
UcsRuleAction ucs_rule_action_from_string(const char *s);

typedef struct UcsRuleSet UcsRuleSet;

/* The machine's identity beyond its CPUs: DMI strings. NULL: unknown. */
typedef struct UcsHost {
        char *sys_vendor, *bios_vendor, *product_name;
} UcsHost;

void ucs_host_done(UcsHost *h);

/* A rule that speaks about a candidate. */
typedef struct UcsRuleMatch {
        UcsRuleAction action;
        const char *name;      /* of its section */
        const char *origin;    /* file:line */
        const char *reason;
        const char *reference; /* NULL: none */
        bool local;            /* from /etc */
} UcsRuleMatch;

UcsRuleSet *ucs_rule_set_free(UcsRuleSet *s);
DEFINE_CLEANUP(UcsRuleSet *, ucs_rule_set_free);

/* All rules that match this candidate on a group that runs `running`; returns how many there are, at most `max` are filled, in the order of the
 * files. */
size_t ucs_rules_match(const UcsRuleSet *s, UcsVendor vendor, const UcsCandidate *k, uint32_t running, const UcsKernel *kernel, const UcsHost *host,
                       UcsRuleMatch *ret, size_t max);

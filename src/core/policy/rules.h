/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Rules as data: who vouches for an update, who warns of it. One section a rule; all that a rule names must match, what it leaves out
 * matches everything. A block holds whatever approves; only an allow from /etc gets past a block. os/rules reads the files.
 *
 * What cannot be told on this machine (no DMI, a cache of unknown size, CPUs of one group that run different revisions of which only some are
 * in a range) counts against the load: such a block, warning or reboot-risk speaks, such an approval or allow does not. */

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

/* Bytes, so that a sentence with all of them fits where sentences are kept. */
#define UCS_RULE_NAME_MAX 40
#define UCS_RULE_REASON_MAX 140
#define UCS_RULE_REFERENCE_MAX 120

#define UCS_RULES_MAX 4096 /* all files together */

typedef struct UcsRuleSet UcsRuleSet;

/* The machine's identity beyond its CPUs: DMI strings. NULL: unknown. */
typedef struct UcsHost {
        char *sys_vendor, *bios_vendor, *product_name;
} UcsHost;

void ucs_host_done(UcsHost *h);

/* What rules are asked about: one candidate, on the group of CPUs that it is for. */
typedef struct UcsRuleSubject {
        UcsVendor vendor;
        const UcsCandidate *candidate;   /* a target revision of 0, or a digest of zeros, is unknown */
        uint32_t lowest, highest;        /* that run in the group; 0: unknown */
        const UcsKernel *kernel;         /* these two may be NULL: nothing is known */
        const UcsHost *host;
} UcsRuleSubject;

/* A rule that speaks about a candidate. Points into the set. */
typedef struct UcsRuleMatch {
        UcsRuleAction action;
        const char *name;      /* of its section */
        const char *origin;    /* file:line */
        const char *reason;    /* NULL: none, as an approval may have */
        const char *reference; /* NULL: none */
        const char *criteria;  /* as they were written, "Signature=0x406f1 From=<0x0b000021"; "": it speaks about everything */
        bool local;            /* from /etc */
} UcsRuleMatch;

/* An empty set. 0 or -ENOMEM. */
int ucs_rule_set_new(UcsRuleSet **ret);
UcsRuleSet *ucs_rule_set_free(UcsRuleSet *s);
DEFINE_CLEANUP(UcsRuleSet *, ucs_rule_set_free);

/* A section begins: a rule of that name, from `origin` ("path:line"). `local`: the file is in /etc. -EINVAL: no name for a rule, or a name that is
 * there already since the last ucs_rule_set_end(); -E2BIG: more than UCS_RULES_MAX; -ENOMEM. The caller adds file and line to `e`. */
int ucs_rule_set_begin(UcsRuleSet *s, const char *name, const char *origin, bool local, UcsError *e);

/* One assignment of the rule that was begun last. -ENOENT: no such key; -EINVAL with what was expected; -ENOMEM. The caller adds file and line. */
int ucs_rule_set_assign(UcsRuleSet *s, const char *key, const char *value, UcsError *e);

/* A file ends: all rules since the last end must be complete. -EINVAL; `e` names the rule's own file and line. */
int ucs_rule_set_end(UcsRuleSet *s, UcsError *e);

/* The rules in the order of the files: the i-th, or false. */
bool ucs_rule_set_get(const UcsRuleSet *s, size_t i, UcsRuleMatch *ret);

/* The next rule that speaks about the subject, in the order of the files. `*i` begins with 0. NULL is an empty set. */
bool ucs_rules_next(const UcsRuleSet *s, const UcsRuleSubject *about, size_t *i, UcsRuleMatch *ret);

/* The first rule with this action that does. */
bool ucs_rules_find(const UcsRuleSet *s, const UcsRuleSubject *about, UcsRuleAction action, UcsRuleMatch *ret);

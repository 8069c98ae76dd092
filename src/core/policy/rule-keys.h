/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one table of keys that a rule can have, for rules.c: from it come parsing, the sentence about what was expected, and the judgement whether
 * a rule speaks. A key that is not in it does not exist. ucodesync-rules(5) lists the same keys in the same order, which a test holds. */

#include "core/policy/rules.h"

/* Whether a criterion holds for a subject. */
typedef enum RuleAnswer {
        RULE_NO,
        RULE_UNKNOWN,
        RULE_YES,
} RuleAnswer;

/* Both ends included. */
typedef struct RuleRange {
        uint64_t low, high;
} RuleRange;

typedef struct RuleRanges {
        RuleRange *items;
        size_t n;
} RuleRanges;

typedef struct RuleDigests {
        uint8_t (*items)[UCS_DIGEST_SIZE];
        size_t n;
} RuleDigests;

typedef struct Rule {
        UcsRuleAction action; /* _UCS_RULE_ACTION_INVALID: not assigned yet */
        char *name, *origin, *reason, *reference, *criteria;
        bool local;

        /* empty: matches everything */
        UcsVendor vendor;
        uint32_t platform_mask;
        RuleRanges signatures, from, to, llc;
        RuleDigests digests;
        char **kernels, **sys_vendors, **bios_vendors, **products;

        uint64_t assigned; /* bit per key of the table */
} Rule;

typedef struct RuleKey RuleKey;

struct RuleKey {
        const char *name;

        /* Take a value, or one item of a list. -EINVAL or -ERANGE: it is not what is expected; -ENOMEM. */
        int (*parse)(const RuleKey *k, Rule *r, const char *item);

        /* NULL: the key is no criterion. Only asked when it was assigned. */
        RuleAnswer (*judge)(const RuleKey *k, const Rule *r, const UcsRuleSubject *about);

        size_t offset; /* of the field in Rule */
        enum {
                RULE_ONCE,   /* one value */
                RULE_REPEAT, /* each assignment adds one */
                RULE_LIST,   /* each assignment adds those between commas */
        } kind;
        const char *expected; /* goes on after "expected " */
};

/* In the order of ucodesync-rules(5). */
extern const RuleKey rule_keys[];
extern const size_t rule_n_keys;

/* Frees what the values own; names and texts are rules.c's. */
void rule_values_done(Rule *r);

/* Whether `s` is of the pattern: '*' stands for any text, '?' for one byte, everything else for itself. */
bool rule_glob(const char *pattern, const char *s);

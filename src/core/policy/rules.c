/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A set of rules: put together section by section, then asked; see rules.h. What always holds: a rule that is in a finished set is complete, and
 * an allow is from /etc and names what it is about. Nothing is read here, and what follows from a rule is for the gates. */

#include <assert.h>
#include <string.h>

#include "base/enum.h"
#include "core/policy/rule-keys.h"

#define ITEM_MAX 200 /* bytes of one item of a list */

static const char *const action_names[_UCS_RULE_ACTION_MAX] = {
        [UCS_RULE_APPROVE] = "approve", [UCS_RULE_BLOCK] = "block",           [UCS_RULE_ALLOW] = "allow",
        [UCS_RULE_WARN] = "warn",       [UCS_RULE_REBOOT_RISK] = "reboot-risk",
};
DEFINE_ENUM_STRINGS(ucs_rule_action, UcsRuleAction, action_names);

struct UcsRuleSet {
        Rule *rules;
        size_t n, n_ended;
};

void ucs_host_done(UcsHost *h) {
        free(h->sys_vendor);
        free(h->bios_vendor);
        free(h->product_name);
        *h = (UcsHost){};
}

int ucs_rule_set_new(UcsRuleSet **ret) {
        UcsRuleSet *s = new0(UcsRuleSet, 1);

        if (!s)
                return -ENOMEM;
        *ret = s;
        return 0;
}

static void rule_done(Rule *r) {
        rule_values_done(r);
        free(r->name);
        free(r->origin);
        free(r->reason);
        free(r->reference);
        free(r->criteria);
}

UcsRuleSet *ucs_rule_set_free(UcsRuleSet *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n; i++)
                rule_done(&s->rules[i]);
        free(s->rules);
        free(s);
        return NULL;
}

/* --- reading --- */

static bool is_name(const char *s) {
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
        size_t n = strlen(s);

        return n > 0 && n <= UCS_RULE_NAME_MAX && strspn(s, allowed) == n;
}

int ucs_rule_set_begin(UcsRuleSet *s, const char *name, const char *origin, bool local, UcsError *e) {
        Rule *rules, rule = { .action = _UCS_RULE_ACTION_INVALID, .local = local };

        if (!is_name(name))
                return ucs_error_set(e, -EINVAL, "'%.60s' is no name for a rule, expected at most %d of A-Z a-z 0-9 - _ .", name, UCS_RULE_NAME_MAX);
        for (size_t i = s->n_ended; i < s->n; i++)
                if (streq(s->rules[i].name, name))
                        return ucs_error_set(e, -EINVAL, "there is a rule [%s] already (%.180s), expected another name", name, s->rules[i].origin);
        if (s->n >= UCS_RULES_MAX)
                return ucs_error_set(e, -E2BIG, "there are more than %d rules", UCS_RULES_MAX);

        rules = reallocarray(s->rules, s->n + 1, sizeof(*rules));
        if (!rules)
                return ucs_error_set(e, -ENOMEM, "no memory for the rules");
        s->rules = rules;
        rule.name = strdup(name);
        rule.origin = strdup(origin);
        rule.criteria = strdup("");
        if (!rule.name || !rule.origin || !rule.criteria) {
                rule_done(&rule);
                return ucs_error_set(e, -ENOMEM, "no memory for the rules");
        }
        rules[s->n++] = rule;
        return 0;
}

static const RuleKey *find_key(const char *name) {
        for (size_t i = 0; i < rule_n_keys; i++)
                if (streq(rule_keys[i].name, name))
                        return &rule_keys[i];
        return NULL;
}

static int unknown_key(const char *key, UcsError *e) {
        _cleanup_text_ UcsText names = {};

        for (size_t i = 0; i < rule_n_keys; i++)
                ucs_text_appendf(&names, "%s%s", i > 0 ? ", " : "", rule_keys[i].name);
        return ucs_error_set(e, -ENOENT, "there is no key %.60s=, expected one of %s", key, names.data ?: "");
}

/* Each item between commas, without the blanks around it. */
static int parse_list(const RuleKey *k, Rule *rule, const char *value) {
        for (;;) {
                size_t n = strcspn(value, ",");
                char item[ITEM_MAX];
                int r;

                if (n >= sizeof(item))
                        return -EINVAL;
                memcpy(item, value, n);
                item[n] = '\0';
                r = k->parse(k, rule, str_strip(item));
                if (r < 0)
                        return r;
                if (!value[n])
                        return 0;
                value += n + 1;
        }
}

static int remember_criterion(Rule *rule, const RuleKey *k, const char *value) {
        UcsText t = {};
        char *text;
        int r;

        ucs_text_appendf(&t, "%s%s%s=%s", rule->criteria, *rule->criteria ? " " : "", k->name, value);
        r = ucs_text_take(&t, &text, NULL);
        if (r < 0)
                return r;
        free(rule->criteria);
        rule->criteria = text;
        return 0;
}

int ucs_rule_set_assign(UcsRuleSet *s, const char *key, const char *value, UcsError *e) {
        const RuleKey *k = find_key(key);
        uint64_t bit;
        Rule *rule;
        int r;

        assert(s->n > s->n_ended);
        rule = &s->rules[s->n - 1];
        if (!k)
                return unknown_key(key, e);
        bit = UINT64_C(1) << (k - rule_keys);
        if (k->kind == RULE_ONCE && (rule->assigned & bit))
                return ucs_error_set(e, -EINVAL, "%s= is there twice in [%s], expected it once", k->name, rule->name);

        if (!*value || strlen(value) >= ITEM_MAX)
                r = -EINVAL;
        else
                r = k->kind == RULE_LIST ? parse_list(k, rule, value) : k->parse(k, rule, value);
        if (r >= 0 && k->judge)
                r = remember_criterion(rule, k, value);
        if (r == -ENOMEM)
                return ucs_error_set(e, r, "no memory for the rules");
        if (r < 0)
                return ucs_error_set(e, -EINVAL, "%s=%.80s: expected %s", k->name, value, k->expected);
        rule->assigned |= bit;
        return 0;
}

/* What a rule lacks, as the end of a sentence; NULL: nothing. */
static const char *find_fault(const Rule *r) {
        if ((int) r->action < 0)
                return "has no Action=, expected approve, block, allow, warn or reboot-risk";
        if (!r->reason && r->action != UCS_RULE_APPROVE)
                return "has no Reason=, expected one: people will ask";
        if (r->action != UCS_RULE_ALLOW)
                return NULL;
        if (!r->local)
                return "allows something; only rules in /etc may, expected it there";
        if (r->signatures.n == 0 && r->digests.n == 0)
                return "allows everything, expected Signature= or SHA256= in it";
        return NULL;
}

int ucs_rule_set_end(UcsRuleSet *s, UcsError *e) {
        for (size_t i = s->n_ended; i < s->n; i++) {
                const char *fault = find_fault(&s->rules[i]);

                if (fault)
                        return ucs_error_set(e, -EINVAL, "%s: rule [%s] %s", s->rules[i].origin, s->rules[i].name, fault);
        }
        s->n_ended = s->n;
        return 0;
}

/* --- asking --- */

bool ucs_rule_set_get(const UcsRuleSet *s, size_t i, UcsRuleMatch *ret) {
        const Rule *r;

        if (!s || i >= s->n_ended)
                return false;
        r = &s->rules[i];
        *ret = (UcsRuleMatch){ .action = r->action, .name = r->name, .origin = r->origin, .reason = r->reason, .reference = r->reference,
                               .criteria = r->criteria, .local = r->local };
        return true;
}

/* The weakest answer of all criteria. */
static RuleAnswer judge(const Rule *r, const UcsRuleSubject *about) {
        RuleAnswer weakest = RULE_YES;

        for (size_t i = 0; i < rule_n_keys && weakest > RULE_NO; i++)
                if (rule_keys[i].judge && (r->assigned & UINT64_C(1) << i))
                        weakest = MIN(weakest, rule_keys[i].judge(&rule_keys[i], r, about));
        return weakest;
}

/* How sure an action must be. */
static RuleAnswer least(UcsRuleAction a) {
        switch (a) {
        case UCS_RULE_APPROVE:
        case UCS_RULE_ALLOW:
                return RULE_YES;
        case UCS_RULE_BLOCK:
        case UCS_RULE_WARN:
        case UCS_RULE_REBOOT_RISK:
        case _UCS_RULE_ACTION_MAX:
        case _UCS_RULE_ACTION_INVALID:
                break;
        }
        return RULE_UNKNOWN;
}

bool ucs_rules_next(const UcsRuleSet *s, const UcsRuleSubject *about, size_t *i, UcsRuleMatch *ret) {
        while (s && *i < s->n_ended) {
                const Rule *r = &s->rules[(*i)++];

                if (judge(r, about) >= least(r->action))
                        return ucs_rule_set_get(s, *i - 1, ret);
        }
        return false;
}

bool ucs_rules_find(const UcsRuleSet *s, const UcsRuleSubject *about, UcsRuleAction action, UcsRuleMatch *ret) {
        UcsRuleMatch m;
        size_t i = 0;

        while (ucs_rules_next(s, about, &i, &m))
                if (m.action == action) {
                        *ret = m;
                        return true;
                }
        return false;
}

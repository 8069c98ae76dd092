/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rules, asked about the world; see trust.h. What the answers hold back is for gate-trust.c. */

#include "base/str.h"
#include "core/policy/trust.h"

static const UcsGroup *find_group(const UcsMachine *m, const UcsCandidate *k) {
        for (size_t i = 0; i < m->n_groups; i++)
                if (m->groups[i].signature == k->signature && m->groups[i].platform_mask == k->platform_mask)
                        return &m->groups[i];
        return NULL;
}

static UcsRuleSubject subject(const UcsWorld *w, const UcsCandidate *k) {
        const UcsGroup *g = find_group(w->machine, k);

        return (UcsRuleSubject){ .vendor = w->machine->vendor, .candidate = k, .lowest = g ? g->lowest_revision : 0,
                                 .highest = g ? g->highest_revision : 0, .kernel = w->kernel, .host = w->host };
}

UcsVerdict ucs_trust_verdict(const UcsWorld *w, const UcsCandidate *k, UcsRuleMatch *ret_block, UcsRuleMatch *ret_allow) {
        UcsRuleSubject about = subject(w, k);

        if (!ucs_rules_find(w->rules, &about, UCS_RULE_BLOCK, ret_block))
                return UCS_VERDICT_FREE;
        return ucs_rules_find(w->rules, &about, UCS_RULE_ALLOW, ret_allow) ? UCS_VERDICT_ALLOWED : UCS_VERDICT_BLOCKED;
}

bool ucs_trust_approved(const UcsWorld *w, const UcsCandidate *k) {
        UcsRuleSubject about = subject(w, k);
        UcsRuleMatch m;

        return ucs_rules_find(w->rules, &about, UCS_RULE_APPROVE, &m);
}

const UcsCandidate *ucs_trust_next(const UcsWorld *w, const UcsCandidate *also, size_t *i) {
        while (w->scan && *i < w->scan->n_candidates) {
                const UcsCandidate *k = &w->scan->candidates[(*i)++];

                if (k->finding == UCS_FOUND_NEWER || k == also)
                        return k;
        }
        return NULL;
}

/* A sentence, unless it is there already: rules that speak about several groups speak once. */
static int say(char ***l, const char *sentence) {
        for (char **s = *l; s && *s; s++)
                if (streq(*s, sentence))
                        return 0;
        return strv_push(l, sentence);
}

static int say_rule(char ***l, const UcsRuleMatch *m, const char *what) {
        UcsError text = {}; /* keeps a sentence whole characters long */

        (void) ucs_error_set(&text, -EINVAL, "%s: %s%s%s%s (rule '%s')", what, m->reason, m->reference ? " (" : "", m->reference ?: "",
                             m->reference ? ")" : "", m->name);
        return say(l, text.text);
}

static int advise_about(const UcsWorld *w, const UcsRuleSubject *about, bool loaded, char ***l) {
        UcsRuleMatch m, block;
        size_t i = 0;
        int r = 0;

        while (r >= 0 && ucs_rules_next(w->rules, about, &i, &m)) {
                switch (m.action) {
                case UCS_RULE_WARN:
                        r = loaded ? 0 : say_rule(l, &m, "Be warned");
                        break;
                case UCS_RULE_REBOOT_RISK:
                        r = say_rule(l, &m, loaded ? "A warm reboot may hang, power-cycle instead" : "After this load a warm reboot may hang, power-cycle instead");
                        break;
                case UCS_RULE_ALLOW:
                        if (!loaded && ucs_rules_find(w->rules, about, UCS_RULE_BLOCK, &block))
                                r = say_rule(l, &block, "Blocked elsewhere, allowed here");
                        break;
                case UCS_RULE_APPROVE:
                case UCS_RULE_BLOCK:
                case _UCS_RULE_ACTION_MAX:
                case _UCS_RULE_ACTION_INVALID:
                        break;
                }
        }
        return r;
}

int ucs_trust_advise(const UcsWorld *w, char ***ret) {
        _cleanup_strv_ char **l = NULL;
        const UcsCandidate *k;
        size_t i = 0;
        int r;

        while ((k = ucs_trust_next(w, NULL, &i))) {
                UcsRuleSubject about = subject(w, k);

                r = advise_about(w, &about, false, &l);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(l);
        return 0;
}

int ucs_trust_advise_after(const UcsWorld *w, const UcsCandidate *k, uint32_t from, char ***ret) {
        _cleanup_strv_ char **l = NULL;
        UcsRuleSubject about = subject(w, k);
        int r;

        about.lowest = about.highest = from;
        r = advise_about(w, &about, true, &l);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gates of those who vouch for an update or warn of it: denied, minrev, unapproved. Each asks about every group that the write would load
 * for: one that nobody vouches for is enough. */

#include "core/policy/gate.h"
#include "core/policy/trust.h"

bool ucs_gate_denied(const UcsCase *c, UcsBlockerReport *r) {
        UcsRuleMatch block, allow;
        const UcsCandidate *k;
        size_t i = 0;

        while ((k = ucs_trust_next(c->world, c->candidate, &i)))
                if (ucs_trust_verdict(c->world, k, &block, &allow) == UCS_VERDICT_BLOCKED)
                        return ucs_gate_say(r, 0, "Rule '%s' blocks 0x%x: %s%s%s%s", block.name, k->update.revision, block.reason,
                                            block.reference ? " (" : "", block.reference ?: "", block.reference ? ")" : "");
        return false;
}

static const UcsGroup *machine_group(const UcsMachine *m, uint32_t signature, uint32_t platform_mask) {
        for (size_t i = 0; i < m->n_groups; i++)
                if (m->groups[i].signature == signature && m->groups[i].platform_mask == platform_mask)
                        return &m->groups[i];
        return NULL;
}

bool ucs_gate_minrev(const UcsCase *c, UcsBlockerReport *r) {
        const UcsCandidate *k;
        size_t i = 0;

        if (c->config->trust != UCS_TRUST_MINREV)
                return false;
        while ((k = ucs_trust_next(c->world, NULL, &i))) {
                const UcsGroup *g = machine_group(c->world->machine, k->signature, k->platform_mask);

                if (ucs_trust_approved(c->world, k))
                        continue;
                if (k->update.min_revision == 0)
                        return ucs_gate_say(r, 0, "The vendor names no minimum revision from which 0x%x may be loaded late (Trust=minrev)",
                                            k->update.revision);
                if (g && g->lowest_revision < k->update.min_revision)
                        return ucs_gate_say(r, 0, "0x%x may be loaded late from revision 0x%x on, 0x%x runs (Trust=minrev)",
                                            k->update.revision, k->update.min_revision, g->lowest_revision);
        }
        return false;
}

bool ucs_gate_unapproved(const UcsCase *c, UcsBlockerReport *r) {
        const UcsCandidate *k;
        size_t i = 0;

        if (c->config->trust != UCS_TRUST_APPROVED)
                return false;
        while ((k = ucs_trust_next(c->world, c->candidate, &i)))
                if (!ucs_trust_approved(c->world, k))
                        return ucs_gate_say(r, 0, "No rule approves revision 0x%x (Trust=approved)", k->update.revision);
        return false;
}

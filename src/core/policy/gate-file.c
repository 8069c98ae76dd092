/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gates of the file and of those who vouch for it: manual, minrev, unapproved, refusal-predicted, rejected. */

#include <stdio.h>
#include <string.h>

#include "core/policy/gate.h"
#include "core/policy/preflight.h"

bool ucs_gate_manual(const UcsCase *c, UcsBlockerReport *r) {
        if (c->config->automatic || c->world->request.id != 0)
                return false;
        return ucs_gate_say(r, 0, "Updates are applied on request only (Automatic=no)");
}

static const UcsGroup *machine_group(const UcsMachine *m, uint32_t signature, uint32_t platform_mask) {
        for (size_t i = 0; i < m->n_groups; i++)
                if (m->groups[i].signature == signature && m->groups[i].platform_mask == platform_mask)
                        return &m->groups[i];
        return NULL;
}

/* One write loads for all groups: the vendor's minimum must be met in each that has something newer. */
bool ucs_gate_minrev(const UcsCase *c, UcsBlockerReport *r) {
        const UcsScan *scan = c->world->scan;

        if (c->config->trust != UCS_TRUST_MINREV)
                return false;
        for (size_t i = 0; i < scan->n_candidates; i++) {
                const UcsCandidate *k = &scan->candidates[i];
                const UcsGroup *g;

                if (k->finding != UCS_FOUND_NEWER)
                        continue;
                if (k->update.min_revision == 0)
                        return ucs_gate_say(r, 0, "The vendor names no minimum revision from which 0x%x may be loaded late (Trust=minrev)",
                                            k->update.revision);
                g = machine_group(c->world->machine, k->signature, k->platform_mask);
                if (g && g->lowest_revision < k->update.min_revision)
                        return ucs_gate_say(r, 0, "0x%x may be loaded late from revision 0x%x on, 0x%x runs (Trust=minrev)",
                                            k->update.revision, k->update.min_revision, g->lowest_revision);
        }
        return false;
}

bool ucs_gate_unapproved(const UcsCase *c, UcsBlockerReport *r) {
        if (c->config->trust != UCS_TRUST_APPROVED)
                return false;
        return ucs_gate_say(r, 0, "No rule approves revision 0x%x (Trust=approved)", c->candidate->update.revision);
}

/* Also where the kernel would call it success and do nothing: no write is made in vain. CPUs that are offline have a gate of their own, which waits for
 * them. */
bool ucs_gate_refusal_predicted(const UcsCase *c, UcsBlockerReport *r) {
        const UcsWorld *w = c->world;
        UcsPreflight p;

        if (w->machine->support != UCS_SUPPORT_LATE_LOAD)
                return false;
        ucs_preflight(w->machine, w->kernel, w->scan, &p);
        if (p.loads || p.cpus)
                return false;
        if (p.error == 0)
                return ucs_gate_say(r, 0, "The kernel would do nothing: %.220s", p.sentence);
        return ucs_gate_say(r, 0, "The kernel would answer %s: %.220s", strerrorname_np(p.error), p.sentence);
}

bool ucs_gate_rejected(const UcsCase *c, UcsBlockerReport *r) {
        const UcsRejection *x = ucs_state_rejection(c->state, c->candidate->digest);

        if (!x || x->suspect || (x->until_usec > 0 && c->world->realtime_usec >= x->until_usec))
                return false;
        return ucs_gate_say(r, x->until_usec, "This very file ended in '%s' here before; %s", ucs_result_to_string(x->result),
                            x->until_usec > 0 ? "it is tried again at the next window" :
                                                "a new file, or 'ucodectl acknowledge', clears this");
}

bool ucs_gate_suspect_crash(const UcsCase *c, UcsBlockerReport *r) {
        const UcsRejection *x = ucs_state_rejection(c->state, c->candidate->digest);

        if (!x || !x->suspect)
                return false;
        return ucs_gate_say(r, 0, "The machine went down, or misbehaved, after a load of this very file; 'ucodectl acknowledge' clears this");
}

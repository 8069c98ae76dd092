/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gates of the file: manual, refusal-predicted, rejected, suspect-crash. Those of the rules and of who vouches are in gate-trust.c. */

#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "core/policy/gate.h"
#include "core/policy/preflight.h"

bool ucs_gate_manual(const UcsCase *c, UcsBlockerReport *r) {
        if (c->config->automatic || c->world->request.id != 0)
                return false;
        return ucs_gate_say(r, 0, "Updates are applied on request only (Automatic=no)");
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

/* A rejection for a time is over when that has come, or when the clock was set back to well before it began: it might last for years then. */
static bool rejection_over(const UcsRejection *x, uint64_t now_usec) {
        return x->until_usec > 0 && (now_usec >= x->until_usec || now_usec + USEC_PER_HOUR < x->when_usec);
}

bool ucs_gate_rejected(const UcsCase *c, UcsBlockerReport *r) {
        const UcsRejection *x = ucs_state_rejection(c->state, c->candidate->digest);

        if (!x || x->suspect || rejection_over(x, c->world->realtime_usec))
                return false;
        if (x->until_usec > 0 && x->result != UCS_RESULT_BUSY) /* nothing is known against the file */
                return ucs_gate_say(r, x->until_usec, "A load of this file could not be begun, the journal says why; it is tried again within an hour, "
                                                      "or after 'ucodectl acknowledge'");
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Inside the policy room: what every gate is asked with, and the gates. A gate answers one question, "does this hold the update back
 * now?", and if so says why and until when. policy.c has the table; nobody else includes this. */

#include "core/policy/policy.h"

typedef struct UcsCase {
        const UcsConfig *config;
        const UcsState *state;
        const UcsWorld *world;
        const UcsCandidate *candidate; /* what the case is about; never NULL for a gate that needs one */

        /* computed once by ucs_case_schedule(), before the gates */
        UcsInterval window;   /* the open one or the next that is long enough, after spread and margin; start 0: none */
        UcsInterval blackout; /* the open one or the next; start 0: none */
        bool in_window, in_blackout;
} UcsCase;

/* True: it blocks; `r->sentence` and `r->clears_usec` are filled. */
typedef bool (*UcsGate)(const UcsCase *c, UcsBlockerReport *r);

/* gate-schedule.c */
void ucs_case_schedule(UcsCase *c);
bool ucs_gate_settle(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_window(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_blackout(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_load(const UcsCase *c, UcsBlockerReport *r);

/* The first moment at or after `from_usec` at which the schedule alone would let an update through; 0: unknown. */
uint64_t ucs_schedule_earliest(const UcsConfig *config, const UcsWorld *world, uint64_t from_usec);

/* gate-machine.c */
bool ucs_gate_config_invalid(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_unsupported(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_cpus_offline(const UcsCase *c, UcsBlockerReport *r);

/* gate-health.c */
bool ucs_gate_unhealthy(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_latency_critical(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_just_booted(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_shutdown(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_sleep(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_state_volatile(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_budget(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_early_loading_broken(const UcsCase *c, UcsBlockerReport *r);

/* gate-file.c */
bool ucs_gate_manual(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_refusal_predicted(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_rejected(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_suspect_crash(const UcsCase *c, UcsBlockerReport *r);

/* gate-trust.c */
bool ucs_gate_denied(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_minrev(const UcsCase *c, UcsBlockerReport *r);
bool ucs_gate_unapproved(const UcsCase *c, UcsBlockerReport *r);

/* gate.c: write the sentence; always returns true, so that a gate ends in `return ucs_gate_say(r, 0, "…")`. */
bool ucs_gate_say(UcsBlockerReport *r, uint64_t clears_usec, const char *format, ...) _printf_(3, 4);

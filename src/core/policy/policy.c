/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The decision. One pass: find what there is to load, ask every gate of the table, and derive from the set of blockers what is to be done and
 * when to look again. See policy.h for what this room promises; the gates are in gate-*.c. */

#include <stdio.h>

#include "base/enum.h"
#include "core/policy/gate.h"

static const char *const life_names[_UCS_LIFE_MAX] = {
        [UCS_LIFE_CURRENT] = "current", [UCS_LIFE_PENDING] = "pending",         [UCS_LIFE_APPLYING] = "applying",
        [UCS_LIFE_FAILED] = "failed",   [UCS_LIFE_UNSUPPORTED] = "unsupported",
};
DEFINE_ENUM_STRINGS(ucs_life, UcsLife, life_names);

/* The one table of gates, in the order in which people read them. `always`: asked even when there is nothing to load. */
static const struct {
        UcsBlocker blocker;
        UcsGate gate;
        bool always;
} gates[] = {
        { UCS_BLOCKER_CONFIG_INVALID, ucs_gate_config_invalid, true },
        { UCS_BLOCKER_UNSUPPORTED, ucs_gate_unsupported, true },
        { UCS_BLOCKER_SUSPECT_CRASH, ucs_gate_suspect_crash, false },
        { UCS_BLOCKER_REJECTED, ucs_gate_rejected, false },
        { UCS_BLOCKER_REFUSAL_PREDICTED, ucs_gate_refusal_predicted, false },
        { UCS_BLOCKER_DENIED, ucs_gate_denied, false },
        { UCS_BLOCKER_MINREV, ucs_gate_minrev, false },
        { UCS_BLOCKER_UNAPPROVED, ucs_gate_unapproved, false },
        { UCS_BLOCKER_CPUS_OFFLINE, ucs_gate_cpus_offline, false },
        { UCS_BLOCKER_SHUTDOWN, ucs_gate_shutdown, false },
        { UCS_BLOCKER_SLEEP, ucs_gate_sleep, false },
        { UCS_BLOCKER_UNHEALTHY, ucs_gate_unhealthy, false },
        { UCS_BLOCKER_STATE_VOLATILE, ucs_gate_state_volatile, false },
        { UCS_BLOCKER_EARLY_LOADING_BROKEN, ucs_gate_early_loading_broken, false },
        { UCS_BLOCKER_LATENCY_CRITICAL, ucs_gate_latency_critical, false },
        { UCS_BLOCKER_BUDGET, ucs_gate_budget, false },
        { UCS_BLOCKER_MANUAL, ucs_gate_manual, false },
        { UCS_BLOCKER_JUST_BOOTED, ucs_gate_just_booted, false },
        { UCS_BLOCKER_SETTLE, ucs_gate_settle, false },
        { UCS_BLOCKER_BLACKOUT, ucs_gate_blackout, false },
        { UCS_BLOCKER_WINDOW, ucs_gate_window, false },
        { UCS_BLOCKER_LOAD, ucs_gate_load, false },
};

/* While a CPU is missing, or a shutdown is scheduled that may be cancelled, the caller looks again: no event tells of either inside the sandbox. */
#define POLL_BITS (ucs_blocker_bit(UCS_BLOCKER_CPUS_OFFLINE) | ucs_blocker_bit(UCS_BLOCKER_SHUTDOWN))
#define SCHEDULE_BITS (ucs_blocker_bit(UCS_BLOCKER_WINDOW) | ucs_blocker_bit(UCS_BLOCKER_LOAD))

/* What a load would be about: something newer, or, for someone who wants the kernel's own answer, whatever file there is. */
static const UcsCandidate *find_candidate(const UcsScan *scan, uint64_t flags) {
        const UcsCandidate *k = ucs_scan_leading(scan);

        if (!k || k->finding == UCS_FOUND_NEWER)
                return k;
        return (flags & UCS_APPLY_DESPITE_PREDICTION) && k->path ? k : NULL;
}

static UcsBlockerSet ask_gates(const UcsCase *c, UcsDecision *d) {
        UcsBlockerSet set = 0;

        for (size_t i = 0; i < ELEMENTSOF(gates); i++) {
                UcsBlockerReport *r = &d->reports[d->n_reports];

                if (!c->candidate && !gates[i].always)
                        continue;
                if (!gates[i].gate(c, r))
                        continue;
                r->blocker = gates[i].blocker;
                set |= ucs_blocker_bit(r->blocker);
                d->n_reports++;
        }
        return set;
}

/* What still holds a load back, given what the request overrides. Under Require=any, who overrides one of the two has the other too. */
static UcsBlockerSet override(const UcsConfig *config, const UcsRequest *request, UcsBlockerSet set) {
        UcsBlockerSet holding;

        if (request->id == 0)
                return set;
        holding = ucs_blocker_set_override(set, request->flags);
        if (config->require == UCS_REQUIRE_ANY && (set & SCHEDULE_BITS) == SCHEDULE_BITS && (holding & SCHEDULE_BITS) != SCHEDULE_BITS)
                holding &= ~SCHEDULE_BITS;
        return holding;
}

/* The latest known clearing time of what holds, then the first moment from there at which the schedule agrees. */
static uint64_t find_earliest(const UcsCase *c, const UcsDecision *d) {
        uint64_t t = c->world->realtime_usec;

        if (!d->candidate)
                return 0;
        for (size_t i = 0; i < d->n_reports; i++) {
                const UcsBlockerReport *r = &d->reports[i];

                if (!(d->holding & ucs_blocker_bit(r->blocker)))
                        continue;
                if (r->blocker == UCS_BLOCKER_LOAD && r->clears_usec == 0)
                        continue; /* nobody knows when it gets quiet: say when everything else allows it */
                if (r->clears_usec == 0)
                        return 0;
                t = MAX(t, r->clears_usec);
        }
        if (c->world->request.flags & UCS_APPLY_IGNORE_SCHEDULE)
                return t;
        return ucs_schedule_earliest(c->config, c->world, t);
}

static void wake_at(uint64_t *earliest, uint64_t t, uint64_t now) {
        if (t > now && t != UINT64_MAX && (*earliest == 0 || t < *earliest))
                *earliest = t;
}

/* Every moment at which an answer can change by the clock alone. */
static void find_wakes(const UcsCase *c, UcsDecision *d) {
        uint64_t now = c->world->realtime_usec;

        if (!d->candidate)
                return;
        wake_at(&d->wake_realtime_usec, c->window.start_usec, now);
        wake_at(&d->wake_realtime_usec, c->window.end_usec, now);
        wake_at(&d->wake_realtime_usec, c->blackout.start_usec, now);
        wake_at(&d->wake_realtime_usec, c->blackout.end_usec, now);
        for (size_t i = 0; i < d->n_reports; i++)
                wake_at(&d->wake_realtime_usec, d->reports[i].clears_usec, now);
        if (!c->state->overdue && c->config->deadline_usec > 0)
                wake_at(&d->wake_realtime_usec, c->state->pending_since_usec + c->config->deadline_usec, now);
}

static UcsLife find_life(const UcsWorld *world, const UcsDecision *d) {
        const UcsBlockerSet failed = ucs_blocker_bit(UCS_BLOCKER_REJECTED) | ucs_blocker_bit(UCS_BLOCKER_SUSPECT_CRASH);

        if (world->applying)
                return UCS_LIFE_APPLYING;
        if (d->blocked & ucs_blocker_bit(UCS_BLOCKER_UNSUPPORTED))
                return UCS_LIFE_UNSUPPORTED;
        if (!d->candidate || d->candidate->finding != UCS_FOUND_NEWER)
                return UCS_LIFE_CURRENT;
        return d->blocked & failed ? UCS_LIFE_FAILED : UCS_LIFE_PENDING;
}

/* The judgement, without consequence. */
static void judge(const UcsConfig *config, const UcsState *state, const UcsWorld *world, UcsCase *c, UcsDecision *d) {
        UcsBlockerSet others;

        *c = (UcsCase){ .config = config, .state = state, .world = world };
        *d = (UcsDecision){};
        c->candidate = d->candidate = find_candidate(world->scan, world->request.id != 0 ? world->request.flags : 0);
        ucs_case_schedule(c);

        d->blocked = ask_gates(c, d);
        d->holding = override(config, &world->request, d->blocked);
        d->life = find_life(world, d);
        d->in_window = c->in_window && !c->in_blackout;
        d->window = c->window;
        d->load_quiet = ucs_load_tracker_quiet(&state->load, world->boottime_usec, config->quiet_usec);
        d->earliest_usec = find_earliest(c, d);
        find_wakes(c, d);

        /* The load costs a wake-up every two seconds: watch it only when nothing else stands in the way. */
        others = d->holding & ~ucs_blocker_bit(UCS_BLOCKER_LOAD);
        if (config->require == UCS_REQUIRE_ANY)
                others &= ~ucs_blocker_bit(UCS_BLOCKER_WINDOW);
        d->want_load_samples = d->candidate && !world->applying && (d->holding & ucs_blocker_bit(UCS_BLOCKER_LOAD)) && others == 0;
        d->want_cpu_poll = d->candidate && !world->applying && (d->holding & POLL_BITS);
}

/* The directories changed: scan when they have been quiet for SettleSec. The first scan is never put off. */
static void step_scan(const UcsConfig *config, UcsState *state, const UcsWorld *world, UcsDecision *d) {
        uint64_t due;

        if (!world->scan) {
                state->scanned_boottime_usec = world->firmware_changed_boottime_usec;
                d->effects |= UCS_EFFECT_SCAN;
                return;
        }
        if (world->applying || world->firmware_changed_boottime_usec == state->scanned_boottime_usec)
                return;
        due = world->firmware_changed_boottime_usec + config->settle_usec;
        if (world->boottime_usec < due) {
                wake_at(&d->wake_boottime_usec, due, world->boottime_usec);
                return;
        }
        state->scanned_boottime_usec = world->firmware_changed_boottime_usec;
        d->effects |= UCS_EFFECT_SCAN;
}

/* What is pending, since when; a bad file, once. */
static void step_candidate(UcsState *state, const UcsWorld *world, UcsDecision *d) {
        const UcsCandidate *leading = ucs_scan_leading(world->scan);
        bool newer = leading && leading->finding == UCS_FOUND_NEWER;

        if (leading && leading->error.code != 0) {
                if (!streq(state->bad_text, leading->error.text)) {
                        (void) snprintf(state->bad_text, sizeof(state->bad_text), "%s", leading->error.text);
                        d->effects |= UCS_EFFECT_CANDIDATE_REJECTED;
                }
        } else
                state->bad_text[0] = '\0';

        if (!newer) {
                if (state->pending_since_usec > 0) {
                        state->pending_since_usec = 0;
                        state->pending_revision = 0;
                        memset(state->pending_digest, 0, sizeof(state->pending_digest));
                        state->overdue = false;
                        d->effects |= UCS_EFFECT_SAVE;
                }
                return;
        }

        if (state->pending_since_usec == 0)
                state->pending_since_usec = world->realtime_usec;
        else if (ucs_digest_equal(state->pending_digest, leading->digest) && state->pending_revision == leading->update.revision)
                return;
        memcpy(state->pending_digest, leading->digest, sizeof(state->pending_digest));
        state->pending_revision = leading->update.revision;
        d->effects |= UCS_EFFECT_CANDIDATE_FOUND | UCS_EFFECT_SAVE;
}

/* What the files do not have any more. */
static void step_on_disk(UcsState *state, const UcsWorld *world, UcsDecision *d) {
        bool changed;

        d->n_downgrades = ucs_state_note_disk(state, world->scan, d->downgrades, &changed);
        if (d->n_downgrades > 0)
                d->effects |= UCS_EFFECT_PACKAGE_DOWNGRADED;
        if (changed)
                d->effects |= UCS_EFFECT_SAVE;
}

/* Whether a request can still come to something. */
static bool request_is_vain(const UcsDecision *d) {
        if (!d->candidate)
                return true;
        for (UcsBlocker b = 0; b < _UCS_BLOCKER_MAX; b++)
                if ((d->holding & ucs_blocker_bit(b)) && !ucs_blocker_clears_by_itself(b))
                        return true;
        return false;
}

void ucs_policy_step(const UcsConfig *config, UcsState *state, const UcsWorld *world, UcsDecision *ret) {
        UcsDecision d, scan = {};
        UcsCase c;

        if (world->load)
                ucs_load_tracker_feed(&state->load, world->load, config->threshold_ppm, config->guest_threshold_ppm);

        step_scan(config, state, world, &scan);
        if (scan.effects & UCS_EFFECT_SCAN && !world->scan) {
                /* nothing is known yet: the answer comes with the scan */
                judge(config, state, world, &c, ret);
                ret->effects = scan.effects;
                return;
        }

        step_candidate(state, world, &scan);
        judge(config, state, world, &c, &d);
        if (!d.want_load_samples && d.holding != 0 && state->load.quiet_since_boottime_usec > 0) {
                /* from now on the load is not watched: nobody can say that it is quiet */
                state->load.quiet_since_boottime_usec = 0;
                judge(config, state, world, &c, &d);
        }
        d.effects |= scan.effects;
        d.wake_boottime_usec = scan.wake_boottime_usec;
        step_on_disk(state, world, &d);

        if (state->pending_since_usec > 0 && !state->overdue && config->deadline_usec > 0 &&
            world->realtime_usec >= state->pending_since_usec + config->deadline_usec) {
                state->overdue = true;
                d.effects |= UCS_EFFECT_OVERDUE | UCS_EFFECT_SAVE;
        }

        if (world->applying) {
                *ret = d;
                return;
        }

        if (d.candidate && d.holding == 0 && !(d.effects & UCS_EFFECT_SCAN))
                d.effects |= UCS_EFFECT_APPLY;
        else if (world->request.id != 0 && !(d.effects & UCS_EFFECT_SCAN) && request_is_vain(&d))
                d.effects |= UCS_EFFECT_SETTLE_REQUEST;

        if (d.blocked != state->blocked) {
                state->blocked = d.blocked;
                if (d.blocked != 0)
                        d.effects |= UCS_EFFECT_DEFERRED;
        }
        *ret = d;
}

void ucs_policy_explain(const UcsConfig *config, const UcsState *state, const UcsWorld *world, uint64_t flags, UcsDecision *ret) {
        UcsWorld asked = *world;
        UcsCase c;

        asked.request = (UcsRequest){ .id = 1, .flags = flags };
        judge(config, state, &asked, &c, ret);
}

void ucs_policy_confirm(const UcsConfig *config, const UcsState *state, const UcsWorld *world, UcsDecision *ret) {
        UcsCase c;

        judge(config, state, world, &c, ret);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gates of time and load: settle, window, blackout, load. A window is entered after this host's spread and left early enough for
 * the forecast stall and a margin to fit; a blackout always wins. */

#include <stdio.h>

#include "base/timefmt.h"
#include "core/policy/gate.h"

/* What must be left of a window beyond the forecast: half a minute, but no more than a tenth of the window. */
#define MARGIN_USEC (30 * USEC_PER_SEC)
#define MARGIN_SHARE 10

/* How many windows are looked at for one that fits, and how often window and blackout may push each other on. */
#define LOOK_AHEAD_MAX 32

/* The part of a merged window in which this host may begin. False: nothing is left of it. */
static bool window_usable(const UcsConfig *config, const UcsWorld *world, const UcsInterval *w, UcsInterval *ret) {
        uint64_t length, spread, tail, forecast;

        if (w->end_usec == UINT64_MAX) { /* always open: there is no start to spread from */
                *ret = *w;
                return true;
        }

        length = w->end_usec - w->start_usec;
        spread = ucs_window_spread(length, config->spread_usec, world->spread_seed);
        forecast = world->forecast.high_nsec == UCS_UNKNOWN ? 0 : world->forecast.high_nsec / NSEC_PER_USEC;
        tail = forecast + MIN(MARGIN_USEC, length / MARGIN_SHARE);
        if (spread + tail >= length)
                return false;
        *ret = (UcsInterval){ w->start_usec + spread, w->end_usec - tail };
        return true;
}

/* The usable interval that holds `at` or comes next. */
static bool next_usable(const UcsConfig *config, const UcsWorld *world, uint64_t at_usec, UcsInterval *ret) {
        for (unsigned i = 0; i < LOOK_AHEAD_MAX; i++) {
                UcsInterval merged, usable;

                if (ucs_window_list_next(&config->windows, config->zone, at_usec, &merged) < 0)
                        return false;
                if (window_usable(config, world, &merged, &usable) && at_usec < usable.end_usec) {
                        *ret = usable;
                        return true;
                }
                at_usec = merged.end_usec;
        }
        return false;
}

void ucs_case_schedule(UcsCase *c) {
        uint64_t now = c->world->realtime_usec;

        if (next_usable(c->config, c->world, now, &c->window))
                c->in_window = ucs_interval_contains(&c->window, now);
        if (ucs_window_list_next(&c->config->blackouts, c->config->zone, now, &c->blackout) >= 0)
                c->in_blackout = ucs_interval_contains(&c->blackout, now);
}

int ucs_policy_next_window(const UcsConfig *config, const UcsWorld *world, uint64_t at_usec, UcsInterval *ret, bool *ret_blackout) {
        UcsInterval window, blackout;

        if (!next_usable(config, world, at_usec, &window))
                return -ENOENT;
        *ret_blackout = ucs_window_list_next(&config->blackouts, config->zone, window.start_usec, &blackout) >= 0 &&
                        ucs_interval_contains(&blackout, window.start_usec);
        *ret = window;
        return 0;
}

uint64_t ucs_schedule_earliest(const UcsConfig *config, const UcsWorld *world, uint64_t from_usec) {
        uint64_t t = from_usec;

        for (unsigned i = 0; i < LOOK_AHEAD_MAX; i++) {
                UcsInterval window, blackout;

                if (config->require == UCS_REQUIRE_ALL) {
                        if (!next_usable(config, world, t, &window))
                                return 0;
                        t = MAX(t, window.start_usec);
                }
                if (ucs_window_list_next(&config->blackouts, config->zone, t, &blackout) < 0 ||
                    !ucs_interval_contains(&blackout, t))
                        return t;
                if (blackout.end_usec == UINT64_MAX)
                        return 0;
                t = blackout.end_usec;
        }
        return 0;
}

bool ucs_gate_settle(const UcsCase *c, UcsBlockerReport *r) {
        const UcsWorld *w = c->world;
        uint64_t settle = c->config->settle_usec, clears = 0;
        char span[UCS_TIMESPAN_MAX];

        /* seen by inotify, on the clock that nobody sets */
        if (w->firmware_changed_boottime_usec > 0 && w->boottime_usec < w->firmware_changed_boottime_usec + settle)
                clears = w->realtime_usec + (w->firmware_changed_boottime_usec + settle - w->boottime_usec);

        /* and by the file's own time, for what happened while nobody watched; a time in the future says nothing */
        if (c->candidate->changed_usec <= w->realtime_usec && w->realtime_usec < c->candidate->changed_usec + settle)
                clears = MAX(clears, c->candidate->changed_usec + settle);

        if (clears == 0)
                return false;
        return ucs_gate_say(r, clears, "The firmware changed less than %s ago (SettleSec=)", ucs_format_timespan(span, settle));
}

bool ucs_gate_window(const UcsCase *c, UcsBlockerReport *r) {
        if (c->in_window || (c->config->require == UCS_REQUIRE_ANY &&
                             ucs_load_tracker_quiet(&c->state->load, c->world->boottime_usec, c->config->quiet_usec)))
                return false;
        if (c->config->windows.n == 0)
                return ucs_gate_say(r, 0, "No maintenance window is configured (Window=)");
        if (c->window.start_usec == 0)
                return ucs_gate_say(r, 0, "No maintenance window that comes is long enough for the forecast stall and the spread");
        return ucs_gate_say(r, c->window.start_usec, "Outside the maintenance windows of this host");
}

bool ucs_gate_blackout(const UcsCase *c, UcsBlockerReport *r) {
        if (!c->in_blackout)
                return false;
        return ucs_gate_say(r, c->blackout.end_usec == UINT64_MAX ? 0 : c->blackout.end_usec, "Inside a blackout (Blackout=)");
}

bool ucs_gate_load(const UcsCase *c, UcsBlockerReport *r) {
        const UcsLoadTracker *t = &c->state->load;
        const uint64_t now = c->world->boottime_usec;
        char span[UCS_TIMESPAN_MAX];

        if (ucs_load_tracker_quiet(t, c->world->boottime_usec, c->config->quiet_usec) ||
            (c->config->require == UCS_REQUIRE_ANY && c->in_window))
                return false;

        ucs_format_timespan(span, MAX(c->config->quiet_usec, UCS_LOAD_SAMPLE_USEC)); /* one sample at least */
        if (t->quiet_since_boottime_usec > 0) {
                bool watched = now >= t->last.boottime_usec && now - t->last.boottime_usec <= UCS_LOAD_HOLE_USEC;
                uint64_t since = watched ? t->quiet_since_boottime_usec : now; /* after a hole it counts from the next sample on */

                return ucs_gate_say(r, c->world->realtime_usec + (since + c->config->quiet_usec - now), "The machine must stay below the threshold for %s (QuietSec=)", span);
        }
        if (t->last.valid && t->last.value_ppm >= c->config->threshold_ppm)
                return ucs_gate_say(r, 0, "The load by %s is %.1f%%, not below %.1f%% (Threshold=)",
                                    ucs_load_metric_to_string(t->last.metric), t->last.value_ppm / 1e4,
                                    c->config->threshold_ppm / 1e4);
        if (t->last.valid && t->last.guest_ppm != UINT32_MAX && t->last.guest_ppm >= c->config->guest_threshold_ppm)
                return ucs_gate_say(r, 0, "Guests take %.1f%% of the CPU time, not below %.1f%% (GuestThreshold=)",
                                    t->last.guest_ppm / 1e4, c->config->guest_threshold_ppm / 1e4);
        return ucs_gate_say(r, 0, "The load has not been watched for %s yet (QuietSec=); it is once nothing else blocks", span);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the policy's effects mean, one function each, one table. */

#include <errno.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "daemon/message-ids.h"
#include "daemon/outlook.h"
#include "daemon/published.h"

static void effect_scan(Manager *m, const UcsDecision *d) {
        if (manager_scan(m) < 0)
                log_error("Out of memory while scanning the firmware directories");
        outlook_observe(m);
}

/* Fields that every event about a candidate has. */
static LogFields candidate_fields(Manager *m, const UcsCandidate *k, char hex[static UCS_DIGEST_HEX_MAX]) {
        const UcsGroup *g = manager_group(m);

        return (LogFields){ LOG_FIELDS_NONE,
                            .state = ucs_life_to_string(m->decision.life),
                            .old_revision = g ? g->lowest_revision : 0,
                            .new_revision = k ? k->update.revision : 0,
                            .path = k ? k->path : NULL,
                            .digest = k ? ucs_digest_format(hex, k->digest) : NULL };
}

static void effect_candidate_found(Manager *m, const UcsDecision *d) {
        const UcsCandidate *k = ucs_scan_leading(m->scan);
        char hex[UCS_DIGEST_HEX_MAX], date[UCS_DATE_MAX], path[sizeof(((Published *) NULL)->candidate_path)];
        LogFields f = candidate_fields(m, k, hex);

        log_event(LOG_NOTICE, UCS_MESSAGE_CANDIDATE_FOUND, &f, "Update found: revision 0x%x%s%s%s in %s, 0x%x runs", k->update.revision,
                  ucs_update_date(date, k->update.date) ? " of " : "", ucs_update_date(date, k->update.date) ?: "", "", k->path,
                  f.old_revision);
        str_clean(path, sizeof(path), k->path);
        (void) sd_bus_emit_signal(m->bus, UCS_BUS_PATH, UCS_MANAGER_INTERFACE, "CandidateFound", "us", k->update.revision, path);
        manager_advise(m);
}

static void effect_candidate_rejected(Manager *m, const UcsDecision *d) {
        const UcsCandidate *k = ucs_scan_leading(m->scan);
        char hex[UCS_DIGEST_HEX_MAX];
        LogFields f = candidate_fields(m, k, hex);

        log_event(LOG_WARNING, UCS_MESSAGE_CANDIDATE_REJECTED, &f, "Firmware file not usable: %s; it is ignored until it changes", k->error.text);
}

static void effect_package_downgraded(Manager *m, const UcsDecision *d) {
        for (size_t i = 0; i < d->n_downgrades; i++) {
                const UcsCandidate *k = d->downgrades[i].now;
                uint32_t from = d->downgrades[i].from, running = 0;
                char hex[UCS_DIGEST_HEX_MAX], now[32];
                LogFields f = candidate_fields(m, k, hex);

                for (size_t g = 0; g < m->machine->n_groups; g++)
                        if (m->machine->groups[g].signature == k->signature && m->machine->groups[g].platform_mask == k->platform_mask)
                                running = m->machine->groups[g].highest_revision;
                f.old_revision = from;
                f.new_revision = k->on_disk;
                if (!k->path)
                        f.digest = NULL;
                (void) snprintf(now, sizeof(now), "has 0x%x", k->on_disk);
                log_event(running == from ? LOG_WARNING : LOG_NOTICE, UCS_MESSAGE_PACKAGE_DOWNGRADED, &f, "Revision 0x%x was taken back: %s %s now; 0x%x runs%s", from,
                          k->path ?: "no file for this CPU", !k->path ? "is there" : k->on_disk > 0 ? now : "has nothing for this CPU", running,
                          running == from ? ", and goes on until the next boot" : "");
        }
}

static void effect_deferred(Manager *m, const UcsDecision *d) {
        char hex[UCS_DIGEST_HEX_MAX], when[UCS_TIMESTAMP_MAX];
        _cleanup_text_ UcsText names = {}, sentences = {};
        LogFields f = candidate_fields(m, d->candidate, hex);

        for (size_t i = 0; i < d->n_reports; i++) {
                ucs_text_appendf(&names, "%s%s", i > 0 ? " " : "", ucs_blocker_to_string(d->reports[i].blocker));
                ucs_text_appendf(&sentences, "%s%s", i > 0 ? "; " : "", d->reports[i].sentence);
        }
        f.blocked_by = names.data;
        f.window = d->window.start_usec == 0          ? NULL :
                   d->window.end_usec == UINT64_MAX ? "always" :
                                                      ucs_format_utc(when, d->window.start_usec);
        if (d->candidate)
                log_event(LOG_INFO, UCS_MESSAGE_DEFERRED, &f, "Update to 0x%x waits: %s", d->candidate->update.revision, sentences.data);
        else
                log_event(LOG_INFO, UCS_MESSAGE_DEFERRED, &f, "Updates cannot be loaded now: %s", sentences.data);
}

static void effect_overdue(Manager *m, const UcsDecision *d) {
        char hex[UCS_DIGEST_HEX_MAX], since[UCS_TIMESTAMP_MAX];
        LogFields f = candidate_fields(m, d->candidate, hex);

        log_event(LOG_WARNING, UCS_MESSAGE_OVERDUE, &f, "An update has been pending since %s, longer than DeadlineSec= allows; it goes on waiting",
                  ucs_format_utc(since, m->state.pending_since_usec));
}

static void effect_apply(Manager *m, const UcsDecision *d) {
        int r;

        r = apply_begin(m, d);
        if (r < 0)
                log_error("The load could not be begun: %s", strerror(-r));
}

static void effect_settle_request(Manager *m, const UcsDecision *d) {
        const UcsGroup *g = manager_group(m);
        uint32_t revision = g ? g->lowest_revision : 0;

        if (d->candidate) {
                log_info("Request %u is given up, what holds it back does not clear by itself", m->request.id);
                manager_end_request(m, UCS_RESULT_CANCELLED, revision, revision, UCS_UNKNOWN);
        } else {
                log_info("Request %u has nothing left to do", m->request.id);
                manager_end_request(m, UCS_RESULT_NO_CHANGE, revision, revision, UCS_UNKNOWN);
        }
}

static void effect_save(Manager *m, const UcsDecision *d) {
        manager_save_state(m);
}

/* In the order in which they are carried out. */
static const struct {
        unsigned effect;
        void (*carry_out)(Manager *m, const UcsDecision *d);
} effects[] = {
        { UCS_EFFECT_SAVE, effect_save },
        { UCS_EFFECT_CANDIDATE_REJECTED, effect_candidate_rejected },
        { UCS_EFFECT_PACKAGE_DOWNGRADED, effect_package_downgraded },
        { UCS_EFFECT_CANDIDATE_FOUND, effect_candidate_found },
        { UCS_EFFECT_OVERDUE, effect_overdue },
        { UCS_EFFECT_DEFERRED, effect_deferred },
        { UCS_EFFECT_SETTLE_REQUEST, effect_settle_request },
        { UCS_EFFECT_APPLY, effect_apply },
        { UCS_EFFECT_SCAN, effect_scan }, /* last: it replaces what the others point to */
};

void manager_carry_out(Manager *m, const UcsDecision *d) {
        for (size_t i = 0; i < ELEMENTSOF(effects); i++)
                if (d->effects & effects[i].effect)
                        effects[i].carry_out(m, d);
}

void manager_end_request(Manager *m, UcsResult result, uint32_t old_revision, uint32_t new_revision, uint64_t stall_nsec) {
        uint32_t id = m->request.id;

        m->request = (UcsRequest){};
        (void) sd_bus_emit_signal(m->bus, UCS_BUS_PATH, UCS_MANAGER_INTERFACE, "Applied", "uuuts", id, old_revision, new_revision, stall_nsec,
                                  ucs_result_to_string(result));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* After a load: four looks at the kernel's log within ProbationSec=, and the question at a start whether the machine went down in between. A bad
 * sign makes the load `regressed` and its file suspect; nothing is undone, since nothing can be. */

#include <errno.h>

#include "core/record/symptom.h"
#include "daemon/kernel-log.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "daemon/message-ids.h"
#include "os/clock.h"

/* The history's last load of this file, for its new result. */
static UcsHistoryEntry *find_load(Manager *m, const UcsProbation *p) {
        for (size_t i = m->history.n_entries; i > 0; i--)
                if (m->history.entries[i - 1].when_usec == p->since_usec && ucs_digest_equal(m->history.entries[i - 1].digest, p->digest))
                        return &m->history.entries[i - 1];
        return NULL;
}

static void end(Manager *m) {
        m->state.probation = (UcsProbation){};
        m->probation_timer = sd_event_source_disable_unref(m->probation_timer);
}

static void fail(Manager *m, const char *what, const char *evidence) {
        UcsProbation p = m->state.probation;
        UcsHistoryEntry *h = find_load(m, &p);
        UcsRejection x = { .result = UCS_RESULT_REGRESSED, .when_usec = p.since_usec, .suspect = true };
        char hex[UCS_DIGEST_HEX_MAX];
        LogFields f = { LOG_FIELDS_NONE, .state = "failed", .digest = ucs_digest_format(hex, p.digest), .result = ucs_result_to_string(UCS_RESULT_REGRESSED) };

        if (h) {
                _cleanup_free_ char *note = NULL;

                h->result = UCS_RESULT_REGRESSED;
                if (asprintf(&note, "%s%s%s: %s", h->note ?: "", h->note ? "; " : "", what, evidence) >= 0)
                        (void) str_replace(&h->note, note);
                f.old_revision = h->old_revision;
                f.new_revision = h->new_revision;
                f.path = h->path;
        }
        memcpy(x.digest, p.digest, sizeof(x.digest));
        ucs_state_reject(&m->state, &x);
        end(m);
        manager_save_history(m);
        manager_save_state(m);
        log_event(LOG_CRIT, UCS_MESSAGE_REGRESSED, &f, "After the load of 0x%x: %s: %s. %s", f.new_revision, what, evidence,
                  ucs_result_advice(UCS_RESULT_REGRESSED, NULL));
}

/* Read the log up to now. */
static void look(Manager *m) {
        UcsProbation *p = &m->state.probation;
        uint64_t now = ucs_clock_realtime_usec();
        _cleanup_strv_ char **lines = NULL;
        const char *first;
        unsigned symptoms;
        int r;

        r = kernel_log_since(m->kernel_log, p->read_until_usec, &lines);
        if (r < 0)
                log_debug("The kernel's log cannot be read during probation: %s", strerror(-r));
        symptoms = ucs_symptoms(lines, UCS_SYMPTOMS_OF_REGRESSION, &first) & UCS_SYMPTOMS_OF_REGRESSION;
        if (symptoms) {
                fail(m, ucs_symptom_describe(symptoms & -symptoms), first);
                return;
        }
        p->read_until_usec = now;
        if (now >= p->until_usec) {
                log_info("The probation of the last load is over, nothing bad was seen");
                end(m);
        }
        manager_save_state(m);
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;

        if (m->state.probation.since_usec > 0)
                look(m);
        probation_arm(m);
        manager_evaluate(m, NULL);
        return 0;
}

void probation_arm(Manager *m) {
        uint64_t next = ucs_probation_next(&m->state.probation);
        int r;

        m->probation_timer = sd_event_source_disable_unref(m->probation_timer);
        if (next == 0)
                return;
        r = sd_event_add_time(m->event, &m->probation_timer, CLOCK_REALTIME, next, 10 * USEC_PER_SEC, on_time, m);
        if (r < 0)
                log_error("The next look at the kernel's log cannot be planned: %s", strerror(-r));
}

void probation_begin(Manager *m, const uint8_t digest[static UCS_DIGEST_SIZE], uint64_t when_usec) {
        UcsProbation *p = &m->state.probation;

        if (m->config->probation_usec == 0)
                return;
        *p = (UcsProbation){ .since_usec = when_usec, .until_usec = when_usec + m->config->probation_usec, .read_until_usec = ucs_clock_realtime_usec() };
        memcpy(p->digest, digest, sizeof(p->digest));
        memcpy(p->boot_id, m->boot_id, sizeof(p->boot_id));
        probation_arm(m);
}

void probation_start(Manager *m) {
        UcsProbation *p = &m->state.probation;

        if (p->since_usec == 0)
                return;
        if (ucs_probation_unclean(p, m->boot_id)) {
                fail(m, "the machine went down", "there was no orderly stop before this boot");
                return;
        }
        if (!streq(p->boot_id, m->boot_id)) { /* an orderly reboot: the CPUs start from firmware and initramfs again */
                log_info("The machine was rebooted in order during the probation of the last load, it is over");
                end(m);
                manager_save_state(m);
                return;
        }
        p->clean = false;
        manager_save_state(m);
        if (ucs_clock_realtime_usec() >= ucs_probation_next(p))
                look(m);
        probation_arm(m);
}

void probation_stop(Manager *m) {
        if (m->state.probation.since_usec == 0)
                return;
        m->state.probation.clean = true;
        manager_save_state(m);
}

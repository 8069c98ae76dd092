/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One load, from the decision to its end: announce, observe afresh and decide again (any change undoes it), put the intent on disk, let the
 * reload thread write and witness, and look at every CPU. What came of it is verdict.c's. Nothing here decides whether a load may happen. */

#include <errno.h>

#include "base/timefmt.h"
#include "core/record/intent.h"
#include "core/record/symptom.h"
#include "daemon/apply.h"
#include "daemon/message-ids.h"
#include "daemon/outlook.h"
#include "daemon/stall-report.h"
#include "daemon/verdict.h"
#include "os/clock.h"
#include "os/state.h"

/* The kernel's own timeouts end a load within seconds; one that is still not back after this hangs in the kernel. */
#define HANG_USEC (2 * USEC_PER_MINUTE)

/* From the end of the write to reading the kernel's log. */
#define LOG_SETTLE_USEC (300 * USEC_PER_MSEC)

Apply *apply_free(Apply *a) {
        if (!a)
                return NULL;
        if (a->reload) {
                UcsReloadOutcome o = {};

                ucs_reload_finish(a->reload, &o);
                ucs_stall_done(&o.stall);
        }
        sd_event_source_disable_unref(a->done);
        sd_event_source_disable_unref(a->hang);
        ucs_stall_done(&a->outcome.stall);
        aftermath_done(&a->aftermath);
        ucs_machine_free(a->before);
        free(a->candidate.path);
        free(a);
        return NULL;
}
DEFINE_CLEANUP(Apply *, apply_free);

static void announce(Manager *m, bool active) {
        (void) sd_bus_emit_signal(m->bus, UCS_BUS_PATH, UCS_MANAGER_INTERFACE, "PrepareForApply", "b", active);
}

static int intent_write(Manager *m, const Apply *a) {
        UcsIntent i = { .signature = a->candidate.signature, .platform_mask = a->candidate.platform_mask, .from = a->old_revision,
                        .to = a->candidate.update.revision, .when_usec = a->begun_usec, .id = a->request.id,
                        .uid = a->request.id != 0 ? a->request.uid : UINT32_MAX, .path = a->candidate.path };
        _cleanup_free_ char *text = NULL;
        UcsError e = {};
        size_t size;
        int r;

        memcpy(i.boot_id, m->boot_id, sizeof(i.boot_id));
        memcpy(i.digest, a->candidate.digest, sizeof(i.digest));
        r = ucs_intent_format(&i, &text, &size);
        if (r < 0)
                (void) ucs_error_set(&e, r, "%s", strerror(-r));
        else
                r = ucs_state_write(m->root_fd, UCS_STATE_DIRECTORY, UCS_INTENT_NAME, text, size, &e);
        if (r < 0)
                log_error("The intent cannot be put on disk: %s; without it a crash could not be recognised, nothing is loaded", e.text);
        return r;
}

/* What the request's flags really put aside. */
static void say_override(Manager *m, const Apply *a, const UcsDecision *d) {
        _cleanup_text_ UcsText names = {};
        char hex[UCS_DIGEST_HEX_MAX];
        LogFields f;

        for (size_t i = 0; i < d->n_reports; i++)
                ucs_text_appendf(&names, "%s%s", i > 0 ? " " : "", ucs_blocker_to_string(d->reports[i].blocker));
        if (!names.data)
                return;
        f = verdict_fields(a, "applying", hex);
        f.blocked_by = names.data;
        log_event(LOG_WARNING, UCS_MESSAGE_OVERRIDE_USED, &f, "Request %u of user %u overrides: %s", a->request.id, a->request.uid, names.data);
}

static uint32_t lowest_revision(const UcsMachine *machine, const UcsCandidate *k) {
        for (size_t i = 0; i < machine->n_groups; i++)
                if (machine->groups[i].signature == k->signature && machine->groups[i].platform_mask == k->platform_mask)
                        return machine->groups[i].lowest_revision;
        return 0;
}

static void apply_end(Apply *a, UcsReloadOutcome *o) {
        Manager *m = a->manager;
        Verdict v = {};
        bool changed;

        aftermath_look(m, &a->aftermath);
        a->before = TAKE_PTR(m->machine);
        if (manager_observe_cpus(m, DEPTH_DETAILS) < 0 || !m->machine) {
                log_error("Out of memory after the load");
                m->machine = TAKE_PTR(a->before);
        }
        v.result = ucs_result_judge(&(UcsAttempt){ .open_errno = o->open_errno,
                                                   .write_errno = o->write_errno,
                                                   .signature = a->candidate.signature,
                                                   .platform_mask = a->candidate.platform_mask,
                                                   .target_revision = a->candidate.update.revision,
                                                   .digest_rejected = a->aftermath.symptoms & UCS_SYMPTOM_DIGEST,
                                                   .before = a->before,
                                                   .after = m->machine->n_cpus > 0 ? m->machine : NULL },
                                    &v.laggards);
        v.new_revision = lowest_revision(m->machine, &a->candidate);
        changed = v.result == UCS_RESULT_SUCCESS || v.result == UCS_RESULT_MIXED_REVISIONS || v.result == UCS_RESULT_UNEXPECTED_REVISION;
        if (changed)
                aftermath_note_enclaves(m, &a->aftermath);
        if (changed && v.result != UCS_RESULT_UNEXPECTED_REVISION) /* rules are about what was meant */
                manager_note_risks(m, &a->candidate, a->old_revision, &a->aftermath.note);

        verdict_write_down(m, a, o, &v);
        if (changed)
                probation_begin(m, a->candidate.digest, a->begun_usec);
        recover_seen(m, true);
        /* The state comes first: an intent whose load is in the history counts as written down altogether, and its rejection is in the state. */
        manager_save_state(m);
        manager_save_history(m);
        manager_close_intent(m);

        ucs_stall_done(&m->stall);
        m->stall = o->stall; /* with what it owns */
        o->stall = (UcsStall){};
        ucs_forecast(m->machine, &m->kernel, &m->history, &m->forecast);
        if (manager_scan(m) < 0)
                log_error("Out of memory while scanning the firmware directories");
        outlook_observe(m);

        m->apply = NULL;
        announce(m, false);
        manager_publish_stall(m);
        manager_end_request(m, v.result, a->old_revision, v.new_revision, m->stall.stall_nsec);
}

static int on_settled(sd_event_source *source, uint64_t usec, void *userdata) {
        Apply *a = userdata;
        Manager *m = a->manager;

        apply_end(a, &a->outcome);
        apply_free(a);
        if (m->exit_requested)
                manager_exit(m, 0);
        else
                manager_evaluate(m, NULL);
        return 0;
}

static int on_done(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Apply *a = userdata;
        int r;

        ucs_reload_finish(TAKE_PTR(a->reload), &a->outcome);
        a->done = sd_event_source_disable_unref(a->done);
        a->hang = sd_event_source_disable_unref(a->hang);

        /* what the kernel printed takes a moment on its way into the journal */
        r = sd_event_add_time_relative(a->manager->event, &a->done, CLOCK_BOOTTIME, LOG_SETTLE_USEC, 1, on_settled, a);
        return r < 0 ? on_settled(NULL, 0, a) : 0;
}

static int on_hang(sd_event_source *source, uint64_t usec, void *userdata) {
        Apply *a = userdata;
        char hex[UCS_DIGEST_HEX_MAX];
        LogFields f = verdict_fields(a, "applying", hex);

        f.result = ucs_result_to_string(UCS_RESULT_TIMEOUT);
        log_event(LOG_CRIT, UCS_MESSAGE_APPLY_FAILED, &f, "The kernel has not answered for two minutes: %s", ucs_result_advice(UCS_RESULT_TIMEOUT, NULL));
        return 0;
}

/* Look at everything once more. False: it is not the load that was decided on. */
static bool still_right(Manager *m, const UcsDecision *d, const UcsCandidate *k, UcsDecision *ret) {
        UcsWorld world;

        if (manager_observe_cpus(m, DEPTH_DETAILS) < 0 || manager_scan(m) < 0)
                return false;
        manager_world(m, NULL, &world);
        ucs_policy_confirm(m->config, &m->state, &world, ret);
        return ret->candidate && ret->holding == 0 && ucs_digest_equal(ret->candidate->digest, k->digest) &&
               ret->candidate->update.revision == k->update.revision;
}

static int copy_candidate(Apply *a, const UcsCandidate *k) {
        a->candidate = *k;
        a->candidate.update.also = NULL;
        a->candidate.update.n_also = 0;
        a->candidate.path = strdup(k->path);
        return a->candidate.path ? 0 : -ENOMEM;
}

/* It could not be begun: say why, and do not try in a circle. */
static int give_up(Manager *m, Apply *a, int error, const char *what) {
        UcsRejection x = { .result = UCS_RESULT_IO_ERROR, .when_usec = a->begun_usec, .until_usec = a->begun_usec + VERDICT_RETRY_USEC };

        log_error("%s: %s; it is tried again in an hour", what, strerror(-error));
        memcpy(x.digest, a->candidate.digest, sizeof(x.digest));
        ucs_state_reject(&m->state, &x);
        (void) ucs_state_remove(m->root_fd, UCS_STATE_DIRECTORY, UCS_INTENT_NAME);
        announce(m, false);
        manager_end_request(m, UCS_RESULT_CANCELLED, a->old_revision, a->old_revision, UCS_UNKNOWN);
        return error;
}

int apply_begin(Manager *m, const UcsDecision *d) {
        _cleanup_(apply_freep) Apply *a = NULL;
        _cleanup_(ucs_witness_closep) UcsWitness *witness = NULL;
        char hex[UCS_DIGEST_HEX_MAX], forecast[STALL_FORECAST_MAX];
        UcsDecision again;
        UcsError e = {};
        LogFields f;
        bool dry;
        int r;

        a = new0(Apply, 1);
        if (!a)
                return -ENOMEM;
        a->manager = m;
        a->request = m->request;
        a->begun_usec = ucs_clock_realtime_usec();
        r = copy_candidate(a, d->candidate);
        if (r < 0)
                return r;

        dry = a->request.flags & UCS_APPLY_DRY_RUN && a->request.id != 0;
        if (!dry) /* nothing is loaded: nobody has to prepare for it */
                announce(m, true);
        if (!still_right(m, d, &a->candidate, &again)) {
                log_info("Things changed at the last moment, the load is put off");
                if (!dry)
                        announce(m, false);
                return 0;
        }
        a->old_revision = lowest_revision(m->machine, &a->candidate);
        manager_preflight(m, &a->foretold);

        if (dry) {
                log_info("Dry run: revision 0x%x from %s would be loaded now", a->candidate.update.revision, a->candidate.path);
                manager_end_request(m, UCS_RESULT_NO_CHANGE, a->old_revision, a->old_revision, UCS_UNKNOWN);
                return 0;
        }

        say_override(m, a, &again);
        f = verdict_fields(a, "applying", hex);
        manager_say_allowed(m, &f);
        manager_say_before_load(m);
        r = intent_write(m, a);
        if (r < 0)
                return give_up(m, a, r, "The load was not begun");

        r = ucs_witness_open(m->root_fd, m->config->witness, m->machine, &witness, &e);
        if (r < 0)
                return give_up(m, a, r, "No witness of the stall");
        stall_say_witnesses(witness, &e);

        f = verdict_fields(a, "applying", hex);
        f.witness = ucs_witness_to_string(ucs_witness_kind(witness));
        log_event(LOG_NOTICE, UCS_MESSAGE_APPLY_STARTED, &f, "Loading 0x%x from %s on %zu CPUs, which run 0x%x; %s", a->candidate.update.revision,
                  a->candidate.path, m->machine->n_cpus, a->old_revision, stall_format_forecast(forecast, &m->forecast));

        aftermath_mark(m, &a->aftermath);
        r = ucs_reload_start(m->root_fd, witness, &a->reload);
        if (r < 0)
                return give_up(m, a, r, "The thread of the load cannot be started");
        TAKE_PTR(witness);
        r = sd_event_add_io(m->event, &a->done, ucs_reload_fd(a->reload), EPOLLIN, on_done, a);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &a->hang, CLOCK_BOOTTIME, HANG_USEC, 0, on_hang, a);
        if (r < 0)
                return give_up(m, a, r, "The load cannot be followed"); /* apply_free() waits for the thread */
        m->apply = TAKE_PTR(a);
        return 0;
}

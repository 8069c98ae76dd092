/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What came of a load, written down: its entry in the history, its events in the journal, and whether its file may be tried again. */

#include <errno.h>

#include "base/timefmt.h"
#include "daemon/apply.h"
#include "daemon/message-ids.h"
#include "daemon/stall-report.h"
#include "daemon/verdict.h"
#include "os/clock.h"

LogFields verdict_fields(const Apply *a, const char *state, char hex[static UCS_DIGEST_HEX_MAX]) {
        LogFields f = { LOG_FIELDS_NONE,
                        .state = state,
                        .old_revision = a->old_revision,
                        .new_revision = a->candidate.update.revision,
                        .path = a->candidate.path,
                        .digest = ucs_digest_format(hex, a->candidate.digest),
                        .predicted = a->foretold.error == 0 ? "success" : strerrorname_np(a->foretold.error) };

        if (a->request.id != 0)
                f.uid = a->request.uid;
        return f;
}

/* When a file that met a busy kernel is tried again: when the missing CPUs are there (the blocker cpus-offline waits for them), else at the next
 * window. 0: no rejection is needed. A kernel that was busy although it was foretold to do without those that are offline is taken to want them all,
 * or it would be asked in a circle. */
static uint64_t busy_until(Manager *m) {
        UcsWorld world;
        UcsInterval w;
        bool blackout;
        uint64_t now = ucs_clock_realtime_usec();
        UcsCpuSet missing;

        ucs_preflight_missing_cpus(m->machine, &m->kernel, &missing);
        if (ucs_cpuset_count(&missing) > 0)
                return 0;
        if (ucs_cpuset_count(&m->machine->offline_siblings) > 0) {
                m->all_cpus_demanded = true;
                return 0;
        }
        manager_world(m, NULL, &world);
        if (ucs_policy_next_window(m->config, &world, now, &w, &blackout) < 0)
                return now + VERDICT_RETRY_USEC;
        if (!ucs_interval_contains(&w, now))
                return w.start_usec;
        if (w.end_usec != UINT64_MAX && ucs_policy_next_window(m->config, &world, w.end_usec, &w, &blackout) >= 0)
                return w.start_usec;
        return now + VERDICT_RETRY_USEC;
}

static void reject(Manager *m, const Apply *a, UcsResult result) {
        UcsRejection x = { .result = result, .when_usec = a->begun_usec };

        if (!ucs_result_rejects(result))
                return;
        if (result == UCS_RESULT_BUSY) {
                x.until_usec = busy_until(m);
                if (x.until_usec == 0)
                        return;
        }
        memcpy(x.digest, a->candidate.digest, sizeof(x.digest));
        ucs_state_reject(&m->state, &x);
}

static void record(Manager *m, const Apply *a, const UcsReloadOutcome *o, const Verdict *v) {
        UcsHistoryEntry h = {
                .when_usec = a->begun_usec,
                .id = a->request.id,
                .result = v->result,
                .signature = a->candidate.signature,
                .platform_mask = a->candidate.platform_mask,
                .old_revision = a->old_revision,
                .target_revision = a->candidate.update.revision,
                .new_revision = v->new_revision,
                .predicted_errno = a->foretold.error,
                .write_errno = o->open_errno ?: o->write_errno,
                .flags = a->request.flags,
                .uid = a->request.id != 0 ? a->request.uid : UINT32_MAX,
                .n_cpus = (uint32_t) m->machine->n_cpus,
                .witness = o->stall.witness,
                .stall_nsec = o->stall.stall_nsec,
                .worst_nsec = o->stall.worst_nsec,
                .write_nsec = o->stall.write_nsec,
                .worst_cpu = o->stall.worst_cpu,
                .tsc_hz = o->stall.tsc_hz,
        };
        uint64_t budget = m->config->max_stall_nsec;

        memcpy(h.witnessed, o->stall.witnessed, sizeof(h.witnessed));
        memcpy(h.digest, a->candidate.digest, sizeof(h.digest));
        memcpy(h.boot_id, m->boot_id, sizeof(h.boot_id));
        h.path = strdup(a->candidate.path);
        if (a->aftermath.note)
                h.note = strdup(a->aftermath.note);
        if (v->result == UCS_RESULT_MIXED_REVISIONS)
                (void) ucs_cpuset_format(&v->laggards, &h.cpus);
        if (!h.path || ucs_history_add(&m->history, &h, budget) < 0) {
                log_error("Out of memory: this load is not in the history");
                ucs_history_entry_done(&h);
        }
}

static void say_result(Manager *m, const Apply *a, const UcsReloadOutcome *o, const Verdict *v) {
        /* a kernel from before 6.6 says success to nearly everything: without a change that is good news only where the target runs */
        bool good = v->result == UCS_RESULT_SUCCESS || (v->result == UCS_RESULT_NO_CHANGE && v->new_revision == a->candidate.update.revision);
        char hex[UCS_DIGEST_HEX_MAX], stall[UCS_TIMESPAN_MAX], write[UCS_TIMESPAN_MAX];
        _cleanup_free_ char *list = NULL;
        int answer = o->open_errno ?: o->write_errno;
        LogFields f = verdict_fields(a, good ? "current" : "failed", hex);

        f.new_revision = v->new_revision;
        f.result = ucs_result_to_string(v->result);
        f.stall_nsec = o->stall.stall_nsec;
        f.stall_ticks = o->stall.stall_ticks;
        f.worst_cpu = o->stall.worst_cpu;
        f.write_nsec = o->stall.write_nsec;
        f.witness = ucs_witness_to_string(o->stall.witness);

        ucs_format_stall(stall, o->stall.stall_nsec);
        ucs_format_stall(write, o->stall.write_nsec);
        if (good)
                log_event(LOG_NOTICE, UCS_MESSAGE_APPLIED, &f, "Microcode 0x%x -> 0x%x on %zu CPUs, the machine stood still for %s (%s, write %s): %s",
                          a->old_revision, v->new_revision, m->machine->n_cpus, stall, ucs_witness_to_string(o->stall.witness), write,
                          ucs_result_advice(v->result, NULL));
        else
                log_event(v->result == UCS_RESULT_UNEXPECTED_REVISION ? LOG_CRIT : LOG_ERR, UCS_MESSAGE_APPLY_FAILED, &f,
                          "Load of 0x%x from %s ended in '%s' (the kernel said %s%s): %s", a->candidate.update.revision, a->candidate.path,
                          ucs_result_to_string(v->result), o->open_errno ? "at open: " : "",
                          answer == 0 ? "success" : strerror(answer), ucs_result_advice(v->result, &v->laggards));

        if (a->aftermath.changed && *a->aftermath.changed)
                log_event(LOG_WARNING, UCS_MESSAGE_FEATURES_CHANGED, &f, "CPU features changed with the load: %s; programs that looked before may fail", a->aftermath.changed);
        if (a->aftermath.note)
                log_line(LOG_WARNING, "After the load: %s", a->aftermath.note);
        if (v->result == UCS_RESULT_MIXED_REVISIONS && ucs_cpuset_format(&v->laggards, &list) >= 0)
                log_event(LOG_CRIT, UCS_MESSAGE_REVISIONS_MIXED, &f, "CPUs %s kept an older revision than 0x%x", list, a->candidate.update.revision);
        stall_say_over_budget(m, &o->stall, &f);
        manager_say_answer(&a->foretold, answer);
}

void verdict_write_down(Manager *m, const Apply *a, const UcsReloadOutcome *o, const Verdict *v) {
        record(m, a, o, v);
        say_result(m, a, o, v);
        reject(m, a, v->result);
}

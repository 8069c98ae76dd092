/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The methods that change something: Check, Apply, Cancel, Acknowledge, ReloadConfig. Each asks first who is calling. */

#include <errno.h>
#include <inttypes.h>

#include "daemon/bus-error.h"
#include "daemon/bus-methods.h"
#include "daemon/log.h"
#include "daemon/outlook.h"
#include "os/clock.h"

/* Look at everything afresh: CPUs, support, firmware. */
static void look_afresh(Manager *m) {
        if (m->apply)
                return;
        if (manager_observe_cpus(m, DEPTH_WHOLE) > 0)
                recover_seen(m, false);
        if (manager_scan(m) < 0)
                log_error("Out of memory while scanning the firmware directories");
        m->state.scanned_boottime_usec = m->firmware_changed_boottime_usec;
        outlook_observe(m);
        manager_evaluate(m, NULL);
}

int method_check(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        uint32_t uid;
        int r;

        r = bus_require_root(message, &uid, error);
        if (r < 0)
                return r;
        if (!m->watch && !m->apply) { /* inotify was not to be had before */
                r = manager_watch(m);
                if (r < 0)
                        return r;
        }
        look_afresh(m);
        return sd_bus_reply_method_return(message, NULL);
}

/* The first thing that holds a request back and that no waiting will clear, as an error; 0: there is none. */
static int refuse_blocked(const UcsDecision *d, sd_bus_error *error) {
        _cleanup_text_ UcsText t = {};
        bool denied = false;

        for (size_t i = 0; i < d->n_reports; i++) {
                const UcsBlockerReport *r = &d->reports[i];

                if (!(d->holding & ucs_blocker_bit(r->blocker)) || ucs_blocker_clears_by_itself(r->blocker))
                        continue;
                ucs_text_appendf(&t, "%s%s: %s", t.length > 0 ? "; " : "", ucs_blocker_to_string(r->blocker), r->sentence);
                denied = denied || r->blocker == UCS_BLOCKER_DENIED;
        }
        if (!t.data)
                return 0;
        return sd_bus_error_setf(error, denied ? UCS_ERROR_DENIED : UCS_ERROR_BLOCKED, "%s", t.data);
}

int method_apply(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        UcsDecision d;
        UcsWorld world;
        uint64_t flags;
        uint32_t uid;
        int r;

        r = sd_bus_message_read(message, "t", &flags);
        if (r < 0)
                return r;
        r = bus_require_root(message, &uid, error);
        if (r < 0)
                return r;
        if (flags & ~(uint64_t) _UCS_APPLY_ALL)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Flags 0x%" PRIx64 " have unknown bits, known are 0x%x", flags, _UCS_APPLY_ALL);
        if (m->apply)
                return sd_bus_error_set(error, UCS_ERROR_BUSY, "A load is under way");
        if (m->request.id != 0)
                return sd_bus_error_setf(error, UCS_ERROR_BUSY, "Request %u is waiting already; cancel it first", m->request.id);

        look_afresh(m);
        if (m->config_error)
                return sd_bus_error_setf(error, UCS_ERROR_CONFIG_INVALID, "Nothing is applied until the configuration is right: %s", m->config_error);
        if (m->machine->support != UCS_SUPPORT_LATE_LOAD)
                return sd_bus_error_setf(error, UCS_ERROR_NOT_SUPPORTED, "Nothing can be loaded late here: %s",
                                         ucs_support_reason_describe(m->machine->reason));

        manager_world(m, NULL, &world);
        ucs_policy_explain(m->config, &m->state, &world, flags, &d);
        if (!d.candidate)
                return sd_bus_error_set(error, UCS_ERROR_NO_CANDIDATE, "Nothing newer than what runs was found");
        r = refuse_blocked(&d, error);
        if (r < 0)
                return r;

        m->request = (UcsRequest){ .id = ++m->last_id, .flags = flags, .uid = uid };
        log_info("Request %u of user %u: load 0x%x, flags 0x%" PRIx64, m->request.id, uid, d.candidate->update.revision, flags);
        r = sd_bus_reply_method_return(message, "u", m->request.id);
        manager_evaluate(m, NULL); /* the answer goes first: the end is a signal */
        return r;
}

int method_cancel(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        const UcsGroup *g = manager_group(m);
        uint32_t id, uid, revision = g ? g->lowest_revision : 0;
        int r;

        r = sd_bus_message_read(message, "u", &id);
        if (r < 0)
                return r;
        r = bus_require_root(message, &uid, error);
        if (r < 0)
                return r;
        if (m->apply)
                return sd_bus_error_set(error, UCS_ERROR_BUSY, "The load has begun, it cannot be taken back");
        if (m->request.id == 0 || m->request.id != id)
                return sd_bus_error_setf(error, UCS_ERROR_NO_CANDIDATE, "There is no request %u", id);

        log_info("Request %u is cancelled by user %u", id, uid);
        r = sd_bus_reply_method_return(message, NULL);
        manager_end_request(m, UCS_RESULT_CANCELLED, revision, revision, UCS_UNKNOWN);
        manager_evaluate(m, NULL);
        return r;
}

int method_acknowledge(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        uint8_t digest[UCS_DIGEST_SIZE];
        const char *hex;
        uint32_t uid;
        int r;

        r = sd_bus_message_read(message, "s", &hex);
        if (r < 0)
                return r;
        r = bus_require_root(message, &uid, error);
        if (r < 0)
                return r;
        if (ucs_digest_parse(hex, digest) < 0)
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "Expected a SHA-256 of 64 hexadecimal digits");
        if (!ucs_state_acknowledge(&m->state, digest))
                return sd_bus_error_set(error, UCS_ERROR_NO_CANDIDATE, "No file with this SHA-256 was rejected here");
        manager_save_state(m);
        log_line(LOG_NOTICE, "User %u acknowledges what happened with the file of SHA-256 %s; it may be tried again", uid, hex);
        r = sd_bus_reply_method_return(message, NULL);
        manager_evaluate(m, NULL);
        return r;
}

int method_reload_config(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;
        UcsError e = {};
        uint32_t uid;
        int r;

        r = bus_require_root(message, &uid, error);
        if (r < 0)
                return r;
        if (m->apply)
                return sd_bus_error_set(error, UCS_ERROR_BUSY, "A load is under way");
        r = manager_reload_config(m, &e);
        if (r < 0)
                return sd_bus_error_setf(error, UCS_ERROR_CONFIG_INVALID, "%s", e.text);
        return sd_bus_reply_method_return(message, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The methods that only tell: NextWindows, CanApply, Explain, ListProcessors, ListHistory. Everyone may ask. */

#include <errno.h>

#include "daemon/bus-error.h"
#include "daemon/bus-methods.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "os/clock.h"

#define WINDOWS_MAX 1000U

int method_next_windows(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Manager *m = userdata;
        UcsWorld world;
        uint64_t after;
        uint32_t max;
        int r;

        r = sd_bus_message_read(message, "tu", &after, &max);
        if (r < 0)
                return r;
        if (max > WINDOWS_MAX)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "At most %u windows at a time, %u were asked for", WINDOWS_MAX, max);
        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'a', "(tts)");
        if (r < 0)
                return r;

        manager_world(m, NULL, &world);
        if (after == 0)
                after = world.realtime_usec;
        for (uint32_t i = 0; i < max; i++) {
                UcsInterval w;
                bool blackout;

                if (ucs_policy_next_window(m->config, &world, after, &w, &blackout) < 0)
                        break;
                r = sd_bus_message_append(reply, "(tts)", w.start_usec, w.end_usec, blackout ? "blackout" : "");
                if (r < 0)
                        return r;
                if (w.end_usec == UINT64_MAX)
                        break;
                after = w.end_usec;
        }
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

int method_can_apply(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Manager *m = userdata;
        UcsDecision d;
        UcsWorld world;
        sd_bus_error refusal = SD_BUS_ERROR_NULL;
        uint32_t uid;
        int r;

        manager_world(m, NULL, &world);
        ucs_policy_explain(m->config, &m->state, &world, 0, &d);
        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = sd_bus_message_append(reply, "s", bus_require_root(message, &uid, &refusal) >= 0 && d.candidate && !m->apply ? "yes" : "no");
        sd_bus_error_free(&refusal);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'a', "s");
        if (r < 0)
                return r;
        for (size_t i = 0; i < d.n_reports; i++)
                if (d.holding & ucs_blocker_bit(d.reports[i].blocker)) {
                        r = sd_bus_message_append(reply, "s", ucs_blocker_to_string(d.reports[i].blocker));
                        if (r < 0)
                                return r;
                }
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

int method_explain(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        UcsBlockerReport holding[_UCS_BLOCKER_MAX];
        Manager *m = userdata;
        uint64_t flags;
        UcsPreflight foretold;
        UcsDecision d;
        UcsWorld world;
        size_t n = 0;
        int r;

        r = sd_bus_message_read(message, "t", &flags);
        if (r < 0)
                return r;
        if (flags & ~(uint64_t) _UCS_APPLY_ALL)
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Flags have unknown bits, known are 0x%x", _UCS_APPLY_ALL);

        manager_world(m, NULL, &world);
        ucs_policy_explain(m->config, &m->state, &world, flags, &d);
        for (size_t i = 0; i < d.n_reports; i++)
                if (d.holding & ucs_blocker_bit(d.reports[i].blocker))
                        holding[n++] = d.reports[i];

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = bus_append_reports(reply, holding, n);
        if (r < 0)
                return r;
        manager_preflight(m, &foretold);
        r = sd_bus_message_append(reply, "itt", foretold.error, m->forecast.low_nsec, m->forecast.high_nsec);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

int method_list_processors(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Manager *m = userdata;
        int r;

        if (!m->apply) /* during a load the CPUs belong to it */
                (void) manager_observe_cpus(m, DEPTH_DETAILS);
        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'a', "(uuuuuu)");
        if (r < 0)
                return r;
        for (size_t i = 0; i < m->machine->n_cpus; i++) {
                const UcsCpu *c = &m->machine->cpus[i];

                r = sd_bus_message_append(reply, "(uuuuuu)", c->cpu, c->signature, c->platform_mask, c->revision, c->package,
                                          c->apic_id == UCS_ID_UNKNOWN ? UCS_ID_UNKNOWN : c->apic_id >> 4);
                if (r < 0)
                        return r;
        }
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

/* One field of an entry; `signature` is one basic type. */
static int append_field(sd_bus_message *reply, const char *name, char type, const void *value) {
        const char signature[] = { type, '\0' };
        _cleanup_free_ char *clean = NULL;
        int r;

        if (type == 's') { /* names of files, and what the history file says */
                size_t size = value ? strlen(value) + 1 : 1;

                clean = malloc(size);
                if (!clean)
                        return -ENOMEM;
                str_clean(clean, size, value ?: "");
                value = clean;
        }

        r = sd_bus_message_open_container(reply, 'e', "sv");
        if (r < 0)
                return r;
        r = sd_bus_message_append(reply, "s", name);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'v', signature);
        if (r < 0)
                return r;
        r = sd_bus_message_append_basic(reply, type, value);
        if (r < 0)
                return r;
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(reply);
}

static int append_witnesses_field(sd_bus_message *reply, const UcsHistoryEntry *h) {
        int r;

        r = sd_bus_message_open_container(reply, 'e', "sv");
        if (r < 0)
                return r;
        r = sd_bus_message_append(reply, "s", "Witnesses");
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'v', "a{st}");
        if (r < 0)
                return r;
        r = bus_append_witnesses(reply, h->witnessed);
        if (r < 0)
                return r;
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(reply);
}

static int append_entry(sd_bus_message *reply, const UcsHistoryEntry *h) {
        char hex[UCS_DIGEST_HEX_MAX];
        const struct {
                const char *name;
                char type;
                const void *value;
        } fields[] = {
                { "When", 't', &h->when_usec },
                { "Id", 'u', &h->id },
                { "Result", 's', ucs_result_to_string(h->result) },
                { "Signature", 'u', &h->signature },
                { "PlatformMask", 'u', &h->platform_mask },
                { "OldRevision", 'u', &h->old_revision },
                { "TargetRevision", 'u', &h->target_revision },
                { "NewRevision", 'u', &h->new_revision },
                { "Path", 's', h->path },
                { "Digest", 's', ucs_digest_format(hex, h->digest) },
                { "PredictedErrno", 'i', &h->predicted_errno },
                { "WriteErrno", 'i', &h->write_errno },
                { "Flags", 't', &h->flags },
                { "UID", 'u', &h->uid },
                { "CPUs", 'u', &h->n_cpus },
                { "Witness", 's', ucs_witness_to_string(h->witness) },
                { "StallNSec", 't', &h->stall_nsec },
                { "WorstNSec", 't', &h->worst_nsec },
                { "WorstCPU", 'u', &h->worst_cpu },
                { "WriteNSec", 't', &h->write_nsec },
                { "TSCHz", 't', &h->tsc_hz },
                { "Laggards", 's', h->cpus },
                { "Note", 's', h->note },
                { "BootID", 's', h->boot_id },
        };
        int r;

        r = sd_bus_message_open_container(reply, 'a', "{sv}");
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                r = append_field(reply, fields[i].name, fields[i].type, fields[i].value);
                if (r < 0)
                        return r;
        }
        r = append_witnesses_field(reply, h);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(reply);
}

int method_list_history(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Manager *m = userdata;
        uint32_t max;
        int r;

        r = sd_bus_message_read(message, "u", &max);
        if (r < 0)
                return r;
        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'a', "a{sv}");
        if (r < 0)
                return r;
        if (max == 0)
                max = UINT32_MAX;
        for (size_t i = m->history.n_entries; i > 0 && max > 0; i--, max--) { /* newest first */
                r = append_entry(reply, &m->history.entries[i - 1]);
                if (r < 0)
                        return r;
        }
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

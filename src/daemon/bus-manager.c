/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.ucodesync1.Manager: the table of its properties, and the vtable. The methods are in bus-methods.c. */

#include <errno.h>

#include "daemon/bus-methods.h"
#include "daemon/published.h"

/* One line a property: name, signature, member of Published, computed when read. */
#define PROPERTIES(X)                                                                                          \
        X("Support", "s", support, false)                                                                      \
        X("SupportReason", "s", support_reason, false)                                                         \
        X("State", "s", state, false)                                                                          \
        X("BlockedBy", "as", blockers, false)                                                                  \
        X("Blockers", "a(sst)", blockers, false)                                                               \
        X("Advice", "as", advice, false)                                                                       \
        X("Signature", "u", signature, false)                                                                  \
        X("PlatformMask", "u", platform_mask, false)                                                           \
        X("RunningRevision", "u", running_revision, false)                                                     \
        X("MixedRevisions", "b", mixed, false)                                                                 \
        X("Groups", "a(uuuuu)", groups, false)                                                                 \
        X("CandidateRevision", "u", candidate_revision, false)                                                 \
        X("CandidatePath", "s", candidate_path, false)                                                         \
        X("CandidateDate", "s", candidate_date, false)                                                         \
        X("CandidateMinRevision", "u", candidate_min_revision, false)                                          \
        X("CandidateDigest", "s", candidate_digest, false)                                                     \
        X("EarlyRevision", "u", early_revision, false)                                                         \
        X("EarlyPath", "s", early_path, false)                                                                 \
        X("RebootRequired", "b", reboot_required, false)                                                       \
        X("MitigationsNeedReboot", "b", mitigations_need_reboot, false)                                        \
        X("Overdue", "b", overdue, false)                                                                      \
        X("PendingSinceUSec", "t", pending_since_usec, false)                                                  \
        X("ProbationUntilUSec", "t", probation_until_usec, false)                                              \
        X("LastApplyUSec", "t", last_apply_usec, false)                                                        \
        X("LastResult", "s", last_result, false)                                                               \
        X("LastOldRevision", "u", last_old_revision, false)                                                    \
        X("LastNewRevision", "u", last_new_revision, false)                                                    \
        X("InWindow", "b", in_window, true)                                                                    \
        X("NextWindowStartUSec", "t", next_window_start_usec, true)                                            \
        X("NextWindowEndUSec", "t", next_window_end_usec, true)                                                \
        X("EarliestApplyUSec", "t", earliest_apply_usec, true)                                                 \
        X("LoadQuiet", "b", load_quiet, true)                                                                  \
        X("ForecastStallNSec", "t", forecast_nsec, true)                                                       \
        X("AppliedTotal", "t", applied_total, true)                                                            \
        X("FailedTotal", "t", failed_total, true)

#define TABLE_ROW(n, s, member, c)                                                                             \
        { .name = n, .signature = s, .offset = offsetof(Published, member), .size = sizeof(((Published *) NULL)->member), .computed = c },
const ManagerProperty manager_properties[] = { PROPERTIES(TABLE_ROW) };
const size_t n_manager_properties = ELEMENTSOF(manager_properties);

static int append_advice(sd_bus_message *reply, const Published *p) {
        int r;

        r = sd_bus_message_open_container(reply, 'a', "s");
        if (r < 0)
                return r;
        for (size_t i = 0; i < p->advice.n; i++) {
                r = sd_bus_message_append(reply, "s", p->advice.sentences[i]);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

static int append_blocked_by(sd_bus_message *reply, const Published *p) {
        int r;

        r = sd_bus_message_open_container(reply, 'a', "s");
        if (r < 0)
                return r;
        for (size_t i = 0; i < p->blockers.n; i++) {
                r = sd_bus_message_append(reply, "s", ucs_blocker_to_string(p->blockers.reports[i].blocker));
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

int bus_append_reports(sd_bus_message *reply, const UcsBlockerReport *reports, size_t n) {
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(sst)");
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                r = sd_bus_message_append(reply, "(sst)", ucs_blocker_to_string(reports[i].blocker), reports[i].sentence, reports[i].clears_usec);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

static int append_groups(sd_bus_message *reply, const Published *p) {
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(uuuuu)");
        if (r < 0)
                return r;
        for (size_t i = 0; i < p->groups.n; i++) {
                const PublishedGroup *g = &p->groups.groups[i];

                r = sd_bus_message_append(reply, "(uuuuu)", g->signature, g->platform_mask, g->n_cpus, g->lowest_revision, g->candidate_revision);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

int manager_property_append(sd_bus_message *message, const ManagerProperty *property, const Published *p) {
        const void *value = (const char *) p + property->offset;
        const char *s = property->signature;

        if (streq(s, "as"))
                return property->offset == offsetof(Published, advice) ? append_advice(message, p) : append_blocked_by(message, p);
        if (streq(s, "a(sst)"))
                return bus_append_reports(message, p->blockers.reports, p->blockers.n);
        if (streq(s, "a(uuuuu)"))
                return append_groups(message, p);
        if (streq(s, "s")) /* a pointer into a table, or text kept in place */
                return sd_bus_message_append_basic(message, 's', property->size == sizeof(const char *) ? *(const char *const *) value : value);
        return sd_bus_message_append_basic(message, s[0], value);
}

static int property_get(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                        sd_bus_error *error) {
        Manager *m = userdata;

        for (size_t i = 0; i < n_manager_properties; i++) {
                const ManagerProperty *property = &manager_properties[i];
                _cleanup_free_ Published *fresh = NULL;
                UcsDecision d;
                UcsWorld world;

                if (!streq(property->name, name))
                        continue;
                if (!property->computed)
                        return manager_property_append(reply, property, m->published);

                fresh = new0(Published, 1);
                if (!fresh)
                        return -ENOMEM;
                manager_world(m, NULL, &world);
                ucs_policy_confirm(m->config, &m->state, &world, &d);
                published_fill(m, &d, fresh);
                return manager_property_append(reply, property, fresh);
        }
        return -ENXIO;
}

static int property_get_load(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                             sd_bus_error *error) {
        const UcsLoadSample *s = manager_shown_load(userdata);

        if (streq(name, "LoadMetric"))
                return sd_bus_message_append(reply, "s", s->valid ? ucs_load_metric_to_string(s->metric) : "unknown");
        if (streq(name, "LoadValue"))
                return sd_bus_message_append(reply, "d", s->valid ? s->value_ppm / 1e6 : -1.0);
        return sd_bus_message_append(reply, "d", s->valid && s->guest_ppm != UINT32_MAX ? s->guest_ppm / 1e6 : -1.0);
}

static int property_get_const(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                              sd_bus_error *error) {
        Manager *m = userdata;

        return sd_bus_message_append(reply, "s", streq(name, "Version") ? UCS_VERSION : ucs_vendor_to_string(m->machine->vendor));
}

#define VTABLE_ROW(n, s, member, c) SD_BUS_PROPERTY(n, s, property_get, 0, c ? 0 : SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),

const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_METHOD_WITH_ARGS("Check", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_check, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Apply", SD_BUS_ARGS("t", flags), SD_BUS_RESULT("u", id), method_apply, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Cancel", SD_BUS_ARGS("u", id), SD_BUS_NO_RESULT, method_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Acknowledge", SD_BUS_ARGS("s", sha256), SD_BUS_NO_RESULT, method_acknowledge, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("NextWindows", SD_BUS_ARGS("t", after_usec, "u", count), SD_BUS_RESULT("a(tts)", windows), method_next_windows,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("CanApply", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", answer, "as", blockers), method_can_apply, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("t", flags),
                                SD_BUS_RESULT("a(sst)", blockers, "i", predicted_errno, "t", forecast_low_nsec, "t", forecast_high_nsec), method_explain,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListProcessors", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(uuuuuu)", processors), method_list_processors,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ListHistory", SD_BUS_ARGS("u", max), SD_BUS_RESULT("aa{sv}", entries), method_list_history,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("ReloadConfig", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload_config, SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_PROPERTY("Version", "s", property_get_const, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Vendor", "s", property_get_const, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTIES(VTABLE_ROW)
        SD_BUS_PROPERTY("LoadMetric", "s", property_get_load, 0, 0),
        SD_BUS_PROPERTY("LoadValue", "d", property_get_load, 0, 0),
        SD_BUS_PROPERTY("GuestShare", "d", property_get_load, 0, 0),

        SD_BUS_SIGNAL_WITH_ARGS("CandidateFound", SD_BUS_ARGS("u", revision, "s", path), 0),
        SD_BUS_SIGNAL_WITH_ARGS("PrepareForApply", SD_BUS_ARGS("b", start), 0),
        SD_BUS_SIGNAL_WITH_ARGS("Applied",
                                SD_BUS_ARGS("u", id, "u", old_revision, "u", new_revision, "t", stall_nsec, "s", result), 0),
        SD_BUS_VTABLE_END,
};

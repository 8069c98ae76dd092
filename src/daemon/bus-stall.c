/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.ucodesync1.Stall: for how long the machine stood still in the last load, and in all of them. */

#include "daemon/bus-methods.h"
#include "daemon/published.h"
#include "daemon/stall-report.h"

int bus_append_witnesses(sd_bus_message *m, const UcsWitnessed *witnessed) {
        int r;

        r = sd_bus_message_open_container(m, 'a', "{st}");
        if (r < 0)
                return r;
        for (UcsWitnessKind k = _UCS_WITNESS_MAX - 1; k > UCS_WITNESS_NONE; k--) {
                if (!witnessed[k].on)
                        continue;
                r = sd_bus_message_append(m, "{st}", ucs_witness_to_string(k), witnessed[k].nsec);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(m);
}

static int property_get_witness(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                                sd_bus_error *error) {
        Manager *m = userdata;

        return sd_bus_message_append(reply, "s", m->stall.witness == UCS_WITNESS_NONE ? "" : ucs_witness_to_string(m->stall.witness));
}

static int property_get_witnesses(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                                  sd_bus_error *error) {
        Manager *m = userdata;

        return bus_append_witnesses(reply, m->stall.witnessed);
}

static int property_get_mixed(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                              sd_bus_error *error) {
        _cleanup_free_ char *list = NULL;
        Manager *m = userdata;
        int r;

        r = ucs_stall_format_mixed(&m->stall, &list);
        if (r < 0)
                return r;
        return sd_bus_message_append(reply, "s", list);
}

static int property_get_histogram(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                                  sd_bus_error *error) {
        Manager *m = userdata;
        int r;

        r = sd_bus_message_open_container(reply, 'a', "(tt)");
        if (r < 0)
                return r;
        for (size_t i = 0; i < UCS_STALL_BUCKETS; i++) {
                r = sd_bus_message_append(reply, "(tt)", ucs_stall_bounds_nsec[i], m->history.totals.buckets[i]);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(reply);
}

static int method_get_per_cpu(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Manager *m = userdata;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(reply, 'a', "(uuuttt)");
        if (r < 0)
                return r;
        for (size_t i = 0; i < m->stall.n_cpus; i++) {
                const UcsCpuStall *c = &m->stall.cpus[i];

                r = sd_bus_message_append(reply, "(uuuttt)", c->cpu, c->apic_id, c->cluster, c->stall_nsec, c->entry_nsec, c->exit_nsec);
                if (r < 0)
                        return r;
        }
        r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        return sd_bus_send(NULL, reply, NULL);
}

/* A figure of the last load, or a counter over all, straight from the manager. */
#define FIGURE(name, signature, member) SD_BUS_PROPERTY(name, signature, NULL, offsetof(Manager, member), SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)

const sd_bus_vtable stall_vtable[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_METHOD_WITH_ARGS("GetPerCPU", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(uuuttt)", cpus), method_get_per_cpu, SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_PROPERTY("Witness", "s", property_get_witness, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Witnesses", "a{st}", property_get_witnesses, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        FIGURE("StallNSec", "t", stall.stall_nsec),
        FIGURE("WorstNSec", "t", stall.worst_nsec),
        FIGURE("WorstCPU", "u", stall.worst_cpu),
        FIGURE("MedianNSec", "t", stall.median_nsec),
        FIGURE("P99NSec", "t", stall.p99_nsec),
        FIGURE("StallTicks", "t", stall.stall_ticks),
        FIGURE("WorstTicks", "t", stall.worst_ticks),
        FIGURE("TSCHz", "t", stall.tsc_hz),
        FIGURE("EntrySpreadNSec", "t", stall.entry_spread_nsec),
        FIGURE("ExitSpreadNSec", "t", stall.exit_spread_nsec),
        FIGURE("WriteNSec", "t", stall.write_nsec),
        FIGURE("StealNSec", "t", stall.steal_nsec),
        FIGURE("CPUsWitnessed", "u", stall.n_witnessed),
        FIGURE("CPUsMissing", "u", stall.n_missing),
        SD_BUS_PROPERTY("MixedCPUs", "s", property_get_mixed, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        FIGURE("StallCount", "t", history.totals.count),
        FIGURE("StallTotalNSec", "t", history.totals.total_nsec),
        FIGURE("StallMaxNSec", "t", history.totals.max_nsec),
        FIGURE("OverBudgetTotal", "t", history.totals.over_budget),
        SD_BUS_PROPERTY("Histogram", "a(tt)", property_get_histogram, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),

        SD_BUS_SIGNAL_WITH_ARGS("StallMeasured",
                                SD_BUS_ARGS("t", when_usec, "t", stall_nsec, "t", worst_nsec, "t", write_nsec, "s", witness), 0),
        SD_BUS_SIGNAL_WITH_ARGS("StallOverBudget", SD_BUS_ARGS("t", when_usec, "t", stall_nsec, "t", budget_nsec, "s", witness), 0),
        SD_BUS_VTABLE_END,
};

/* All of them change with a load, and only then. A load at which nothing stood still was not measured. */
void manager_publish_stall(Manager *m) {
        (void) sd_bus_emit_properties_changed(m->bus, UCS_BUS_PATH, UCS_STALL_INTERFACE, "Witness", "Witnesses", "StallNSec", "WorstNSec", "WorstCPU", "MedianNSec",
                                              "P99NSec", "StallTicks", "WorstTicks", "TSCHz", "EntrySpreadNSec", "ExitSpreadNSec", "WriteNSec", "StealNSec",
                                              "CPUsWitnessed", "CPUsMissing", "MixedCPUs", "StallCount", "StallTotalNSec", "StallMaxNSec", "OverBudgetTotal", "Histogram",
                                              NULL);
        if (m->stall.stall_nsec == UCS_UNKNOWN)
                return;
        (void) sd_bus_emit_signal(m->bus, UCS_BUS_PATH, UCS_STALL_INTERFACE, "StallMeasured", "tttts", m->stall.when_usec, m->stall.stall_nsec,
                                  m->stall.worst_nsec, m->stall.write_nsec, ucs_witness_to_string(m->stall.witness));
        if (stall_over_budget(m, &m->stall))
                (void) sd_bus_emit_signal(m->bus, UCS_BUS_PATH, UCS_STALL_INTERFACE, "StallOverBudget", "ttts", m->stall.when_usec, m->stall.stall_nsec,
                                          m->config->max_stall_nsec, ucs_witness_to_string(m->stall.witness));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The methods of org.ucodesync1.Manager, for the vtable in bus-manager.c. */

#include <systemd/sd-bus.h>

#include "core/policy/policy.h"
#include "core/record/stall.h"

int method_check(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_apply(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_cancel(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_acknowledge(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_next_windows(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_can_apply(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_explain(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_list_processors(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_list_history(sd_bus_message *message, void *userdata, sd_bus_error *error);
int method_reload_config(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* a(sst): name, sentence, when it can clear. */
int bus_append_reports(sd_bus_message *reply, const UcsBlockerReport *reports, size_t n);

/* a{st}, of those witnesses of a load that were on; the largest number: it saw nothing. */
int bus_append_witnesses(sd_bus_message *reply, const UcsWitnessed *witnessed);

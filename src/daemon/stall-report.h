/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is said of a stall in the journal: how long it will probably be and who watches, before the load; and when it was longer than allowed. */

#include "daemon/log.h"
#include "daemon/manager.h"
#include "os/witness/witness.h"

/* "the machine is expected to stand still for 10.00 ms to 60.00 ms", or that nothing is known. Returns `buf`. */
#define STALL_FORECAST_MAX 160
const char *stall_format_forecast(char buf[static STALL_FORECAST_MAX], const UcsForecast *f);

/* `missing`: as of ucs_witness_open(). */
void stall_say_witnesses(const UcsWitness *w, const UcsError *missing);

/* A warning when the budget is known and exceeded. */
bool stall_over_budget(const Manager *m, const UcsStall *s);
void stall_say_over_budget(const Manager *m, const UcsStall *s, const LogFields *f);

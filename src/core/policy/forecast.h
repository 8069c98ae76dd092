/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long the next load will stop the machine, as a range: from what this host measured itself, and before its first load from the number
 * of its cores, at the pace of the slowest kernels. */

#include "core/policy/policy.h"
#include "core/record/history.h"

/* Physical cores among the online CPUs; CPUs of unknown core count one each. */
unsigned ucs_machine_cores(const UcsMachine *m);

void ucs_forecast(const UcsMachine *m, const UcsHistory *h, UcsForecast *ret);

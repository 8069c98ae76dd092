/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long the next load will stop the machine, as a range: from what this host measured itself, and before its first load from what its kernel
 * is known to do: all cores at once, or perhaps one after the other. */

#include "core/policy/kernel.h"
#include "core/policy/policy.h"
#include "core/record/history.h"

/* Physical cores among the online CPUs; CPUs of unknown core count one each. */
unsigned ucs_machine_cores(const UcsMachine *m);

/* `kernel` may be NULL: nothing is known of it. Without any CPU there is no forecast. */
void ucs_forecast(const UcsMachine *m, const UcsKernel *kernel, const UcsHistory *h, UcsForecast *ret);

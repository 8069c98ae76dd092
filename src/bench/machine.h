/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the figures are of: the kind of machine, never its name. Figures without that are worth nothing. */

#include "bench/bench.h"
#include "bench/topology.h"

/* vendor, model, cpus, online, packages, clusters, hypervisor, kernel, clocksource, tsc_hz (null: the clocksource is another),
 * apic_routing and ipi_shorthand ("unknown" when the kernel's log has been overwritten or may not be read). NULL: no memory. */
json_object *bench_machine_describe(const Bench *b, const BenchTopology *t);

/* The same in two lines for people. */
void bench_machine_print(json_object *machine);

/* A value of it as text; "unknown" where there is none. */
const char *bench_machine_get(json_object *machine, const char *key);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Load: ordinary threads that do nothing but run, so many a CPU, on it. */

#include "bench/topology.h"

typedef struct BenchBurn BenchBurn;

int bench_burn_start(const BenchTopology *t, unsigned per_cpu, BenchBurn **ret, UcsError *e);
BenchBurn *bench_burn_stop(BenchBurn *burn);
DEFINE_CLEANUP(BenchBurn *, bench_burn_stop);

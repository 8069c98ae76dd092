/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* May this be measured here and now? A benchmark takes CPUs away from whoever uses them, and its figures are worth less for it. */

#include "bench/bench.h"

/* What takes longer than this needs an idle host, or --yes. */
#define BENCH_SHORT_USEC (3 * USEC_PER_SEC)

/* `usec`: about how long the whole will take. Looks for a quarter of a second how busy the CPUs are. BENCH_DONE, or BENCH_REFUSED:
 * reported already. */
int bench_may_run(const Bench *b, uint64_t usec);

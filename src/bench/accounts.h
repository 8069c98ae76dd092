/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the scheduler has charged threads of ours, in ns: the first field of /proc/TID/schedstat, the same account of the same kind of thread
 * that os/witness/schedstat reads of migration/N. */

#include "bench/bench.h"

/* `ret_nsec` has room for n. 0; -EOPNOTSUPP: this kernel keeps no accounts; or another -errno, with `e`. */
int bench_accounts_read(const Bench *b, const uint32_t *tids, size_t n, uint64_t *ret_nsec, UcsError *e);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Order statistics of small sets of samples. Medians, because what disturbs a measurement on a machine in use only ever adds. */

#include "base/macro.h"

/* Each sorts its samples in place. Of an even number the mean of the middle two; of none 0. */
uint64_t bench_median(uint64_t *samples, size_t n);
int64_t bench_median_signed(int64_t *samples, size_t n);

/* The one that lies farthest from 0. */
int64_t bench_worst(const int64_t *samples, size_t n);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Order statistics; see stats.h. */

#include <stdlib.h>

#include "bench/stats.h"

static int compare_unsigned(const void *a, const void *b) {
        const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

static int compare_signed(const void *a, const void *b) {
        const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

        return (x > y) - (x < y);
}

uint64_t bench_median(uint64_t *samples, size_t n) {
        if (n == 0)
                return 0;
        qsort(samples, n, sizeof(*samples), compare_unsigned);
        return samples[(n - 1) / 2] + (samples[n / 2] - samples[(n - 1) / 2]) / 2;
}

int64_t bench_median_signed(int64_t *samples, size_t n) {
        if (n == 0)
                return 0;
        qsort(samples, n, sizeof(*samples), compare_signed);
        return samples[(n - 1) / 2] + (samples[n / 2] - samples[(n - 1) / 2]) / 2;
}

int64_t bench_worst(const int64_t *samples, size_t n) {
        int64_t worst = 0;

        for (size_t i = 0; i < n; i++)
                if (llabs(samples[i]) > llabs(worst))
                        worst = samples[i];
        return worst;
}

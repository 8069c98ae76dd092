/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The axis of time of a chart: round steps, and what stands beside them. */

#include "base/timefmt.h"

typedef struct StallAxis {
        const char *unit; /* "s", "ms", "us", "ns" */
        double per_unit;  /* ns */
        double step;      /* in units: 1, 2 or 5 times a power of ten */
} StallAxis;

/* `span_nsec` must be 1 or more; `most`: so many steps at most, 1 or more. */
StallAxis stall_axis(uint64_t span_nsec, double most);

/* The label of the i-th step: "0 ms", then "5", "10". Returns `buf`. */
#define STALL_LABEL_MAX 32
const char *stall_axis_label(char buf[static STALL_LABEL_MAX], const StallAxis *a, unsigned i);
double stall_axis_nsec(const StallAxis *a, unsigned i);

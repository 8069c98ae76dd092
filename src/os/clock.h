/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Clocks, and the rate of the TSC. */

#include "base/timefmt.h"

uint64_t ucs_clock_realtime_usec(void);
uint64_t ucs_clock_boottime_usec(void);
uint64_t ucs_clock_monotonic_raw_nsec(void);

/* Hz of the TSC of the machine below the root, 0 when its clocksource is not the TSC or the rate cannot be told. The machine's own root:
 * RDTSCP against CLOCK_MONOTONIC_RAW. Another root: CPUID leaf 15h of dev/cpu/N/cpuid. */
uint64_t ucs_clock_tsc_hz(int root_fd, unsigned cpu);

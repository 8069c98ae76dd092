/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Clocks, and the rate of the TSC. */

#include "base/timefmt.h"

uint64_t ucs_clock_realtime_usec(void);
uint64_t ucs_clock_boottime_usec(void);
uint64_t ucs_clock_monotonic_raw_nsec(void);

/* For how long the machine has been asleep since its boot: what CLOCK_BOOTTIME counts beyond CLOCK_MONOTONIC. The two are read one after the other. */
uint64_t ucs_clock_asleep_usec(void);

/* Hz of the TSC of the machine below the root, 0 when its clocksource is not the TSC or the rate cannot be told. The machine's own root:
 * RDTSC against CLOCK_MONOTONIC_RAW over 20 ms, some parts in a million exact; blocks for as long. Another root: CPUID leaf 15h (core
 * crystal clock, SDM vol. 2, CPUID) of dev/cpu/N/cpuid. */
uint64_t ucs_clock_tsc_hz(int root_fd, unsigned cpu);

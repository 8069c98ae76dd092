/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Times into text, and the units that they are counted in. Zones live in core/schedule/zone; here is only UTC. */

#include "base/macro.h"

#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_SEC UINT64_C(1000000000)
#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MINUTE)
#define USEC_PER_DAY (24 * USEC_PER_HOUR)
#define USEC_PER_WEEK (7 * USEC_PER_DAY)

#define UCS_TIMESPAN_MAX 64
#define UCS_TIMESTAMP_MAX 40

/* "2h 30min", "12.5ms", "0": the two largest units of `usec`. Returns `buf`. */
const char *ucs_format_timespan(char buf[static UCS_TIMESPAN_MAX], uint64_t usec);

/* The same for nanoseconds, for stalls: "12.45 ms", "350.1 ms", "84 us"; UCS_UNKNOWN is "unknown". */
const char *ucs_format_stall(char buf[static UCS_TIMESPAN_MAX], uint64_t nsec);

/* "2026-03-29T01:00:00Z". Returns `buf`. */
const char *ucs_format_utc(char buf[static UCS_TIMESTAMP_MAX], uint64_t realtime_usec);

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back. */
int64_t ucs_days_from_civil(int64_t year, unsigned month, unsigned day);
void ucs_civil_from_days(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day);

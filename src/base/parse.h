/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text into values, whole or not at all: no sign where none belongs, no rest, no silent overflow.
 * Every function returns 0, or -EINVAL (not of this form) or -ERANGE (of this form, too large), `ret` untouched. */

#include "base/macro.h"

/* Digits of `base` (10 or 16; 16 takes an optional 0x). No blanks, no sign. */
int ucs_parse_u64(const char *s, unsigned base, uint64_t *ret);
int ucs_parse_u32(const char *s, unsigned base, uint32_t *ret);

/* The decimal digits at the start of `*s`, which is then behind them: for lines of numbers that are read once a CPU. -EINVAL: there are none. */
int ucs_parse_leading_u64(const char **s, uint64_t *ret);

/* "1 yes true on y t" and "0 no false off n f", letter case ignored: as systemd reads booleans. */
int ucs_parse_bool(const char *s, bool *ret);

/* "10%" or "10.5%" into millionths: 100000, 105000. At most 100%. */
int ucs_parse_percent(const char *s, uint32_t *ret_ppm);

/* A time span of systemd.time(7): "90", "1min 30s", "2h", "14d", "1.5h"; a bare number counts seconds. Units: us ms s min h d
 * w M y and their long names. */
int ucs_parse_timespan(const char *s, uint64_t *ret_usec);

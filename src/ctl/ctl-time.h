/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Moments for people: in the zone of TZ=, else of the machine (below --root=), and how far from now. */

#include "base/timefmt.h"
#include "core/schedule/zone.h"
#include "ctl/ctl.h"

#define CTL_TIME_MAX 96

/* The zone that moments are shown and read in; UTC when none can be read. Lives as long as `ctl`. */
UcsZone *ctl_zone(UcsCtl *ctl);

/* Zone files below --root=, for the parsers of core/schedule. The descriptor is `*root_fd`, which the caller
 * keeps open. */
UcsZoneSource ctl_zone_source(int *root_fd);

/* The root directory: --root=, else the machine's own. A descriptor, or -errno: reported already. */
int ctl_root(UcsCtl *ctl);

/* "Sat 2026-12-05 02:00:00 CET"; "never" for 0 and UINT64_MAX. */
const char *ctl_format_moment(UcsCtl *ctl, char buf[static CTL_TIME_MAX], uint64_t usec);

/* The same with "(in 3h 12min)" or "(4d 10h ago)". */
const char *ctl_format_moment_relative(UcsCtl *ctl, char buf[static CTL_TIME_MAX], uint64_t usec);

/* "in 3h 12min", "4d 10h ago", "now". */
const char *ctl_format_relative(char buf[static CTL_TIME_MAX], uint64_t usec, uint64_t now_usec);

/* The end of what began at `start_usec`: "04:00:00 CET" within a day, else as ctl_format_moment(); "no end"
 * for 0 and UINT64_MAX. */
const char *ctl_format_end(UcsCtl *ctl, char buf[static CTL_TIME_MAX], uint64_t usec, uint64_t start_usec);

/* "YYYY-MM-DD[ HH:MM[:SS]][ ZONE]", "@SECONDS" or "now". 0 or an exit code, reported already. */
int ctl_parse_moment(UcsCtl *ctl, const char *what, const char *s, uint64_t *ret_usec);

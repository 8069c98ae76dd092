/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Configuration files below a root, into a UcsConfig: /etc/ucodesync/ucodesyncd.conf, then the drop-ins of {/usr/lib,/run,/etc}/ucodesync/
 * ucodesyncd.conf.d/ in the order of their names (the same name in /etc masks /run masks /usr/lib; a link to /dev/null masks). libinih
 * reads the lines; what it would misread silently (a line over its limit, a leading blank, a NUL byte) is an error here. */

#include "core/policy/config.h"

/* All files, merged and finished. -EINVAL (or another errno) with "path:line: …, expected …" for the first thing that is wrong. `ret_warnings`
 * (may be NULL): strings for the journal, e.g. a drop-in with another suffix. */
int ucs_conf_load(int root_fd, UcsConfig **ret, char ***ret_warnings, UcsError *e);

/* Zones from usr/share/zoneinfo and etc/localtime below the root; `userdata` of the source points to the root's descriptor. */
int ucs_conf_zone_load(void *userdata, const char *name, UcsZone **ret, UcsError *e);

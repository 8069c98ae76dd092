/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Configuration files below a root, into a UcsConfig: /etc/ucodesync/ucodesyncd.conf, then the drop-ins of
 * {/usr/lib,/run,/etc}/ucodesync/ ucodesyncd.conf.d/ in the order of their names (the same name in /etc
 * masks /run masks /usr/lib; a link to /dev/null or an empty file masks). What a line may be is in ini-lines.h. */

#include "core/policy/config.h"
#include "os/ini-lines.h"

#define UCS_CONF_SIZE_MAX UCS_INI_SIZE_MAX

/* All files, merged and finished; no file at all gives the defaults. -EINVAL with "path:line: …, expected …"
 * for the first thing that is wrong in a file; another errno with the path for a file that cannot be read.
 * `ret_warnings` (may be NULL; NULL when there are none): strings for the journal, e.g. a drop-in with
 * another suffix. */
int ucs_conf_load(int root_fd, UcsConfig **ret, char ***ret_warnings, UcsError *e);

/* Zones from usr/share/zoneinfo and etc/localtime below the root; `userdata` of the source points to the
 * root's descriptor (int *). "UTC" and "Etc/UTC" need no file. -EINVAL: not a name; -ENOENT: no such zone;
 * -EBADMSG: not a time zone file. "" is the machine's own zone, by the name that the link etc/localtime
 * gives it; without etc/localtime it is UTC, with one that leads nowhere an error. */
int ucs_conf_zone_load(void *userdata, const char *name, UcsZone **ret, UcsError *e);

/* A source of such zones. `*root_fd` must live as long as it is used. */
static inline UcsZoneSource ucs_conf_zones(int *root_fd) {
        return (UcsZoneSource){ .load = ucs_conf_zone_load, .userdata = root_fd };
}

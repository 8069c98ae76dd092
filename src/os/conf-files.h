/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which configuration files there are, for conf.c: the main file and the drop-ins that are not masked, in
 * the order in which they count. */

#include "base/error.h"
#include "base/str.h"

/* Paths below the root (NULL when there are none), and strings about files that are ignored. -errno with the
 * path for a directory that is there and cannot be read. */
int ucs_conf_files(int root_fd, char ***ret, char ***ret_warnings, UcsError *e);

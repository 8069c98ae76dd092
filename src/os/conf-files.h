/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which files there are, for conf.c and rules.c: the main file and the drop-ins that are not masked, in
 * the order in which they count. */

#include "base/error.h"
#include "base/str.h"

/* Paths below the root (NULL when there are none), and strings about files that are ignored. `main_file` may
 * be NULL; `directories` end with NULL, the highest priority first. -errno with the path for a directory that
 * is there and cannot be read. */
int ucs_conf_files(int root_fd, const char *main_file, const char *const *directories, char ***ret,
                   char ***ret_warnings, UcsError *e);

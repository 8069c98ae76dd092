/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files that survive a crash: written beside the old one, fsync, rename, fsync of the directory. A reader sees the old or the new content,
 * never half of it. */

#include "base/error.h"

/* Replace directory/name. Creates the directory when it is missing (0700). 0 or -errno with what was tried. */
int ucs_state_write(int root_fd, const char *directory, const char *name, const void *data, size_t size, UcsError *e);

/* -ENOENT: none yet. -EFBIG beyond 4 MiB. */
int ucs_state_read(int root_fd, const char *directory, const char *name, char **ret, size_t *ret_size, UcsError *e);

/* Move a file that cannot be understood out of the way (name.bad-N), so that nothing is lost. */
int ucs_state_set_aside(int root_fd, const char *directory, const char *name, char **ret_new_name, UcsError *e);
int ucs_state_remove(int root_fd, const char *directory, const char *name);

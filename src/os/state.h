/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files that survive a crash: written beside the old one, fsync, rename, fsync of the directory. A reader
 * sees the old or the new content, never half of it. `directory` is absolute, without a '/' at its end;
 * `name` is one of our own: no '/', no '.' in front. */

#include "base/error.h"

/* Replace directory/name (mode 0600). Creates the directory when it is missing (0700), and what is missing
 * above it (0755). Removes the temporary names that a killed writer left. 0 or -errno with what was tried;
 * the old content is still there then. */
int ucs_state_write(int root_fd, const char *directory, const char *name, const void *data, size_t size,
                    UcsError *e);

/* -ENOENT: none yet. -EFBIG beyond 4 MiB. -EISDIR, -EINVAL: not a regular file. `*ret` ends in a NUL byte
 * that `ret_size` does not count. */
int ucs_state_read(int root_fd, const char *directory, const char *name, char **ret, size_t *ret_size,
                   UcsError *e);

/* Move a file that cannot be understood out of the way (name.bad-N), so that nothing is lost. -ENOENT: not
 * there. `ret_new_name` (may be NULL) is the name alone. */
int ucs_state_set_aside(int root_fd, const char *directory, const char *name, char **ret_new_name,
                        UcsError *e);

/* 0, also when it is not there. */
int ucs_state_remove(int root_fd, const char *directory, const char *name);

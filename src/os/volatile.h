/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Would a file in this directory outlive a crash? */

#include <stdbool.h>
#include <stddef.h>

/* True: it would not, and `ret` says what it lies on ("tmpfs", "read-only ext4", "overlay on tmpfs"). False: it would, or nobody can tell; `ret` is the
 * name of the file system where it is known, else empty. A directory that does not exist yet is judged by the nearest one above it. */
bool ucs_volatile_read(int root_fd, const char *directory, char *ret, size_t size);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Small files of sysfs and procfs that are read again and again: a descriptor is kept, and one pread(2) at offset 0 gives the file's
 * present content (0.4 us a file against 2 us with open and close). Descriptors are a shared good: beyond the pool's limit, or when
 * the process has none left, a file is opened for each reading instead, and everything works as before. */

#include "os/fd.h"

/* Where the files lie, and how many descriptors may stay open. */
typedef struct UcsKeptPool {
        int dir_fd;   /* borrowed; paths are resolved below it (ucs_root_openat()) */
        int spare_fd; /* held back, so that there is one to open a file with when there are no others; -EBADF: used up */
        unsigned n_kept, limit;
} UcsKeptPool;

/* Of the process's descriptors a third may be kept by each pool: revisions, stoppers, and the rest of the program. */
void ucs_kept_pool_init(UcsKeptPool *pool, int dir_fd);
void ucs_kept_pool_done(UcsKeptPool *pool);

/* One such file; the path is the caller's. */
typedef struct UcsKept {
        int fd;       /* -EBADF: not kept */
        bool renewed; /* the last reading found the kept descriptor dead: what it was of has gone away since the one before */
} UcsKept;

#define UCS_KEPT_INIT { .fd = -EBADF }

/* Read `path` from its start into `buf`, NUL-terminated. A kept descriptor whose file went away (its CPU went offline, its thread ended)
 * is closed and the path opened afresh, once.
 *
 * The number of bytes, at most `size` - 1 (then there may be more of it), or -errno of openat2(2) or read(2). */
int ucs_kept_read(UcsKeptPool *pool, UcsKept *file, const char *path, char *buf, size_t size);

/* The two halves of that, for callers that would make up the path in vain: read what is kept (-EBADF: nothing is, or no longer), and open
 * the path and read that. */
int ucs_kept_read_again(UcsKeptPool *pool, UcsKept *file, char *buf, size_t size);
int ucs_kept_read_path(UcsKeptPool *pool, UcsKept *file, const char *path, char *buf, size_t size);

void ucs_kept_close(UcsKeptPool *pool, UcsKept *file);

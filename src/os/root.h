/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one door to files. Everything that an adapter opens lies below a root directory (--root=), resolved by
 * openat2(2) with RESOLVE_IN_ROOT: absolute links stay inside, so a test can hand in another machine. A path
 * may start with '/'. */

#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"
#include "os/fd.h"

/* -errno of open(2). The descriptor is O_PATH: good for *at() calls, not for reading the directory. */
int ucs_root_open(const char *path, int *ret_fd, UcsError *e);

/* Is it this machine's own root? Decides whether instructions such as RDTSC and CPUID speak of the same
 * machine. */
bool ucs_root_is_host(int root_fd);

/* openat2() below the root, always O_CLOEXEC; no magic links of procfs. The descriptor, or -errno. Where
 * openat2() is not to be had (-ENOSYS; Linux before 5.6, or a filter: RestrictSUIDSGID=), the host's own root is opened plainly,
 * and below any other directory no link is followed: -ELOOP, and -EXDEV for "..". */
int ucs_root_openat(int root_fd, const char *path, int flags);

/* Open a regular file for reading, never waiting (FIFO). -EISDIR for a directory, -EINVAL for what is
 * neither, else -errno; `e` names the path. `ret_stat` may be NULL. */
int ucs_root_open_file(int root_fd, const char *path, int *ret_fd, struct stat *ret_stat, UcsError *e);

/* Read from the descriptor's position to the end: -EFBIG beyond `cap` bytes. Ends in a NUL byte that
 * `ret_size` (may be NULL) does not count. */
int ucs_fd_read(int fd, size_t cap, char **ret, size_t *ret_size);

/* Read any regular file whole, NUL bytes and all: -EFBIG beyond `cap`, else as ucs_root_open_file(); `e`
 * names the path. */
int ucs_root_read_bytes(int root_fd, const char *path, size_t cap, char **ret, size_t *ret_size,
                        UcsError *e);

/* Read a small text file of sysfs, procfs or /etc whole, NUL-terminated: -EFBIG beyond `cap` bytes, -EBADMSG
 * when there is a NUL byte in it, else as ucs_root_open_file(); `e` names the path. Also for files whose
 * size says 0. `ret_size` may be NULL. */
int ucs_root_read(int root_fd, const char *path, size_t cap, char **ret, size_t *ret_size, UcsError *e);

/* Does the path exist? 1, 0, or -errno when that cannot be told. */
int ucs_root_exists(int root_fd, const char *path);

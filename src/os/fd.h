/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Descriptors that close at the end of a scope. */

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"

static inline int fd_close(int fd) {
        int saved = errno;

        if (fd >= 0)
                (void) close(fd);
        errno = saved;
        return -EBADF;
}
static inline void fd_closep(int *fd) {
        *fd = fd_close(*fd);
}
#define _cleanup_fd_ _cleanup_(fd_closep)

#define TAKE_FD(fd)                                                                                            \
        ({                                                                                                     \
                int *_fdp = &(fd);                                                                             \
                int _taken = *_fdp;                                                                            \
                *_fdp = -EBADF;                                                                                \
                _taken;                                                                                        \
        })

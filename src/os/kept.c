/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kept descriptors; see kept.h. Not for two threads at a time: each has a pool of its own. */

#include <fcntl.h>
#include <sys/resource.h>

#include "os/kept.h"
#include "os/root.h"

#define SHARES   3U   /* of RLIMIT_NOFILE: two pools of a descriptor a CPU, and all else */
#define RESERVED 128U /* for that "all else" under small limits */

void ucs_kept_pool_init(UcsKeptPool *pool, int dir_fd) {
        struct rlimit rl = {};
        rlim_t most;

        if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
                rl.rlim_cur = 0;
        most = rl.rlim_cur > RESERVED ? (rl.rlim_cur - RESERVED) / SHARES : 0;
        *pool = (UcsKeptPool){
                .dir_fd = dir_fd,
                .spare_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3),
                .limit = (unsigned) MIN(most, (rlim_t) INT32_MAX),
        };
}

void ucs_kept_pool_done(UcsKeptPool *pool) {
        pool->spare_fd = fd_close(pool->spare_fd);
        pool->dir_fd = -EBADF;
}

void ucs_kept_close(UcsKeptPool *pool, UcsKept *file) {
        if (file->fd < 0)
                return;
        file->fd = fd_close(file->fd);
        pool->n_kept--;
}

/* O_NONBLOCK: where a test or a fault puts a FIFO, nothing waits. O_NOATIME: a reader leaves no trace, and where a file system keeps times, none of them
 * is looked at for each reading; other people's files refuse it. */
static int open_quietly(int dir_fd, const char *path) {
        int fd;

        fd = ucs_root_openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOATIME);
        return fd == -EPERM ? ucs_root_openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY) : fd;
}

static int open_file(UcsKeptPool *pool, const char *path) {
        int fd;

        fd = open_quietly(pool->dir_fd, path);
        if ((fd == -EMFILE || fd == -ENFILE) && pool->spare_fd >= 0) {
                pool->spare_fd = fd_close(pool->spare_fd);
                pool->limit = pool->n_kept;
                fd = open_quietly(pool->dir_fd, path);
        }
        return fd;
}

static int read_start(int fd, char *buf, size_t size) {
        ssize_t n;

        do
                n = pread(fd, buf, size - 1, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        buf[n] = '\0';
        return (int) n;
}

int ucs_kept_read_again(UcsKeptPool *pool, UcsKept *file, char *buf, size_t size) {
        int n;

        file->renewed = false;
        if (file->fd < 0)
                return -EBADF;
        n = read_start(file->fd, buf, size);
        if (n >= 0)
                return n;
        ucs_kept_close(pool, file);
        file->renewed = true;
        return -EBADF;
}

int ucs_kept_read_path(UcsKeptPool *pool, UcsKept *file, const char *path, char *buf, size_t size) {
        int opened, n;

        opened = open_file(pool, path);
        if (opened < 0)
                return opened;
        n = read_start(opened, buf, size);
        if (n >= 0 && pool->n_kept < pool->limit) {
                file->fd = opened;
                pool->n_kept++;
        } else
                fd_close(opened);
        return n;
}

int ucs_kept_read(UcsKeptPool *pool, UcsKept *file, const char *path, char *buf, size_t size) {
        int n;

        n = ucs_kept_read_again(pool, file, buf, size);
        return n >= 0 ? n : ucs_kept_read_path(pool, file, path, buf, size);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files below a root; see root.h. What always holds: no path that is handed in, and no link on its way,
 * leads out of the root, and no read is longer than its cap. Nothing is created or changed here. */

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "os/root.h"

#define READ_STEP  4096U
#define OPEN_TRIES 16 /* openat2(2): -EAGAIN when a directory was moved while a ".." was resolved */

int ucs_root_open(const char *path, int *ret_fd, UcsError *e) {
        int fd;

        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return ucs_error_set(e, -errno, "cannot open the root directory '%s': %m", path);
        *ret_fd = fd;
        return 0;
}

bool ucs_root_is_host(int root_fd) {
        struct statx a, b;

        if (statx(root_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &a) < 0 ||
            statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &b) < 0)
                return false;
        if (a.stx_ino != b.stx_ino || a.stx_dev_major != b.stx_dev_major ||
            a.stx_dev_minor != b.stx_dev_minor)
                return false;

        /* The same directory through another mount has other things mounted below it: another /sys, or none. */
        return !(a.stx_mask & b.stx_mask & STATX_MNT_ID) || a.stx_mnt_id == b.stx_mnt_id;
}

/* Below another directory: step by step, through no link and no "..", so that nothing leads out of it. */
static int open_beneath(int dir_fd, const char *path, int flags) {
        _cleanup_fd_ int at = -EBADF;

        for (;;) {
                char name[NAME_MAX + 1];
                size_t n;
                int fd;

                path += strspn(path, "/");
                n = strcspn(path, "/");
                if (n > NAME_MAX)
                        return -ENAMETOOLONG;
                memcpy(name, path, n);
                name[n] = '\0';
                if (streq(name, ".."))
                        return -EXDEV;
                path += n;
                path += strspn(path, "/");
                fd = openat(at >= 0 ? at : dir_fd, n > 0 ? name : ".", (*path ? O_PATH | O_DIRECTORY : flags) | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0)
                        return -errno;
                if (!*path)
                        return fd;
                fd_close(at);
                at = fd;
        }
}

int ucs_root_openat(int root_fd, const char *path, int flags) {
        struct open_how how = {
                .flags = (unsigned) flags | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };
        long fd = -1;

        for (int i = 0; i < OPEN_TRIES; i++) {
                fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
                if (fd >= 0 || errno != EAGAIN)
                        break;
        }
        /* RestrictSUIDSGID= answers ENOSYS, since it cannot look into the structure. On the machine's own root there is nothing to stay
         * inside of: "/" is where absolute links and ".." end anyway. */
        if (fd < 0 && errno == ENOSYS) {
                if (!ucs_root_is_host(root_fd))
                        return open_beneath(root_fd, path, flags);
                fd = openat(root_fd, path, flags | O_CLOEXEC);
        }
        return fd < 0 ? -errno : (int) fd;
}

int ucs_fd_read(int fd, size_t cap, char **ret, size_t *ret_size) {
        _cleanup_free_ char *buf = NULL;
        size_t size = 0, allocated = 0;

        for (;;) {
                ssize_t n;

                /* Room for one byte more than the cap tells a file that just fits from one that does not;
                 * one more is for the NUL. */
                if (allocated - size < 2) {
                        size_t want = MIN(allocated > 0 ? allocated * 2 : READ_STEP, cap + 2);
                        char *p;

                        p = realloc(buf, want);
                        if (!p)
                                return -ENOMEM;
                        buf = p;
                        allocated = want;
                }
                n = read(fd, buf + size, allocated - size - 1);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        break;
                size += (size_t) n;
                if (size > cap)
                        return -EFBIG;
        }
        buf[size] = '\0';
        *ret = TAKE_PTR(buf);
        if (ret_size)
                *ret_size = size;
        return 0;
}

/* For messages: a path below the root, without the slash that the format puts in front. */
static const char *below(const char *path) {
        return *path == '/' ? path + 1 : path;
}

int ucs_root_open_file(int root_fd, const char *path, int *ret_fd, struct stat *ret_stat, UcsError *e) {
        _cleanup_fd_ int fd = -EBADF;
        struct stat st;

        /* O_NONBLOCK: opening a FIFO must not wait for a writer that never comes. */
        fd = ucs_root_openat(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) {
                errno = -fd;
                return ucs_error_set(e, fd, "cannot open /%s: %m", below(path));
        }
        if (fstat(fd, &st) < 0)
                return ucs_error_set(e, -errno, "cannot look at /%s: %m", below(path));
        if (S_ISDIR(st.st_mode))
                return ucs_error_set(e, -EISDIR, "/%s is a directory, expected a regular file", below(path));
        if (!S_ISREG(st.st_mode))
                return ucs_error_set(e, -EINVAL, "/%s is not a regular file", below(path));
        *ret_fd = TAKE_FD(fd);
        if (ret_stat)
                *ret_stat = st;
        return 0;
}

int ucs_root_read_bytes(int root_fd, const char *path, size_t cap, char **ret, size_t *ret_size,
                        UcsError *e) {
        _cleanup_fd_ int fd = -EBADF;
        int r;

        r = ucs_root_open_file(root_fd, path, &fd, NULL, e);
        if (r < 0)
                return r;
        r = ucs_fd_read(fd, cap, ret, ret_size);
        if (r == -EFBIG)
                return ucs_error_set(e, r, "/%s is larger than %zu bytes", below(path), cap);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot read /%s: %m", below(path));
        }
        return 0;
}

int ucs_root_read(int root_fd, const char *path, size_t cap, char **ret, size_t *ret_size, UcsError *e) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        const char *nul;
        int r;

        r = ucs_root_read_bytes(root_fd, path, cap, &text, &size, e);
        if (r < 0)
                return r;
        nul = memchr(text, '\0', size);
        if (nul)
                return ucs_error_set(e, -EBADMSG, "/%s has a NUL byte at offset %zu, expected text", below(path),
                                     (size_t) (nul - text));
        *ret = TAKE_PTR(text);
        if (ret_size)
                *ret_size = size;
        return 0;
}

int ucs_root_exists(int root_fd, const char *path) {
        int fd;

        fd = ucs_root_openat(root_fd, path, O_PATH);
        if (fd == -ENOENT || fd == -ENOTDIR)
                return 0;
        if (fd < 0)
                return fd;
        fd_close(fd);
        return 1;
}

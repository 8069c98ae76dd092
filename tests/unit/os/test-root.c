/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/root: what stays inside, what is read, and what is said about the rest. */

#include <sched.h>
#include <sys/mount.h>

#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done

ucs_test(root, reads, IN_ROOT) {
        static const struct {
                const char *path;
                size_t cap;
                int r;
                const char *text; /* of the file, or of the error */
        } cases[] = {
                { "/etc/plain", 100, 0, "hello\n" },
                { "etc/plain", 100, 0, "hello\n" },
                { "/etc/plain", 6, 0, "hello\n" },
                { "/etc/plain", 5, -EFBIG, "/etc/plain is larger than 5 bytes" },
                { "/etc/empty", 0, 0, "" },
                { "/etc/plain", 0, -EFBIG, "/etc/plain is larger than 0 bytes" },
                { "/etc/absolute", 100, 0, "hello\n" },
                { "/etc/relative", 100, 0, "hello\n" },
                { "/etc/climbs", 100, 0, "hello\n" },
                { "../../../../../etc/plain", 100, 0, "hello\n" },
                { "/etc/nul", 100, -EBADMSG, "/etc/nul has a NUL byte at offset 2, expected text" },
                { "/etc/loop", 100, -ELOOP, "cannot open /etc/loop: Too many levels of symbolic links" },
                { "/etc/dangling", 100, -ENOENT, "cannot open /etc/dangling: No such file or directory" },
                { "/etc/none", 100, -ENOENT, "cannot open /etc/none: No such file or directory" },
                { "etc/none", 100, -ENOENT, "cannot open /etc/none: No such file or directory" },
                { "/etc/plain/x", 100, -ENOTDIR, "cannot open /etc/plain/x: Not a directory" },
                { "/etc", 100, -EISDIR, "/etc is a directory, expected a regular file" },
                { "/", 100, -EISDIR, "/ is a directory, expected a regular file" },
                { "/etc/fifo", 100, -EINVAL, "/etc/fifo is not a regular file" },
        };

        tmproot_text("/etc/plain", "hello\n");
        tmproot_text("/etc/empty", "");
        tmproot_write("/etc/nul", "ab\0c", 4);
        tmproot_symlink("/etc/plain", "/etc/absolute");
        tmproot_symlink("plain", "/etc/relative");
        tmproot_symlink("../../../../../../../../etc/plain", "/etc/climbs");
        tmproot_symlink("loop", "/etc/loop");
        tmproot_symlink("/etc/machine-that-is-not-there", "/etc/dangling");
        cr_assert(mkfifo(tmproot_at("/etc/fifo"), 0600) == 0);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = NULL;
                UcsError e = {};
                size_t size = 4711;
                int r;

                r = ucs_root_read(tmproot, cases[i].path, cases[i].cap, &text, &size, &e);
                cr_expect_eq(r, cases[i].r, "%s: %d", cases[i].path, r);
                if (r < 0) {
                        expect_error(&e, cases[i].text);
                        cr_expect_eq(e.code, r);
                        cr_expect_null(text);
                        cr_expect_eq(size, 4711);
                } else {
                        cr_expect_str_eq(text, cases[i].text, "%s", cases[i].path);
                        cr_expect_eq(size, strlen(text));
                }
        }
}

/* The names of the test's own machine are not to be had through the other root. */
ucs_test(root, stays_inside, IN_ROOT) {
        _cleanup_free_ char *text = NULL;

        cr_assert(access("/etc/passwd", R_OK) == 0);
        cr_expect_eq(ucs_root_read(tmproot, "/etc/passwd", 1 << 20, &text, NULL, NULL), -ENOENT);
        cr_expect_eq(ucs_root_read(tmproot, "../../etc/passwd", 1 << 20, &text, NULL, NULL), -ENOENT);
        tmproot_mkdir("/proc");
        if (symlink("/proc/self/fd/0", tmproot_at("/proc/magic")) == 0)
                cr_expect_eq(ucs_root_openat(tmproot, "/proc/magic", O_RDONLY), -ENOENT);
}

/* procfs says size 0, sysfs says 4096: neither counts. A read is never cut into a half. */
ucs_test(root, sizes_that_lie) {
        _cleanup_fd_ int root = -EBADF;
        _cleanup_free_ char *text = NULL;
        struct stat st;
        size_t size;

        cr_assert_eq(ucs_root_open("/", &root, NULL), 0);
        cr_assert_eq(ucs_root_read(root, "/proc/self/maps", 1 << 20, &text, &size, NULL), 0);
        cr_assert_eq(stat("/proc/self/maps", &st), 0);
        cr_expect_eq(st.st_size, 0);
        cr_expect_gt(size, 4096);
        cr_expect_eq(text[size - 1], '\n');
}

ucs_test(root, large_file, IN_ROOT) {
        enum { SIZE = 3 * 1024 * 1024 + 17 };
        _cleanup_free_ char *data = malloc(SIZE), *back = NULL;
        size_t size;

        for (size_t i = 0; i < SIZE; i++)
                data[i] = (char) (i * 7 + i / 251);
        tmproot_write("/large", data, SIZE);
        cr_assert_eq(ucs_root_read_bytes(tmproot, "/large", SIZE, &back, &size, NULL), 0);
        cr_expect_eq(size, SIZE);
        cr_expect_eq(memcmp(data, back, SIZE), 0);
        cr_expect_eq(back[SIZE], '\0');
        cr_expect_eq(ucs_root_read_bytes(tmproot, "/large", SIZE - 1, &back, &size, NULL), -EFBIG);
}

ucs_test(root, exists, IN_ROOT) {
        static const struct {
                const char *path;
                int r;
        } cases[] = {
                { "/dir", 1 },  { "/dir/file", 1 }, { "/dir/none", 0 },  { "/dir/file/below", 0 },
                { "/link", 1 }, { "/dangling", 0 }, { "/loop", -ELOOP }, { "/", 1 },
                { "/fifo", 1 },
        };

        tmproot_text("/dir/file", "");
        tmproot_symlink("/dir/file", "/link");
        tmproot_symlink("/none", "/dangling");
        tmproot_symlink("/loop", "/loop");
        cr_assert(mkfifo(tmproot_at("/fifo"), 0600) == 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                cr_expect_eq(ucs_root_exists(tmproot, cases[i].path), cases[i].r, "%s", cases[i].path);
}

ucs_test(root, host, IN_ROOT) {
        _cleanup_fd_ int host = -EBADF, again = -EBADF, sub = -EBADF;

        cr_assert_eq(ucs_root_open("/", &host, NULL), 0);
        cr_assert_eq(ucs_root_open("/../.", &again, NULL), 0);
        cr_assert_eq(ucs_root_open("/usr", &sub, NULL), 0);
        cr_expect(ucs_root_is_host(host));
        cr_expect(ucs_root_is_host(again));
        cr_expect_not(ucs_root_is_host(sub));
        cr_expect_not(ucs_root_is_host(tmproot));
        cr_expect_not(ucs_root_is_host(-EBADF));
}

/* The same directory, mounted elsewhere without what is mounted below it, is another machine. */
ucs_test(root, host_through_another_mount, IN_ROOT) {
        _cleanup_fd_ int other = -EBADF;

        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("/", tmproot_path, NULL, MS_BIND, NULL) < 0)
                tmproot_skip("no mounts here: %s", strerror(errno));
        cr_assert_eq(ucs_root_open(tmproot_path, &other, NULL), 0);
        cr_expect_not(ucs_root_is_host(other));
        other = fd_close(other);
        cr_assert_eq(umount(tmproot_path), 0);
}

ucs_test(root, open_errors, IN_ROOT) {
        UcsError e = {};
        int fd = 4711;

        tmproot_text("/file", "");
        cr_expect_eq(ucs_root_open(tmproot_at("/file"), &fd, &e), -ENOTDIR);
        cr_expect_eq(ucs_root_open("/none/at/all", &fd, &e), -ENOENT);
        expect_error(&e, "cannot open the root directory '/none/at/all': No such file or directory");
        cr_expect_eq(fd, 4711);
        fd = ucs_root_openat(tmproot, "/file", O_RDONLY);
        cr_assert_geq(fd, 0);
        cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        fd_close(fd);
}

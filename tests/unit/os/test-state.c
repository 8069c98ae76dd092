/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/state: old or new, never half, and nothing left lying about. */

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "os/state.h"
#include "tmproot.h"

#define IN_ROOT   .init = tmproot_init, .fini = tmproot_done
#define DIRECTORY "/var/lib/ucodesync"

static unsigned entries(const char *path) {
        struct dirent *de;
        unsigned n = 0;
        DIR *d;

        d = opendir(tmproot_at(path));
        cr_assert(d);
        while ((de = readdir(d)))
                n += !streq(de->d_name, ".") && !streq(de->d_name, "..");
        closedir(d);
        return n;
}

static void expect_content(const char *name, const void *data, size_t size) {
        _cleanup_free_ char *back = NULL;
        size_t n = 0;

        cr_assert_eq(ucs_state_read(tmproot, DIRECTORY, name, &back, &n, NULL), 0);
        cr_expect_eq(n, size);
        cr_expect_eq(memcmp(back, data, MIN(n, size)), 0);
        cr_expect_eq(back[n], '\0');
}

ucs_test(state, write_and_read, IN_ROOT) {
        struct stat st;

        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "one", 3, NULL), 0);
        expect_content("state", "one", 3);
        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "a\0b", 3, NULL), 0);
        expect_content("state", "a\0b", 3);
        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", NULL, 0, NULL), 0);
        expect_content("state", "", 0);
        cr_expect_eq(entries(DIRECTORY), 1);

        cr_assert_eq(stat(tmproot_at(DIRECTORY), &st), 0);
        cr_expect_eq(st.st_mode & 07777, 0700);
        cr_assert_eq(stat(tmproot_at("/var/lib"), &st), 0);
        cr_expect_eq(st.st_mode & 07777, 0755);
        cr_assert_eq(stat(tmproot_at(DIRECTORY "/state"), &st), 0);
        cr_expect_eq(st.st_mode & 07777, 0600);
}

/* Whoever holds the old file open reads the old content to its end. */
ucs_test(state, replaced_not_overwritten, IN_ROOT) {
        _cleanup_free_ char *old = NULL;
        size_t size;
        int fd;

        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "old content", 11, NULL), 0);
        fd = ucs_root_openat(tmproot, DIRECTORY "/state", O_RDONLY);
        cr_assert_geq(fd, 0);
        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "new", 3, NULL), 0);
        cr_assert_eq(ucs_fd_read(fd, 100, &old, &size), 0);
        cr_expect_str_eq(old, "old content");
        fd_close(fd);
        expect_content("state", "new", 3);
}

ucs_test(state, directory_behind_links, IN_ROOT) {
        tmproot_mkdir("/mnt/disk");
        tmproot_symlink("/mnt/disk", "/var/lib");
        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "x", 1, NULL), 0);
        expect_content("state", "x", 1);
        cr_expect_eq(access(tmproot_at("/mnt/disk/ucodesync/state"), F_OK), 0);
}

/* What a writer left that was killed goes away at the next write, and nothing else does. */
ucs_test(state, leftovers, IN_ROOT) {
        tmproot_text(DIRECTORY "/.state.~0123456789abcdef", "half");
        tmproot_text(DIRECTORY "/.state.~fedcba9876543210", "");
        tmproot_text(DIRECTORY "/.history.~0123456789abcdef", "another file's");
        tmproot_text(DIRECTORY "/state.bad-1", "kept");
        tmproot_text(DIRECTORY "/.state", "somebody's");
        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "x", 1, NULL), 0);
        cr_expect_neq(access(tmproot_at(DIRECTORY "/.state.~0123456789abcdef"), F_OK), 0);
        cr_expect_neq(access(tmproot_at(DIRECTORY "/.state.~fedcba9876543210"), F_OK), 0);
        cr_expect_eq(access(tmproot_at(DIRECTORY "/.history.~0123456789abcdef"), F_OK), 0);
        cr_expect_eq(access(tmproot_at(DIRECTORY "/state.bad-1"), F_OK), 0);
        cr_expect_eq(access(tmproot_at(DIRECTORY "/.state"), F_OK), 0);
        cr_expect_eq(entries(DIRECTORY), 4);
}

/* Killed at any moment: the content is one of those that were written, whole, and the next write cleans up.
 */
ucs_test(state, killed_while_writing, IN_ROOT, .timeout = 120) {
        enum { SIZE = 64 * 1024, ROUNDS = 25 };
        _cleanup_free_ char *data = malloc(SIZE);

        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", memset(data, 'a', SIZE), SIZE, NULL), 0);
        for (unsigned i = 0; i < ROUNDS; i++) {
                _cleanup_free_ char *back = NULL;
                size_t size;
                pid_t pid;

                pid = fork();
                cr_assert_geq(pid, 0);
                if (pid == 0)
                        for (char c = 'b';; c = c == 'z' ? 'a' : (char) (c + 1))
                                if (ucs_state_write(tmproot, DIRECTORY, "state", memset(data, c, SIZE), SIZE,
                                                    NULL) < 0)
                                        _exit(1);
                (void) usleep(1000 + i * 700);
                cr_assert_eq(kill(pid, SIGKILL), 0);
                cr_assert_eq(waitpid(pid, NULL, 0), pid);

                cr_assert_eq(ucs_state_read(tmproot, DIRECTORY, "state", &back, &size, NULL), 0);
                cr_assert_eq(size, SIZE);
                for (size_t k = 1; k < SIZE; k++)
                        cr_assert_eq(back[k], back[0]);
        }
        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "end", 3, NULL), 0);
        cr_expect_eq(entries(DIRECTORY), 1);
}

ucs_test(state, write_errors, IN_ROOT) {
        UcsError e = {};

        tmproot_text("/file", "");
        cr_expect_eq(ucs_state_write(tmproot, "/file/below", "state", "x", 1, &e), -ENOTDIR);
        expect_error(&e, "cannot open or create the directory /file/below: Not a directory");

        tmproot_mkdir(DIRECTORY "/state");
        cr_expect_eq(ucs_state_write(tmproot, DIRECTORY, "state", "x", 1, &e), -EISDIR);
        expect_error(&e, "cannot write /var/lib/ucodesync/state: Is a directory");
        cr_expect_eq(entries(DIRECTORY), 1);
}

/* No room on the disk: the old content stays, and nothing is left behind. */
ucs_test(state, no_room, IN_ROOT) {
        static char much[256 * 1024];
        UcsError e = {};

        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "old", 3, NULL), 0);
        signal(SIGXFSZ, SIG_IGN);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4096, RLIM_INFINITY }), 0);
        cr_expect_eq(ucs_state_write(tmproot, DIRECTORY, "state", much, sizeof(much), &e), -EFBIG);
        expect_error(&e, "cannot write /var/lib/ucodesync/state: File too large");
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }), 0);
        expect_content("state", "old", 3);
        cr_expect_eq(entries(DIRECTORY), 1);
}

ucs_test(state, read_errors, IN_ROOT) {
        enum { LIMIT = 4 * 1024 * 1024 };
        _cleanup_free_ char *data = calloc(1, LIMIT + 1), *back = NULL;
        UcsError e = {};
        size_t size;

        cr_expect_eq(ucs_state_read(tmproot, DIRECTORY, "state", &back, &size, &e), -ENOENT);
        tmproot_mkdir(DIRECTORY);
        cr_expect_eq(ucs_state_read(tmproot, DIRECTORY, "state", &back, &size, &e), -ENOENT);
        tmproot_write(DIRECTORY "/state", data, LIMIT + 1);
        cr_expect_eq(ucs_state_read(tmproot, DIRECTORY, "state", &back, &size, &e), -EFBIG);
        expect_error(&e, "/var/lib/ucodesync/state is larger than 4194304 bytes");
        tmproot_write(DIRECTORY "/state", data, LIMIT);
        cr_assert_eq(ucs_state_read(tmproot, DIRECTORY, "state", &back, &size, &e), 0);
        cr_expect_eq(size, LIMIT);
        tmproot_unlink(DIRECTORY "/state");
        cr_assert_eq(mkfifo(tmproot_at(DIRECTORY "/state"), 0600), 0);
        cr_expect_eq(ucs_state_read(tmproot, DIRECTORY, "state", &(char *){ NULL }, &size, &e), -EINVAL);
        expect_error(&e, "/var/lib/ucodesync/state is not a regular file");
}

ucs_test(state, set_aside_and_remove, IN_ROOT) {
        UcsError e = {};

        cr_expect_eq(ucs_state_set_aside(tmproot, DIRECTORY, "state", NULL, &e), -ENOENT);
        expect_error(&e, "cannot open the directory /var/lib/ucodesync: No such file or directory");
        cr_expect_eq(ucs_state_remove(tmproot, DIRECTORY, "state"), 0);

        for (unsigned i = 1; i <= 3; i++) {
                _cleanup_free_ char *name = NULL;
                char expected[32], content[2] = { (char) ('0' + i) };

                (void) snprintf(expected, sizeof(expected), "state.bad-%u", i);
                cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", content, 1, NULL), 0);
                cr_assert_eq(ucs_state_set_aside(tmproot, DIRECTORY, "state", &name, &e), 0);
                cr_expect_str_eq(name, expected);
                expect_content(name, content, 1);
        }
        cr_expect_eq(ucs_state_set_aside(tmproot, DIRECTORY, "state", NULL, &e), -ENOENT);
        expect_error(&e, "cannot rename /var/lib/ucodesync/state to state.bad-1: No such file or directory");
        expect_content("state.bad-1", "1", 1);

        cr_assert_eq(ucs_state_write(tmproot, DIRECTORY, "state", "x", 1, NULL), 0);
        cr_expect_eq(ucs_state_remove(tmproot, DIRECTORY, "state"), 0);
        cr_expect_eq(ucs_state_remove(tmproot, DIRECTORY, "state"), 0);
        cr_expect_eq(entries(DIRECTORY), 3);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kept descriptors: fresh content each time, and what follows when the file behind one goes away. */

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "os/kept.h"
#include "tree.h"

#define kept_test(name) ucs_test(kept, name, .init = tmproot_init, .fini = tmproot_done)

kept_test(reads_afresh) {
        UcsKept file = UCS_KEPT_INIT;
        UcsKeptPool pool;
        char buf[8];

        ucs_kept_pool_init(&pool, tmproot);
        cr_expect_eq(ucs_kept_read(&pool, &file, "a/file", buf, sizeof(buf)), -ENOENT);
        cr_expect(file.fd < 0);
        tmproot_text("a/file", "one");
        cr_expect_eq(ucs_kept_read(&pool, &file, "a/file", buf, sizeof(buf)), 3);
        cr_expect_str_eq(buf, "one");
        cr_expect(file.fd >= 0);
        cr_expect_eq(pool.n_kept, 1);
        tmproot_text("a/file", "fifteen letters");
        cr_expect_eq(ucs_kept_read(&pool, &file, "a/file", buf, sizeof(buf)), 7, "as much as there is room for");
        cr_expect_str_eq(buf, "fifteen");
        tmproot_text("a/file", "");
        cr_expect_eq(ucs_kept_read(&pool, &file, "a/file", buf, sizeof(buf)), 0);
        cr_expect_str_eq(buf, "");
        cr_expect_not(file.renewed);
        ucs_kept_close(&pool, &file);
        ucs_kept_close(&pool, &file);
        cr_expect_eq(pool.n_kept, 0);
        ucs_kept_pool_done(&pool);
}

/* Reading leaves no trace in the file's times. */
kept_test(leaves_no_time) {
        static const struct timespec times[] = { { .tv_sec = 1 }, { .tv_sec = 2 } }; /* of access, of change: relatime would bring the first up */
        UcsKept file = UCS_KEPT_INIT;
        UcsKeptPool pool;
        struct stat st;
        char buf[8];

        ucs_kept_pool_init(&pool, tmproot);
        tmproot_text("a/file", "one");
        cr_assert_eq(utimensat(AT_FDCWD, tmproot_at("a/file"), times, 0), 0);
        for (int i = 0; i < 2; i++)
                cr_expect_eq(ucs_kept_read(&pool, &file, "a/file", buf, sizeof(buf)), 3);
        cr_assert_eq(stat(tmproot_at("a/file"), &st), 0);
        cr_expect_eq(st.st_atim.tv_sec, 1);
        ucs_kept_close(&pool, &file);
        ucs_kept_pool_done(&pool);
}

/* Somebody else's file does not allow that, and is read all the same. */
kept_test(of_somebody_else) {
        UcsKept file = UCS_KEPT_INIT;
        UcsKeptPool pool;
        char buf[8];

        if (geteuid() != 0)
                cr_skip_test("only root can become somebody else");
        ucs_kept_pool_init(&pool, tmproot);
        tmproot_text("file", "one");
        cr_assert_eq(chmod(tmproot_path, 0755), 0);
        cr_assert_eq(chmod(tmproot_at("file"), 0644), 0);
        cr_assert_eq(seteuid(65534), 0);
        cr_expect_lt(open(tmproot_at("file"), O_RDONLY | O_CLOEXEC | O_NOATIME), 0);
        cr_expect_eq(ucs_kept_read(&pool, &file, "file", buf, sizeof(buf)), 3);
        cr_expect_str_eq(buf, "one");
        ucs_kept_close(&pool, &file);
        ucs_kept_pool_done(&pool);
        cr_assert_eq(seteuid(0), 0);
}

/* A directory and what leads out of the root are errors, a FIFO does not wait. */
kept_test(no_file) {
        UcsKept file = UCS_KEPT_INIT;
        UcsKeptPool pool;
        char buf[8];

        ucs_kept_pool_init(&pool, tmproot);
        tmproot_mkdir("directory");
        tmproot_symlink("/etc/passwd", "link");
        cr_assert_eq(mkfifo(tmproot_at("fifo"), 0600), 0);
        cr_expect_eq(ucs_kept_read(&pool, &file, "directory", buf, sizeof(buf)), -EISDIR);
        cr_expect_eq(ucs_kept_read(&pool, &file, "link", buf, sizeof(buf)), -ENOENT);
        cr_expect_eq(ucs_kept_read(&pool, &file, "fifo", buf, sizeof(buf)), -ESPIPE);
        cr_expect_eq(pool.n_kept, 0);
        ucs_kept_pool_done(&pool);
}

/* As a CPU's files while it is offline: the descriptor is dead, whoever comes back under the same name is another. */
kept_test(renewed) {
        UcsKept file = UCS_KEPT_INIT;
        _cleanup_fd_ int proc = -EBADF;
        UcsKeptPool pool;
        char buf[512], path[32];
        pid_t pid;

        cr_assert_eq(ucs_root_open("/proc", &proc, NULL), 0);
        ucs_kept_pool_init(&pool, proc);
        pid = fork();
        cr_assert(pid >= 0);
        if (pid == 0) {
                (void) pause();
                _exit(0);
        }
        (void) snprintf(path, sizeof(path), "%d/stat", pid);
        cr_expect(ucs_kept_read(&pool, &file, path, buf, sizeof(buf)) > 0);
        cr_expect_not(file.renewed);
        cr_assert_eq(kill(pid, SIGKILL), 0);
        cr_assert_eq(waitpid(pid, NULL, 0), pid);

        cr_expect_eq(ucs_kept_read(&pool, &file, path, buf, sizeof(buf)), -ENOENT);
        cr_expect(file.renewed);
        cr_expect(file.fd < 0);
        cr_expect_eq(pool.n_kept, 0);

        (void) snprintf(path, sizeof(path), "%d/stat", getpid());
        cr_expect(ucs_kept_read(&pool, &file, path, buf, sizeof(buf)) > 0);
        cr_expect_not(file.renewed, "said once");
        ucs_kept_close(&pool, &file);
        ucs_kept_pool_done(&pool);
}

kept_test(limit) {
        struct rlimit before, rl;
        UcsKept files[4] = { UCS_KEPT_INIT, UCS_KEPT_INIT, UCS_KEPT_INIT, UCS_KEPT_INIT };
        UcsKeptPool pool;
        char buf[8];

        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        rl = (struct rlimit){ .rlim_cur = 128 + 3 * 2, .rlim_max = before.rlim_max };
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
        ucs_kept_pool_init(&pool, tmproot);
        cr_expect_eq(pool.limit, 2);
        for (unsigned i = 0; i < 4; i++) {
                tree_printf(tree_path("%u", i), "%u", i);
                cr_expect_eq(ucs_kept_read(&pool, &files[i], tree_path("%u", i), buf, sizeof(buf)), 1);
                cr_expect_eq(buf[0], '0' + (char) i);
                cr_expect_eq(files[i].fd >= 0, i < 2);
        }
        cr_expect_eq(pool.n_kept, 2);
        for (unsigned i = 0; i < 4; i++)
                ucs_kept_close(&pool, &files[i]);
        ucs_kept_pool_done(&pool);
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

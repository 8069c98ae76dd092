/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The write in its thread: what is written, in which order the witness is asked, and each way in which it fails. A FIFO that is full
 * stands for a kernel that is busy loading. */

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "os/reload.h"
#include "stopper-tree.h"

#define reload_test(name) ucs_test(reload, name, .init = tmproot_init, .fini = tmproot_done)

#define RELOAD TREE_CPU "/microcode/reload"

static UcsWitness *witness_of(const UcsMachine *m) {
        UcsWitness *w = NULL;

        cr_assert_eq(ucs_witness_open(tmproot, _UCS_WITNESS_INVALID, m, &w, NULL), 0);
        return w;
}

static UcsReloadOutcome reload(unsigned n_cpus) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(n_cpus);
        UcsReloadOutcome o;
        struct pollfd p;
        UcsReload *r;

        cr_assert_eq(ucs_reload_start(tmproot, witness_of(m), &r), 0);
        p = (struct pollfd){ .fd = ucs_reload_fd(r), .events = POLLIN };
        cr_assert_eq(poll(&p, 1, -1), 1);
        ucs_reload_finish(r, &o);
        return o;
}

static unsigned count_descriptors(void) {
        DIR *d = opendir("/proc/self/fd");
        unsigned n = 0;

        cr_assert(d);
        while (readdir(d))
                n++;
        (void) closedir(d);
        return n;
}

reload_test(writes_one) {
        _cleanup_free_ char *text = NULL;
        UcsReloadOutcome o;

        tmproot_text(RELOAD, "");
        tmproot_text("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\n");
        o = reload(2);
        cr_expect_eq(o.open_errno, 0);
        cr_expect_eq(o.write_errno, 0);
        cr_assert_eq(ucs_root_read(tmproot, RELOAD, 16, &text, NULL, NULL), 0);
        cr_expect_str_eq(text, "1");
        cr_expect_eq(o.stall.witness, UCS_WITNESS_WRITE, "no stopper in this tree");
        cr_expect_neq(o.stall.write_nsec, UCS_UNKNOWN);
        cr_expect_eq(o.stall.stall_nsec, o.stall.write_nsec);
        cr_expect_eq(o.stall.steal_nsec, 0);
        cr_expect_eq(o.stall.n_missing, 2);
        cr_expect(o.stall.when_usec > 0);
        ucs_stall_done(&o.stall);
}

reload_test(cannot_open) {
        static const struct {
                const char *name;
                int open_errno;
        } table[] = { { "missing", ENOENT }, { "a directory", EISDIR }, { "a link out of the root", ENOENT }, { "a link to itself", ELOOP } };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsReloadOutcome o;

                switch (i) {
                case 1:
                        tmproot_mkdir(RELOAD);
                        break;
                case 2:
                        tmproot_symlink("/etc/hostname", RELOAD);
                        break;
                case 3:
                        tmproot_symlink("reload", RELOAD);
                        break;
                }
                tree_stopper(0);
                o = reload(1);
                cr_expect_eq(o.open_errno, table[i].open_errno, "%s: %d", table[i].name, o.open_errno);
                cr_expect_eq(o.write_errno, 0);
                cr_expect_eq(o.stall.stall_nsec, UCS_UNKNOWN, "%s", table[i].name);
                cr_expect_eq(o.stall.write_nsec, UCS_UNKNOWN, "%s", table[i].name);
                cr_expect_eq(o.stall.witness, UCS_WITNESS_NONE, "%s", table[i].name);
                ucs_stall_done(&o.stall);
                tree_remove(RELOAD);
        }
}

/* An errno of the write, and no stopper ran: no stall, however long the write took. */
reload_test(write_fails) {
        UcsReloadOutcome o;

        tmproot_mkdir_above(RELOAD);
        if (mknod(tmproot_at(RELOAD), S_IFCHR | 0600, makedev(1, 7)) < 0) /* /dev/full */
                cr_skip("no device nodes here");
        tree_stopper(0);
        o = reload(1);
        if (o.open_errno == EACCES || o.open_errno == EPERM)
                cr_skip("no devices on this file system");
        cr_expect_eq(o.open_errno, 0);
        cr_expect_eq(o.write_errno, ENOSPC, "%d", o.write_errno);
        cr_expect_eq(o.stall.stall_nsec, UCS_UNKNOWN);
        cr_expect_eq(o.stall.witness, UCS_WITNESS_NONE);
        cr_expect_neq(o.stall.write_nsec, UCS_UNKNOWN);
        cr_assert_eq(o.stall.n_cpus, 1);
        cr_expect_eq(o.stall.cpus[0].runs, 0, "its stopper did not run");
        ucs_stall_done(&o.stall);
}

/* Make `path` a FIFO whose next writer has to wait. Returns its reading end; `*ret_fill` is what has to be read before. */
static int busy_kernel(const char *path, size_t *ret_fill) {
        static const char zeros[4096];
        _cleanup_fd_ int out = -EBADF;
        size_t fill = 0;
        ssize_t n;
        int in;

        tmproot_mkdir_above(path);
        cr_assert_eq(mkfifo(tmproot_at(path), 0600), 0);
        in = open(tmproot_at(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        out = open(tmproot_at(path), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        cr_assert(in >= 0 && out >= 0);
        while ((n = write(out, zeros, sizeof(zeros))) > 0)
                fill += (size_t) n;
        cr_assert_eq(errno, EAGAIN);
        *ret_fill = fill;
        return in;
}

/* The mask of blocked signals of the thread of that name in this process. */
static uint64_t blocked_signals(const char *name) {
        uint64_t mask = 0;
        struct dirent *e;
        DIR *d = opendir("/proc/self/task");

        cr_assert(d);
        while ((e = readdir(d))) {
                char line[256];
                bool found = false;
                FILE *f = fopen(tree_path("/proc/self/task/%s/status", e->d_name), "re");

                while (f && fgets(line, sizeof(line), f)) {
                        if (strncmp(line, "Name:", 5) == 0)
                                found = streq(str_strip(line + 5), name);
                        if (found && strncmp(line, "SigBlk:", 7) == 0)
                                mask = strtoull(line + 7, NULL, 16);
                }
                if (f)
                        (void) fclose(f);
        }
        (void) closedir(d);
        return mask;
}

/* Baseline, write, evidence, in this order: what the stoppers do while the write is on its way is what counts. */
reload_test(in_order) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(3);
        _cleanup_fd_ int kernel = -EBADF, reads = -EBADF;
        UcsReloadOutcome o;
        struct pollfd p;
        UcsReload *r;
        UcsWitness *w;
        size_t fill, got = 0;
        uint64_t mask;
        char buf[4096], last = 0;

        for (unsigned cpu = 0; cpu < 3; cpu++)
                tree_stopper(cpu);
        tmproot_text("proc/stat", "cpu  0 0 0 0 0 0 0 5 0 0\n");
        kernel = busy_kernel(RELOAD, &fill);
        w = witness_of(m);
        reads = reads_of("proc/32/schedstat"); /* of the last CPU */
        cr_assert_eq(ucs_reload_start(tmproot, w, &r), 0);
        wait_read(reads);

        p = (struct pollfd){ .fd = ucs_reload_fd(r), .events = POLLIN };
        cr_expect_eq(poll(&p, 1, 0), 0, "not done while the kernel is busy");
        mask = blocked_signals("ucodesync-load");
        for (int sig = 1; sig < 32; sig++)
                if (sig != SIGKILL && sig != SIGSTOP)
                        cr_expect(mask >> (sig - 1) & 1, "signal %d is not blocked", sig);
        tree_ran(0, 12450000, 1);
        tree_ran(1, 12440000, 1);
        tree_ran(2, 12460000, 1);
        tmproot_text("proc/stat", "cpu  0 0 0 0 0 0 0 7 0 0\n");

        while (got < fill + 1) {
                ssize_t n = read(kernel, buf, sizeof(buf));

                if (n > 0) {
                        got += (size_t) n;
                        last = buf[n - 1];
                }
        }
        cr_expect_eq(last, '1');
        cr_assert_eq(poll(&p, 1, -1), 1);
        ucs_reload_finish(r, &o);
        cr_expect_eq(o.write_errno, 0);
        cr_expect_eq(o.stall.witness, UCS_WITNESS_SCHEDSTAT);
        cr_expect_eq(o.stall.stall_nsec, 12440000, "%ju", (uintmax_t) o.stall.stall_nsec);
        cr_expect_eq(o.stall.worst_nsec, 12460000);
        cr_expect_eq(o.stall.worst_cpu, 2);
        cr_expect_eq(o.stall.n_witnessed, 3);
        cr_expect_eq(o.stall.n_mixed, 0);
        cr_expect_eq(o.stall.steal_nsec, 2 * NSEC_PER_SEC / (uint64_t) sysconf(_SC_CLK_TCK));
        ucs_stall_done(&o.stall);
}

/* No thread, no descriptor: nothing has happened, the witness is still the caller's, nothing is left behind. */
reload_test(cannot_start) {
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(1);
        _cleanup_(ucs_witness_closep) UcsWitness *w = NULL;
        _cleanup_free_ char *text = NULL;
        pthread_attr_t before, huge;
        struct rlimit limit, none;
        UcsReload *r = NULL;
        unsigned n;
        int k;

        tmproot_text(RELOAD, "");
        tree_stopper(0);
        w = witness_of(m);
        n = count_descriptors();

        cr_assert_eq(pthread_getattr_default_np(&before), 0);
        cr_assert_eq(pthread_attr_init(&huge), 0);
        cr_assert_eq(pthread_attr_setstacksize(&huge, (size_t) 1 << 46), 0);
        cr_assert_eq(pthread_setattr_default_np(&huge), 0);
        k = ucs_reload_start(tmproot, w, &r);
        cr_assert_eq(pthread_setattr_default_np(&before), 0);
        cr_expect_eq(k, -EAGAIN, "%d", k);
        cr_expect_null(r);
        cr_expect_eq(count_descriptors(), n);
        (void) pthread_attr_destroy(&huge);
        (void) pthread_attr_destroy(&before);

        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        none = (struct rlimit){ .rlim_cur = 4, .rlim_max = limit.rlim_max };
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        k = ucs_reload_start(tmproot, w, &r);
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        cr_expect_eq(k, -EMFILE, "%d", k);
        cr_expect_eq(count_descriptors(), n);

        cr_assert_eq(ucs_root_read(tmproot, RELOAD, 16, &text, NULL, NULL), 0);
        cr_expect_str_eq(text, "", "nothing was written");
        cr_expect_eq(ucs_witness_arm(w), 0, "the witness is alive");
}

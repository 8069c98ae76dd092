/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/watch: names, and what happens at the limits: overflow, unmounting, no watches left, no permission, too
 * many links. */

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/parse.h"
#include "os/watch-plan.h"
#include "os/watch.h"
#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done
#define LIB     "/lib/firmware"
#define LEAF    LIB "/intel-ucode"

static char library[] = LIB;
static char *const dirs[] = { library, NULL };

static UcsWatch *watch_new_or_die(char *const *search_path) {
        UcsWatch *w = NULL;
        UcsError e = {};

        cr_assert_eq(ucs_watch_new(tmproot, search_path, "intel-ucode", &w, &e), 0, "%s", e.text);
        return w;
}

static bool readable(UcsWatch *w) {
        return poll(&(struct pollfd){ ucs_watch_fd(w), POLLIN, 0 }, 1, 0) > 0;
}

static bool listed(char *const *l, const char *s) {
        for (; l && *l; l++)
                if (streq(*l, s))
                        return true;
        return false;
}

ucs_test(watch_names, table) {
        static const struct {
                const char *name;
                bool counts;
        } cases[] = {
                { "06-9e-0b", true },
                { "06-9e-0b.zst", true },
                { "06-9e-0b.xz", true },
                { "00-00-00", true },
                { "ff-ff-ff", true },
                { "microcode_amd.bin", true },
                { "microcode_amd.bin.xz", true },
                { "microcode_amd_fam15h.bin", true },
                { "microcode_amd_fam1ah.bin.zst", true },
                { "06-9E-0B", false },
                { "6-9e-b", false },
                { "06-9e-0b.", false },
                { "06-9e-0b.gz", false },
                { "06-9e-0b.zst.xz", false },
                { "06-9e-0b.xz.zst", false },
                { "06-9e-0b.dpkg-new", false },
                { "06-9e-0b.dpkg-tmp", false },
                { "06-9e-0b.initramfs", false },
                { "06-9e-0b;5f3759df", false },
                { "06-9e-0b~", false },
                { ".06-9e-0b.swp", false },
                { "x06-9e-0b", false },
                { "06-9e-0g", false },
                { "06_9e_0b", false },
                { "xx-xx-xx", false },
                { "list", false },
                { "README", false },
                { "", false },
                { ".zst", false },
                { ".xz", false },
                { "microcode_amd.bin.asc", false },
                { "microcode_amd_fam15h.bin.asc", false },
                { "microcode_amd_fam15h", false },
                { "microcode_amd_fam15.bin", false },
                { "microcode_amd_fam15H.bin", false },
                { "microcode_amd_famxxh.bin", false },
                { "Microcode_amd.bin", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                cr_expect_eq(ucs_watch_name_counts(cases[i].name), cases[i].counts, "'%s'", cases[i].name);
}

/* More events than the queue holds. What was lost among them is not known, so everything is looked at. */
ucs_test(watch_limits, overflow, IN_ROOT, .timeout = 120) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;
        _cleanup_free_ char *text = NULL;
        _cleanup_fd_ int host = -EBADF;
        uint64_t queue;

        cr_assert_eq(ucs_root_open("/", &host, NULL), 0);
        if (ucs_root_read(host, "/proc/sys/fs/inotify/max_queued_events", 64, &text, NULL, NULL) < 0 ||
            ucs_parse_u64(str_strip(text), 10, &queue) < 0 || queue > 100000)
                tmproot_skip("the length of the queue is not known, or too large to be filled");
        tmproot_mkdir(LEAF);
        w = watch_new_or_die(dirs);
        tmproot_text(LEAF "/a", "");
        for (uint64_t i = 0; i <= queue / 2; i++) {
                tmproot_rename(LEAF "/a", LEAF "/b");
                tmproot_rename(LEAF "/b", LEAF "/a");
        }
        cr_expect_eq(ucs_watch_dispatch(w), 1);
        cr_expect_not(readable(w));
        tmproot_text(LEAF "/a", "x");
        cr_expect_eq(ucs_watch_dispatch(w), 0);
        tmproot_text(LEAF "/06-9e-0b", "x");
        cr_expect_eq(ucs_watch_dispatch(w), 1);
}

/* As many events as you like, one look. */
ucs_test(watch_limits, burst, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir(LEAF);
        w = watch_new_or_die(dirs);
        for (unsigned i = 0; i < 1000; i++) {
                char path[64];

                (void) snprintf(path, sizeof(path), LEAF "/06-%02x-%02x", i / 256, i % 256);
                tmproot_text(path, "x");
        }
        cr_expect_eq(ucs_watch_dispatch(w), 1);
        cr_expect_not(readable(w));
        cr_expect_eq(ucs_watch_dispatch(w), 0);
}

ucs_test(watch_limits, unmounted, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir(LEAF);
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("firmware", tmproot_at(LIB), "tmpfs", 0, NULL) < 0)
                tmproot_skip("no mounts here: %s", strerror(errno));
        close(tmproot); /* of the namespace before */
        cr_assert_eq(ucs_root_open(tmproot_path, &tmproot, NULL), 0);
        tmproot_mkdir(LEAF);
        w = watch_new_or_die(dirs);
        tmproot_text(LEAF "/06-9e-0b", "x");
        cr_expect_eq(ucs_watch_dispatch(w), 1);
        cr_assert_eq(umount(tmproot_at(LIB)), 0);
        cr_expect_eq(ucs_watch_dispatch(w), 1);
        cr_expect_eq(ucs_watch_dispatch(w), 0);
        tmproot_text(LEAF "/06-9e-0b", "below");
        cr_expect_eq(ucs_watch_dispatch(w), 1);
}

static bool limit(const char *name, const char *value) {
        FILE *f = fopen(name, "we");
        bool ok;

        ok = f && fputs(value, f) >= 0;
        return f && fclose(f) == 0 && ok;
}

/* In a user namespace, whose limits are the system's for those inside: which of them is left at 0 decides
 * what is said. A process of its own, since one with threads may not enter. The status is how far it came.
 */
static int inside(const char *limited, int r, const char *text) {
        UcsWatch *w = NULL;
        UcsError e = {};

        if (unshare(CLONE_NEWUSER) < 0 || !limit(limited, "0"))
                return 77;
        if (ucs_watch_new(tmproot, dirs, "intel-ucode", &w, &e) != r || w)
                return 1;
        return streq(e.text, text) ? 0 : 2;
}

ucs_test(watch_limits, no_watches_left, IN_ROOT) {
        static const struct {
                const char *limited;
                int r;
                const char *text;
        } cases[] = {
                { "/proc/sys/user/max_inotify_watches", -ENOSPC,
                  "cannot watch the firmware directories: no inotify watch is left (sysctl fs.inotify.max_user_watches)" },
                { "/proc/sys/user/max_inotify_instances", -EMFILE,
                  "cannot watch the firmware directories: no inotify instance is left (sysctl fs.inotify.max_user_instances), or no "
                  "descriptor" },
        };

        tmproot_mkdir(LEAF);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                int status;
                pid_t pid;

                pid = fork();
                cr_assert_geq(pid, 0);
                if (pid == 0)
                        _exit(inside(cases[i].limited, cases[i].r, cases[i].text));
                cr_assert_eq(waitpid(pid, &status, 0), pid);
                cr_assert(WIFEXITED(status));
                if (WEXITSTATUS(status) == 77)
                        tmproot_skip("no user namespaces here");
                cr_expect_eq(WEXITSTATUS(status), 0, "%s: %d", cases[i].limited, WEXITSTATUS(status));
        }
}

ucs_test(watch_limits, permission_denied, IN_ROOT) {
        UcsWatch *w = NULL;
        bool blind;
        int r;

        if (geteuid() != 0)
                tmproot_skip("needs root to become somebody else");
        tmproot_mkdir(LEAF);
        cr_assert_eq(chmod(tmproot_path, 0755), 0);
        cr_assert_eq(chmod(tmproot_at(LEAF), 0700), 0);
        cr_assert_eq(seteuid(65534), 0);
        r = ucs_watch_new(tmproot, dirs, "intel-ucode", &w, NULL);
        cr_assert_eq(seteuid(0), 0);
        cr_assert_eq(r, 0);
        blind = listed(ucs_watch_blind(w), LEAF);
        cr_expect(blind);
        cr_expect_not(listed(ucs_watch_directories(w), LEAF));
        ucs_watch_free(w);
}

/* Links through more directories than anyone needs: the rest is blind, the directories themselves are
 * watched. */
ucs_test(watch_limits, too_many_links, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        for (unsigned i = 0; i < UCS_WATCH_DIRECTORIES_MAX + 20; i++) {
                char link[64], target[64];

                (void) snprintf(link, sizeof(link), LEAF "/06-%02x-%02x", i / 256, i % 256);
                (void) snprintf(target, sizeof(target), "/srv/%u/file", i);
                tmproot_text(target, "x");
                tmproot_symlink(target, link);
        }
        w = watch_new_or_die(dirs);
        cr_expect(listed(ucs_watch_directories(w), LEAF));
        cr_expect_geq(strv_length((char **) ucs_watch_blind(w)), 20);
        cr_expect_leq(strv_length((char **) ucs_watch_directories(w)), UCS_WATCH_DIRECTORIES_MAX);
        tmproot_text(LEAF "/06-9e-0b", "x");
        cr_expect_eq(ucs_watch_dispatch(w), 1);
}

static unsigned n_descriptors(void) {
        DIR *d = opendir("/proc/self/fd");
        unsigned n = 0;

        cr_assert(d);
        while (readdir(d))
                n++;
        closedir(d);
        return n;
}

/* Looking at the tree keeps no descriptors, and the instance does not pass to children. */
ucs_test(watch_limits, descriptors, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;
        unsigned before;

        tmproot_mkdir(LEAF);
        before = n_descriptors();
        w = watch_new_or_die(dirs);
        cr_expect_eq(n_descriptors(), before + 2);
        for (unsigned i = 0; i < 50; i++) {
                tmproot_text(LEAF "/06-9e-0b", "x");
                cr_expect_eq(ucs_watch_dispatch(w), 1);
        }
        cr_expect_eq(n_descriptors(), before + 2);
        cr_expect(fcntl(ucs_watch_fd(w), F_GETFD) & FD_CLOEXEC);
        cr_expect(fcntl(ucs_watch_fd(w), F_GETFL) & O_NONBLOCK);
        w = ucs_watch_free(w);
        cr_expect_eq(n_descriptors(), before);
        cr_expect_null(ucs_watch_free(NULL));
}

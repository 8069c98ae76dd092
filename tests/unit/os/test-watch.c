/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/watch: what a package manager does, as it was traced, and every other way in which a firmware directory
 * can come, change and go. Counted are answers of ucs_watch_dispatch() and whether the descriptor woke
 * anyone at all, never time. */

#include "watch-expect.h"

/* The steps of dpkg for one file, in its order (its inotify trace on Debian 12). */
static void dpkg_unpack(const char *name, const char *content) {
        char path[256];
        int fd;

        (void) snprintf(path, sizeof(path), LEAF "/%s.dpkg-new", name);
        fd = open(tmproot_at(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
        cr_assert_geq(fd, 0);
        cr_assert(write(fd, content, strlen(content)) == (ssize_t) strlen(content));
        cr_assert_eq(fchown(fd, geteuid(), getegid()), 0);
        cr_assert_eq(fchmod(fd, 0644), 0);
        close(fd);
        cr_assert_eq(
                utimensat(AT_FDCWD, tmproot_at(path), (struct timespec[]){ { 1000, 0 }, { 1000, 0 } }, 0),
                0);
}

static void dpkg_backup(const char *name) {
        char from[256], to[256];

        (void) snprintf(from, sizeof(from), LEAF "/%s", name);
        (void) snprintf(to, sizeof(to), LEAF "/%s.dpkg-tmp", name);
        cr_assert_eq(link(tmproot_at(from), tmproot_at(to)), 0);
}

static void dpkg_install(const char *name) {
        char from[256], to[256];

        (void) snprintf(from, sizeof(from), LEAF "/%s.dpkg-new", name);
        (void) snprintf(to, sizeof(to), LEAF "/%s", name);
        tmproot_rename(from, to);
}

static void unlink_in_leaf(const char *name) {
        char path[256];

        (void) snprintf(path, sizeof(path), LEAF "/%s", name);
        tmproot_unlink(path);
}

/* --- package managers --- */

ucs_test(watch, dpkg_fresh, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir(LEAF);
        w = watch_new(dirs);
        dpkg_unpack("06-9e-0b", "half of it");
        dpkg_unpack("06-55-04", "half of it");
        expect_nothing(w, "half a file under a temporary name");
        dpkg_install("06-9e-0b");
        expect_scan(w, "the first file in place");
        dpkg_install("06-55-04");
        expect_scan(w, "the second file in place");
        expect_silence(w, "nothing");
}

ucs_test(watch, dpkg_fresh_with_directory, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir(LIB);
        w = watch_new(dirs);
        expect_lists(w, LIB, "");
        tmproot_mkdir(LEAF);
        dpkg_unpack("06-9e-0b", "x");
        dpkg_install("06-9e-0b");
        /* one look: the directory is there, with all that came before it was watched */
        expect_scan(w, "a directory with a file in it");
        expect_lists(w, LIB " " LEAF, "");
        dpkg_unpack("06-9e-0b", "y");
        expect_nothing(w, "a temporary name");
        dpkg_install("06-9e-0b");
        expect_scan(w, "a new version");
}

ucs_test(watch, dpkg_upgrade, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_text(LEAF "/06-9e-0b", "old");
        tmproot_text(LEAF "/06-9e-0c", "old");
        w = watch_new(dirs);
        dpkg_unpack("06-9e-0b", "new");
        expect_nothing(w, ".dpkg-new");
        dpkg_backup("06-9e-0b");
        (void) woken(w); /* the old file got a link: harmless, whether its name is told or not */
        dpkg_install("06-9e-0b");
        expect_scan(w, "the new file in place");
        unlink_in_leaf("06-9e-0c");
        expect_scan(w, "a file that the new version does not have");
        unlink_in_leaf("06-9e-0b.dpkg-tmp");
        expect_nothing(w, "the backup goes");
}

ucs_test(watch, dpkg_purge_and_reinstall, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_text(LEAF "/06-9e-0b", "old");
        w = watch_new(dirs);
        for (unsigned i = 0; i < 3; i++) {
                unlink_in_leaf("06-9e-0b");
                expect_scan(w, "the file is gone");
                tmproot_rmdir(LEAF);
                expect_scan(w, "the directory is gone");
                expect_lists(w, LIB, "");
                tmproot_mkdir(LEAF);
                expect_scan(w, "the directory is back");
                expect_lists(w, LIB " " LEAF, "");
                dpkg_unpack("06-9e-0b", "new");
                dpkg_install("06-9e-0b");
                expect_scan(w, "the file is back");
        }
        /* the whole of it between two looks */
        unlink_in_leaf("06-9e-0b");
        tmproot_rmdir(LEAF);
        tmproot_mkdir(LEAF);
        expect_scan(w, "gone and back");
        dpkg_unpack("06-9e-0b", "new");
        dpkg_install("06-9e-0b");
        expect_scan(w, "a file in the new directory");
}

/* A shell stands in the directory that is removed: its inode lives on, and does not say that it is gone. */
ucs_test(watch, removed_while_in_use, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;
        _cleanup_fd_ int held = -EBADF;

        tmproot_mkdir(LEAF);
        w = watch_new(dirs);
        held = open(tmproot_at(LEAF), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        cr_assert_geq(held, 0);
        tmproot_rmdir(LEAF);
        expect_scan(w, "the directory is gone");
        tmproot_mkdir(LEAF);
        expect_scan(w, "another one of its name");
        tmproot_text(LEAF "/06-9e-0b", "x");
        expect_scan(w, "a file in it");
}

ucs_test(watch, rpm_cp_and_editors, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir(LEAF);
        w = watch_new(dirs);
        tmproot_text(LEAF "/06-9e-0b;5f3759df", "x");
        expect_nothing(w, "rpm's temporary name");
        tmproot_rename(LEAF "/06-9e-0b;5f3759df", LEAF "/06-9e-0b");
        expect_scan(w, "rpm's rename");
        tmproot_text(LEAF "/06-9e-0b", "y");
        expect_scan(w, "cp over it");
        cr_assert_eq(chmod(tmproot_at(LEAF "/06-9e-0b"), 0600), 0);
        expect_scan(w, "chmod");
        cr_assert_eq(utimensat(AT_FDCWD, tmproot_at(LEAF "/06-9e-0b"), NULL, 0), 0);
        expect_scan(w, "touch");
        tmproot_rename(LEAF "/06-9e-0b", LEAF "/06-9e-0b~");
        expect_scan(w, "renamed away");
        tmproot_rename(LEAF "/06-9e-0b~", LEAF "/06-9e-0b.zst");
        expect_scan(w, "renamed to a compressed name");
        tmproot_text(LEAF "/README", "x");
        tmproot_text(LEAF "/06-9E-0B", "x");
        tmproot_text(LEAF "/.06-9e-0b.swp", "x");
        tmproot_text(LEAF "/06-9e-0b.initramfs", "x");
        expect_nothing(w, "names that the kernel does not open");
        tmproot_mkdir(LEAF "/list.d");
        expect_scan(w, "a directory");
        cr_assert_eq(chmod(tmproot_at(LEAF), 0700), 0);
        expect_scan(w, "the directory's mode");
}

/* Reading, by us or anyone, is not an event. */
ucs_test(watch, readers, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;
        _cleanup_free_ char *text = NULL;

        tmproot_text(LEAF "/06-9e-0b", "x");
        w = watch_new(dirs);
        cr_assert_eq(ucs_root_read(tmproot, LEAF "/06-9e-0b", 10, &text, NULL, NULL), 0);
        cr_assert_eq(ucs_root_exists(tmproot, LEAF "/06-9e-0c"), 0);
        expect_silence(w, "somebody reads");
}

/* --- directories that come, move and go --- */

ucs_test(watch, comes_step_by_step, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir("/usr/lib");
        tmproot_symlink("usr/lib", "/lib");
        w = watch_new(dirs);
        expect_lists(w, "/usr/lib", "");
        tmproot_mkdir("/usr/lib/firmware");
        expect_scan(w, "/usr/lib/firmware");
        expect_lists(w, "/usr/lib/firmware", "");
        tmproot_mkdir("/usr/lib/python3");
        expect_silence(w, "/usr/lib is not watched any more");
        tmproot_mkdir("/usr/lib/firmware/updates");
        expect_scan(w, "updates");
        expect_lists(w, "/usr/lib/firmware /usr/lib/firmware/updates", "");
        tmproot_mkdir("/usr/lib/firmware/updates/intel-ucode");
        expect_scan(w, "updates/intel-ucode");
        tmproot_text("/usr/lib/firmware/updates/intel-ucode/06-9e-0b", "x");
        expect_scan(w, "a file in updates");
        expect_lists(w, "/usr/lib/firmware /usr/lib/firmware/updates /usr/lib/firmware/updates/intel-ucode",
                     "");

        /* the rest at once, before anyone looks */
        tmproot_text(LEAF "/06-55-04", "x");
        expect_scan(w, "a whole directory");
        tmproot_text(LEAF "/06-55-04", "y");
        expect_scan(w, "a file in it");
}

/* What is awaited counts; its neighbours wake us, where they must, for nothing, and everyone's directories
 * not at all. */
ucs_test(watch, neighbours, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir("/usr/lib");
        tmproot_mkdir("/etc");
        tmproot_mkdir("/tmp");
        tmproot_symlink("usr/lib", "/lib");
        w = watch_new(dirs);
        touch("/usr/lib/libfoo.so");
        tmproot_mkdir("/usr/lib/firmware.old");
        expect_nothing(w, "neighbours in /usr/lib");
        tmproot_rename("/usr/lib/firmware.old", "/usr/lib/firmware");
        expect_scan(w, "renamed to what is awaited");
        touch(LIB "/iwlwifi.ucode");
        tmproot_mkdir(LIB "/amd-ucode");
        tmproot_text(LIB "/amd-ucode/microcode_amd.bin", "x");
        expect_nothing(w, "other firmware");
        touch("/file");
        touch("/etc/passwd-");
        touch("/tmp/file");
        tmproot_mkdir("/usr/share");
        touch("/usr/share/file");
        touch("/usr/lib/libbar.so");
        expect_silence(w, "the rest of the system");
}

/* Search directories whose parents everyone writes to. */
ucs_test(watch, blind_where_everyone_writes, IN_ROOT) {
        static char run[] = "/run/firmware", tmp[] = "/tmp", var_run[] = "/var/run/fw",
                    open_[] = "/srv/open/fw", top[] = "/fw", opt[] = "/opt/fw/";
        static char *const path[] = { run, tmp, var_run, open_, top, opt, NULL };
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir("/run");
        tmproot_mkdir("/tmp");
        tmproot_mkdir("/var");
        tmproot_symlink("/run", "/var/run");
        tmproot_mkdir("/opt");
        tmproot_mkdir("/srv/open");
        cr_assert_eq(chmod(tmproot_at("/srv/open"), 01777), 0);
        w = watch_new(path);
        expect_lists(
                w, "/opt",
                "/run/firmware/intel-ucode /tmp/intel-ucode /var/run/fw/intel-ucode /srv/open/fw/intel-ucode /fw/intel-ucode");
        touch("/run/file");
        touch("/tmp/file");
        touch("/var/file");
        touch("/srv/open/file");
        touch("/file");
        tmproot_mkdir("/run/firmware/intel-ucode");
        expect_silence(w, "everyone's directories");

        /* at the next occasion it is found, and then watched, even in such a place */
        tmproot_mkdir("/tmp/intel-ucode");
        tmproot_mkdir("/opt/fw");
        expect_scan(w, "/opt/fw");
        expect_lists(w, "/run/firmware /run/firmware/intel-ucode /tmp/intel-ucode /opt/fw",
                     "/var/run/fw/intel-ucode /srv/open/fw/intel-ucode /fw/intel-ucode");
        tmproot_text("/run/firmware/intel-ucode/06-9e-0b", "x");
        expect_scan(w, "a file below /run");
        tmproot_text("/tmp/intel-ucode/06-9e-0b", "x");
        expect_scan(w, "a file below /tmp");
        touch("/tmp/file2");
        expect_silence(w, "/tmp itself");
}

ucs_test(watch, nothing_at_all, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = watch_new(dirs), *empty = watch_new(NULL);

        expect_lists(w, "", LIB "/updates/intel-ucode " LEAF);
        expect_lists(empty, "", "");
        touch("/file");
        expect_silence(w, "the root");
        cr_expect_eq(ucs_watch_dispatch(w), 0);
}

ucs_test(watch, moves, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir("/usr/lib");
        tmproot_symlink("usr/lib", "/lib");
        tmproot_text(LEAF "/06-9e-0b", "old");
        tmproot_text("/srv/firmware/intel-ucode/06-9e-0b", "new");
        w = watch_new(dirs);
        tmproot_rename("/lib/firmware", "/usr/lib/firmware.old");
        expect_scan(w, "the directory above is renamed");
        tmproot_text("/usr/lib/firmware.old/intel-ucode/06-9e-0b", "x");
        expect_silence(w, "the old directory is nobody's");
        tmproot_rename("/srv/firmware", "/usr/lib/firmware");
        expect_scan(w, "another one in its place");
        tmproot_text(LEAF "/06-9e-0b", "newer");
        expect_scan(w, "a file in it");
        tmproot_rename("/usr/lib/firmware/intel-ucode", "/usr/lib/firmware/off");
        expect_scan(w, "the directory itself is renamed");
        tmproot_rename("/usr/lib/firmware/off", "/usr/lib/firmware/intel-ucode");
        expect_scan(w, "and back");
        tmproot_rename("/usr", "/usr.old");
        expect_scan(w, "a directory far above is renamed");
        expect_lists(w, "", LIB "/updates/intel-ucode " LEAF);
}

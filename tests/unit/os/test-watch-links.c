/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/watch: firmware behind links, of directories and of files, and links that lead nowhere or round and
 * round. */

#include "watch-expect.h"

ucs_test(watch, linked_directories, IN_ROOT) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_mkdir("/opt/one/intel-ucode");
        tmproot_mkdir("/opt/two/intel-ucode");
        tmproot_mkdir(LIB);
        tmproot_symlink("/opt/one", LIB "/updates");
        tmproot_symlink("../../opt/three/ucode", LEAF);
        w = watch_new(dirs);
        expect_lists(w, LIB " /opt /opt/one /opt/one/intel-ucode", "");
        tmproot_text("/opt/one/intel-ucode/06-9e-0b", "x");
        expect_scan(w, "a file behind the link");
        tmproot_text("/opt/two/intel-ucode/06-9e-0b", "x");
        expect_silence(w, "another directory");
        tmproot_symlink("/opt/two", LIB "/updates.new");
        expect_nothing(w, "a link of another name");
        tmproot_rename(LIB "/updates.new", LIB "/updates");
        expect_scan(w, "the link leads elsewhere");
        tmproot_text("/opt/one/intel-ucode/06-9e-0b", "x");
        expect_silence(w, "where it led before");
        tmproot_text("/opt/two/intel-ucode/06-9e-0b", "y");
        expect_scan(w, "where it leads now");

        /* a link that led nowhere */
        tmproot_mkdir("/opt/three");
        expect_scan(w, "on the way of a link");
        tmproot_mkdir("/opt/three/ucode");
        expect_scan(w, "at the end of a link");
        tmproot_text("/opt/three/ucode/06-55-04", "x");
        expect_scan(w, "a file there");
        tmproot_unlink(LEAF);
        expect_scan(w, "the link is gone");
        tmproot_text("/opt/three/ucode/06-55-04", "y");
        expect_silence(w, "nobody's any more");
}

/* Red Hat's update_ucode fills the release's directory with links into /usr/share. */
ucs_test(watch, linked_files, IN_ROOT) {
        static char release[] = LIB "/6.12.0", *path[] = { release, library, NULL };
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_text("/usr/share/caveats/a/06-4f-01", "x");
        tmproot_text("/usr/share/caveats/b/06-55-04", "x");
        tmproot_text("/usr/share/caveats/c/real", "x");
        tmproot_symlink("/usr/share/caveats/a/06-4f-01", LIB "/6.12.0/intel-ucode/06-4f-01");
        tmproot_symlink("../../../../usr/share/caveats/b/06-55-04", LIB "/6.12.0/intel-ucode/06-55-04");
        tmproot_symlink("/usr/share/caveats/d/06-9e-0b", LIB "/6.12.0/intel-ucode/06-9e-0b");
        tmproot_symlink("/usr/share/caveats/d", LIB "/6.12.0/intel-ucode/README");
        tmproot_symlink("c/real", "/usr/share/caveats/hop");
        tmproot_symlink("/usr/share/caveats/hop", LIB "/6.12.0/intel-ucode/06-5e-03.xz");
        w = watch_new(path);

        tmproot_text("/usr/share/caveats/a/06-4f-01", "y");
        expect_scan(w, "written behind an absolute link");
        tmproot_text("/usr/share/caveats/b/new", "y");
        expect_nothing(w, "beside a linked file");
        tmproot_rename("/usr/share/caveats/b/new", "/usr/share/caveats/b/06-55-04");
        expect_scan(w, "replaced behind a relative link");
        tmproot_text("/usr/share/caveats/c/real", "y");
        expect_scan(w, "written behind two links");
        cr_assert_eq(symlink("b/06-55-04", tmproot_at("/usr/share/caveats/hop2")), 0);
        tmproot_rename("/usr/share/caveats/hop2", "/usr/share/caveats/hop");
        expect_scan(w, "the link behind the link leads elsewhere");
        tmproot_text("/usr/share/caveats/c/real", "z");
        expect_silence(w, "nobody's any more");
        tmproot_mkdir("/usr/share/caveats/d");
        expect_scan(w, "on the way of a link that led nowhere");
        tmproot_text("/usr/share/caveats/d/06-9e-0b", "x");
        expect_scan(w, "at its end");
        tmproot_unlink("/usr/share/caveats/a/06-4f-01");
        expect_scan(w, "removed behind a link");
        tmproot_text("/usr/share/caveats/a/06-4f-01", "x");
        expect_scan(w, "and back");
}

ucs_test(watch, loops_and_climbers, IN_ROOT) {
        static char loop[] = "/lib/loop", deep[] = "/lib/deep/../../../../lib/firmware/.",
                    *path[] = { loop, deep, NULL };
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

        tmproot_symlink("loop", "/lib/loop");
        tmproot_mkdir("/lib/deep");
        tmproot_mkdir(LEAF);
        tmproot_symlink("06-9e-0c", LEAF "/06-9e-0b");
        tmproot_symlink("06-9e-0b", LEAF "/06-9e-0c");
        tmproot_symlink("/etc/passwd", LEAF "/06-55-04");
        w = watch_new(path);
        expect_lists(w, "/lib " LIB " " LEAF, LEAF "/06-55-04");
        tmproot_unlink("/lib/loop");
        expect_scan(w, "the loop is gone");
        tmproot_mkdir("/lib/loop");
        expect_scan(w, "a directory in its place");
        expect_lists(w, "/lib/loop " LIB " " LEAF, LEAF "/06-55-04");
        tmproot_unlink(LEAF "/06-9e-0c");
        expect_scan(w, "a loop of files is broken");
        tmproot_text(LEAF "/06-9e-0c", "x");
        expect_scan(w, "and leads to a file");
        tmproot_text(LEAF "/06-9e-0c", "y");
        expect_scan(w, "that is written");
}

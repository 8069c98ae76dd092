/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/watch without any right beyond those of its user, as in the sandbox: directories that are closed to it, and that are opened later. */

#include <sys/stat.h>

#include "watch-expect.h"

/* A directory that somebody else has for himself, until he opens it: seen by who may not read it, though nobody else is woken by other people's modes. */
static const struct {
        const char *name, *directory;
        mode_t closed, opened;
        bool given;      /* opened by a new owner */
        unsigned rounds; /* 2: it is noticed, too, when it is closed again; what is above the leaf may be closed without a word, for the leaf is still watched */
        const char *watched, *blind;
} closed_rows[] = {
        { "the leaf", LEAF, 0700, 0755, false, 2, LIB, LEAF },
        { "the leaf, for entering only", LEAF, 0711, 0755, false, 2, LIB, LEAF },
        { "the leaf, for looking only", LEAF, 0744, 0755, false, 2, LIB " " LEAF, "" },
        { "the leaf changes hands", LEAF, 0700, 0700, true, 2, LIB, LEAF },
        { "the one above", LIB, 0700, 0755, false, 1, "/lib", LIB "/updates/intel-ucode " LEAF },
        { "the one above, for entering only", LIB, 0711, 0755, false, 1, "/lib " LEAF, LIB },
};

ucs_test(watch_closed, closed_and_opened, IN_ROOT) {
        if (geteuid() != 0)
                tmproot_skip("needs root to become somebody else");
        cr_assert_eq(chmod(tmproot_path, 0755), 0);
        tmproot_mkdir(LEAF);
        tmproot_mkdir(LIB "/i915");
        for (size_t i = 0; i < ELEMENTSOF(closed_rows); i++) {
                _cleanup_free_ char *directory = strdup(tmproot_at(closed_rows[i].directory));
                _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;

                for (unsigned round = 0; round < closed_rows[i].rounds; round++) {
                        cr_assert_eq(chown(directory, 0, 0), 0);
                        cr_assert_eq(chmod(directory, closed_rows[i].closed), 0);
                        cr_assert_eq(seteuid(65534), 0);
                        if (!w)
                                w = watch_new(dirs);
                        else
                                (void) woken(w); /* closed again: nothing new is to be found by it, told or not */
                        expect_lists(w, closed_rows[i].watched, closed_rows[i].blind);
                        cr_assert_eq(seteuid(0), 0);
                        cr_assert_eq(chmod(tmproot_at(LIB "/i915"), 0750 | round), 0);
                        cr_assert_eq(seteuid(65534), 0);
                        expect_nothing(w, "somebody else's mode");
                        cr_assert_eq(seteuid(0), 0);

                        if (closed_rows[i].given)
                                cr_assert_eq(chown(directory, 65534, 0), 0);
                        else
                                cr_assert_eq(chmod(directory, closed_rows[i].opened), 0);
                        cr_assert_eq(seteuid(65534), 0);
                        cr_expect_eq(woken(w), 1, "unseen: %s is opened", closed_rows[i].name);
                        expect_lists(w, LIB " " LEAF, "");
                        cr_assert_eq(seteuid(0), 0);
                        tmproot_text(LEAF "/06-9e-0b", "x");
                        cr_assert_eq(seteuid(65534), 0);
                        cr_expect_eq(woken(w), 1, "unseen: a file, after %s was opened", closed_rows[i].name);
                        cr_assert_eq(seteuid(0), 0);

                        /* with nothing closed, modes of others do not even wake */
                        cr_assert_eq(chmod(tmproot_at(LIB "/i915"), 0700 | round), 0);
                        expect_silence(w, "somebody else's mode");
                }
                cr_assert_eq(chown(directory, 0, 0), 0);
                cr_assert_eq(chmod(directory, 0755), 0);
        }
}

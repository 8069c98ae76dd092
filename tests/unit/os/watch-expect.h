/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A watch over a test's own firmware directories, and what it answers. Counted are answers of
 * ucs_watch_dispatch() and whether the descriptor woke anyone at all, never time. */

#include <poll.h>

#include "os/watch.h"
#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done
#define LIB     "/lib/firmware"
#define LEAF    LIB "/intel-ucode"

static char updates[] = LIB "/updates", library[] = LIB;
static char *const dirs[] = { updates, library, NULL };

static inline UcsWatch *watch_new(char *const *search_path) {
        UcsWatch *w = NULL;
        UcsError e = {};

        cr_assert_eq(ucs_watch_new(tmproot, search_path, "intel-ucode", &w, &e), 0, "%s", e.text);
        return w;
}

/* 1: scan again; 0: woken for nothing; -1: not even woken. */
static inline int woken(UcsWatch *w) {
        struct pollfd p = { ucs_watch_fd(w), POLLIN, 0 };
        int r;

        if (poll(&p, 1, 0) == 0)
                return -1;
        r = ucs_watch_dispatch(w);
        cr_assert_geq(r, 0, "%s", strerror(-r));
        cr_assert_eq(poll(&p, 1, 0), 0, "events are left");
        return r;
}

#define expect_scan(w, what)    cr_expect_eq(woken(w), 1, "unseen: %s", what)
#define expect_nothing(w, what) cr_expect_neq(woken(w), 1, "seen: %s", what)
#define expect_silence(w, what) cr_expect_eq(woken(w), -1, "woken: %s", what)

static inline void expect_lists(const UcsWatch *w, const char *directories, const char *blind) {
        _cleanup_text_ UcsText d = {}, b = {};

        for (char *const *s = ucs_watch_directories(w); s && *s; s++)
                ucs_text_appendf(&d, "%s%s", d.length > 0 ? " " : "", *s);
        for (char *const *s = ucs_watch_blind(w); s && *s; s++)
                ucs_text_appendf(&b, "%s%s", b.length > 0 ? " " : "", *s);
        cr_expect_str_eq(d.data ?: "", directories, "watched: %s, expected: %s", d.data, directories);
        cr_expect_str_eq(b.data ?: "", blind, "blind: %s, expected: %s", b.data, blind);
}

static inline void touch(const char *path) {
        int fd = open(tmproot_at(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

        cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
        close(fd);
}

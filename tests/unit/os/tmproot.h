/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Another machine's root for a test: a new directory that is gone afterwards, and the few words to furnish
 * it. Paths are below that root. A step that fails ends the test. Used as ucs_test(suite, name, .init =
 * tmproot_init, .fini = tmproot_done). */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/root.h"
#include "ucs-test.h"

static char tmproot_path[] = "/tmp/ucs-test-XXXXXX";
static int tmproot = -1;

static inline void tmproot_init(void) {
        cr_assert(mkdtemp(tmproot_path), "mkdtemp: %s", strerror(errno));
        cr_assert(ucs_root_open(tmproot_path, &tmproot, NULL) == 0);
}

static inline int tmproot_remove(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static inline void tmproot_done(void) {
        (void) close(tmproot);
        (void) nftw(tmproot_path, tmproot_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* A test that is skipped does not come to its .fini. */
#define tmproot_skip(...)                                                                                   \
        do {                                                                                                \
                tmproot_done();                                                                             \
                cr_skip_test(__VA_ARGS__);                                                                  \
        } while (0)

/* The path as the test's own process sees it; valid until the fourth call after. */
static inline const char *tmproot_at(const char *path) {
        static char bufs[4][2048];
        static unsigned next;
        char *buf = bufs[next++ % 4];

        (void) snprintf(buf, sizeof(bufs[0]), "%s/%s", tmproot_path, path);
        return buf;
}

/* A directory and all above it. */
static inline void tmproot_mkdir(const char *path) {
        char buf[1024];

        (void) snprintf(buf, sizeof(buf), "%s", path);
        for (char *p = buf + 1;; p++) {
                char c = *p;

                if (c != '/' && c != '\0')
                        continue;
                *p = '\0';
                cr_assert(mkdir(tmproot_at(buf), 0755) == 0 || errno == EEXIST, "mkdir %s: %s", buf,
                          strerror(errno));
                *p = c;
                if (c == '\0')
                        break;
        }
}

/* The directory in which `path` lies. */
static inline void tmproot_mkdir_above(const char *path) {
        char buf[1024], *slash;

        (void) snprintf(buf, sizeof(buf), "%s", path);
        slash = strrchr(buf, '/');
        if (!slash || slash == buf)
                return;
        *slash = '\0';
        tmproot_mkdir(buf);
}

static inline void tmproot_write(const char *path, const void *data, size_t size) {
        FILE *f;

        tmproot_mkdir_above(path);
        f = fopen(tmproot_at(path), "we");
        cr_assert(f, "%s: %s", path, strerror(errno));
        cr_assert(fwrite(data, 1, size, f) == size);
        cr_assert(fclose(f) == 0);
}

static inline void tmproot_text(const char *path, const char *text) {
        tmproot_write(path, text, strlen(text));
}

static inline void tmproot_symlink(const char *target, const char *path) {
        tmproot_mkdir_above(path);
        cr_assert(symlink(target, tmproot_at(path)) == 0, "symlink %s: %s", path, strerror(errno));
}

static inline void tmproot_rename(const char *from, const char *to) {
        cr_assert(rename(tmproot_at(from), tmproot_at(to)) == 0, "rename %s: %s", from, strerror(errno));
}

static inline void tmproot_unlink(const char *path) {
        cr_assert(unlink(tmproot_at(path)) == 0, "unlink %s: %s", path, strerror(errno));
}

static inline void tmproot_rmdir(const char *path) {
        cr_assert(rmdir(tmproot_at(path)) == 0, "rmdir %s: %s", path, strerror(errno));
}

/* Expect that an error says exactly this. */
static inline void expect_error(const UcsError *e, const char *text) {
        cr_expect_str_eq(e->text, text, "got: %s\nexpected: %s", e->text, text);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Firmware files below a test's root, compressed and not, and a look between two reads of the product. */

#include <lzma.h>
#include <sys/syscall.h>
#include <zstd.h>

#include "fixture.h"
#include "os/firmware.h"
#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done
#define NAME    "intel-ucode/06-9e-0b"
#define LIB     "/lib/firmware"

#define _cleanup_fixture_ _cleanup_(fixture_done)

/* The product reads files with read(2) alone; here a test can put something between two of its reads. */
static void (*between_reads)(void);
static unsigned n_reads;

ssize_t read(int fd, void *buf, size_t n) {
        struct stat st;

        if (between_reads && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
                n_reads++;
                between_reads();
        }
        return syscall(SYS_read, fd, buf, n);
}

static inline void zstd_put(const char *path, const void *data, size_t size) {
        uint8_t out[8192];
        size_t n;

        n = ZSTD_compress(out, sizeof(out), data, size, 3);
        cr_assert_not(ZSTD_isError(n));
        tmproot_write(path, out, n);
}

static inline void xz_put(const char *path, const void *data, size_t size, lzma_check check) {
        uint8_t out[8192];
        size_t n = 0;

        cr_assert_eq(lzma_easy_buffer_encode(6, check, NULL, data, size, out, &n, sizeof(out)), LZMA_OK);
        tmproot_write(path, out, n);
}

static inline void intel_put(const char *path, const FixtureIntel *u) {
        _cleanup_fixture_ Fixture f = {};

        fixture_intel(&f, u);
        tmproot_write(path, f.data, f.size);
}

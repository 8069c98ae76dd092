/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/decompress: what the kernel takes, what it refuses, and what nobody may be asked to unpack. */

#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/str.h"
#include "os/decompress.h"
#include "ucs-test.h"

#define CAP (16U * 1024U * 1024U)

typedef struct Bytes {
        uint8_t *data;
        size_t size;
} Bytes;

static void bytes_done(Bytes *b) {
        free(b->data);
}
#define _cleanup_bytes_ _cleanup_(bytes_done)

static void bytes_append(Bytes *b, const void *data, size_t size) {
        b->data = realloc(b->data, b->size + size + 1);
        cr_assert(b->data);
        memcpy(b->data + b->size, data, size);
        b->size += size;
}

/* Neither all alike nor quite random: compresses, but not to nothing. */
static Bytes content(size_t size) {
        Bytes b = { malloc(size + 1), size };
        uint32_t x = 12345;

        for (size_t i = 0; i < size; i++) {
                x = x * 1103515245 + 12345;
                b.data[i] = (uint8_t) (i % 64 < 32 ? i : x >> 24);
        }
        return b;
}

static void zstd_append(Bytes *b, const void *data, size_t size, bool with_size) {
        size_t bound = ZSTD_compressBound(size), n;
        uint8_t *out = malloc(bound);
        ZSTD_CCtx *ctx = ZSTD_createCCtx();

        cr_assert(out && ctx);
        cr_assert_not(ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, with_size)));
        cr_assert_not(ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1)));
        n = ZSTD_compress2(ctx, out, bound, data, size);
        cr_assert_not(ZSTD_isError(n));
        bytes_append(b, out, n);
        ZSTD_freeCCtx(ctx);
        free(out);
}

static void xz_append(Bytes *b, const void *data, size_t size, uint32_t preset, uint32_t dict_size,
                      lzma_check check) {
        size_t bound = lzma_stream_buffer_bound(size), n = 0;
        uint8_t *out = malloc(bound);
        lzma_options_lzma o;
        lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &o }, { LZMA_VLI_UNKNOWN, NULL } };

        cr_assert_not(lzma_lzma_preset(&o, preset));
        if (dict_size > 0)
                o.dict_size = dict_size;
        cr_assert_eq(lzma_stream_buffer_encode(filters, check, NULL, data, size, out, &n, bound), LZMA_OK);
        bytes_append(b, out, n);
        free(out);
}

static void expect(const char *what, UcsCompression c, const Bytes *in, size_t cap, int r, const char *text,
                   const Bytes *out) {
        _cleanup_free_ uint8_t *data = NULL;
        UcsError e = {};
        size_t size = 4711;
        int q;

        q = ucs_decompress(c, in->data, in->size, cap, &data, &size, &e);
        cr_expect_eq(q, r, "%s: %d, %s", what, q, e.text);
        if (r < 0) {
                cr_expect_eq(e.code, r, "%s", what);
                cr_expect_null(data, "%s", what);
                cr_expect_eq(size, 4711, "%s", what);
                if (text)
                        cr_expect_str_eq(e.text, text, "%s: got: %s", what, e.text);
        } else {
                cr_assert_eq(size, out->size, "%s", what);
                cr_expect(size == 0 || memcmp(data, out->data, size) == 0, "%s", what);
        }
}

ucs_test(decompress, suffixes) {
        static const struct {
                const char *path;
                UcsCompression c;
        } cases[] = {
                { "/lib/firmware/intel-ucode/06-55-04", UCS_COMPRESSION_NONE },
                { "/lib/firmware/intel-ucode/06-55-04.zst", UCS_COMPRESSION_ZSTD },
                { "/lib/firmware/intel-ucode/06-55-04.xz", UCS_COMPRESSION_XZ },
                { "06-55-04.xz.bak", UCS_COMPRESSION_NONE },
                { "06-55-04.XZ", UCS_COMPRESSION_NONE },
                { "xz", UCS_COMPRESSION_NONE },
                { "", UCS_COMPRESSION_NONE },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                cr_expect_eq(ucs_compression_from_path(cases[i].path), cases[i].c, "%s", cases[i].path);
        cr_expect_str_eq(ucs_compression_suffix(UCS_COMPRESSION_NONE), "");
        cr_expect_null(ucs_compression_suffix(_UCS_COMPRESSION_MAX));
        cr_expect(ucs_compression_available(UCS_COMPRESSION_NONE));
}

ucs_test(decompress, zstd) {
        static const char skip[] = "\x50\x2a\x4d\x18\x04\x00\x00\x00skip";
        _cleanup_bytes_ Bytes plain = content(100000), good = {}, unsized = {}, two = {}, skipped = {},
                              skip_first = {}, garbage = {}, cut = {}, flipped = {}, longer = {}, empty = {},
                              nothing = {}, xz = {};

        if (!ucs_compression_available(UCS_COMPRESSION_ZSTD))
                cr_skip_test("built without zstd");

        zstd_append(&good, plain.data, plain.size, true);
        expect("good", UCS_COMPRESSION_ZSTD, &good, CAP, 0, NULL, &plain);
        expect("just fits", UCS_COMPRESSION_ZSTD, &good, plain.size, 0, NULL, &plain);
        expect("one byte too long", UCS_COMPRESSION_ZSTD, &good, plain.size - 1, -EFBIG,
               "has a content of 100000 bytes, more than the 99999 that are read", NULL);

        zstd_append(&unsized, plain.data, plain.size, false);
        expect("without size", UCS_COMPRESSION_ZSTD, &unsized, CAP, -EBADMSG,
               "does not name the size of its content, which the kernel needs (compress the file itself, not a pipe)",
               NULL);

        /* the kernel's buffer is as large as the first frame says: a second frame with content does not fit
         */
        bytes_append(&two, good.data, good.size);
        zstd_append(&two, "x", 1, true);
        expect("two frames", UCS_COMPRESSION_ZSTD, &two, CAP, -EBADMSG,
               "cannot be decompressed: Destination buffer is too small", NULL);
        bytes_append(&skipped, good.data, good.size);
        bytes_append(&skipped, skip, sizeof(skip) - 1);
        expect("a skippable frame behind", UCS_COMPRESSION_ZSTD, &skipped, CAP, 0, NULL, &plain);
        bytes_append(&skip_first, skip, sizeof(skip) - 1);
        bytes_append(&skip_first, good.data, good.size);
        expect("a skippable frame before", UCS_COMPRESSION_ZSTD, &skip_first, CAP, -EOPNOTSUPP,
               "begins with a skippable frame, expected a zstd frame with content", NULL);

        bytes_append(&garbage, good.data, good.size);
        bytes_append(&garbage, "# README\n", 9);
        expect("garbage behind", UCS_COMPRESSION_ZSTD, &garbage, CAP, -EBADMSG, NULL, NULL);
        bytes_append(&longer, good.data, good.size);
        bytes_append(&longer, "\0", 1);
        expect("one byte behind", UCS_COMPRESSION_ZSTD, &longer, CAP, -EBADMSG, NULL, NULL);

        for (size_t n = 0; n < good.size; n += n < 32 ? 1 : 997) {
                _cleanup_bytes_ Bytes some = {};

                bytes_append(&some, good.data, n);
                expect("cut short", UCS_COMPRESSION_ZSTD, &some, CAP, -EBADMSG, NULL, NULL);
        }
        bytes_append(&cut, good.data, good.size - 1);
        expect("without its last byte", UCS_COMPRESSION_ZSTD, &cut, CAP, -EBADMSG, NULL, NULL);
        bytes_append(&flipped, good.data, good.size);
        flipped.data[good.size / 2] ^= 0x10;
        expect("a bit flipped", UCS_COMPRESSION_ZSTD, &flipped, CAP, -EBADMSG, NULL, NULL);

        zstd_append(&empty, "", 0, true);
        expect("empty content", UCS_COMPRESSION_ZSTD, &empty, CAP, 0, NULL, &nothing);
        expect("nothing", UCS_COMPRESSION_ZSTD, &nothing, CAP, -EBADMSG, "is not a zstd file", NULL);
        xz_append(&xz, plain.data, plain.size, 1, 0, LZMA_CHECK_CRC32);
        expect("an xz file", UCS_COMPRESSION_ZSTD, &xz, CAP, -EBADMSG, "is not a zstd file", NULL);
}

ucs_test(decompress, xz) {
        _cleanup_bytes_ Bytes plain = content(100000), good = {}, two = {}, padded = {}, garbage = {},
                              cut = {}, flipped = {}, empty = {}, nothing = {}, zstd = {};
        static const struct {
                const char *what;
                lzma_check check;
                int r;
        } checks[] = {
                { "no check", LZMA_CHECK_NONE, 0 },
                { "crc32", LZMA_CHECK_CRC32, 0 },
                { "crc64", LZMA_CHECK_CRC64, -EBADMSG },
                { "sha256", LZMA_CHECK_SHA256, -EBADMSG },
        };

        if (!ucs_compression_available(UCS_COMPRESSION_XZ))
                cr_skip_test("built without xz");

        for (size_t i = 0; i < ELEMENTSOF(checks); i++) {
                _cleanup_bytes_ Bytes b = {};

                xz_append(&b, plain.data, plain.size, 1, 0, checks[i].check);
                expect(checks[i].what, UCS_COMPRESSION_XZ, &b, CAP, checks[i].r,
                       "has an integrity check that the kernel does not read, expected none or crc32 (xz --check=crc32)",
                       &plain);
        }

        xz_append(&good, plain.data, plain.size, 1, 0, LZMA_CHECK_CRC32);
        expect("just fits", UCS_COMPRESSION_XZ, &good, plain.size, 0, NULL, &plain);
        expect("one byte too long", UCS_COMPRESSION_XZ, &good, plain.size - 1, -EFBIG,
               "has a content of more than the 99999 bytes that are read", NULL);

        /* the kernel stops at the end of the first stream, whatever follows */
        bytes_append(&two, good.data, good.size);
        xz_append(&two, "x", 1, 1, 0, LZMA_CHECK_CRC32);
        expect("two streams", UCS_COMPRESSION_XZ, &two, CAP, -EOPNOTSUPP, NULL, NULL);
        bytes_append(&padded, good.data, good.size);
        bytes_append(&padded, "\0\0\0\0", 4);
        expect("padding", UCS_COMPRESSION_XZ, &padded, CAP, -EOPNOTSUPP,
               "has 4 bytes behind the end of its xz stream, expected one stream and no more", NULL);
        bytes_append(&garbage, good.data, good.size);
        bytes_append(&garbage, "# README\n", 9);
        expect("garbage behind", UCS_COMPRESSION_XZ, &garbage, CAP, -EOPNOTSUPP,
               "has 9 bytes behind the end of its xz stream, expected one stream and no more", NULL);

        for (size_t n = 0; n < good.size; n += n < 32 ? 1 : 997) {
                _cleanup_bytes_ Bytes some = {};

                bytes_append(&some, good.data, n);
                expect("cut short", UCS_COMPRESSION_XZ, &some, CAP, -EBADMSG,
                       "ends before its xz stream does", NULL);
        }
        bytes_append(&cut, good.data, good.size - 1);
        expect("without its last byte", UCS_COMPRESSION_XZ, &cut, CAP, -EBADMSG,
               "ends before its xz stream does", NULL);
        bytes_append(&flipped, good.data, good.size);
        flipped.data[good.size / 2] ^= 0x10;
        expect("a bit flipped", UCS_COMPRESSION_XZ, &flipped, CAP, -EBADMSG, "has a damaged xz stream",
               NULL);

        xz_append(&empty, "", 0, 1, 0, LZMA_CHECK_CRC32);
        expect("empty content", UCS_COMPRESSION_XZ, &empty, CAP, 0, NULL, &nothing);
        zstd_append(&zstd, plain.data, plain.size, true);
        expect("a zstd file", UCS_COMPRESSION_XZ, &zstd, CAP, -EBADMSG, "is not an xz file", NULL);
}

/* Small files that unpack to much more than anyone wants. */
ucs_test(decompress, bombs, .timeout = 120) {
        _cleanup_bytes_ Bytes zeros = { calloc(1, CAP + 1), CAP + 1 }, zstd = {}, xz = {}, many = {},
                              fits = { zeros.data, CAP }, fits_xz = {}, fits_zstd = {}, wide = {};

        zstd_append(&zstd, zeros.data, zeros.size, true);
        cr_assert_lt(zstd.size, 4096);
        expect("zstd", UCS_COMPRESSION_ZSTD, &zstd, CAP, -EFBIG,
               "has a content of 16777217 bytes, more than the 16777216 that are read", NULL);
        xz_append(&xz, zeros.data, zeros.size, 0, 0, LZMA_CHECK_CRC32);
        cr_assert_lt(xz.size, 16384);
        expect("xz", UCS_COMPRESSION_XZ, &xz, CAP, -EFBIG,
               "has a content of more than the 16777216 bytes that are read", NULL);

        /* frames that say 1 and add up */
        zstd_append(&many, "x", 1, true);
        for (unsigned i = 0; i < 64; i++)
                bytes_append(&many, zstd.data, zstd.size);
        expect("many frames", UCS_COMPRESSION_ZSTD, &many, CAP, -EBADMSG, NULL, NULL);

        zstd_append(&fits_zstd, zeros.data, CAP, true);
        expect("zstd that just fits", UCS_COMPRESSION_ZSTD, &fits_zstd, CAP, 0, NULL, &fits);
        xz_append(&fits_xz, zeros.data, CAP, 0, 0, LZMA_CHECK_CRC32);
        expect("xz that just fits", UCS_COMPRESSION_XZ, &fits_xz, CAP, 0, NULL, &fits);
        fits.data = NULL;

        /* a dictionary that costs memory before the first byte is out; the preset of xz -9 is the largest
         * that passes */
        xz_append(&wide, "x", 1, 9, 0, LZMA_CHECK_CRC32);
        expect("xz -9", UCS_COMPRESSION_XZ, &wide, CAP, 0, NULL, &(Bytes){ (uint8_t[]){ 'x' }, 1 });
        bytes_done(&wide);
        wide = (Bytes){};
        xz_append(&wide, "x", 1, 1, 128U << 20, LZMA_CHECK_CRC32);
        expect("a dictionary of 128 MiB", UCS_COMPRESSION_XZ, &wide, CAP, -EFBIG,
               "needs more than 80 MiB of memory to be decompressed", NULL);
}

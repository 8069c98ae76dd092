/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compressed firmware; see decompress.h. The kernel's own reading is the measure: zstd in one call into a
 * buffer of the size that the first frame names (so there is no window whose size had to be limited), xz up
 * to the end of the first stream. What it would take and nobody means (bytes behind the end of an xz stream)
 * is refused: this file decides nothing by guessing. */

#if HAVE_ZSTD
#include <zstd.h>
#endif
#if HAVE_XZ
#include <lzma.h>
#endif

#include "base/str.h"
#include "os/decompress.h"

static const char *const suffixes[_UCS_COMPRESSION_MAX] = {
        [UCS_COMPRESSION_NONE] = "",
        [UCS_COMPRESSION_ZSTD] = ".zst",
        [UCS_COMPRESSION_XZ] = ".xz",
};

const char *ucs_compression_suffix(UcsCompression c) {
        return c >= 0 && c < _UCS_COMPRESSION_MAX ? suffixes[c] : NULL;
}

UcsCompression ucs_compression_from_path(const char *path) {
        for (UcsCompression c = UCS_COMPRESSION_NONE + 1; c < _UCS_COMPRESSION_MAX; c++)
                if (str_endswith(path, suffixes[c]))
                        return c;
        return UCS_COMPRESSION_NONE;
}

#if HAVE_ZSTD
static int decompress_zstd(const void *data, size_t size, size_t cap, uint8_t **ret, size_t *ret_size,
                           UcsError *e) {
        static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd }; /* RFC 8878, 3.1.1 */
        _cleanup_free_ uint8_t *out = NULL;
        unsigned long long content;
        ZSTD_DCtx *ctx;
        size_t n;

        /* RFC 8878, 3.1.2: the kernel would take a skippable frame's length for the size of the content. */
        if (size >= sizeof(magic) && ((const uint8_t *) data)[0] >> 4 == 0x5 &&
            memcmp((const uint8_t *) data + 1, "\x2a\x4d\x18", 3) == 0)
                return ucs_error_set(e, -EOPNOTSUPP,
                                     "begins with a skippable frame, expected a zstd frame with content");
        if (size < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
                return ucs_error_set(e, -EBADMSG, "is not a zstd file");
        content = ZSTD_getFrameContentSize(data, size);
        if (content == ZSTD_CONTENTSIZE_ERROR)
                return ucs_error_set(e, -EBADMSG, "has a zstd header that is damaged or cut short");
        if (content == ZSTD_CONTENTSIZE_UNKNOWN)
                return ucs_error_set(
                        e, -EBADMSG,
                        "does not name the size of its content, which the kernel needs (compress the file itself, not a pipe)");
        if (content > cap)
                return ucs_error_set(e, -EFBIG,
                                     "has a content of %llu bytes, more than the %zu that are read", content,
                                     cap);

        out = malloc((size_t) content ?: 1);
        ctx = ZSTD_createDCtx();
        if (!out || !ctx) {
                (void) ZSTD_freeDCtx(ctx);
                return ucs_error_set(e, -ENOMEM, "no memory to decompress it");
        }
        n = ZSTD_decompressDCtx(ctx, out, (size_t) content, data, size);
        (void) ZSTD_freeDCtx(ctx);
        if (ZSTD_isError(n))
                return ucs_error_set(e, -EBADMSG, "cannot be decompressed: %s", ZSTD_getErrorName(n));
        *ret = TAKE_PTR(out);
        *ret_size = n;
        return 0;
}
#endif

#if HAVE_XZ
#define XZ_MEMORY_MAX                                                                                       \
        (UINT64_C(80) << 20) /* xz -9, the largest preset, has a dictionary of 64 MiB (xz(1)) */
#define XZ_FIRST_OUT (64U * 1024U)

static int xz_error(lzma_ret r, UcsError *e) {
        switch ((int) r) {
        case LZMA_MEM_ERROR:
                return ucs_error_set(e, -ENOMEM, "no memory to decompress it");
        case LZMA_MEMLIMIT_ERROR:
                return ucs_error_set(e, -EFBIG, "needs more than %u MiB of memory to be decompressed",
                                     (unsigned) (XZ_MEMORY_MAX >> 20));
        case LZMA_FORMAT_ERROR:
                return ucs_error_set(e, -EBADMSG, "is not an xz file");
        case LZMA_BUF_ERROR:
                return ucs_error_set(e, -EBADMSG, "ends before its xz stream does");
        case LZMA_OPTIONS_ERROR:
                return ucs_error_set(e, -EBADMSG, "uses a feature of xz that is not known");
        }
        return ucs_error_set(e, -EBADMSG, "has a damaged xz stream");
}

/* Run the decoder to the end of its stream. `*out` belongs to the caller in every case. */
static int xz_run(lzma_stream *s, size_t cap, uint8_t **out, UcsError *e) {
        size_t allocated = 0;

        for (;;) {
                lzma_ret r;

                /* One byte of room beyond the cap tells a file that just fits from one that does not. */
                if (s->avail_out == 0) {
                        size_t want = MIN(allocated > 0 ? allocated * 2 : XZ_FIRST_OUT, cap + 1);
                        uint8_t *p;

                        if (s->total_out > cap)
                                return ucs_error_set(
                                        e, -EFBIG, "has a content of more than the %zu bytes that are read",
                                        cap);
                        p = realloc(*out, want);
                        if (!p)
                                return ucs_error_set(e, -ENOMEM, "no memory to decompress it");
                        *out = p;
                        s->next_out = p + s->total_out;
                        s->avail_out = want - (size_t) s->total_out;
                        allocated = want;
                }
                r = lzma_code(s, LZMA_FINISH);
                if (r == LZMA_STREAM_END)
                        break;
                if (r == LZMA_GET_CHECK) {
                        lzma_check check = lzma_get_check(s);

                        /* FW_LOADER_COMPRESS_XZ: "either none or crc32 integrity check type" */
                        if (check != LZMA_CHECK_NONE && check != LZMA_CHECK_CRC32)
                                return ucs_error_set(
                                        e, -EBADMSG,
                                        "has an integrity check that the kernel does not read, expected none or crc32 (xz --check=crc32)");
                } else if (r != LZMA_OK)
                        return xz_error(r, e);
        }
        if (s->total_out > cap)
                return ucs_error_set(e, -EFBIG, "has a content of more than the %zu bytes that are read",
                                     cap);
        return 0;
}

static int decompress_xz(const void *data, size_t size, size_t cap, uint8_t **ret, size_t *ret_size,
                         UcsError *e) {
        _cleanup_free_ uint8_t *out = NULL;
        lzma_stream s = LZMA_STREAM_INIT;
        size_t rest, total;
        lzma_ret q;
        int r;

        q = lzma_stream_decoder(&s, XZ_MEMORY_MAX, LZMA_TELL_ANY_CHECK);
        if (q != LZMA_OK)
                return xz_error(q, e);
        s.next_in = data;
        s.avail_in = size;
        r = xz_run(&s, cap, &out, e);
        rest = s.avail_in;
        total = (size_t) s.total_out;
        lzma_end(&s);
        if (r < 0)
                return r;
        if (rest > 0)
                return ucs_error_set(
                        e, -EOPNOTSUPP,
                        "has %zu bytes behind the end of its xz stream, expected one stream and no more",
                        rest);
        *ret = TAKE_PTR(out);
        *ret_size = total;
        return 0;
}
#endif

typedef int (*Decompress)(const void *data, size_t size, size_t cap, uint8_t **ret, size_t *ret_size,
                          UcsError *e);

static const Decompress decompressors[_UCS_COMPRESSION_MAX] = {
#if HAVE_ZSTD
        [UCS_COMPRESSION_ZSTD] = decompress_zstd,
#endif
#if HAVE_XZ
        [UCS_COMPRESSION_XZ] = decompress_xz,
#endif
};

bool ucs_compression_available(UcsCompression c) {
        return c == UCS_COMPRESSION_NONE || decompressors[c];
}

int ucs_decompress(UcsCompression c, const void *data, size_t size, size_t cap, uint8_t **ret,
                   size_t *ret_size, UcsError *e) {
        if (!decompressors[c])
                return ucs_error_set(e, -EOPNOTSUPP,
                                     "cannot be read: this build has no support for %s files", suffixes[c]);
        return decompressors[c](data, size, cap, ret, ret_size, e);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Compressed firmware, as the kernel's loader takes it (drivers/base/firmware_loader/main.c,
 * fw_decompress_zstd() and fw_decompress_xz()), with bounded output and memory. Bytes in, bytes out. */

#include <errno.h>

#include "base/error.h"

/* In the order in which the kernel tries the suffixes. */
typedef enum UcsCompression {
        UCS_COMPRESSION_NONE, /* "" */
        UCS_COMPRESSION_ZSTD, /* ".zst" */
        UCS_COMPRESSION_XZ,   /* ".xz" */
        _UCS_COMPRESSION_MAX,
        _UCS_COMPRESSION_INVALID = -EINVAL,
} UcsCompression;

const char *ucs_compression_suffix(UcsCompression c);

/* By the end of a file's name. */
UcsCompression ucs_compression_from_path(const char *path);

/* Whether this build has the library for it. Whether the kernel has it is another matter: see firmware.h. */
bool ucs_compression_available(UcsCompression c);

/* Decompress all of `data` into new memory of at most `cap` bytes. `e` does not name the file.
 * -EBADMSG: the kernel refuses it too (corrupt, cut short, no zstd content size, an xz check other than none
 * and crc32). -EFBIG: more than `cap` bytes, or more memory than the 80 MiB that an .xz may need here.
 * -EOPNOTSUPP: the kernel may take it, we do not: there is no library for it in this build, or bytes follow
 * the end of the xz stream, which the kernel ignores. -ENOMEM. */
int ucs_decompress(UcsCompression c, const void *data, size_t size, size_t cap, uint8_t **ret,
                   size_t *ret_size, UcsError *e);

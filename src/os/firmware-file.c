/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One firmware file, read whole and from one state of it; see firmware.h. The digest is of the bytes on
 * disk, so that it is the same that sha256sum(1) prints. What the bytes mean is core/ucode's to say. */

#include <assert.h>
#include <fcntl.h>
#include <sha2.h>

#include "base/timefmt.h"
#include "core/ucode/file.h"
#include "os/firmware.h"
#include "os/root.h"

#define READ_TRIES 3

static bool same_state(const struct stat *a, const struct stat *b) {
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
               a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
               a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* One attempt: 0, or 1 when the file was changed meanwhile. A file that is replaced by rename is changed
 * too: it lost a link. */
static int read_once(int root_fd, const char *path, char **ret, size_t *ret_size, struct stat *ret_stat,
                     UcsError *e) {
        _cleanup_free_ char *data = NULL;
        _cleanup_fd_ int fd = -EBADF;
        struct stat before, after;
        size_t size;
        int r;

        r = ucs_root_open_file(root_fd, path, &fd, &before, e);
        if (r < 0)
                return r;
        if (before.st_size > (off_t) UCS_FIRMWARE_SIZE_MAX)
                return ucs_error_set(e, -EFBIG, "%s has %lld bytes, more than the %u that are read", path,
                                     (long long) before.st_size, UCS_FIRMWARE_SIZE_MAX);
        r = ucs_fd_read(fd, UCS_FIRMWARE_SIZE_MAX, &data, &size);
        if (r < 0 && r != -EFBIG) {
                errno = -r;
                return ucs_error_set(e, r, "cannot read %s: %m", path);
        }
        if (r == -EFBIG) /* it has grown since */
                return 1;
        if (fstat(fd, &after) < 0)
                return ucs_error_set(e, -errno, "cannot look at %s: %m", path);
        if (!same_state(&before, &after) || size != (size_t) after.st_size)
                return 1;
        *ret = TAKE_PTR(data);
        *ret_size = size;
        *ret_stat = after;
        return 0;
}

static int read_settled(int root_fd, const char *path, char **ret, size_t *ret_size, struct stat *ret_stat,
                        UcsError *e) {
        for (unsigned i = 0; i < READ_TRIES; i++) {
                int r;

                r = read_once(root_fd, path, ret, ret_size, ret_stat, e);
                if (r <= 0)
                        return r;
        }
        return ucs_error_set(e, -EAGAIN, "%s was changed while it was read, %d times in a row", path,
                             READ_TRIES);
}

static void digest_make(const void *data, size_t size, uint8_t ret[static UCS_DIGEST_SIZE]) {
        SHA2_CTX ctx;

        static_assert(UCS_DIGEST_SIZE == SHA256_DIGEST_LENGTH);
        SHA256Init(&ctx);
        SHA256Update(&ctx, data, size);
        SHA256Final(ret, &ctx);
}

UcsFirmware *ucs_firmware_free(UcsFirmware *f) {
        if (!f)
                return NULL;
        free(f->path);
        free(f->data);
        free(f);
        return NULL;
}

int ucs_firmware_read_file(int root_fd, const char *path, UcsFirmware **ret, UcsError *e) {
        _cleanup_(ucs_firmware_freep) UcsFirmware *f = NULL;
        _cleanup_free_ char *data = NULL;
        struct stat st;
        size_t size = 0;
        int r;

        r = read_settled(root_fd, path, &data, &size, &st, e);
        if (r < 0)
                return r;
        if (size == 0)
                return ucs_error_set(e, -ENODATA, "%s is empty", path);

        f = new0(UcsFirmware, 1);
        if (!f || !(f->path = strdup(path)))
                return ucs_error_set(e, -ENOMEM, "no memory to read %s", path);
        f->changed_usec =
                (uint64_t) st.st_ctim.tv_sec * USEC_PER_SEC + (uint64_t) st.st_ctim.tv_nsec / NSEC_PER_USEC;
        digest_make(data, size, f->digest);
        f->compression = ucs_compression_from_path(path);
        if (f->compression == UCS_COMPRESSION_NONE) {
                f->data = (uint8_t *) TAKE_PTR(data);
                f->size = size;
        } else {
                r = ucs_decompress(f->compression, data, size, UCS_FIRMWARE_SIZE_MAX, &f->data, &f->size, e);
                if (r < 0)
                        return ucs_error_prefix(e, r, "%s", path);
        }
        *ret = TAKE_PTR(f);
        return 0;
}

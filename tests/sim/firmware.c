/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's own search for a firmware file, in its order and with its oddities: the whole list is tried
 * for the plain name, and only when the last directory had no such file (ENOENT, nothing else) again with
 * each suffix that it can unpack. An empty file and a directory of that name are errors, after which the
 * next directory is tried. Symbolic links are followed below the firmware root. */

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if HAVE_ZSTD
#include <zstd.h>
#endif
#if HAVE_XZ
#include <lzma.h>
#endif

#include "firmware.h"

/* Far above any update that was published; a simulator should not be made to take all memory. */
#define SIZE_MAX_BYTES (64U * 1024U * 1024U)

void sim_firmware_done(SimFirmware *f) {
        free(f->path);
        free(f->data);
        *f = (SimFirmware){};
}

int sim_firmware_search_init(const SimSettings *s, SimFirmwareSearch *ret) {
        SimFirmwareSearch v = {};

        if (str_replace(&v.root, s->firmware_root ?: "/") < 0 ||
            str_replace(&v.release, sim_kernel_release(s)) < 0 ||
            str_replace(&v.path, s->firmware_path && *s->firmware_path ? s->firmware_path : NULL) < 0) {
                sim_firmware_search_done(&v);
                return -ENOMEM;
        }
        v.zst = s->compress && strstr(s->compress, "zst");
        v.xz = s->compress && strstr(s->compress, "xz");
        *ret = v;
        return 0;
}

void sim_firmware_search_done(SimFirmwareSearch *s) {
        free(s->root);
        free(s->path);
        free(s->release);
        *s = (SimFirmwareSearch){};
}

static int read_all(int fd, size_t size, uint8_t **ret) {
        _cleanup_free_ uint8_t *data = NULL;
        size_t done = 0;

        data = malloc(size);
        if (!data)
                return -ENOMEM;
        while (done < size) {
                ssize_t n = read(fd, data + done, size - done);

                if (n < 0)
                        return -errno;
                if (n == 0)
                        return -EIO;
                done += (size_t) n;
        }
        *ret = TAKE_PTR(data);
        return 0;
}

/* kernel_read_file(): regular files of at least one byte. */
static int read_file(int root_fd, const char *path, uint8_t **ret, size_t *ret_size) {
        struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = RESOLVE_IN_ROOT };
        struct stat st;
        int fd, r;

        fd = (int) syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                r = -errno;
        else if (!S_ISREG(st.st_mode) || st.st_size <= 0)
                r = -EINVAL;
        else if (st.st_size > (off_t) SIZE_MAX_BYTES)
                r = -EFBIG;
        else {
                r = read_all(fd, (size_t) st.st_size, ret);
                if (r == 0)
                        *ret_size = (size_t) st.st_size;
        }
        (void) close(fd);
        return r;
}

static int unpack_zst(uint8_t **data, size_t *size) {
#if HAVE_ZSTD
        _cleanup_free_ uint8_t *out = NULL;
        unsigned long long n;
        size_t done;

        /* The kernel allocates what the frame's header says, and fails where it says nothing. */
        n = ZSTD_getFrameContentSize(*data, *size);
        if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR || n > SIZE_MAX_BYTES)
                return -EINVAL;
        out = malloc(n ?: 1);
        if (!out)
                return -ENOMEM;
        done = ZSTD_decompress(out, n, *data, *size);
        if (ZSTD_isError(done))
                return -EINVAL;
        free(*data);
        *data = TAKE_PTR(out);
        *size = done;
        return 0;
#else
        return -EOPNOTSUPP;
#endif
}

static int unpack_xz(uint8_t **data, size_t *size) {
#if HAVE_XZ
        _cleanup_free_ uint8_t *out = NULL;
        uint64_t memory = SIZE_MAX_BYTES;
        size_t in_pos = 0, out_pos = 0;
        lzma_stream_flags flags;

        /* The kernel's decoder knows no other check than CRC32 (lib/xz). */
        if (*size < LZMA_STREAM_HEADER_SIZE || lzma_stream_header_decode(&flags, *data) != LZMA_OK)
                return -EINVAL;
        if (flags.check != LZMA_CHECK_CRC32 && flags.check != LZMA_CHECK_NONE)
                return -EINVAL;
        out = malloc(SIZE_MAX_BYTES);
        if (!out)
                return -ENOMEM;
        if (lzma_stream_buffer_decode(&memory, 0, NULL, *data, &in_pos, *size, out, &out_pos,
                                      SIZE_MAX_BYTES) != LZMA_OK)
                return -EINVAL;
        free(*data);
        *data = TAKE_PTR(out);
        *size = out_pos;
        return 0;
#else
        return -EOPNOTSUPP;
#endif
}

typedef int (*Unpack)(uint8_t **data, size_t *size);

static int search_directories(const SimFirmwareSearch *s, int root_fd, const char *name, const char *suffix,
                              Unpack unpack, SimFirmware *ret) {
        const struct {
                const char *directory, *below;
        } places[] = {
                { s->path, NULL },
                { "/lib/firmware/updates", s->release },
                { "/lib/firmware/updates", NULL },
                { "/lib/firmware", s->release },
                { "/lib/firmware", NULL },
        };
        int r = -ENOENT;

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                _cleanup_free_ char *path = NULL;
                SimFirmware f = {};

                if (!places[i].directory)
                        continue;
                if (asprintf(&path, "%s/%s%s%s%s", places[i].directory, places[i].below ?: "",
                             places[i].below ? "/" : "", name, suffix) < 0)
                        return -ENOMEM;
                r = read_file(root_fd, path, &f.data, &f.size);
                if (r == 0 && unpack)
                        r = unpack(&f.data, &f.size);
                if (r == 0) {
                        f.path = TAKE_PTR(path);
                        *ret = f;
                        return 0;
                }
                sim_firmware_done(&f);
        }
        return r;
}

int sim_firmware_request(const SimFirmwareSearch *s, const char *name, SimFirmware *ret) {
        int root_fd, r;

        root_fd = open(s->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root_fd < 0)
                return -errno;
        r = search_directories(s, root_fd, name, "", NULL, ret);
        if (r == -ENOENT && s->zst)
                r = search_directories(s, root_fd, name, ".zst", unpack_zst, ret);
        if (r == -ENOENT && s->xz)
                r = search_directories(s, root_fd, name, ".xz", unpack_xz, ret);
        (void) close(root_fd);
        return r;
}

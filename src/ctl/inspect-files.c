/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files for inspect; see inspect-files.h. Everything is opened below the root (os/root), and nothing is
 * mapped: a file may be truncated at any moment. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core/ucode/file.h"
#include "core/ucode/update.h"
#include "ctl/inspect-files.h"
#include "os/decompress.h"
#include "os/root.h"

#define READ_TRIES   3
#define SMALL_BUFFER ((size_t) 256 << 10)
#define HUGE_PAGE    ((size_t) 2 << 20)

int ctl_files_open(CtlFiles *f, const UcsCtl *ctl, UcsError *e) {
        *f = (CtlFiles){ .root_fd = -EBADF };
        if (!ctl->root) {
                f->directory = getcwd(NULL, 0);
                if (!f->directory)
                        return ucs_error_set(e, -errno, "cannot find the working directory: %m");
        }
        return ucs_root_open(ctl->root ?: "/", &f->root_fd, e);
}

void ctl_files_done(CtlFiles *f) {
        f->root_fd = fd_close(f->root_fd);
        free(f->directory);
        free(f->buffer);
        free(f->decompressed);
}

/* The path below the root of what the user names. */
static int real_path(const CtlFiles *f, const char *path, char **ret) {
        bool relative = f->directory && *path != '/';

        if (!*path)
                return -ENOENT; /* as for the kernel, and not the working directory */
        return asprintf(ret, "%s%s%s", relative ? f->directory : "", relative ? "/" : "", path) < 0 ? -ENOMEM
                                                                                                    : 0;
}

/* Room for `size` bytes. Large buffers come in huge pages where there are any: of the time that a release
 * takes, faults on fresh memory would be the largest part after the copying. */
static int reserve(CtlFiles *f, size_t size) {
        size_t page = size > SMALL_BUFFER ? HUGE_PAGE : SMALL_BUFFER;
        size_t allocate = (size + page - 1) & ~(page - 1);

        if (size <= f->allocated)
                return 0;
        free(f->buffer);
        f->allocated = 0;
        f->buffer = aligned_alloc(page, allocate);
        if (!f->buffer)
                return -ENOMEM;
        if (page == HUGE_PAGE)
                (void) madvise(f->buffer, allocate, MADV_HUGEPAGE);
        f->allocated = allocate;
        return 0;
}

/* Read the descriptor to its end into the buffer: 0; 1 when the file was changed meanwhile; -errno. */
static int fill_buffer(CtlFiles *f, int fd, const struct stat *before, size_t *ret_size, UcsError *e) {
        size_t want = (size_t) before->st_size + 1, size = 0; /* one more: to see its end */
        struct stat after;

        if (reserve(f, want) < 0)
                return -ENOMEM;
        while (size < want) {
                ssize_t n = read(fd, f->buffer + size, want - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return ucs_error_set(e, -errno, "cannot be read: %m");
                if (n == 0)
                        break;
                size += (size_t) n;
        }
        if (fstat(fd, &after) < 0)
                return ucs_error_set(e, -errno, "cannot be looked at: %m");
        if (size != (size_t) before->st_size || after.st_size != before->st_size ||
            after.st_mtim.tv_sec != before->st_mtim.tv_sec ||
            after.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
                return 1;
        *ret_size = size;
        return 0;
}

static int open_error(int r, UcsError *e) {
        if (r == -EISDIR)
                return ucs_error_set(e, r, "is a directory, expected a regular file");
        if (r == -EINVAL)
                return ucs_error_set(e, r, "is not a regular file");
        errno = -r;
        return ucs_error_set(e, r, "cannot be opened: %m");
}

static int read_settled(CtlFiles *f, const char *path, size_t *ret_size, UcsError *e) {
        _cleanup_free_ char *real = NULL;
        int r;

        r = real_path(f, path, &real);
        if (r < 0)
                return open_error(r, e);
        for (unsigned n = 0; n < READ_TRIES; n++) {
                _cleanup_fd_ int fd = -EBADF;
                struct stat st;

                r = ucs_root_open_file(f->root_fd, real, &fd, &st, NULL);
                if (r < 0)
                        return open_error(r, e);
                if (st.st_size > (off_t) UCS_FIRMWARE_SIZE_MAX)
                        return ucs_error_set(e, -EFBIG, "%lld bytes, expected %u at most",
                                             (long long) st.st_size, UCS_FIRMWARE_SIZE_MAX);
                r = fill_buffer(f, fd, &st, ret_size, e);
                if (r <= 0)
                        return r;
        }
        return ucs_error_set(e, -EAGAIN, "was changed while it was read, %d times in a row", READ_TRIES);
}

int ctl_files_read(CtlFiles *f, const char *path, const uint8_t **ret, size_t *ret_size, UcsError *e) {
        UcsCompression compression = ucs_compression_from_path(path);
        size_t size;
        int r;

        r = read_settled(f, path, &size, e);
        if (r < 0)
                return r;
        if (compression != UCS_COMPRESSION_NONE && size > 0) {
                free(TAKE_PTR(f->decompressed));
                r = ucs_decompress(compression, f->buffer, size, UCS_FIRMWARE_SIZE_MAX, &f->decompressed,
                                   &size, e);
                if (r < 0)
                        return r;
                *ret = f->decompressed;
        } else
                *ret = f->buffer;
        *ret_size = size;
        return 0;
}

/* Whether a directory is there, behind links too: its descriptor, or -errno. */
static int open_directory(const CtlFiles *f, const char *path) {
        _cleanup_free_ char *real = NULL;
        int r;

        r = real_path(f, path, &real);
        return r < 0 ? r : ucs_root_openat(f->root_fd, real, O_RDONLY | O_DIRECTORY);
}

/* DT_DIR: to be gone through; DT_REG: to be looked at; else neither. */
static unsigned char entry_type(const CtlFiles *f, const char *path, const struct dirent *entry, int fd) {
        unsigned char type = entry->d_type;
        struct stat st;
        int behind;

        if (type == DT_UNKNOWN && fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
                type = (unsigned char) IFTODT(st.st_mode);
        if (type != DT_LNK)
                return type;
        behind = open_directory(f, path);
        if (behind < 0)
                return DT_REG;
        fd_close(behind);
        return DT_UNKNOWN; /* it may lead in circles */
}

static int collect(const CtlFiles *f, const char *path, char ***files) {
        _cleanup_strv_ char **directories = NULL;
        struct dirent *entry;
        int fd, r = 0;
        DIR *d;

        fd = open_directory(f, path);
        if (fd < 0)
                return fd == -ENOMEM ? fd : strv_push(files, path);
        d = fdopendir(fd);
        if (!d) {
                fd_close(fd);
                return -ENOMEM;
        }
        while (r >= 0 && (entry = readdir(d))) {
                _cleanup_free_ char *below = NULL;
                unsigned char type;

                if (streq(entry->d_name, ".") || streq(entry->d_name, ".."))
                        continue;
                if (asprintf(&below, "%s%s%s", path, str_endswith(path, "/") ? "" : "/", entry->d_name) <
                    0) {
                        below = NULL;
                        r = -ENOMEM;
                        break;
                }
                type = entry_type(f, below, entry, fd);
                if (type == DT_DIR)
                        r = strv_push(&directories, below);
                else if (type == DT_REG)
                        r = strv_push(files, below);
        }
        (void) closedir(d);
        for (size_t k = 0; r >= 0 && k < strv_length(directories); k++)
                r = collect(f, directories[k], files);
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int ctl_files_list(const CtlFiles *f, const char *operand, char ***ret) {
        _cleanup_strv_ char **files = NULL;
        int fd, r;

        fd = open_directory(f, operand);
        if (fd < 0)
                r = strv_push(&files, operand);
        else {
                fd_close(fd);
                r = collect(f, operand, &files);
        }
        if (r < 0)
                return r;
        if (files)
                qsort(files, strv_length(files), sizeof(char *), compare_strings);
        *ret = TAKE_PTR(files);
        return 0;
}

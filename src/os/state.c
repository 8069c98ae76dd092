/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that survive a crash; see state.h. The new content lies under a temporary name ".NAME.~RANDOM" in
 * the same directory until it is on disk, and takes the place of the old one in one step. One writer a file
 * is assumed (the daemon): what another write left behind under such a name is from a process that was
 * killed, and is removed. Nothing here knows what the bytes mean. */

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/str.h"
#include "os/root.h"
#include "os/state.h"

#define STATE_SIZE_MAX (4U * 1024U * 1024U)
#define ASIDE_MAX      999U

DEFINE_CLEANUP(DIR *, closedir);

static bool name_is_plain(const char *name) {
        return name[0] != '\0' && name[0] != '.' && !strchr(name, '/') && strlen(name) <= 200;
}

static int open_directory(int root_fd, const char *directory) {
        return ucs_root_openat(root_fd, directory, O_RDONLY | O_DIRECTORY);
}

/* Open the directory; make it, and what is missing above it, first. A new entry is only there for good when
 * its parent is on disk. */
static int make_directory(int root_fd, const char *directory, mode_t mode) {
        _cleanup_free_ char *parent = NULL;
        _cleanup_fd_ int parent_fd = -EBADF;
        const char *slash;
        int fd;

        fd = open_directory(root_fd, directory);
        slash = strrchr(directory, '/');
        if (fd != -ENOENT || !slash || !slash[1])
                return fd;

        parent = slash > directory ? strndup(directory, (size_t) (slash - directory)) : strdup("/");
        if (!parent)
                return -ENOMEM;
        parent_fd = make_directory(root_fd, parent, 0755);
        if (parent_fd < 0)
                return parent_fd;
        if (mkdirat(parent_fd, slash + 1, mode) < 0 && errno != EEXIST)
                return -errno;
        if (fsync(parent_fd) < 0)
                return -errno;
        return open_directory(root_fd, directory);
}

/* Is it ".NAME.~…"? */
static bool is_leftover(const char *entry, const char *name) {
        const char *rest = entry[0] == '.' ? str_startswith(entry + 1, name) : NULL;

        return rest && str_startswith(rest, ".~");
}

static void remove_leftovers(int dir_fd, const char *name) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *de;
        int fd;

        fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        d = fd >= 0 ? fdopendir(fd) : NULL;
        if (!d) {
                fd_close(fd);
                return;
        }
        while ((de = readdir(d)))
                if (is_leftover(de->d_name, name))
                        (void) unlinkat(dir_fd, de->d_name, 0);
}

static int write_all(int fd, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                ssize_t n;

                n = write(fd, p, size);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

/* Everything up to the moment at which the old content is replaced. */
static int write_temporary(int dir_fd, const char *temporary, const void *data, size_t size) {
        _cleanup_fd_ int fd = -EBADF;
        int r;

        fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        r = write_all(fd, data, size);
        if (r < 0)
                return r;
        return fsync(fd) < 0 ? -errno : 0;
}

int ucs_state_write(int root_fd, const char *directory, const char *name, const void *data, size_t size,
                    UcsError *e) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_fd_ int dir_fd = -EBADF;
        uint64_t random;
        int r;

        assert(name_is_plain(name));

        dir_fd = make_directory(root_fd, directory, 0700);
        if (dir_fd < 0) {
                errno = -dir_fd;
                return ucs_error_set(e, dir_fd, "cannot open or create the directory %s: %m", directory);
        }
        remove_leftovers(dir_fd, name);

        if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
                random = (uint64_t) getpid(); /* early at boot; the name has to be new, not secret */
        if (asprintf(&temporary, ".%s.~%016llx", name, (unsigned long long) random) < 0) {
                temporary = NULL;
                return ucs_error_set(e, -ENOMEM, "no memory to write %s/%s", directory, name);
        }

        r = write_temporary(dir_fd, temporary, data, size);
        if (r >= 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
                r = -errno;
        if (r < 0) {
                (void) unlinkat(dir_fd, temporary, 0);
                errno = -r;
                return ucs_error_set(e, r, "cannot write %s/%s: %m", directory, name);
        }
        if (fsync(dir_fd) < 0)
                return ucs_error_set(e, -errno, "cannot bring the directory %s to disk: %m", directory);
        return 0;
}

int ucs_state_read(int root_fd, const char *directory, const char *name, char **ret, size_t *ret_size,
                   UcsError *e) {
        _cleanup_free_ char *path = NULL;

        assert(name_is_plain(name));

        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return ucs_error_set(e, -ENOMEM, "no memory to read %s/%s", directory, name);
        }
        return ucs_root_read_bytes(root_fd, path, STATE_SIZE_MAX, ret, ret_size, e);
}

int ucs_state_set_aside(int root_fd, const char *directory, const char *name, char **ret_new_name,
                        UcsError *e) {
        _cleanup_fd_ int dir_fd = -EBADF;

        assert(name_is_plain(name));

        dir_fd = open_directory(root_fd, directory);
        if (dir_fd < 0) {
                errno = -dir_fd;
                return ucs_error_set(e, dir_fd, "cannot open the directory %s: %m", directory);
        }
        for (unsigned i = 1; i <= ASIDE_MAX; i++) {
                _cleanup_free_ char *aside = NULL;

                if (asprintf(&aside, "%s.bad-%u", name, i) < 0) {
                        aside = NULL;
                        return ucs_error_set(e, -ENOMEM, "no memory to set %s/%s aside", directory, name);
                }
                if (renameat2(dir_fd, name, dir_fd, aside, RENAME_NOREPLACE) < 0) {
                        if (errno == EEXIST)
                                continue;
                        return ucs_error_set(e, -errno, "cannot rename %s/%s to %s: %m", directory, name,
                                             aside);
                }
                if (fsync(dir_fd) < 0)
                        return ucs_error_set(e, -errno, "cannot bring the directory %s to disk: %m",
                                             directory);
                if (ret_new_name)
                        *ret_new_name = TAKE_PTR(aside);
                return 0;
        }
        return ucs_error_set(e, -EEXIST, "cannot set %s/%s aside: %s.bad-1 to .bad-%u are there already",
                             directory, name, name, ASIDE_MAX);
}

int ucs_state_remove(int root_fd, const char *directory, const char *name) {
        _cleanup_fd_ int dir_fd = -EBADF;

        assert(name_is_plain(name));

        dir_fd = open_directory(root_fd, directory);
        if (dir_fd < 0)
                return dir_fd == -ENOENT ? 0 : dir_fd;
        if (unlinkat(dir_fd, name, 0) < 0)
                return errno == ENOENT ? 0 : -errno;
        return fsync(dir_fd) < 0 ? -errno : 0;
}

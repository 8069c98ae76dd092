/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The way from the root to each firmware directory, component by component; see watch-plan.h. The kernel
 * resolves a path in one go and does not tell where it has been; here each link and each missing entry on
 * the way has to be known, so it is walked by hand: below the root, never out of it, and never longer than
 * the kernel would. Nothing here is read but directories and links. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "os/decompress.h"
#include "os/root.h"
#include "os/watch-plan.h"
#include "os/watch.h"

#define LINKS_MAX 40U /* fs/namei.c: MAXSYMLINKS */

/* See watch.h. */
static const char *const busy_directories[] = {
        "/",    "/dev", "/etc", "/home",      "/proc",    "/root",      "/run",
        "/sys", "/tmp", "/var", "/var/cache", "/var/log", "/var/spool", "/var/tmp",
};

typedef struct Identity {
        dev_t device;
        ino_t inode;
} Identity;

typedef struct Planner {
        int root_fd;
        WatchPlan plan;
        Identity busy[ELEMENTSOF(busy_directories)];
        size_t n_busy;
} Planner;

/* A place in the tree: the directories from the root down to it, as indices of the plan. The lowest is the
 * last. */
typedef struct Place {
        unsigned *stack;
        size_t depth;
} Place;

DEFINE_CLEANUP(DIR *, closedir);

void ucs_watch_plan_done(WatchPlan *p) {
        for (size_t i = 0; i < p->n; i++) {
                fd_close(p->directories[i].fd);
                free(p->directories[i].path);
                strv_free(p->directories[i].names);
        }
        free(p->directories);
        strv_free(p->blind);
        *p = (WatchPlan){};
}

static bool strv_has(char *const *l, const char *s) {
        for (; l && *l; l++)
                if (streq(*l, s))
                        return true;
        return false;
}

static int strv_push_once(char ***l, const char *s) {
        return strv_has(*l, s) ? 0 : strv_push(l, s);
}

/* --- directories of the plan --- */

static bool is_busy(const Planner *p, const struct stat *st) {
        if (st->st_mode & S_IWOTH)
                return true;
        for (size_t i = 0; i < p->n_busy; i++)
                if (p->busy[i].device == st->st_dev && p->busy[i].inode == st->st_ino)
                        return true;
        return false;
}

/* Links on the way to one of them (/var/run) make no difference: they are told apart by their inodes. */
static void find_busy(Planner *p) {
        for (size_t i = 0; i < ELEMENTSOF(busy_directories); i++) {
                _cleanup_fd_ int fd = -EBADF;
                struct stat st;

                fd = ucs_root_openat(p->root_fd, busy_directories[i], O_PATH | O_DIRECTORY);
                if (fd >= 0 && fstat(fd, &st) >= 0)
                        p->busy[p->n_busy++] = (Identity){ st.st_dev, st.st_ino };
        }
}

/* The index of the directory behind `fd`, which is taken over in any case. -E2BIG: there are too many. */
static int add_directory(Planner *p, int fd, const char *parent, const char *name) {
        _cleanup_fd_ int owned = fd;
        WatchDirectory *directories;
        char *path;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return -errno;
        for (size_t i = 0; i < p->plan.n; i++)
                if (p->plan.directories[i].device == st.st_dev && p->plan.directories[i].inode == st.st_ino)
                        return (int) i;
        if (p->plan.n >= UCS_WATCH_DIRECTORIES_MAX)
                return -E2BIG;
        directories = reallocarray(p->plan.directories, p->plan.n + 1, sizeof(*directories));
        if (!directories)
                return -ENOMEM;
        p->plan.directories = directories;
        if (asprintf(&path, "%s/%s", streq(parent, "/") ? "" : parent, name) < 0)
                return -ENOMEM;
        directories[p->plan.n] = (WatchDirectory){
                .fd = TAKE_FD(owned),
                .device = st.st_dev,
                .inode = st.st_ino,
                .path = path,
                .busy = is_busy(p, &st),
        };
        return (int) p->plan.n++;
}

/* --- the walk --- */

static int place_push(Place *place, unsigned directory) {
        unsigned *stack;

        stack = reallocarray(place->stack, place->depth + 1, sizeof(*stack));
        if (!stack)
                return -ENOMEM;
        stack[place->depth] = directory;
        place->stack = stack;
        place->depth++;
        return 0;
}

static void place_done(Place *place) {
        free(place->stack);
}

static WatchDirectory *place_directory(Planner *p, const Place *place) {
        return &p->plan.directories[place->stack[place->depth - 1]];
}

/* Something is, or may come to be, at this entry. 0, 1: it cannot be watched; -ENOMEM. */
static int await(WatchDirectory *d, const char *name, bool file) {
        if (d->busy && !d->leaf)
                return 1;
        d->files |= file;
        return strv_push_once(&d->names, name);
}

/* A directory without a right for this process, which runs without any capability, does not say when it gets it;
 * the one above does. */
static int await_access(WatchDirectory *d, const char *name) {
        if (faccessat(d->fd, name, R_OK | X_OK, AT_EACCESS) >= 0 || errno != EACCES || d->busy)
                return 0;
        d->closed = true;
        return strv_push_once(&d->names, name);
}

/* Replace the rest of the way by where a link leads, with what came after the link behind it. */
static int follow_link(Planner *p, Place *place, const char *name, char **rest) {
        char target[PATH_MAX], *all;
        ssize_t n;

        n = readlinkat(place_directory(p, place)->fd, name, target, sizeof(target) - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        if (asprintf(&all, "%s/%s", target, *rest) < 0)
                return -ENOMEM;
        free(*rest);
        *rest = all;
        if (target[0] == '/')
                place->depth = 1;
        return 0;
}

/* One component. 0: gone on; 1: it is a file, and the end of the way; -errno: the way ends here (1 in
 * `ret_blind`: unseen). */
static int step(Planner *p, Place *place, const char *name, char **rest, unsigned *n_links,
                bool *ret_blind) {
        WatchDirectory *d = place_directory(p, place);
        bool last = (*rest)[strspn(*rest, "/")] == '\0';
        struct stat st;
        int fd, r;

        if (streq(name, ".."))
                return place->depth -= place->depth > 1, 0;
        if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                int error = -errno;

                r = error == -ENOENT ? await(d, name, false) : 1;
                *ret_blind = r == 1;
                return r < 0 ? r : error;
        }
        if (S_ISDIR(st.st_mode)) {
                fd = openat(d->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0)
                        return -errno;
                r = await_access(d, name);
                if (r < 0) {
                        fd_close(fd);
                        return r;
                }
                r = add_directory(p, fd, d->path, name);
                if (r < 0) {
                        *ret_blind = r == -E2BIG;
                        return r;
                }
                return place_push(place, (unsigned) r);
        }
        r = await(d, name, !S_ISLNK(st.st_mode));
        if (r < 0)
                return r;
        if (!S_ISLNK(st.st_mode)) {
                *ret_blind = r == 1;
                return last ? 1 : -ENOTDIR;
        }
        if (++*n_links > LINKS_MAX)
                return -ELOOP;
        return follow_link(p, place, name, rest);
}

/* Go `path` from `place` on, which is where it ends afterwards. Returns as step(); what may change on the
 * way is in the plan. */
static int walk(Planner *p, Place *place, const char *path, bool *ret_blind) {
        _cleanup_free_ char *rest = strdup(path);
        unsigned n_links = 0;

        *ret_blind = false;
        if (!rest)
                return -ENOMEM;
        for (;;) {
                _cleanup_free_ char *name = NULL;
                size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");
                int r;

                if (n == 0)
                        return 0;
                name = strndup(rest + skip, n);
                if (!name)
                        return -ENOMEM;
                memmove(rest, rest + skip + n, strlen(rest + skip + n) + 1);
                if (streq(name, "."))
                        continue;
                r = step(p, place, name, &rest, &n_links, ret_blind);
                if (r != 0)
                        return r;
        }
}

static bool is_fatal(int r) {
        return r == -ENOMEM || r == -EMFILE || r == -ENFILE;
}

/* --- firmware directories --- */

bool ucs_watch_name_counts(const char *name) {
        static const char *const patterns[] = { "xx-xx-xx", "microcode_amd.bin",
                                                "microcode_amd_famxxh.bin" };
        size_t n = strlen(name);

        for (UcsCompression c = UCS_COMPRESSION_NONE + 1; c < _UCS_COMPRESSION_MAX; c++)
                if (str_endswith(name, ucs_compression_suffix(c))) {
                        n -= strlen(ucs_compression_suffix(c));
                        break;
                }
        for (size_t i = 0; i < ELEMENTSOF(patterns); i++) {
                size_t k;

                if (strlen(patterns[i]) != n)
                        continue;
                /* 'x' stands for a lower-case hexadecimal digit; no pattern has one of its own */
                for (k = 0; k < n; k++)
                        if (patterns[i][k] == 'x' ? !isdigit((unsigned char) name[k]) &&
                                                            !(name[k] >= 'a' && name[k] <= 'f')
                                                  : patterns[i][k] != name[k])
                                break;
                if (k == n)
                        return true;
        }
        return false;
}

static bool is_link(int fd, const struct dirent *de) {
        struct stat st;

        if (de->d_type != DT_UNKNOWN)
                return de->d_type == DT_LNK;
        return fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISLNK(st.st_mode);
}

/* Firmware files that are links: what they lead to, and through. */
static int plan_links(Planner *p, const Place *leaf) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *de;
        int fd;

        fd = openat(place_directory(p, leaf)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return is_fatal(-errno) ? -errno : 0;
        d = fdopendir(fd);
        if (!d) {
                fd_close(fd);
                return -ENOMEM;
        }
        while ((de = readdir(d))) {
                _cleanup_(place_done) Place place = {};
                bool blind;
                int r = 0;

                if (!ucs_watch_name_counts(de->d_name) || !is_link(fd, de))
                        continue;
                for (size_t i = 0; r >= 0 && i < leaf->depth; i++)
                        r = place_push(&place, leaf->stack[i]);
                if (r >= 0)
                        r = walk(p, &place, de->d_name, &blind);
                if (r >= 0 || !is_fatal(r)) {
                        _cleanup_text_ UcsText t = {};

                        if (!blind)
                                continue;
                        ucs_text_appendf(&t, "%s/%s", place_directory(p, leaf)->path, de->d_name);
                        r = t.failed ? -ENOMEM : strv_push_once(&p->plan.blind, t.data);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

static int plan_directory(Planner *p, const char *directory, const char *subdirectory) {
        _cleanup_(place_done) Place place = {};
        _cleanup_free_ char *path = NULL;
        bool blind;
        int r;

        if (asprintf(&path, "%s/%s", directory, subdirectory) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        r = place_push(&place, 0);
        if (r < 0)
                return r;
        r = walk(p, &place, path, &blind);
        if (is_fatal(r))
                return r;
        if (r != 0)
                return blind ? strv_push_once(&p->plan.blind, path) : 0;
        place_directory(p, &place)->leaf = true;

        /* A directory that is removed while someone is still in it does not say so; the one above it does.
         */
        if (place.depth > 1) {
                WatchDirectory *above = &p->plan.directories[place.stack[place.depth - 2]];

                r = await(above, strrchr(place_directory(p, &place)->path, '/') + 1, false);
                if (r < 0)
                        return r;
        }
        return plan_links(p, &place);
}

int ucs_watch_plan_make(int root_fd, char *const *search_path, const char *subdirectory, WatchPlan *ret) {
        Planner p = { .root_fd = root_fd };
        int fd, r;

        find_busy(&p);
        fd = ucs_root_openat(root_fd, "/", O_PATH | O_DIRECTORY);
        if (fd < 0)
                return fd;
        r = add_directory(&p, fd, "/", "");
        for (char *const *d = search_path; r >= 0 && d && *d; d++)
                r = plan_directory(&p, *d, subdirectory);
        if (r < 0) {
                ucs_watch_plan_done(&p.plan);
                return r;
        }
        *ret = p.plan;
        return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* inotify over the firmware directories; see watch.h. What always holds after arming: whatever was missed by
 * the last look at the tree makes an event, because that look came after the last watch was set. Events are
 * read, judged by name, and forgotten. */

#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdio.h>
#include <sys/inotify.h>

#include "os/fd.h"
#include "os/watch-plan.h"
#include "os/watch.h"

#define ARM_TRIES    8U
#define EVENT_BUFFER 16384U

/* The directory itself goes away or is renamed. Silent otherwise, so that every directory on the way can
 * have it. */
#define SELF_MASK (IN_DELETE_SELF | IN_MOVE_SELF)
/* Entries come and go. */
#define ENTRIES_MASK (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
/* Files are written, and change their owner or mode. */
#define FILES_MASK (IN_CLOSE_WRITE | IN_ATTRIB)

typedef struct Watched {
        int wd; /* -1: the kernel has dropped it */
        uint32_t mask;
        bool leaf;
        char **names;
} Watched;

typedef struct WatchSet {
        Watched *items;
        size_t n;
        char **directories, **blind; /* for people */
} WatchSet;

struct UcsWatch {
        int fd, root_fd;
        char **search_path;
        char *subdirectory;
        WatchSet set;
};

static void set_done(WatchSet *s) {
        for (size_t i = 0; i < s->n; i++)
                strv_free(s->items[i].names);
        free(s->items);
        strv_free(s->directories);
        strv_free(s->blind);
        *s = (WatchSet){};
}

UcsWatch *ucs_watch_free(UcsWatch *w) {
        if (!w)
                return NULL;
        set_done(&w->set);
        fd_close(w->fd);
        fd_close(w->root_fd);
        strv_free(w->search_path);
        free(w->subdirectory);
        free(w);
        return NULL;
}

/* --- arming --- */

static uint32_t directory_mask(const WatchDirectory *d) {
        uint32_t mask = SELF_MASK;

        if (d->leaf || d->names)
                mask |= ENTRIES_MASK;
        if (d->leaf || d->files)
                mask |= FILES_MASK;
        if (d->closed)
                mask |= IN_ATTRIB;
        return mask;
}

/* The watch descriptor, or -errno. A directory is named by the descriptor that the plan has of it: its path
 * may mean another by now. */
static int watch_add(int fd, const WatchDirectory *d) {
        char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
        int wd;

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", d->fd);
        wd = inotify_add_watch(fd, path, directory_mask(d) | IN_ONLYDIR);
        return wd < 0 ? -errno : wd;
}

/* Set all watches of a plan. One that this process may not set is blind; any other failure ends it, and
 * `ret` is what came before. */
static int set_fill(WatchSet *s, int fd, WatchPlan *p) {
        int r = 0;

        s->items = new0(Watched, p->n);
        if (!s->items)
                return -ENOMEM;
        s->blind = TAKE_PTR(p->blind);
        for (size_t i = 0; r >= 0 && i < p->n; i++) {
                WatchDirectory *d = &p->directories[i];
                bool entries = d->leaf || d->names;
                int wd;

                if (i == 0 && !entries)
                        continue; /* the root does not go away */
                wd = watch_add(fd, d);
                if (wd == -EACCES || wd == -EPERM) {
                        r = entries ? strv_push(&s->blind, d->path) : 0;
                        continue;
                }
                if (wd < 0)
                        return wd;
                s->items[s->n++] = (Watched){ wd, directory_mask(d), d->leaf, TAKE_PTR(d->names) };
                if (entries)
                        r = strv_push(&s->directories, d->path);
        }
        return r < 0 ? r : 0;
}

static bool set_equal(const WatchSet *a, const WatchSet *b) {
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (a->items[i].wd != b->items[i].wd || a->items[i].mask != b->items[i].mask || a->items[i].leaf != b->items[i].leaf ||
                    !strv_equal(a->items[i].names, b->items[i].names))
                        return false;
        return true;
}

static Watched *set_find(const WatchSet *s, int wd) {
        for (size_t i = 0; i < s->n; i++)
                if (s->items[i].wd == wd)
                        return &s->items[i];
        return NULL;
}

/* What `old` watches and `new` does not. */
static void drop_rest(int fd, const WatchSet *old, const WatchSet *new) {
        for (size_t i = 0; i < old->n; i++)
                if (old->items[i].wd >= 0 && !set_find(new, old->items[i].wd))
                        (void) inotify_rm_watch(fd, old->items[i].wd);
}

/* Look, watch, and look again, until a look finds what is watched already: then all watches were there
 * before it, and nothing can have come between. A tree that changes all the time makes events all the time,
 * so giving up after some tries loses nothing. */
static int arm(UcsWatch *w, const char **ret_what) {
        for (unsigned i = 0; i < ARM_TRIES; i++) {
                _cleanup_(ucs_watch_plan_done) WatchPlan plan = {};
                WatchSet set = {};
                bool same;
                int r;

                *ret_what = "look at the firmware directories";
                r = ucs_watch_plan_make(w->root_fd, w->search_path, w->subdirectory, &plan);
                if (r < 0)
                        return r;
                *ret_what = "watch the firmware directories";
                r = set_fill(&set, w->fd, &plan);
                if (r < 0) {
                        set_done(&set);
                        return r;
                }
                same = set_equal(&set, &w->set);
                drop_rest(w->fd, &w->set, &set);
                set_done(&w->set);
                w->set = set;
                if (same)
                        break;
        }
        return 0;
}

int ucs_watch_new(int root_fd, char *const *search_path, const char *subdirectory, UcsWatch **ret,
                  UcsError *e) {
        _cleanup_(ucs_watch_freep) UcsWatch *w = NULL;
        const char *what = "watch the firmware directories";
        int r;

        w = new0(UcsWatch, 1);
        if (!w)
                return ucs_error_set(e, -ENOMEM, "no memory to %s", what);
        w->fd = w->root_fd = -EBADF;
        w->subdirectory = strdup(subdirectory);
        r = w->subdirectory ? 0 : -ENOMEM;
        for (char *const *d = search_path; r >= 0 && d && *d; d++)
                r = strv_push(&w->search_path, *d);
        if (r < 0)
                return ucs_error_set(e, r, "no memory to %s", what);

        w->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (w->root_fd < 0)
                return ucs_error_set(e, -errno, "cannot %s: %m", what);
        w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (w->fd < 0 && errno == EMFILE)
                return ucs_error_set(
                        e, -EMFILE,
                        "cannot %s: no inotify instance is left (sysctl fs.inotify.max_user_instances), or no descriptor",
                        what);
        if (w->fd < 0)
                return ucs_error_set(e, -errno, "cannot %s: %m", what);

        r = arm(w, &what);
        if (r == -ENOSPC)
                return ucs_error_set(
                        e, r, "cannot %s: no inotify watch is left (sysctl fs.inotify.max_user_watches)",
                        what);
        if (r == -ENOENT)
                return ucs_error_set(e, r, "cannot %s: there is no /proc/self/fd", what);
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot %s: %m", what);
        }
        *ret = TAKE_PTR(w);
        return 0;
}

/* --- events --- */

static bool name_counts(const Watched *d, const char *name) {
        for (char **n = d->names; n && *n; n++)
                if (streq(*n, name))
                        return true;
        return d->leaf && ucs_watch_name_counts(name);
}

/* Whether it means that the firmware may have changed. What belongs to a watch that was dropped is an echo.
 */
static bool event_counts(UcsWatch *w, const struct inotify_event *ev) {
        Watched *d;

        if (ev->mask & IN_Q_OVERFLOW)
                return true;
        d = set_find(&w->set, ev->wd);
        if (!d)
                return false;
        if (ev->mask & IN_IGNORED)
                d->wd = -1;
        if (ev->len ==
            0) /* the directory itself: removed, renamed, unmounted, or its mode or owner changed */
                return true;
        if (d->leaf && (ev->mask & IN_ISDIR) && (ev->mask & ENTRIES_MASK))
                return true;
        return name_counts(d, ev->name);
}

/* Read all events that are there. 1: one of them counts; 0; -errno. */
static int drain(UcsWatch *w) {
        alignas(struct inotify_event) char buf[EVENT_BUFFER];
        bool counts = false;

        for (;;) {
                ssize_t n;

                n = read(w->fd, buf, sizeof(buf));
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return errno == EAGAIN ? counts : -errno;
                }
                for (char *p = buf; p < buf + n;) {
                        const struct inotify_event *ev = (const struct inotify_event *) (const void *) p;

                        counts |= event_counts(w, ev);
                        p += sizeof(*ev) + ev->len;
                }
        }
}

int ucs_watch_dispatch(UcsWatch *w) {
        bool changed = false;

        /* Arming has echoes (IN_IGNORED of what it drops): they are read here, so that they wake nobody
         * later. */
        for (unsigned i = 0; i < ARM_TRIES; i++) {
                const char *what;
                int r;

                r = drain(w);
                if (r == 0)
                        break;
                if (r > 0)
                        r = arm(w, &what);
                if (r < 0)
                        return r;
                changed = true;
        }
        return changed;
}

int ucs_watch_fd(const UcsWatch *w) {
        return w->fd;
}

char *const *ucs_watch_directories(const UcsWatch *w) {
        return w->set.directories;
}

char *const *ucs_watch_blind(const UcsWatch *w) {
        return w->set.blind;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A main file and drop-ins; see conf-files.h. Names are merged over the directories: a name counts
 * once, in the directory of the highest priority that has it, and files count in the order of their names,
 * whichever directory they are in. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "os/conf-files.h"
#include "os/root.h"

typedef struct DropIn {
        char *name;
        const char *directory;
        bool masked;
} DropIn;

typedef struct DropIns {
        DropIn *items;
        size_t n;
} DropIns;

static void drop_ins_done(DropIns *l) {
        for (size_t i = 0; i < l->n; i++)
                free(l->items[i].name);
        free(l->items);
}

DEFINE_CLEANUP(DIR *, closedir);

/* A link to /dev/null (which need not be there below the root), or an empty file. */
static bool is_mask(int dir_fd, const char *name) {
        char target[sizeof("/dev/null") + 1];
        struct stat st;
        ssize_t n;

        n = readlinkat(dir_fd, name, target, sizeof(target));
        if (n >= 0)
                return n == (ssize_t) strlen("/dev/null") && memcmp(target, "/dev/null", (size_t) n) == 0;
        return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) >= 0 && S_ISREG(st.st_mode) &&
               st.st_size == 0;
}

static int add(DropIns *l, int dir_fd, const char *directory, const char *name) {
        DropIn *items;

        for (size_t i = 0; i < l->n; i++)
                if (streq(l->items[i].name, name))
                        return 0;
        items = reallocarray(l->items, l->n + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        l->items = items;
        items[l->n] = (DropIn){ strdup(name), directory, is_mask(dir_fd, name) };
        if (!items[l->n].name)
                return -ENOMEM;
        l->n++;
        return 0;
}

static int warn(char ***warnings, const char *directory, const char *name) {
        _cleanup_text_ UcsText t = {};

        ucs_text_appendf(&t, "%s/%s is ignored: the name of a drop-in ends in .conf", directory, name);
        return t.failed ? -ENOMEM : strv_push(warnings, t.data);
}

static int read_directory(int root_fd, const char *directory, DropIns *l, char ***warnings, UcsError *e) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *de;
        int fd;

        fd = ucs_root_openat(root_fd, directory, O_RDONLY | O_DIRECTORY);
        if (fd == -ENOENT)
                return 0;
        if (fd < 0) {
                errno = -fd;
                return ucs_error_set(e, fd, "cannot open the directory %s: %m", directory);
        }
        d = fdopendir(fd);
        if (!d) {
                fd_close(fd);
                return ucs_error_set(e, -ENOMEM, "no memory to read the directory %s", directory);
        }
        for (;;) {
                int r;

                errno = 0;
                de = readdir(d);
                if (!de)
                        break;
                if (de->d_name[0] == '.')
                        continue;
                if (str_endswith(de->d_name, ".conf"))
                        r = add(l, dirfd(d), directory, de->d_name);
                else
                        r = warn(warnings, directory, de->d_name);
                if (r < 0)
                        return ucs_error_set(e, r, "no memory to read the directory %s", directory);
        }
        if (errno != 0)
                return ucs_error_set(e, -errno, "cannot read the directory %s: %m", directory);
        return 0;
}

static int compare_names(const void *a, const void *b) {
        return strcmp(((const DropIn *) a)->name, ((const DropIn *) b)->name);
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

int ucs_conf_files(int root_fd, const char *main_file, const char *const *directories, char ***ret, char ***ret_warnings, UcsError *e) {
        _cleanup_strv_ char **files = NULL, **warnings = NULL;
        _cleanup_(drop_ins_done) DropIns l = {};
        _cleanup_fd_ int fd = -EBADF;
        int r;

        /* A link that leads nowhere is not a missing file: someone meant something by it. */
        fd = main_file ? ucs_root_openat(root_fd, main_file, O_PATH | O_NOFOLLOW) : -ENOENT;
        if (fd < 0 && fd != -ENOENT) {
                errno = -fd;
                return ucs_error_set(e, fd, "cannot open %s: %m", main_file);
        }
        if (fd >= 0 && !is_mask(fd, "") && strv_push(&files, main_file) < 0)
                return ucs_error_set(e, -ENOMEM, "no memory for the configuration");

        for (const char *const *d = directories; *d; d++) {
                r = read_directory(root_fd, *d, &l, &warnings, e);
                if (r < 0)
                        return r;
        }
        if (l.n > 0)
                qsort(l.items, l.n, sizeof(*l.items), compare_names);
        if (warnings)
                qsort(warnings, strv_length(warnings), sizeof(*warnings), compare_strings);

        for (size_t i = 0; i < l.n; i++) {
                _cleanup_text_ UcsText t = {};

                if (l.items[i].masked)
                        continue;
                ucs_text_appendf(&t, "%s/%s", l.items[i].directory, l.items[i].name);
                if (t.failed || strv_push(&files, t.data) < 0)
                        return ucs_error_set(e, -ENOMEM, "no memory for the configuration");
        }
        *ret = TAKE_PTR(files);
        *ret_warnings = TAKE_PTR(warnings);
        return 0;
}

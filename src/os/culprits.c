/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Other programs that have the kernel load; see culprits.h. One function a kind. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/culprits.h"
#include "os/root.h"

#define RELOAD "/sys/devices/system/cpu/microcode/reload"
#define RELOAD_END "/microcode/reload"
#define RED_HAT_SCRIPT "usr/libexec/microcode_ctl/reload_microcode"
#define TEXT_MAX (256U * 1024U)

DEFINE_CLEANUP(DIR *, closedir);

static DIR *open_directory(int root_fd, const char *path) {
        DIR *d;
        int fd;

        fd = ucs_root_openat(root_fd, path, O_RDONLY | O_DIRECTORY);
        if (fd < 0)
                return NULL;
        d = fdopendir(fd);
        if (!d)
                fd_close(fd);
        return d;
}

/* A link to /dev/null, or an empty file: how units and drop-in files are masked. 1, 0, or -errno: there is no such thing. */
static int is_mask(int root_fd, const char *directory, const char *name) {
        _cleanup_fd_ int fd = -EBADF;
        char target[sizeof("/dev/null") + 1];
        struct stat st;
        ssize_t n;

        fd = ucs_root_openat(root_fd, directory, O_PATH | O_DIRECTORY);
        if (fd < 0)
                return fd;
        n = readlinkat(fd, name, target, sizeof(target));
        if (n >= 0)
                return n == (ssize_t) strlen("/dev/null") && memcmp(target, "/dev/null", (size_t) n) == 0;
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        return S_ISREG(st.st_mode) && st.st_size == 0;
}

_printf_(2, 3) static int add(char ***l, const char *format, ...) {
        _cleanup_free_ char *sentence = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&sentence, format, ap);
        va_end(ap);
        return r < 0 ? -ENOMEM : strv_push(l, sentence);
}

/* --- microcode.service --- */

/* The highest priority first. */
static const char *const unit_directories[] = {
        "etc/systemd/system", "run/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system",
};

/* A link of that name in some X.wants/ or X.requires/. */
static bool is_wanted(int root_fd, const char *directory, const char *unit) {
        _cleanup_(closedirp) DIR *d = open_directory(root_fd, directory);
        struct dirent *de;

        while (d && (de = readdir(d))) {
                struct stat st;
                char path[512];

                if (!str_endswith(de->d_name, ".wants") && !str_endswith(de->d_name, ".requires"))
                        continue;
                (void) snprintf(path, sizeof(path), "%s/%s", de->d_name, unit);
                if (fstatat(dirfd(d), path, &st, AT_SYMLINK_NOFOLLOW) >= 0)
                        return true;
        }
        return false;
}

static int find_service(int root_fd, char ***l) {
        static const char unit[] = "microcode.service";
        bool wanted = false;
        size_t i = 0;
        int r = -ENOENT;

        for (; i < ELEMENTSOF(unit_directories) && r < 0; i++)
                r = is_mask(root_fd, unit_directories[i], unit);
        if (r != 0)
                return 0; /* not there, or masked */
        for (i = 0; i < ELEMENTSOF(unit_directories) && !wanted; i++)
                wanted = is_wanted(root_fd, unit_directories[i], unit);
        if (!wanted)
                return 0;
        return add(l, "microcode.service is enabled and has the kernel load at each boot, outside of every window; mask it: systemctl mask microcode.service");
}

static int find_red_hat_script(int root_fd, char ***l) {
        if (ucs_root_exists(root_fd, RED_HAT_SCRIPT) <= 0)
                return 0;
        return add(l, "The package microcode_ctl has the kernel load in its %%post (/" RED_HAT_SCRIPT "); keep it out of automatic updates "
                      "(exclude=microcode_ctl in dnf.conf), and update it within a window or with --setopt=tsflags=noscripts and then 'dracut -f'");
}

/* --- tmpfiles.d --- */

/* tmpfiles.d(5), the highest priority first. */
static const char *const tmpfiles_directories[] = { "etc/tmpfiles.d", "run/tmpfiles.d", "usr/local/lib/tmpfiles.d", "usr/lib/tmpfiles.d", "lib/tmpfiles.d" };

/* The next field of a line, without the quotes that it may stand in; NULL at its end. */
static char *next_field(char **p) {
        char *s = *p + strspn(*p, " \t"), *end;

        if (!*s)
                return NULL;
        if (*s == '"' || *s == '\'') {
                end = strchr(s + 1, *s);
                s++;
        } else
                end = s + strcspn(s, " \t");
        *p = end && *end ? end + 1 : s + strlen(s);
        if (end)
                *end = '\0';
        return s;
}

/* "w /sys/devices/system/cpu/microcode/reload - - - - 1": types w and F write to what is there, f only with "+"; the path may be a pattern. */
static bool line_writes(char *line) {
        const char *type = next_field(&line), *path = type ? next_field(&line) : NULL, *argument = NULL;

        if (!path || *type == '#' || !(*type == 'w' || *type == 'F' || (*type == 'f' && strchr(type, '+'))))
                return false;
        if (!str_endswith(path, RELOAD_END) && fnmatch(path, RELOAD, FNM_PATHNAME) != 0)
                return false;
        for (unsigned i = 0; i < 5; i++) /* mode, user, group, age, argument */
                argument = next_field(&line);
        return argument && *argument == '1';
}

static int read_tmpfiles(int root_fd, const char *directory, const char *name, char ***l) {
        _cleanup_free_ char *text = NULL;
        char path[512], *save = NULL;
        bool administrators = str_startswith(directory, "etc/") != NULL;

        (void) snprintf(path, sizeof(path), "%s/%s", directory, name);
        if (ucs_root_read(root_fd, path, TEXT_MAX, &text, NULL, NULL) < 0)
                return 0;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                if (!line_writes(line))
                        continue;
                return administrators ? add(l, "A line in /%s has the kernel load at each boot, outside of every window; remove it", path) :
                                        add(l, "A line in /%s has the kernel load at each boot, outside of every window; mask it: ln -s /dev/null /etc/tmpfiles.d/%s",
                                            path, name);
        }
        return 0;
}

/* A name counts once, in the directory of the highest priority that has it; so /lib may be a link into /usr. */
static bool is_hidden(int root_fd, size_t directory, const char *name) {
        for (size_t i = 0; i < directory; i++)
                if (is_mask(root_fd, tmpfiles_directories[i], name) >= 0)
                        return true;
        return false;
}

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static int find_tmpfiles(int root_fd, size_t directory, char ***l) {
        _cleanup_(closedirp) DIR *d = open_directory(root_fd, tmpfiles_directories[directory]);
        _cleanup_strv_ char **names = NULL;
        struct dirent *de;

        while (d && (de = readdir(d)))
                if (str_endswith(de->d_name, ".conf") && strv_push(&names, de->d_name) < 0)
                        return -ENOMEM;
        if (names)
                qsort(names, strv_length(names), sizeof(*names), compare);
        for (char *const *name = names; name && *name; name++) {
                int r;

                if (is_hidden(root_fd, directory, *name) || is_mask(root_fd, tmpfiles_directories[directory], *name) > 0)
                        continue;
                r = read_tmpfiles(root_fd, tmpfiles_directories[directory], *name, l);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- dpkg --- */

static int find_postinst(int root_fd, const char *package, char ***l) {
        _cleanup_free_ char *text = NULL;
        char path[96], *save = NULL;

        (void) snprintf(path, sizeof(path), "var/lib/dpkg/info/%s.postinst", package);
        if (ucs_root_read(root_fd, path, TEXT_MAX, &text, NULL, NULL) < 0)
                return 0;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                line += strspn(line, " \t");
                if (*line == '#' || !strstr(line, RELOAD_END))
                        continue;
                return add(l, "The package %s has the kernel load when it is installed or upgraded (/%s); hold it (apt-mark hold %s) and upgrade it within a window",
                           package, path, package);
        }
        return 0;
}

int ucs_culprits_read(int root_fd, char ***ret) {
        static const char *const packages[] = { "intel-microcode", "amd64-microcode" };
        _cleanup_strv_ char **l = NULL;
        int r;

        r = find_service(root_fd, &l);
        if (r >= 0)
                r = find_red_hat_script(root_fd, &l);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(tmpfiles_directories); i++)
                r = find_tmpfiles(root_fd, i, &l);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(packages); i++)
                r = find_postinst(root_fd, packages[i], &l);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Time zones from the files of a machine below a root; see conf.h. Reads TZif files by their names and lets
 * core/schedule/zone read the bytes. Keeps nothing, and never takes an unknown zone for UTC. */

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "os/conf.h"
#include "os/root.h"

#define ZONEINFO  "/usr/share/zoneinfo/"
#define LOCALTIME "/etc/localtime"
#define ZONE_CAP  (1024U * 1024U) /* the largest of tzdata 2024a has 4 KiB */
#define ZONE_MAX  255U

static bool is_utc(const char *name) {
        return streq(name, "UTC") || streq(name, "Etc/UTC");
}

/* Letters, digits and "_-+" in parts between single slashes: no "..", nothing hidden, nothing absolute. */
static bool name_is_valid(const char *name) {
        if (!*name || strlen(name) > ZONE_MAX)
                return false;
        for (const char *p = name; *p; p++)
                if (*p == '/') {
                        if (p == name || p[1] == '/' || p[1] == '\0')
                                return false;
                } else if (!isalnum((unsigned char) *p) && !strchr("_-+", *p))
                        return false;
        return true;
}

static int load_named(int root_fd, const char *name, UcsZone **ret, UcsError *e) {
        char path[sizeof(ZONEINFO) + ZONE_MAX];
        _cleanup_free_ char *data = NULL;
        size_t size;
        int r;

        if (is_utc(name)) {
                *ret = ucs_zone_utc();
                return 0;
        }
        if (!name_is_valid(name))
                return ucs_error_set(e, -EINVAL, "'%.64s' is not the name of a time zone", name);
        (void) snprintf(path, sizeof(path), ZONEINFO "%s", name);
        r = ucs_root_read_bytes(root_fd, path, ZONE_CAP, &data, &size, e);
        if (r == -ENOENT || r == -ENOTDIR || r == -EISDIR)
                return ucs_error_set(e, -ENOENT, "there is no time zone '%.64s' in /usr/share/zoneinfo",
                                     name);
        if (r < 0)
                return r;
        r = ucs_zone_new(name, data, size, ret, e);
        if (r < 0)
                return ucs_error_prefix(e, r, "%s", path);
        return 0;
}

/* Where etc/localtime leads, as a zone's name; NULL when it is no link, or leads to another place. */
static int localtime_name(int root_fd, char **ret) {
        _cleanup_fd_ int fd = -EBADF;
        char target[PATH_MAX], *name;
        ssize_t n;

        fd = ucs_root_openat(root_fd, LOCALTIME, O_PATH | O_NOFOLLOW);
        if (fd < 0)
                return fd;
        n = readlinkat(fd, "", target, sizeof(target) - 1);
        *ret = NULL;
        if (n < 0)
                return 0;
        target[n] = '\0';
        name = strstr(target, "zoneinfo/");
        if (!name || !name_is_valid(name + strlen("zoneinfo/")))
                return 0;
        *ret = strdup(name + strlen("zoneinfo/"));
        return *ret ? 0 : -ENOMEM;
}

static int load_own(int root_fd, UcsZone **ret, UcsError *e) {
        _cleanup_free_ char *name = NULL, *data = NULL;
        size_t size;
        int r;

        r = localtime_name(root_fd, &name);
        if (r == -ENOENT || (r >= 0 && name && is_utc(name))) {
                *ret = ucs_zone_utc();
                return 0;
        }
        if (r < 0) {
                errno = -r;
                return ucs_error_set(e, r, "cannot open " LOCALTIME ": %m");
        }
        r = ucs_root_read_bytes(root_fd, LOCALTIME, ZONE_CAP, &data, &size, e);
        if (r == -ENOENT)
                return ucs_error_set(
                        e, r,
                        LOCALTIME
                        " leads to a time zone that is not there (%.64s), expected its file, or TimeZone= in the configuration",
                        name ?: "of no name");
        if (r < 0)
                return r;
        r = ucs_zone_new(name ?: "localtime", data, size, ret, e);
        if (r < 0)
                return ucs_error_prefix(e, r, LOCALTIME);
        return 0;
}

int ucs_conf_zone_load(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        int root_fd = *(const int *) userdata;

        return *name ? load_named(root_fd, name, ret, e) : load_own(root_fd, ret, e);
}

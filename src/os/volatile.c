/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a directory lies on; see volatile.h. The type comes from statfs(2). An overlay (live systems, stateless hosts) is as lasting as its upper
 * layer, of which the kernel tells the path, in proc/self/mountinfo, but not the file system: the tmpfs on which that path lies today is believed
 * only when it is as large as the overlay says that its upper layer is. */

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "os/root.h"
#include "os/volatile.h"

#define MOUNTINFO_MAX (4U * 1024U * 1024U)

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define ZFS_SUPER_MAGIC 0x2fc12fc1

static const struct {
        uint32_t magic;
        const char *name;
        bool is_volatile;
} types[] = {
        { TMPFS_MAGIC, "tmpfs", true },
        { RAMFS_MAGIC, "ramfs", true },
        { OVERLAYFS_SUPER_MAGIC, "overlay", false },
        { EXT4_SUPER_MAGIC, "ext4", false },
        { XFS_SUPER_MAGIC, "xfs", false },
        { BTRFS_SUPER_MAGIC, "btrfs", false },
        { F2FS_SUPER_MAGIC, "f2fs", false },
        { ZFS_SUPER_MAGIC, "zfs", false },
        { NFS_SUPER_MAGIC, "nfs", false },
        { SQUASHFS_MAGIC, "squashfs", false },
        { EROFS_SUPER_MAGIC_V1, "erofs", false },
        { ISOFS_SUPER_MAGIC, "iso9660", false },
};

static const char *type_name(const struct statfs *fs) {
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if ((uint32_t) fs->f_type == types[i].magic)
                        return types[i].name;
        return "";
}

static bool type_is_volatile(const struct statfs *fs) {
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if ((uint32_t) fs->f_type == types[i].magic)
                        return types[i].is_volatile;
        return false;
}

/* The directory, or the nearest above it. -errno. */
static int statfs_nearest(int root_fd, const char *directory, struct statfs *ret) {
        char path[512];
        int r;

        r = snprintf(path, sizeof(path), "%s", directory);
        if (r < 0 || (size_t) r >= sizeof(path))
                return -ENAMETOOLONG;
        for (;;) {
                _cleanup_fd_ int fd = -EBADF;
                char *slash;

                fd = ucs_root_openat(root_fd, *path ? path : ".", O_PATH);
                if (fd >= 0)
                        return fstatfs(fd, ret) < 0 ? -errno : 0;
                if ((fd != -ENOENT && fd != -ENOTDIR) || streq(path, "."))
                        return fd;
                slash = strrchr(path, '/');
                if (slash)
                        *slash = '\0';
                else
                        (void) snprintf(path, sizeof(path), ".");
        }
}

/* \040 and its like, in place (fs/proc_namespace.c, mangle()). */
static void unescape(char *s) {
        char *to = s;

        for (; *s; s++)
                if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
                        *to++ = (char) ((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
                        s += 3;
                } else
                        *to++ = *s;
        *to = '\0';
}

/* The fields of a line that count: "36 35 98:0 /root /mount/point rw,opts shared:1 - type source super,options". */
typedef struct Mount {
        char *point, *type, *options;
} Mount;

static bool mount_parse(char *line, Mount *ret) {
        char *save = NULL, *words[3] = {};
        unsigned n = 0;

        *ret = (Mount){};
        for (char *p = strtok_r(line, " ", &save); p; p = strtok_r(NULL, " ", &save), n++) {
                if (n == 4)
                        ret->point = p;
                if (n >= 6 && streq(p, "-"))
                        break;
        }
        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                words[i] = strtok_r(NULL, " ", &save);
        if (!ret->point || !words[2])
                return false;
        ret->type = words[0];
        ret->options = words[2];
        unescape(ret->point);
        return true;
}

/* Does the path lie on the mount? The length of the match, 0: no. */
static size_t mount_holds(const char *point, const char *path) {
        size_t n = strlen(point);

        if (streq(point, "/"))
                return *path == '/';
        return strncmp(point, path, n) == 0 && (path[n] == '/' || path[n] == '\0') ? n : 0;
}

/* Is it the file system that an overlay of these figures has above? An overlay hands on the figures of its upper layer. */
static bool is_upper(int root_fd, const char *point, const struct statfs *overlay) {
        _cleanup_fd_ int fd = -EBADF;
        struct statfs fs;

        fd = ucs_root_openat(root_fd, point, O_PATH);
        return fd >= 0 && fstatfs(fd, &fs) >= 0 && type_is_volatile(&fs) && fs.f_blocks == overlay->f_blocks && fs.f_bsize == overlay->f_bsize;
}

/* Look through the mounts twice: for overlays, and for what their upper directories lie on. */
static bool overlay_on_memory(int root_fd, const struct statfs *overlay) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ char **uppers = NULL, **points = NULL;
        char *save = NULL;

        if (ucs_root_read(root_fd, "proc/self/mountinfo", MOUNTINFO_MAX, &text, NULL, NULL) < 0)
                return false;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                char *option, *save_option = NULL;
                Mount m;

                if (!mount_parse(line, &m) || strv_push(&points, m.point) < 0)
                        continue;
                if (!streq(m.type, "overlay"))
                        continue;
                for (option = strtok_r(m.options, ",", &save_option); option; option = strtok_r(NULL, ",", &save_option)) {
                        const char *upper = str_startswith(option, "upperdir=");

                        if (upper) {
                                unescape(option);
                                (void) strv_push(&uppers, upper);
                        }
                }
        }
        for (char **u = uppers; u && *u; u++) {
                const char *best = NULL;
                size_t longest = 0;

                for (char **p = points; p && *p; p++)
                        if (mount_holds(*p, *u) >= MAX(longest, (size_t) 1)) {
                                longest = mount_holds(*p, *u);
                                best = *p;
                        }
                if (best && is_upper(root_fd, best, overlay))
                        return true;
        }
        return false;
}

bool ucs_volatile_read(int root_fd, const char *directory, char *ret, size_t size) {
        struct statfs fs;
        const char *name;

        *ret = '\0';
        if (statfs_nearest(root_fd, directory, &fs) < 0)
                return false;
        name = type_name(&fs);
        (void) snprintf(ret, size, "%s", name);
        if (type_is_volatile(&fs))
                return true;
        if (fs.f_flags & ST_RDONLY) {
                (void) snprintf(ret, size, "read-only%s%s", *name ? " " : "", name);
                return true;
        }
        if ((uint32_t) fs.f_type == OVERLAYFS_SUPER_MAGIC && overlay_on_memory(root_fd, &fs)) {
                (void) snprintf(ret, size, "overlay on tmpfs");
                return true;
        }
        return false;
}

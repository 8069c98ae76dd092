/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the kernel looks for firmware, and in which order; see firmware.h. What always holds: when this file
 * finds something, it is what the kernel's own search would have opened at that moment, or it is an error.
 */

#include <assert.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "os/firmware.h"
#include "os/root.h"

#define PARAMETER_CAP 4096U /* a module parameter's page */

static int read_line(int root_fd, const char *path, char **ret) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = ucs_root_read(root_fd, path, PARAMETER_CAP, &text, NULL, NULL);
        if (r < 0)
                return r;
        text[strcspn(text, "\n")] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

/* NULL when it cannot be told. A release is one path component. */
static int kernel_release(int root_fd, char **ret) {
        _cleanup_free_ char *release = NULL;
        struct utsname u;
        int r;

        r = read_line(root_fd, "/proc/sys/kernel/osrelease", &release);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && ucs_root_is_host(root_fd) && uname(&u) >= 0) {
                release = strdup(u.release);
                if (!release)
                        return -ENOMEM;
        }
        if (release && (!release[0] || strchr(release, '/') || streq(release, ".") || streq(release, "..")))
                *ret = NULL;
        else
                *ret = TAKE_PTR(release);
        return 0;
}

static int push_directory(char ***l, const char *directory, const char *below) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s", directory, below) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        return strv_push(l, path);
}

int ucs_firmware_search_path(int root_fd, char *const *configured, char ***ret) {
        static const char *const standard[] = { "/lib/firmware/updates", "/lib/firmware" };
        _cleanup_free_ char *custom = NULL, *release = NULL;
        _cleanup_strv_ char **l = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && configured && configured[i]; i++)
                r = strv_push(&l, configured[i]);
        if (r < 0)
                return r;
        if (l) {
                *ret = TAKE_PTR(l);
                return 0;
        }

        r = read_line(root_fd, "/sys/module/firmware_class/parameters/path", &custom);
        if (r == -ENOMEM)
                return r;
        if (custom && custom[0]) {
                r = strv_push(&l, custom);
                if (r < 0)
                        return r;
        }
        r = kernel_release(root_fd, &release);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(standard); i++) {
                if (release)
                        r = push_directory(&l, standard[i], release);
                if (r >= 0)
                        r = strv_push(&l, standard[i]);
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}

/* Whether the kernel, too, would fail on it and go on with the next directory. Not so for what only this
 * process cannot do: then nobody here knows what the kernel would load. */
static bool kernel_passes_over(int r) {
        static const int errors[] = { ENOENT, ENOTDIR, ELOOP,   ENAMETOOLONG, EISDIR,
                                      EINVAL, ENODATA, EBADMSG, ENXIO,        ENODEV };

        for (size_t i = 0; i < ELEMENTSOF(errors); i++)
                if (r == -errors[i])
                        return true;
        return false;
}

int ucs_firmware_read(int root_fd, char *const *search_path, const char *name, UcsFirmware **ret,
                      UcsError *e) {
        UcsError skipped = {};

        for (UcsCompression c = UCS_COMPRESSION_NONE; c < _UCS_COMPRESSION_MAX; c++) {
                int last = -ENOENT;

                for (char *const *d = search_path; d && *d; d++) {
                        _cleanup_free_ char *path = NULL;
                        size_t n = strlen(*d);
                        UcsError error = {};

                        while (n > 0 && (*d)[n - 1] == '/')
                                n--;
                        if (asprintf(&path, "%.*s/%s%s", (int) n, *d, name, ucs_compression_suffix(c)) < 0) {
                                path = NULL;
                                return ucs_error_set(e, -ENOMEM, "no memory to look for %s", name);
                        }
                        last = ucs_firmware_read_file(root_fd, path, ret, &error);
                        if (last >= 0) {
                                (*ret)->skipped = skipped;
                                return 0;
                        }
                        if (!kernel_passes_over(last)) {
                                if (e)
                                        *e = error;
                                return last;
                        }
                        if (last != -ENOENT && skipped.code == 0)
                                skipped = error;
                }
                if (last != -ENOENT)
                        break;
        }
        if (skipped.code == 0)
                return ucs_error_set(e, -ENOENT, "%s is in none of the firmware directories", name);
        if (e)
                *e = skipped;
        return skipped.code;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* DMI strings; see host.h. They do not change while the machine runs. */

#include <errno.h>

#include "base/str.h"
#include "os/host.h"
#include "os/root.h"

#define DIRECTORY "/sys/devices/virtual/dmi/id/"
#define STRING_MAX 4096U /* a page, as sysfs gives out at most */

static int read_string(int root_fd, const char *path, char **ret) {
        _cleanup_free_ char *text = NULL;
        const char *s;
        int r;

        r = ucs_root_read(root_fd, path, STRING_MAX, &text, NULL, NULL);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return 0;
        s = str_strip(text);
        return *s ? str_replace(ret, s) : 0;
}

int ucs_host_read(int root_fd, UcsHost *ret) {
        UcsHost h = {};
        const struct {
                const char *path;
                char **string;
        } strings[] = {
                { DIRECTORY "sys_vendor", &h.sys_vendor },
                { DIRECTORY "bios_vendor", &h.bios_vendor },
                { DIRECTORY "product_name", &h.product_name },
        };

        for (size_t i = 0; i < ELEMENTSOF(strings); i++)
                if (read_string(root_fd, strings[i].path, strings[i].string) < 0) {
                        ucs_host_done(&h);
                        return -ENOMEM;
                }
        *ret = h;
        return 0;
}

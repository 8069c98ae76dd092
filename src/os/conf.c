/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The configuration's files; see conf.h. Which files there are and in which order is conf-files', what a line is ini-lines', what a
 * key means core/policy/config's. The first thing that is wrong ends it: a configuration is taken whole or not at all. */

#include "os/conf-files.h"
#include "os/conf.h"
#include "os/ini-lines.h"
#include "os/root.h"

#define MAIN_FILE "/etc/ucodesync/ucodesyncd.conf"

/* The highest priority first. */
static const char *const directories[] = {
        "/etc/ucodesync/ucodesyncd.conf.d",
        "/run/ucodesync/ucodesyncd.conf.d",
        "/usr/lib/ucodesync/ucodesyncd.conf.d",
        NULL,
};

typedef struct Target {
        UcsConfig *config;
        const UcsZoneSource *zones;
} Target;

static int take_section(void *userdata, const char *section, const char *origin, UcsError *e) {
        return ucs_config_check_section(section, e);
}

static int take_assignment(void *userdata, const char *section, const char *key, const char *value, const char *origin, UcsError *e) {
        Target *t = userdata;

        return ucs_config_assign(t->config, section, key, value, origin, t->zones, e);
}

static int load_file(int root_fd, const char *path, Target *t, UcsError *e) {
        static const UcsIniHandler handler = { take_section, take_assignment };
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = ucs_root_read_bytes(root_fd, path, UCS_CONF_SIZE_MAX, &text, &size, e);
        if (r < 0)
                return r;
        return ucs_ini_parse(path, text, size, &handler, t, e);
}

int ucs_conf_load(int root_fd, UcsConfig **ret, char ***ret_warnings, UcsError *e) {
        _cleanup_(ucs_config_freep) UcsConfig *c = NULL;
        _cleanup_strv_ char **files = NULL, **warnings = NULL;
        UcsZoneSource zones = ucs_conf_zones(&root_fd);
        Target t = { .zones = &zones };
        int r;

        r = ucs_config_new(&c);
        if (r < 0)
                return ucs_error_set(e, r, "no memory for the configuration");
        t.config = c;
        r = ucs_conf_files(root_fd, MAIN_FILE, directories, &files, &warnings, e);
        for (char **f = files; r >= 0 && f && *f; f++)
                r = load_file(root_fd, *f, &t, e);
        if (r >= 0)
                r = ucs_config_finish(c, &zones, e);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        if (ret_warnings)
                *ret_warnings = TAKE_PTR(warnings);
        return 0;
}

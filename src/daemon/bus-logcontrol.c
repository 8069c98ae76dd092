/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.freedesktop.LogControl1(5): the log level and target at run time, for `systemctl service-log-level ucodesyncd debug`. */

#include <errno.h>

#include "base/enum.h"
#include "daemon/bus-error.h"
#include "daemon/log.h"
#include "daemon/published.h"

static const char *const level_names[] = { "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug" };
static const char *const target_names[] = { [LOG_TARGET_JOURNAL] = "journal", [LOG_TARGET_CONSOLE] = "console" };

static int find(const char *const *names, size_t n, const char *s) {
        for (size_t i = 0; i < n; i++)
                if (streq(names[i], s))
                        return (int) i;
        return -EINVAL;
}

static int get_level(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                     sd_bus_error *error) {
        return sd_bus_message_append(reply, "s", level_names[log_max_level()]);
}

/* A name is cut off, and not in the midst of a character: sd-bus would send no answer at all. */
static int refuse(sd_bus_error *error, const char *name, const char *expected) {
        char shown[32];

        str_clean(shown, sizeof(shown), name);
        return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "'%s' is not %s", shown, expected);
}

static int set_level(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *value, void *userdata,
                     sd_bus_error *error) {
        const char *s;
        uint32_t uid;
        int r;

        r = sd_bus_message_read(value, "s", &s);
        if (r < 0)
                return r;
        r = bus_require_root(value, &uid, error);
        if (r < 0)
                return r;
        r = find(level_names, ELEMENTSOF(level_names), s);
        if (r < 0)
                return refuse(error, s, "a log level, expected emerg to debug");
        log_set_max_level(r);
        return 0;
}

static int get_target(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                      sd_bus_error *error) {
        return sd_bus_message_append(reply, "s", target_names[log_target()]);
}

static int set_target(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *value, void *userdata,
                      sd_bus_error *error) {
        const char *s;
        uint32_t uid;
        int r;

        r = sd_bus_message_read(value, "s", &s);
        if (r < 0)
                return r;
        r = bus_require_root(value, &uid, error);
        if (r < 0)
                return r;
        r = find(target_names, ELEMENTSOF(target_names), s);
        if (r < 0)
                return refuse(error, s, "a log target, expected journal or console");
        log_set_target((LogTarget) r);
        return 0;
}

static int get_identifier(sd_bus *bus, const char *path, const char *interface, const char *name, sd_bus_message *reply, void *userdata,
                          sd_bus_error *error) {
        return sd_bus_message_append(reply, "s", "ucodesyncd");
}

const sd_bus_vtable logcontrol_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_level, set_level, 0, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get_target, set_target, 0, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("SyslogIdentifier", "s", get_identifier, 0, 0),
        SD_BUS_VTABLE_END,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl log-level: how much the daemon says in the journal (org.freedesktop.LogControl1(5)), the same as
 * `systemctl service-log-level` where there is no unit of that name. */

#include "ctl/ctl-decode.h"

#define PATH      "/org/freedesktop/LogControl1"
#define INTERFACE "org.freedesktop.LogControl1"

static const char *const levels[] = {
        "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"
};

static int check_level(UcsCtl *ctl, const char *level) {
        _cleanup_text_ UcsText t = {};

        for (size_t i = 0; i < ELEMENTSOF(levels); i++) {
                if (streq(level, levels[i]))
                        return 0;
                ucs_text_appendf(&t, "%s%s", i > 0 ? ", " : "", levels[i]);
        }
        return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "'%s' is none of %s", level, t.data);
}

int verb_log_level(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *level = NULL;
        sd_bus *bus;
        int r;

        if (argc > 1) {
                r = check_level(ctl, argv[1]);
                if (r != 0)
                        return r;
        }
        r = ctl_bus(ctl, &bus);
        if (r < 0)
                return UCS_EXIT_FAILED;
        if (argc > 1)
                r = sd_bus_set_property(bus, CTL_BUS_NAME, PATH, INTERFACE, "LogLevel", &error, "s",
                                        argv[1]);
        if (r >= 0)
                r = sd_bus_get_property_string(bus, CTL_BUS_NAME, PATH, INTERFACE, "LogLevel", &error,
                                               &level);
        if (r < 0)
                return ctl_fail_bus(ctl, "the log level", r, &error);
        if (ctl->json != UCS_JSON_OFF) {
                json_object *o = json_object_new_object();

                (void) json_object_object_add(o, "log_level", json_object_new_string(level));
                ctl_print_json(ctl, o);
        } else if (argc < 2)
                ctl_say(ctl, "%s", level);
        return UCS_EXIT_DONE;
}

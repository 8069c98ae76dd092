/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The way to the daemon: the bus, a call, and what a failed call means to the person in front of it. The bus
 * is the system bus, wherever DBUS_SYSTEM_BUS_ADDRESS says it is. */

#include <errno.h>
#include <stdarg.h>

#include "base/timefmt.h"
#include "ctl/ctl-decode.h"

/* As long as somebody needs to type a password into a polkit agent. */
#define INTERACTIVE_TIMEOUT_USEC (5 * USEC_PER_MINUTE)

int ctl_bus(UcsCtl *ctl, sd_bus **ret) {
        int r;

        if (!ctl->bus) {
                r = sd_bus_open_system_with_description(&ctl->bus, "ucodectl");
                if (r < 0) {
                        (void) ctl_fail_named(ctl, UCS_EXIT_FAILED, "NoBus",
                                              "the system bus cannot be reached (%s)", strerror(-r));
                        return r;
                }
                (void) sd_bus_set_allow_interactive_authorization(ctl->bus, ctl->ask_password);
                if (ctl->ask_password)
                        (void) sd_bus_set_method_call_timeout(ctl->bus, INTERACTIVE_TIMEOUT_USEC);
        }
        *ret = ctl->bus;
        return 0;
}

typedef struct ErrorRow {
        const char *prefix; /* of the D-Bus error's name */
        UcsExit code;
        const char *name;     /* for scripts; NULL: that of the error */
        const char *sentence; /* NULL: what the error says itself */
} ErrorRow;

#define NOT_RUNNING "ucodesyncd is not running; start it with: systemctl enable --now ucodesyncd"

static const ErrorRow error_rows[] = {
        { CTL_BUS_NAME ".Error.NotSupported", UCS_EXIT_UNSUPPORTED, NULL, NULL },
        { CTL_BUS_NAME ".Error.NoCandidate", UCS_EXIT_NOTHING, NULL, NULL },
        { CTL_BUS_NAME ".Error.Busy", UCS_EXIT_NOTHING, NULL, NULL },
        { CTL_BUS_NAME ".Error.Blocked", UCS_EXIT_NOTHING, NULL, NULL },
        { CTL_BUS_NAME ".Error.Denied", UCS_EXIT_NOTHING, NULL, NULL },
        { CTL_BUS_NAME ".Error.", UCS_EXIT_FAILED, NULL, NULL },
        { SD_BUS_ERROR_SERVICE_UNKNOWN, UCS_EXIT_FAILED, "NotRunning", NOT_RUNNING },
        { SD_BUS_ERROR_NAME_HAS_NO_OWNER, UCS_EXIT_FAILED, "NotRunning", NOT_RUNNING },
        { "org.freedesktop.systemd1.", UCS_EXIT_FAILED, "NotRunning", NOT_RUNNING },
        { "org.freedesktop.DBus.Error.Spawn.", UCS_EXIT_FAILED, "NotRunning", NOT_RUNNING },
        { SD_BUS_ERROR_NO_REPLY, UCS_EXIT_FAILED, "NoReply",
          "ucodesyncd went away, or did not answer in time" },
        { SD_BUS_ERROR_TIMEOUT, UCS_EXIT_FAILED, "NoReply", "ucodesyncd did not answer in time" },
        { SD_BUS_ERROR_DISCONNECTED, UCS_EXIT_FAILED, "NoBus", "the system bus is gone" },
        { SD_BUS_ERROR_UNKNOWN_METHOD, UCS_EXIT_FAILED, NULL,
          "this ucodesyncd is of another version and does not know that" },
        { SD_BUS_ERROR_UNKNOWN_INTERFACE, UCS_EXIT_FAILED, NULL,
          "this ucodesyncd is of another version and does not know that" },
        { SD_BUS_ERROR_UNKNOWN_OBJECT, UCS_EXIT_FAILED, NULL,
          "this ucodesyncd is of another version and does not know that" },
        { SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, UCS_EXIT_FAILED, NULL,
          "only root may do that, or someone whom polkit asks" },
};

int ctl_fail_bus(UcsCtl *ctl, const char *what, int r, const sd_bus_error *error) {
        const char *name = error ? error->name : NULL, *message = error ? error->message : NULL;

        if (!name)
                switch (-r) {
                case ENOENT:
                case ECONNREFUSED:
                        return ctl_fail_named(ctl, UCS_EXIT_FAILED, "NoBus",
                                              "%s: the system bus cannot be reached (%s)", what,
                                              strerror(-r));
                case ENOTCONN:
                case ECONNRESET:
                case EPIPE:
                        name = SD_BUS_ERROR_DISCONNECTED;
                        break;
                case ETIMEDOUT:
                        name = SD_BUS_ERROR_TIMEOUT;
                        break;
                default:
                        return ctl_fail(ctl, UCS_EXIT_FAILED, "%s: %s", what, strerror(-r));
                }

        for (size_t i = 0; i < ELEMENTSOF(error_rows); i++)
                if (str_startswith(name, error_rows[i].prefix))
                        return ctl_fail_named(ctl, error_rows[i].code, error_rows[i].name ?: name, "%s: %s", what,
                                              error_rows[i].sentence ?: message ?: name);
        return ctl_fail_named(ctl, UCS_EXIT_FAILED, name, "%s: %s", what, message ?: name);
}

int ctl_call(UcsCtl *ctl, sd_bus_message **ret, const char *member, const char *types, ...) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus *bus;
        int r;

        r = ctl_bus(ctl, &bus);
        if (r < 0)
                return UCS_EXIT_FAILED;
        r = sd_bus_message_new_method_call(bus, &m, CTL_BUS_NAME, CTL_BUS_PATH, CTL_MANAGER, member);
        if (r < 0)
                return ctl_fail_bus(ctl, member, r, NULL);
        if (types) {
                va_list ap;

                va_start(ap, types);
                r = sd_bus_message_appendv(m, types, ap);
                va_end(ap);
                if (r < 0)
                        return ctl_fail_bus(ctl, member, r, NULL);
        }
        r = sd_bus_call(bus, m, 0, &error, ret);
        if (r < 0)
                return ctl_fail_bus(ctl, member, r, &error);
        return 0;
}

int ctl_get_all(UcsCtl *ctl, const char *interface, json_object **ret) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const char *what = streq(interface, CTL_STALL) ? "reading the stall" : "reading the state";
        sd_bus *bus;
        int r;

        r = ctl_bus(ctl, &bus);
        if (r < 0)
                return UCS_EXIT_FAILED;
        r = sd_bus_call_method(bus, CTL_BUS_NAME, CTL_BUS_PATH, "org.freedesktop.DBus.Properties", "GetAll",
                               &error, &reply, "s", interface);
        if (r < 0)
                return ctl_fail_bus(ctl, what, r, &error);
        r = ctl_decode_dict(reply, streq(interface, CTL_STALL) ? ctl_stall_fields : ctl_manager_fields, ret);
        if (r < 0)
                return ctl_fail_bus(ctl, what, r, NULL);
        return 0;
}

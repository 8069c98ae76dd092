/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The connection: objects, name, event loop. The interfaces are in bus-manager.c, bus-stall.c and bus-logcontrol.c. */

#include <errno.h>

#include "daemon/bus-error.h"
#include "daemon/log.h"
#include "daemon/published.h"

/* The bus went away: without it nobody can be told or ask, and systemd starts us again with it. A load is seen to its end all the same. */
static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        Manager *m = userdata;

        log_error("The connection to the bus was closed, leaving");
        manager_exit(m, -ECONNRESET);
        return 0;
}

int manager_bus_setup(Manager *m) {
        static const struct {
                const char *path, *interface;
                const sd_bus_vtable *vtable;
        } objects[] = {
                { UCS_BUS_PATH, UCS_MANAGER_INTERFACE, manager_vtable },
                { UCS_BUS_PATH, UCS_STALL_INTERFACE, stall_vtable },
                { "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1", logcontrol_vtable },
        };
        int r;

        /* what a client reads before the first evaluation has ended */
        m->published = new0(Published, 1);
        if (!m->published)
                return -ENOMEM;
        published_fill(m, &m->decision, m->published);

        r = bus_errors_register();
        if (r < 0)
                return r;
        r = sd_bus_open_system(&m->bus);
        if (r < 0) {
                log_error("Cannot connect to the system bus: %s", strerror(-r));
                return r;
        }
        for (size_t i = 0; i < ELEMENTSOF(objects); i++) {
                r = sd_bus_add_object_vtable(m->bus, NULL, objects[i].path, objects[i].interface, objects[i].vtable, m);
                if (r < 0) {
                        log_error("Cannot add %s: %s", objects[i].interface, strerror(-r));
                        return r;
                }
        }
        r = sd_bus_match_signal_async(m->bus, NULL, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                      "Disconnected", on_disconnected, NULL, m);
        if (r < 0)
                return r;
        r = sd_bus_request_name(m->bus, UCS_BUS_NAME, 0);
        if (r < 0) {
                log_error("Cannot own the name %s: %s", UCS_BUS_NAME, strerror(-r));
                return r;
        }
        return sd_bus_attach_event(m->bus, m->event, SD_EVENT_PRIORITY_NORMAL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Waiting; see ctl-loop.h. */

#include <errno.h>
#include <signal.h>

#include "ctl/ctl-loop.h"

static int on_bus_signal(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        CtlLoop *l = userdata;
        const char *sender = sd_bus_message_get_sender(m);

        if (sender && l->owner && streq(sender, l->owner))
                l->on_signal(l, m);
        return 0;
}

static int on_name_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *name, *before, *after, *sender = sd_bus_message_get_sender(m);
        CtlLoop *l = userdata;

        if (!sender || !streq(sender, "org.freedesktop.DBus") ||
            sd_bus_message_read(m, "sss", &name, &before, &after) < 0 || !streq(name, CTL_BUS_NAME))
                return 0;
        if (l->owner && streq(l->owner, after)) /* known since its answer */
                return 0;
        if (str_replace(&l->owner, *after ? after : NULL) < 0)
                return -ENOMEM;
        l->on_owner(l);
        return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        CtlLoop *l = userdata;

        l->disconnected = true;
        ctl_loop_end(l, UCS_EXIT_FAILED);
        return 0;
}

static int on_interrupt(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        CtlLoop *l = userdata;

        l->interrupted = true;
        ctl_loop_end(l, UCS_EXIT_FAILED);
        return 0;
}

/* Whether the daemon is there; asking does not start it. */
static int find_owner(CtlLoop *l, sd_bus *bus) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const char *owner;
        int r;

        r = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                               "GetNameOwner", &error, &reply, "s", CTL_BUS_NAME);
        if (r < 0)
                return sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ? 0 : r;
        r = sd_bus_message_read(reply, "s", &owner);
        if (r < 0)
                return r;
        return str_replace(&l->owner, owner);
}

int ctl_loop_begin(CtlLoop *l, UcsCtl *ctl) {
        static const int signals[] = { SIGINT, SIGTERM };
        sigset_t mask;
        sd_bus *bus;
        int r;

        l->ctl = ctl;
        r = ctl_bus(ctl, &bus);
        if (r < 0)
                return UCS_EXIT_FAILED;

        (void) sigemptyset(&mask);
        for (size_t i = 0; i < ELEMENTSOF(signals); i++)
                (void) sigaddset(&mask, signals[i]);
        if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "signals cannot be waited for: %s", strerror(errno));

        r = sd_event_new(&l->event);
        for (size_t i = 0; i < ELEMENTSOF(signals) && r >= 0; i++)
                r = sd_event_add_signal(l->event, NULL, signals[i], on_interrupt, l);
        if (r >= 0)
                r = sd_bus_match_signal(bus, NULL, CTL_BUS_NAME, CTL_BUS_PATH, NULL, NULL, on_bus_signal, l);
        if (r >= 0)
                r = sd_bus_add_match(
                        bus, NULL,
                        "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                        "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" CTL_BUS_NAME "'",
                        on_name_owner_changed, l);
        if (r >= 0)
                r = sd_bus_match_signal(bus, NULL, NULL, "/org/freedesktop/DBus/Local",
                                        "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, l);
        if (r >= 0)
                r = find_owner(l, bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, l->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return ctl_fail_bus(ctl, "subscribing to changes", r, NULL);
        return 0;
}

int ctl_loop_trust(CtlLoop *l, sd_bus_message *m) {
        return str_replace(&l->owner, sd_bus_message_get_sender(m));
}

int ctl_loop_run(CtlLoop *l) {
        int r;

        r = sd_event_loop(l->event);
        if (r < 0)
                return ctl_fail_bus(l->ctl, "waiting", r, NULL);
        return l->exit;
}

void ctl_loop_end(CtlLoop *l, int exit) {
        l->exit = exit;
        (void) sd_event_exit(l->event, 0);
}

void ctl_loop_done(CtlLoop *l) {
        if (l->ctl && l->ctl->bus)
                (void) sd_bus_detach_event(l->ctl->bus);
        l->event = sd_event_unref(l->event);
        free(l->owner);
        l->owner = NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Waiting for what the daemon says. Subscribe first, then ask: an answer that comes at once is not missed.
 * Only signals of whoever owns the name are handed on: everyone on the bus may send us one that looks like
 * it. */

#include <systemd/sd-event.h>

#include "ctl/ctl.h"

typedef struct CtlLoop CtlLoop;

struct CtlLoop {
        UcsCtl *ctl;
        sd_event *event;
        char *owner; /* unique name of the daemon, NULL: it is not there */
        int exit;    /* what ctl_loop_run() returns after ctl_loop_end() */
        bool interrupted, disconnected;

        /* A signal of the daemon: PropertiesChanged, or one of ctl_signals. */
        void (*on_signal)(CtlLoop *l, sd_bus_message *m);
        /* The daemon came or went; l->owner says which. */
        void (*on_owner)(CtlLoop *l);
        void *userdata;
};

/* Connect and subscribe. 0, or an exit code: reported already. From here on SIGINT and SIGTERM end
 * ctl_loop_run(). */
int ctl_loop_begin(CtlLoop *l, UcsCtl *ctl);

/* Until ctl_loop_end(), a signal or the end of the bus. */
int ctl_loop_run(CtlLoop *l);
void ctl_loop_end(CtlLoop *l, int exit);
void ctl_loop_done(CtlLoop *l);

/* The daemon that answered `m` is the one whose signals count: it may have been started by the call. */
int ctl_loop_trust(CtlLoop *l, sd_bus_message *m);

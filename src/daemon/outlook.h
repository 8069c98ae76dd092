/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The next boot, and who else has the kernel load (core/policy/outlook.h, os/early.h, os/culprits.h), as the manager keeps it. */

#include "core/policy/outlook.h"
#include "daemon/manager.h"
#include "os/early.h"

struct Outlook {
        UcsEarlyReader *reader;
        UcsEarly early;   /* as it was read last */
        UcsOutlook shown; /* as it was judged last */
        char **culprits;  /* a sentence each; NULL: none */

        sd_event_source *watch; /* of the directory of the images */
        dev_t watched_dev;
        ino_t watched_ino;

        uint32_t said_fallback_from, said_fallback_to;
        bool file_known, file_there; /* run/ucodesync/reboot-required */
};

int outlook_new(int root_fd, Outlook **ret);
Outlook *outlook_free(Outlook *o);

/* Look at the images and for culprits, and name in the journal those that are new: at the start, after a scan, on Check, after a load and when something
 * changes in the directory of the images. Not at each wake-up: an idle daemon reads nothing. */
void outlook_observe(Manager *m);

/* The first judgement of a boot: has early loading worked? */
void outlook_start(Manager *m);

/* Judge what is known, say what is new of it, and have the distribution told. Reads nothing. */
void outlook_follow(Manager *m);

/* "; …; …" of all culprits, for the warning about a load by somebody else. NULL: there is none. */
char *outlook_culprits(const Manager *m);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The next boot, and who else has the kernel load (core/policy/outlook.h, os/early.h, os/culprits.h), as the manager keeps it. */

#include "core/policy/outlook.h"
#include "daemon/manager.h"
#include "os/early.h"

/* A directory; one that is not there has no source. */
typedef struct OutlookWatch {
        sd_event_source *source;
        dev_t dev;
        ino_t ino;
} OutlookWatch;

#define OUTLOOK_WATCHES_MAX 16

struct Outlook {
        UcsEarlyReader *reader;
        UcsEarly early;   /* as it was read last */
        UcsOutlook shown; /* as it was judged last */
        char **culprits;  /* a sentence each; NULL: none */

        OutlookWatch watches[OUTLOOK_WATCHES_MAX]; /* of the directory of the images, and of those of the boot loader's files */

        uint32_t said_fallback_from, said_fallback_to;
        bool file_known, file_there; /* run/ucodesync/reboot-required */
};

int outlook_new(int root_fd, Outlook **ret);
Outlook *outlook_free(Outlook *o);

/* Look at the images and for culprits, and name in the journal those that are new: at the start, after a scan, on Check, after a load and when something
 * changes in the directory of the images or in those of the boot loader's files. Not at each wake-up: an idle daemon reads nothing. */
void outlook_observe(Manager *m);

/* The first judgement of a boot: has early loading worked? */
void outlook_start(Manager *m);

/* Judge what is known, say what is new of it, and have the distribution told. Reads nothing. */
void outlook_follow(Manager *m);

/* "; …; …" of all culprits, for the warning about a load by somebody else. NULL: there is none. */
char *outlook_culprits(const Manager *m);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is about to be done, on disk before it is done: a daemon that finds an intent when it starts knows that the last load did not
 * end. The same boot: the daemon died, the CPUs tell the rest. Another boot: the machine went down with this very file. */

#include "core/policy/candidate.h"

typedef struct UcsIntent {
        char boot_id[40];
        uint8_t digest[UCS_DIGEST_SIZE];
        uint32_t signature, platform_mask;
        uint32_t from, to;  /* revisions */
        uint64_t when_usec; /* CLOCK_REALTIME */
        uint32_t id, uid;   /* of the request */
        char *path;         /* owned */
} UcsIntent;

void ucs_intent_done(UcsIntent *i);

/* Text for the disk, and back: -EBADMSG with the line, -EPROTONOSUPPORT for a newer format. */
int ucs_intent_format(const UcsIntent *i, char **ret, size_t *ret_size);
int ucs_intent_parse(const char *text, size_t size, UcsIntent *ret, UcsError *e);

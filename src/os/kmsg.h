/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's log since a mark, from dev/kmsg below the root (Documentation/ABI/testing/dev-kmsg): for tests, and for a daemon that may read
 * it. Where the sandbox closes /dev/kmsg the journal has the same records. What the lines mean is core's business. */

#include "base/error.h"
#include "base/str.h"

typedef struct UcsKmsg UcsKmsg;

#define UCS_KMSG_LINES_MAX 4096U /* a reading ends there; the rest comes with the next */

/* Open the log; the mark is its end. -ENOENT, -EPERM (dmesg_restrict, the sandbox), … with a sentence. */
int ucs_kmsg_open(int root_fd, UcsKmsg **ret, UcsError *e);
UcsKmsg *ucs_kmsg_close(UcsKmsg *k);
DEFINE_CLEANUP(UcsKmsg *, ucs_kmsg_close);

/* Move the mark to the end of the log. 0 or -errno. */
int ucs_kmsg_mark(UcsKmsg *k);

/* The kernel's own messages (facility 0) since the mark, one string each, oldest first, control characters as '?'; the mark moves behind
 * them. `*ret` may be NULL when there are none. 0, 1 (records were overwritten before they were read), -ENOMEM or another -errno. */
int ucs_kmsg_read(UcsKmsg *k, char ***ret, UcsError *e);

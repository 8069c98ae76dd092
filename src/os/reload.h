/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The write of "1" to sys/devices/system/cpu/microcode/reload, in a thread of its own: it blocks for as long as the kernel
 * loads, and the bus must go on answering. Baseline and evidence of the stall are taken in that thread. */

#include "os/witness/witness.h"

typedef struct UcsReload UcsReload;

/* Start the thread. Takes over `w` on success. 0; -ENOMEM, -EMFILE, -EAGAIN (no thread to be
 * had) and the like: nothing has happened, `w` is still the caller's. */
int ucs_reload_start(int root_fd, UcsWitness *w, UcsReload **ret);

/* Readable (eventfd) when the thread is done. A kernel that hangs in the load never makes it so. */
int ucs_reload_fd(const UcsReload *r);

typedef struct UcsReloadOutcome {
        int open_errno;  /* positive errno, 0: opened */
        int write_errno; /* positive errno, 0: written */
        UcsStall stall;  /* owned by the receiver (ucs_stall_done()); summarized. Unknown when nothing was written, or when the kernel
                          * stopped no CPU for it */
} UcsReloadOutcome;

/* Join the thread and take the outcome; frees `r`. Blocks until the thread is done. */
void ucs_reload_finish(UcsReload *r, UcsReloadOutcome *ret);

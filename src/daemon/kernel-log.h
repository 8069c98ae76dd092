/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's log: from the journal, since the sandbox closes /dev/kmsg; of another root from its dev/kmsg. */

#include "base/str.h"

typedef struct KernelLog KernelLog;

int kernel_log_new(int root_fd, KernelLog **ret);
KernelLog *kernel_log_free(KernelLog *k);
DEFINE_CLEANUP(KernelLog *, kernel_log_free);

/* The kernel's messages since a moment (CLOCK_REALTIME); with dev/kmsg: since the last call, or since kernel_log_new(). `*ret` may be NULL. 0 or
 * -errno: the log cannot be read. */
int kernel_log_since(KernelLog *k, uint64_t since_usec, char ***ret);

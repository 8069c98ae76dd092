/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether this kernel can load late, and why not (DESIGN 4): asked in the order architecture, container, Xen, then the files
 * themselves; only their absence is explained by the hypervisor bit, the command line or the kernel's options. */

#include "core/policy/machine.h"

int ucs_support_read(int root_fd, const UcsMachine *m, UcsSupport *ret, UcsSupportReason *ret_reason);

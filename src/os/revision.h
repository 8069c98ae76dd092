/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each CPU runs: cpuN/microcode/version through a kept descriptor, and cpuN/microcode/processor_flags (the platform mask), which does
 * not change while the CPU is there and is read once each time that it appears. The kernel removes both while the CPU is offline. */

#include "base/cleanup.h"
#include "base/error.h"

typedef struct UcsRevisions UcsRevisions;

/* `cpu_fd` is sys/devices/system/cpu; duplicated. 0, -ENOMEM or -EMFILE. */
int ucs_revisions_new(int cpu_fd, UcsRevisions **ret);
UcsRevisions *ucs_revisions_free(UcsRevisions *r);
DEFINE_CLEANUP(UcsRevisions *, ucs_revisions_free);

/* One pread(2) as a rule. 0; -ENOENT: this CPU has no version file; -EBADMSG: garbage; another -errno of the file. `e` names file and CPU.
 * Both outputs are set in any case, to 0 where the figure is unknown. */
int ucs_revisions_read(UcsRevisions *r, unsigned cpu, uint32_t *ret_revision, uint32_t *ret_platform_mask, UcsError *e);

/* Somebody knows better than the version file that was read last: `revision` counts from now on, until the file says something else or is a new
 * one. True: that is news, and `ret_said` is what the file says. For AMD's loader, which on each write to `reload` files the patch level of the CPU
 * that wrote under the first CPU of each memory node (amd.c, find_patch()): where CPUs differ, that is another one's, and /proc/cpuinfo still has
 * the right one. */
bool ucs_revisions_correct(UcsRevisions *r, unsigned cpu, uint32_t revision, uint32_t *ret_said);

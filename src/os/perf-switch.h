/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When given threads got a CPU and when they lost it, to the nanosecond: PERF_RECORD_SWITCH of a software event that counts nothing, bound
 * to each thread (perf_event_open(2), `context_switch`, Linux 4.3). Two records a stay on a CPU, written by the scheduler itself; no thread
 * of ours runs and nothing is sampled. The witness of migration/N and ucodebench read the switches of their threads through this.
 *
 * Bound to a thread and not to a CPU, because a CPU's ring would fill with everybody's switches and lose the ones that matter. A
 * thread's own ring of one page holds 256 switches; a full one is reported, never passed over. The events run from the opening on, so that
 * to begin afresh costs no system call and interrupts no CPU: it only moves the rings' tails.
 *
 * Threads of one's own need no privilege below perf_event_paranoid 3. Kernel threads (migration/N) need CAP_PERFMON, or CAP_SYS_ADMIN
 * before Linux 5.8, and a system call filter that lets perf_event_open through. Costs a descriptor and two locked pages a thread
 * (RLIMIT_MEMLOCK beyond perf_event_mlock_kb, unless CAP_IPC_LOCK). Not for two threads at a time. */

#include "base/cleanup.h"
#include "base/error.h"
#include "os/switches.h"

typedef struct UcsPerfSwitches UcsPerfSwitches;

/* One event a thread. -EACCES or -EPERM (not permitted), -ENOENT or -EOPNOTSUPP (no such event in this kernel), -ENOSYS, -ESRCH (no such
 * thread), -EMFILE, -ENOMEM (memory, or too much of it locked), -EINVAL (no thread, or a kernel that does not know an attribute); `e` says which
 * thread and what would help. Then nothing is left open. */
int ucs_perf_switches_open(const uint32_t *tids, size_t n, UcsPerfSwitches **ret, UcsError *e);
UcsPerfSwitches *ucs_perf_switches_close(UcsPerfSwitches *p);
DEFINE_CLEANUP(UcsPerfSwitches *, ucs_perf_switches_close);

/* Forget what was recorded: all counts from now on. */
void ucs_perf_switches_mark(UcsPerfSwitches *p);

/* What the i-th thread did since the mark; may be asked again. 0; -EOVERFLOW: the kernel had no room for some of it, and what is missing cannot
 * be told; -EBADMSG: a record that is none. */
int ucs_perf_switches_read(const UcsPerfSwitches *p, size_t i, UcsSwitches *ret);

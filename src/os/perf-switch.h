/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When given threads got a CPU and when they lost it, to the nanosecond: PERF_RECORD_SWITCH of a software event that counts nothing, bound
 * to each thread (perf_event_open(2), `context_switch`, Linux 4.3). Two records a stay on a CPU, written by the scheduler itself; no thread
 * of ours runs and nothing is sampled.
 *
 * Bound to a thread and not to a CPU, because a CPU's ring would fill with everybody's switches and lose the ones that matter. A
 * thread's own ring of one page holds UCS_PERF_SWITCH_RECORDS; a full one is reported, never passed over.
 *
 * Threads of one's own need no privilege below perf_event_paranoid 3. Kernel threads (migration/N) need CAP_PERFMON, or CAP_SYS_ADMIN
 * before Linux 5.8, and a system call filter that lets perf_event_open through. Costs a descriptor and two locked pages a thread
 * (RLIMIT_MEMLOCK beyond perf_event_mlock_kb, unless CAP_IPC_LOCK). Not for two threads at a time. */

#include "base/cleanup.h"
#include "base/error.h"

typedef struct UcsPerfSwitches UcsPerfSwitches;

/* What one page holds: a record is a header, a time stamp and a CPU, 24 bytes. The last few may be taken by a record of loss. */
#define UCS_PERF_SWITCH_RECORDS 168U

typedef struct UcsPerfSwitch {
        uint64_t raw_nsec; /* CLOCK_MONOTONIC_RAW */
        uint32_t cpu;
        bool in;
} UcsPerfSwitch;

/* One event a thread, all of them disabled. -EACCES or -EPERM (not permitted), -ENOENT or -EOPNOTSUPP (no such event in this kernel),
 * -ENOSYS, -ESRCH (no such thread), -EMFILE, -ENOMEM (memory, or too much of it locked), -EINVAL (no thread, or a kernel that does not
 * know an attribute); `e` says which thread and what would help. Then nothing is left open. */
int ucs_perf_switches_open(const uint32_t *tids, size_t n, UcsPerfSwitches **ret, UcsError *e);
UcsPerfSwitches *ucs_perf_switches_close(UcsPerfSwitches *p);
DEFINE_CLEANUP(UcsPerfSwitches *, ucs_perf_switches_close);

/* Forget what was recorded, and record from now on. Two calls a thread. 0 or -errno. */
int ucs_perf_switches_enable(UcsPerfSwitches *p);

/* Record no more. 0 or -errno. */
int ucs_perf_switches_disable(UcsPerfSwitches *p);

/* The records of the i-th thread, oldest first, at most `max`; they are taken out. How many there were, or -EOVERFLOW: the kernel lost some,
 * or there are more than `max` - then what is missing cannot be told, and none is returned. -EBADMSG: a record that is none. */
int ucs_perf_switches_read(UcsPerfSwitches *p, size_t i, UcsPerfSwitch *ret, size_t max);

/* The longest stay on a CPU among `n` records of one thread. False: no pair of in and out. */
bool ucs_perf_switches_longest(const UcsPerfSwitch *records, size_t n, uint64_t *ret_in_nsec, uint64_t *ret_out_nsec);

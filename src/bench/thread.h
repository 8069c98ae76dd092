/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Threads that are created armed: CPU, policy and priority are attributes of their creation. One that asks for its priority itself must first
 * win a slot as an ordinary task, and on a machine under load the stall that it was to see is over by then. */

#include <pthread.h>
#include <sched.h>

#include "base/cpuset.h"
#include "base/error.h"

#define BENCH_PRIORITY_PROBE 1   /* above all ordinary tasks */
#define BENCH_PRIORITY_CONTROL 2 /* who lets the others go and calls them off */
#define BENCH_PRIORITY_HOG 99    /* as high as anybody may go: only the kernel's stoppers and its deadline servers are above */

/* SCHED_OTHER with priority 0, or SCHED_FIFO. 0; -EPERM: `e` says what is in the way; -EINVAL (no such CPU), -EAGAIN, -ENOMEM. */
int bench_thread_start(pthread_t *ret, unsigned cpu, int policy, int priority, void *(*run)(void *), void *userdata, UcsError *e);

/* The calling thread's policy. Its children do not inherit it. Errors as above. */
int bench_thread_become(int policy, int priority, UcsError *e);

/* The CPUs that the calling thread may use; and confine it to them. 0 or -errno. */
int bench_thread_get_cpus(UcsCpuSet *ret);
int bench_thread_set_cpus(const UcsCpuSet *set);
int bench_thread_pin(unsigned cpu);

/* Sleep until a moment of CLOCK_MONOTONIC, or for a time. Not cut short by signals. */
uint64_t bench_monotonic_nsec(void);
void bench_sleep_until(uint64_t monotonic_nsec);
void bench_sleep(uint64_t nsec);

static inline void bench_relax(void) {
        __builtin_ia32_pause();
}

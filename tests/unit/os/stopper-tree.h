/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Threads in a directory: migration/N with its account, and others that look like it. */

#include <poll.h>
#include <sys/inotify.h>

#include "base/timefmt.h"
#include "core/policy/machine.h"
#include "tree.h"

#define KERNEL_THREAD 69238848U /* flags of a real one: PF_KTHREAD, PF_NO_SETAFFINITY, … */
#define PROGRAM 4194304U

static inline void tree_thread(unsigned tid, const char *comm, unsigned flags, const char *schedstat) {
        tree_printf(tree_path("proc/%u/comm", tid), "%s\n", comm);
        tree_printf(tree_path("proc/%u/stat", tid), "%u (%s) S 2 0 0 0 -1 %u 0 0 0 0 3 69 0 0 -100 0 1 0 4 0 0\n", tid, comm, flags);
        if (schedstat)
                tree_printf(tree_path("proc/%u/schedstat", tid), "%s", schedstat);
}

static inline void tree_account(unsigned tid, uint64_t nsec, uint64_t runs) {
        tree_printf(tree_path("proc/%u/schedstat", tid), "%ju 12040171 %ju\n", (uintmax_t) nsec, (uintmax_t) runs);
}

/* The stopper of CPU N has tid 20 + 6 N, an account of 1 ms and 10 runs. */
#define STOPPER(cpu) (20 + 6 * (cpu))

static inline void tree_stopper(unsigned cpu) {
        tree_thread(STOPPER(cpu), tree_path("migration/%u", cpu), KERNEL_THREAD, NULL);
        tree_account(STOPPER(cpu), NSEC_PER_MSEC, 10);
}

static inline void tree_ran(unsigned cpu, uint64_t nsec, uint64_t runs) {
        tree_account(STOPPER(cpu), NSEC_PER_MSEC + nsec, 10 + runs);
}

static inline UcsMachine *machine_of(unsigned n) {
        UcsMachine *m = new0(UcsMachine, 1);

        m->cpus = new0(UcsCpu, n);
        m->n_cpus = n;
        for (unsigned cpu = 0; cpu < n; cpu++)
                m->cpus[cpu] = (UcsCpu){ .cpu = cpu, .apic_id = cpu * 9, .package = cpu / 2 };
        return m;
}

/* To wait until a file has been read: the baseline is taken, an account looked at again. */
static inline int reads_of(const char *path) {
        int fd = inotify_init1(IN_CLOEXEC);

        cr_assert(fd >= 0 && inotify_add_watch(fd, tmproot_at(path), IN_ACCESS) >= 0);
        return fd;
}

static inline void wait_read(int fd) {
        char buf[4096];

        cr_assert(read(fd, buf, sizeof(buf)) > 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A machine of N CPUs as plain files on tmpfs: revisions, cpuinfo, and the stoppers' accounts, as the kernel words them. What reading
 * them costs is the reader's part of the cost and that of the path walk; sysfs and procfs put their own on top, the same for each CPU. */

#include "bench/bench.h"

typedef struct BenchTree {
        char *path; /* of the directory, absolute */
        int root_fd;
        uint32_t n_cpus;
        uint64_t account_nsec, account_runs; /* what every account reads now */
} BenchTree;

/* On the first tmpfs that may be written: /dev/shm, /run, /tmp. -ENODEV: there is none; or another -errno, with `e`. */
int bench_tree_new(uint32_t n_cpus, BenchTree **ret, UcsError *e);

/* Takes the files away, too. */
BenchTree *bench_tree_free(BenchTree *t);
DEFINE_CLEANUP(BenchTree *, bench_tree_free);

/* Of one CPU; each has another. */
uint32_t bench_tree_revision(uint32_t cpu);

/* A load: every stopper ran once, for as long. */
int bench_tree_advance(BenchTree *t, uint64_t nsec);

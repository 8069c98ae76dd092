/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The ways of reading the revision, as a table. "kept" and the accounts are the product's own code (os/revision, os/kept, os/cpuinfo-file,
 * os/witness/schedstat), so that the figures speak of it; the others are what other programs do. */

#include "bench/bench.h"
#include "bench/tree.h"
#include "os/cpuinfo-file.h"
#include "os/kept.h"
#include "os/revision.h"
#include "os/witness/witness.h"

/* Where it is read: this machine, or a tree. */
typedef struct BenchPlace {
        const char *path; /* "" or that of the tree */
        int root_fd;      /* borrowed */
        BenchTree *tree;  /* borrowed; NULL: this machine */
        uint32_t *cpus;
        size_t n;

        /* The file below cpuN, for all ways but those of cpuinfo. A machine without microcode/version lends another file of the same depth. */
        const char *file;
        bool stands_in;

        int cpu_fd;
        UcsRevisions *revisions;
        UcsKeptPool pool; /* for the file that stands in */
        UcsKept *kept;
        int *bare_fds; /* n; -EBADF: not opened yet */
        UcsCpuinfoFile *cpuinfo;
        UcsWitness *witness; /* NULL: the accounts cannot be read */
} BenchPlace;

/* `cpus` are copied. 0 or -errno, with `e`. That the accounts cannot be read is none: `ret_no_accounts` says why then. */
int bench_place_open(const char *path, int root_fd, BenchTree *tree, const uint32_t *cpus, size_t n, BenchPlace **ret,
                     UcsError *ret_no_accounts, UcsError *e);
BenchPlace *bench_place_close(BenchPlace *p);
DEFINE_CLEANUP(BenchPlace *, bench_place_close);

typedef enum BenchScope {
        BENCH_EACH,  /* one CPU, and all of them */
        BENCH_FIRST, /* speaks of one CPU alone */
        BENCH_WHOLE, /* always speaks of all */
} BenchScope;

typedef struct BenchWay {
        const char *name;
        BenchScope scope;
        bool kernel_only; /* means nothing on tmpfs */
        bool accounts;

        /* What is not timed, before each reading. May be NULL. */
        int (*before)(BenchPlace *p);

        /* Read the first `n` CPUs. The sum of what they run, so that nothing is left out; 0 where the way does not speak of
         * revisions. 0 or -errno. */
        int (*read)(BenchPlace *p, size_t n, uint64_t *ret_sum);
} BenchWay;

extern const BenchWay bench_ways[];
extern const size_t bench_n_ways;

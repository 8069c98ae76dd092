/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* ucodebench: what every verb needs. A verb is a row in main.c's table and a file bench-NAME.c. It measures, prints a table or one JSON
 * object, and returns an exit code. Nothing of it runs in the daemon, and no host needs it.
 *
 * The rest, one idea a file: args (the command line), report (tables and JSON), machine (what the figures are of), topology (CPUs by
 * CPUID), thread (created armed), hog (a stall that is known), probe (a stall that is seen), interrupts, stats, busy (may we?),
 * tree (a machine of N CPUs as files). */

#include <json-c/json.h>

#include "base/cpuset.h"
#include "base/str.h"
#include "base/timefmt.h"

typedef enum BenchExit {
        BENCH_DONE = 0,
        BENCH_FAILED = 1,
        BENCH_REFUSED = 2,     /* the host is busy, and nobody said --yes */
        BENCH_UNSUPPORTED = 3, /* cannot be measured on this machine, or by this user */
        BENCH_INTERRUPTED = 4, /* by a signal; nothing is printed */
} BenchExit;

typedef enum BenchJson {
        BENCH_JSON_OFF,
        BENCH_JSON_PRETTY,
        BENCH_JSON_SHORT,
} BenchJson;

#define BENCH_LIST_MAX 32U

/* The options; 0 and an empty list are "the verb's own default". */
typedef struct Bench {
        BenchJson json;
        bool yes, quiet, legend;
        bool all_cpus;                  /* also isolated and nohz_full ones */
        bool have_cpus;
        UcsCpuSet cpus;                 /* --cpus= */
        uint32_t nice;
        uint32_t repetitions, calls;
        uint64_t limit_usec;            /* at most as long as a whole */
        uint64_t window_usec;           /* probe */
        uint32_t list[BENCH_LIST_MAX];  /* --lengths= in ms, --sizes= in CPUs */
        size_t n_list;
        uint64_t begin_nsec;            /* CLOCK_MONOTONIC_RAW of the start */
        int root_fd;                    /* of this machine */
} Bench;

/* Ask between two measurements: a signal came; the time that was allowed is over. */
bool bench_interrupted(void);
bool bench_out_of_time(const Bench *b);

/* Step behind everybody else, as --nice= says. Not before a command is started that is not ours. */
void bench_be_nice(const Bench *b);

typedef int (*BenchVerb)(Bench *b, int argc, char **argv); /* operands only, NULL-terminated */

int bench_shootdown(Bench *b, int argc, char **argv);
int bench_revision(Bench *b, int argc, char **argv);
int bench_witness(Bench *b, int argc, char **argv);
int bench_probe(Bench *b, int argc, char **argv);

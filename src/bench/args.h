/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The command line: one table of options, each with the verbs that take it, and one of verbs. */

#include "bench/bench.h"

typedef struct BenchOption {
        const char *name;
        const char *argument; /* NULL: none; in brackets: may be left out */
        const char *verbs;    /* blank-separated; NULL: all */
        int (*set)(Bench *b, const char *value); /* 0 or -EINVAL; `value` is "" without one */
        const char *expected; /* what belongs there, for the error */
        const char *help;
} BenchOption;

typedef struct BenchVerbRow {
        const char *name;
        const char *operands; /* NULL: none are taken */
        BenchVerb run;
        const char *help;
} BenchVerbRow;

typedef struct BenchTables {
        const BenchOption *options;
        size_t n_options;
        const BenchVerbRow *verbs;
        size_t n_verbs;
} BenchTables;

/* Reads options up to the first word that is none (the verb), and behind it up to the first operand or "--". `*ret_verb` is NULL after
 * --help and --version, which it has answered, and after an error, which it has reported. Returns an exit code. */
int bench_args_parse(Bench *b, const BenchTables *tables, int argc, char **argv, const BenchVerbRow **ret_verb, int *ret_argc,
                     char ***ret_argv);

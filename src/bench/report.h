/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a verb says: a table for people (libsmartcols), or one object {"benchmark","machine","rows"} for programs (json-c). The two need not
 * have the same rows: people want a summary, programs every repetition. Under --json nothing else goes to stdout, an error neither:
 * it is an object {"error"} then. */

#include <stdarg.h>

#include "bench/bench.h"

/* Report one error and return `code`. `name` is what scripts match: InvalidArgument, Busy, NotSupported, Failed. */
int bench_fail(const Bench *b, BenchExit code, const char *name, const char *format, ...) _printf_(4, 5);

/* A remark beside the figures: below the table, or "notes" of the machine. Each is printed once. */
typedef struct BenchReport BenchReport;

typedef struct BenchColumn {
        const char *heading;
        bool right; /* figures */
} BenchColumn;

/* `machine` is taken over, in any case; NULL: an empty one. 0 or -ENOMEM. */
int bench_report_new(const Bench *b, const char *benchmark, json_object *machine, const BenchColumn *columns, size_t n, BenchReport **ret);
BenchReport *bench_report_free(BenchReport *r);
DEFINE_CLEANUP(BenchReport *, bench_report_free);

/* One row of the JSON object, to be filled with json_object_object_add(); the report owns it. NULL only without memory, which the calls of
 * json-c take. */
json_object *bench_report_object(BenchReport *r);

/* One row of the table, its cells from left to right. Failures stick. */
void bench_report_row(BenchReport *r);
void bench_report_cell(BenchReport *r, const char *format, ...) _printf_(2, 3);

/* One sentence, without a full stop. */
void bench_report_note(BenchReport *r, const char *format, ...) _printf_(2, 3);

/* BENCH_DONE, or another exit code: reported already. */
int bench_report_print(BenchReport *r);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables and JSON; see report.h. */

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>

#include "bench/machine.h"
#include "bench/report.h"

struct BenchReport {
        const Bench *b;
        const char *benchmark;
        json_object *machine, *rows;
        char **notes;
        struct libscols_table *table;
        struct libscols_line *line;
        size_t next; /* cell of the line */
        int error;   /* the first failure */
};

static void print_json(const Bench *b, json_object *o) {
        int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

        if (b->json == BENCH_JSON_PRETTY)
                flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
        (void) puts(json_object_to_json_string_ext(o, flags) ?: "{}");
}

int bench_fail(const Bench *b, BenchExit code, const char *name, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        json_object *error, *o;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        if (b->json == BENCH_JSON_OFF) {
                (void) fflush(stdout);
                (void) fprintf(stderr, "ucodebench: %s\n", text ?: "out of memory");
                return code;
        }
        error = json_object_new_object();
        (void) json_object_object_add(error, "name", json_object_new_string(name));
        (void) json_object_object_add(error, "message", json_object_new_string(text ?: "out of memory"));
        (void) json_object_object_add(error, "exit", json_object_new_int(code));
        o = json_object_new_object();
        (void) json_object_object_add(o, "error", error);
        print_json(b, o);
        (void) json_object_put(o);
        return code;
}

BenchReport *bench_report_free(BenchReport *r) {
        if (!r)
                return NULL;
        (void) json_object_put(r->machine);
        (void) json_object_put(r->rows);
        strv_free(r->notes);
        scols_unref_table(r->table);
        free(r);
        return NULL;
}

int bench_report_new(const Bench *b, const char *benchmark, json_object *machine, const BenchColumn *columns, size_t n, BenchReport **ret) {
        _cleanup_(bench_report_freep) BenchReport *r = new0(BenchReport, 1);

        if (!r) {
                (void) json_object_put(machine);
                return -ENOMEM;
        }
        r->b = b;
        r->benchmark = benchmark;
        r->machine = machine ?: json_object_new_object();
        r->rows = json_object_new_array();
        r->table = scols_new_table();
        if (!r->machine || !r->rows || !r->table)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                if (!scols_table_new_column(r->table, columns[i].heading, 0, columns[i].right ? SCOLS_FL_RIGHT : 0))
                        return -ENOMEM;
        (void) scols_table_enable_noheadings(r->table, !b->legend);
        (void) scols_table_enable_noencoding(r->table, 1);
        (void) scols_table_set_termforce(r->table, SCOLS_TERMFORCE_NEVER);
        (void) scols_table_set_column_separator(r->table, "  ");
        *ret = TAKE_PTR(r);
        return 0;
}

json_object *bench_report_object(BenchReport *r) {
        json_object *o = json_object_new_object();

        if (!o || json_object_array_add(r->rows, o) < 0) {
                r->error = -ENOMEM;
                (void) json_object_put(o);
                return NULL;
        }
        return o;
}

void bench_report_row(BenchReport *r) {
        r->line = scols_table_new_line(r->table, NULL);
        if (!r->line)
                r->error = -ENOMEM;
        r->next = 0;
}

void bench_report_cell(BenchReport *r, const char *format, ...) {
        char *text = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0 || !r->line || scols_line_refer_data(r->line, r->next++, text) != 0) {
                if (n >= 0)
                        free(text);
                r->error = -ENOMEM;
        }
}

void bench_report_note(BenchReport *r, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0) {
                text = NULL;
                r->error = -ENOMEM;
                return;
        }
        for (char **note = r->notes; note && *note; note++)
                if (streq(*note, text))
                        return;
        if (strv_push(&r->notes, text) < 0)
                r->error = -ENOMEM;
}

static void print_as_json(BenchReport *r) {
        json_object *o = json_object_new_object(), *notes = json_object_new_array();

        for (char **note = r->notes; note && *note; note++)
                (void) json_object_array_add(notes, json_object_new_string(*note));
        (void) json_object_object_add(r->machine, "notes", notes);
        (void) json_object_object_add(o, "benchmark", json_object_new_string(r->benchmark));
        (void) json_object_object_add(o, "machine", json_object_get(r->machine));
        (void) json_object_object_add(o, "rows", json_object_get(r->rows));
        print_json(r->b, o);
        (void) json_object_put(o);
}

int bench_report_print(BenchReport *r) {
        if (r->error < 0)
                return bench_fail(r->b, BENCH_FAILED, "Failed", "the report could not be made: out of memory");
        if (r->b->quiet)
                return BENCH_DONE;
        if (r->b->json != BENCH_JSON_OFF) {
                print_as_json(r);
                return BENCH_DONE;
        }
        if (r->b->legend) {
                bench_machine_print(r->machine);
                (void) putchar('\n');
        }
        if (scols_table_get_nlines(r->table) > 0 && scols_print_table(r->table) != 0)
                return bench_fail(r->b, BENCH_FAILED, "Failed", "the table could not be made: out of memory");
        for (char **note = r->notes; r->b->legend && note && *note; note++)
                (void) printf("%s%s.\n", note == r->notes ? "\n" : "", *note);
        return BENCH_DONE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables; see ctl-table.h. */

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>

#include "ctl/ctl-table.h"

struct CtlTable {
        UcsCtl *ctl;
        struct libscols_table *table;
        struct libscols_line *line;
        size_t next; /* cell of the line */
        size_t n_columns;
        bool last_used; /* some cell of the last column holds something */
        int error;      /* the first failure */
};

int ctl_table_new(UcsCtl *ctl, const CtlColumn *columns, size_t n, CtlTable **ret) {
        _cleanup_(ctl_table_freep) CtlTable *t = new0(CtlTable, 1);

        if (!t)
                return -ENOMEM;
        t->ctl = ctl;
        t->n_columns = n;
        t->table = scols_new_table();
        if (!t->table)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                int flags = (columns[i].right ? SCOLS_FL_RIGHT : 0) |
                            (columns[i].cut && ctl->terminal ? SCOLS_FL_TRUNC : 0);

                if (!scols_table_new_column(t->table, columns[i].heading, 0, flags))
                        return -ENOMEM;
        }
        (void) scols_table_enable_noheadings(t->table, !ctl->legend);
        (void) scols_table_enable_colors(t->table, ctl->colors);
        (void) scols_table_set_termforce(t->table,
                                         ctl->terminal ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
        if (ctl->terminal)
                (void) scols_table_set_termwidth(t->table, ctl->width);
        /* the cells are clean already, and JSON is not made here */
        (void) scols_table_enable_noencoding(t->table, 1);
        (void) scols_table_set_column_separator(t->table, "  ");
        *ret = TAKE_PTR(t);
        return 0;
}

CtlTable *ctl_table_free(CtlTable *t) {
        if (t)
                scols_unref_table(t->table);
        free(t);
        return NULL;
}

void ctl_table_row(CtlTable *t) {
        t->line = scols_table_new_line(t->table, NULL);
        if (!t->line)
                t->error = -ENOMEM;
        t->next = 0;
}

void ctl_table_cell(CtlTable *t, const char *format, ...) {
        _cleanup_free_ char *text = NULL, *clean = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        clean = text ? ctl_clean(t->ctl, text) : NULL;
        if (!clean || !t->line || scols_line_refer_data(t->line, t->next, clean) != 0) {
                t->error = -ENOMEM;
                return;
        }
        t->last_used = t->last_used || (t->next + 1 == t->n_columns && *clean);
        (void) TAKE_PTR(clean);
        t->next++;
}

void ctl_table_color(CtlTable *t, const char *color) {
        if (t->ctl->colors && t->line && t->next > 0)
                (void) scols_cell_set_color(scols_line_get_cell(t->line, t->next - 1), color);
}

int ctl_table_print(CtlTable *t) {
        if (!t->last_used && t->n_columns > 1) /* remarks, and there are none */
                (void) scols_column_set_flags(scols_table_get_column(t->table, t->n_columns - 1),
                                              SCOLS_FL_HIDDEN);
        if (t->error < 0 || (!t->ctl->quiet && scols_print_table(t->table) != 0))
                return ctl_fail(t->ctl, UCS_EXIT_FAILED, "the table could not be made: out of memory");
        return 0;
}

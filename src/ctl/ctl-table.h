/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A table for people (libsmartcols). Cells are made harmless when they are put in. --no-legend leaves the
 * headings out; on a terminal the columns that may be cut are cut to its width, elsewhere nothing is. A last
 * column without anything in it is left out. */

#include "ctl/ctl.h"

typedef struct CtlTable CtlTable;

typedef struct CtlColumn {
        const char *heading;
        bool right; /* numbers */
        bool cut;   /* may lose its end on a narrow terminal */
} CtlColumn;

/* 0 or -ENOMEM. */
int ctl_table_new(UcsCtl *ctl, const CtlColumn *columns, size_t n, CtlTable **ret);
CtlTable *ctl_table_free(CtlTable *t);
DEFINE_CLEANUP(CtlTable *, ctl_table_free);

/* A row, and its cells from left to right. Failures stick, ctl_table_print() reports them. */
void ctl_table_row(CtlTable *t);
void ctl_table_cell(CtlTable *t, const char *format, ...) _printf_(2, 3);

/* The colour of the cell that was put in last; without colours nothing. */
void ctl_table_color(CtlTable *t, const char *color);

/* 0, or an exit code: reported already. */
int ctl_table_print(CtlTable *t);

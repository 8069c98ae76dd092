/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A screen of rows: a label, aligned to the right, and text behind it that is wrapped at the terminal's
 * width. Text is made harmless when it is put in; colours are names here and escapes only when a row is
 * printed, so nothing from outside can become one.
 *
 *     ctl_row(&s, "Running");
 *     ctl_put(&s, CTL_BOLD, "%s", revision);
 *     ctl_put(&s, CTL_NORMAL, " on %u CPUs", n);
 *     …
 *     ctl_screen_end(&s); */

#include "ctl/ctl.h"

typedef enum CtlStyle {
        CTL_NORMAL,
        CTL_BOLD,
        CTL_DIM,
        CTL_GOOD,
        CTL_WARN,
        CTL_BAD,
        _CTL_STYLE_MAX,
} CtlStyle;

typedef struct CtlScreen {
        UcsCtl *ctl;
        size_t label_columns; /* 0: no labels */
        const char *label;    /* of the row that is open */
        UcsText text;         /* its text; a byte below 0x20 opens that style */
        bool open;
} CtlScreen;

/* Nothing is printed under --quiet. */
void ctl_screen_begin(CtlScreen *s, UcsCtl *ctl, size_t label_columns);

/* Close the row that is open and begin one. `label`: "" for none, NULL for a line that starts at the left
 * edge. */
void ctl_row(CtlScreen *s, const char *label);
void ctl_put(CtlScreen *s, CtlStyle style, const char *format, ...) _printf_(3, 4);

/* An empty line. */
void ctl_gap(CtlScreen *s);
void ctl_screen_end(CtlScreen *s);

/* The escape that begins a style, CTL_NORMAL the one that ends it; "" without colours. */
const char *ctl_escape(const UcsCtl *ctl, CtlStyle style);

/* What the locale can show: "→" or "->", "●" or "*", "–" or "to". */
const char *ctl_arrow(const UcsCtl *ctl);
const char *ctl_dot(const UcsCtl *ctl);
const char *ctl_dash(const UcsCtl *ctl);

/* A bar of `columns` at most, as long as `value` is of `max`. New memory, NULL without. */
char *ctl_bar(const UcsCtl *ctl, uint64_t value, uint64_t max, size_t columns);

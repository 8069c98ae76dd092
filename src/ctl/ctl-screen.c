/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of label and text; see ctl-screen.h. */

#include <stdarg.h>
#include <stdio.h>

#include "ctl/ctl-screen.h"
#include "ctl/ctl-text.h"

#define TEXT_COLUMNS_MIN                                                                                    \
        24U /* what wrapping leaves at least: below that a line may be longer than the terminal is wide */

static const char *const escapes[_CTL_STYLE_MAX] = {
        [CTL_NORMAL] = "",         [CTL_BOLD] = "\033[1m",    [CTL_DIM] = "\033[2m",
        [CTL_GOOD] = "\033[1;32m", [CTL_WARN] = "\033[1;33m", [CTL_BAD] = "\033[1;31m",
};

void ctl_screen_begin(CtlScreen *s, UcsCtl *ctl, size_t label_columns) {
        *s = (CtlScreen){ .ctl = ctl, .label_columns = label_columns };
}

/* Bytes up to the next blank or style, or the blank or style itself. */
static size_t piece_length(const char *p) {
        size_t n = 1;

        if (*p == ' ' || (unsigned char) *p < 0x20)
                return 1;
        while (p[n] && p[n] != ' ' && (unsigned char) p[n] >= 0x20)
                n++;
        return n;
}

/* Columns of the word at `p`, across changes of style within it. */
static size_t word_columns(const char *p) {
        size_t columns = 0;

        while (*p && *p != ' ') {
                size_t n = piece_length(p);

                if ((unsigned char) *p >= 0x20)
                        columns += ctl_text_columns(p, n);
                p += n;
        }
        return columns;
}

static CtlStyle style_of(char c) {
        return (CtlStyle) (c - 1);
}

static void change_style(const CtlScreen *s, CtlStyle *now, CtlStyle then) {
        if (*now == then)
                return;
        if (s->ctl->colors)
                (void) printf("%s%s", *now == CTL_NORMAL ? "" : "\033[0m", escapes[then]);
        *now = then;
}

static void row_close(CtlScreen *s) {
        size_t indent = s->label ? s->label_columns + 2 : 0, column, limit;
        _cleanup_free_ char *text = NULL;
        CtlStyle style = CTL_NORMAL;
        bool fresh = true;

        if (!s->open)
                return;
        s->open = false;
        if (ucs_text_take(&s->text, &text, NULL) < 0 || s->ctl->quiet)
                return;
        if (s->label)
                (void) printf("%*s  ", (int) s->label_columns, s->label);
        column = indent;
        limit = MAX(s->ctl->width, indent + TEXT_COLUMNS_MIN);

        for (const char *p = text; *p;) {
                size_t n = piece_length(p);

                if ((unsigned char) *p < 0x20)
                        change_style(s, &style, style_of(*p));
                else if (*p == ' ') {
                        /* the word behind the blanks decides whether they are still on this line */
                        const char *word = p + strspn(p, " ");

                        if (!fresh && *word && column + (size_t) (word - p) + word_columns(word) > limit) {
                                (void) printf("\n%*s", (int) indent, "");
                                column = indent;
                                fresh = true;
                                n = (size_t) (word - p);
                        } else {
                                (void) putchar(' ');
                                column++;
                        }
                } else {
                        (void) fwrite(p, 1, n, stdout);
                        column += ctl_text_columns(p, n);
                        fresh = false;
                }
                p += n;
        }
        change_style(s, &style, CTL_NORMAL);
        (void) putchar('\n');
}

void ctl_row(CtlScreen *s, const char *label) {
        row_close(s);
        s->label = label;
        s->open = true;
}

void ctl_put(CtlScreen *s, CtlStyle style, const char *format, ...) {
        _cleanup_free_ char *text = NULL, *clean = NULL;
        char mark = (char) (style + 1);
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        clean = text ? ctl_clean(s->ctl, text) : NULL;
        ucs_text_append_bytes(&s->text, &mark, 1);
        ucs_text_append(&s->text, clean ?: "out of memory");
}

void ctl_gap(CtlScreen *s) {
        row_close(s);
        if (!s->ctl->quiet)
                (void) putchar('\n');
}

void ctl_screen_end(CtlScreen *s) {
        row_close(s);
        ucs_text_done(&s->text);
}

const char *ctl_escape(const UcsCtl *ctl, CtlStyle style) {
        if (!ctl->colors)
                return "";
        return style == CTL_NORMAL ? "\033[0m" : escapes[style];
}

const char *ctl_arrow(const UcsCtl *ctl) {
        return ctl->unicode ? "→" : "->";
}

const char *ctl_dot(const UcsCtl *ctl) {
        return ctl->unicode ? "●" : "*";
}

const char *ctl_dash(const UcsCtl *ctl) {
        return ctl->unicode ? "–" : "to";
}

char *ctl_bar(const UcsCtl *ctl, uint64_t value, uint64_t max, size_t columns) {
        static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
        double share = max > 0 ? MIN((double) value / (double) max, 1.0) : 0;
        size_t n8 = (size_t) (share * 8 * (double) columns + 0.5);
        _cleanup_text_ UcsText t = {};
        char *s;

        for (size_t i = 0; i < n8 / 8; i++)
                ucs_text_append(&t, ctl->unicode ? "█" : "#");
        if (ctl->unicode)
                ucs_text_append(&t, n8 == 0 && value > 0 ? eighths[1] : eighths[n8 % 8]);
        else if (n8 < 8 && value > 0)
                ucs_text_append(&t, "#");
        return ucs_text_take(&t, &s, NULL) < 0 ? NULL : s;
}

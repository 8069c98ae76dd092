/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stall as a picture; see stall-svg.h. Colours are classes, so that a dark page can have others: no renderer needs custom properties, and one
 * that knows no media queries shows the light ones. Rows get thinner as CPUs get more, down to half a pixel. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/record/stall.h"
#include "ctl/ctl-show.h"
#include "ctl/ctl-time.h"
#include "ctl/stall-axis.h"
#include "ctl/stall-svg.h"

#define WIDTH      960.0
#define PLOT_LEFT  132.0
#define PLOT_RIGHT 838.0
#define PLOT_TOP   132.0
#define ROWS_WANTED 800.0 /* pixels for all rows */
#define ROW_MAX    24.0
#define ROW_MIN    0.5
#define ROW_LABEL  9.0    /* from so many pixels on each row has its own label */
#define PACKAGE_HEAD 26.0
#define PACKAGE_GAP 10.0   /* above it, but for the first */
#define TICKS_MOST 8.0

typedef struct Svg {
        UcsCtl *ctl;
        const StallModel *m;
        UcsText text;
        double row, gap, scale; /* scale: pixels a ns */
} Svg;

/* Text from wherever, as XML character data: no control characters, nothing that is no character of XML. */
static void put_text(Svg *s, const char *text) {
        UcsCtl utf8 = *s->ctl;
        _cleanup_free_ char *clean = NULL;

        utf8.unicode = true;
        clean = ctl_clean(&utf8, text);
        for (const char *p = clean ?: "out of memory"; *p; p++)
                switch (*p) {
                case '&':
                        ucs_text_append(&s->text, "&amp;");
                        break;
                case '<':
                        ucs_text_append(&s->text, "&lt;");
                        break;
                case '>':
                        ucs_text_append(&s->text, "&gt;");
                        break;
                case '"':
                        ucs_text_append(&s->text, "&quot;");
                        break;
                default:
                        if (str_startswith(p, "\xef\xbf\xbe") || str_startswith(p, "\xef\xbf\xbf")) { /* U+FFFE, U+FFFF */
                                ucs_text_append(&s->text, "?");
                                p += 2;
                        } else
                                ucs_text_append_bytes(&s->text, p, 1);
                }
}

/* <text>; `more` are further attributes. */
static void _printf_(6, 7) put_label(Svg *s, double x, double y, const char *classes, const char *more, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        ucs_text_appendf(&s->text, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\"%s>", x, y, classes, more);
        put_text(s, text ?: "");
        ucs_text_append(&s->text, "</text>\n");
}

static const char style[] =
        "<style>\n"
        "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px;fill:#4b5563}\n"
        ".ground{fill:#ffffff;stroke:#e5e7eb}.h{font-size:22px;font-weight:600;fill:#111827}.strong{font-weight:600;fill:#1f2937}\n"
        ".small{font-size:11px}.tiny{font-size:9px}.end{text-anchor:end}.mid{text-anchor:middle}\n"
        ".grid{stroke:#e5e7eb;stroke-width:1}.edge{stroke:#9ca3af;stroke-width:1}\n"
        ".band{fill:#2563eb;fill-opacity:.08}.cut{fill:none;stroke:#1e3a8a;stroke-width:1;stroke-dasharray:2 3}.bandtext{fill:#1d4ed8}.rail{fill:#d1d5db}\n"
        ".b{fill:#3b82f6}.l{fill:#f59e0b}.w{fill:#dc2626}.m{fill:#94a3b8}.n{fill:none;stroke:#9ca3af;stroke-dasharray:3 3}\n"
        ".wt{fill:#b91c1c;font-weight:600}\n"
        "@media (prefers-color-scheme:dark){\n"
        "text{fill:#9ca3af}.ground{fill:#111827;stroke:#374151}.h{fill:#f9fafb}.strong{fill:#e5e7eb}\n"
        ".grid{stroke:#1f2937}.edge{stroke:#6b7280}.band{fill:#60a5fa;fill-opacity:.12}.cut{stroke:#dbeafe}.bandtext{fill:#93c5fd}.rail{fill:#4b5563}\n"
        ".b{fill:#60a5fa}.l{fill:#fbbf24}.w{fill:#f87171}.m{fill:#64748b}.n{stroke:#6b7280}.wt{fill:#fca5a5}\n"
        "}\n</style>\n";

static double x_of(const Svg *s, uint64_t nsec) {
        return PLOT_LEFT + (double) nsec * s->scale;
}

static bool new_cluster(const StallRow *a, const StallRow *b) {
        return a->package != b->package || a->cluster != b->cluster;
}

static double plot_height(const Svg *s) {
        double h = 0;

        for (size_t i = 0; i < s->m->n_rows; i++) {
                if (i == 0 || s->m->rows[i - 1].package != s->m->rows[i].package)
                        h += PACKAGE_HEAD + (i > 0 ? PACKAGE_GAP : 0);
                else if (new_cluster(&s->m->rows[i - 1], &s->m->rows[i]))
                        h += s->gap;
                h += s->row;
        }
        return h;
}

static void put_head(Svg *s, const json_object *stall, const json_object *load) {
        uint64_t nsec = UCS_UNKNOWN, hz = 0, ticks, worst = UCS_UNKNOWN, cpu, when;
        const char *witness = ctl_string(stall, "witness"), *old = NULL, *new = NULL;
        const bool bound = witness && streq(witness, "write");
        char span[UCS_TIMESPAN_MAX], grouped[CTL_GROUPED_MAX], moment[CTL_TIME_MAX];
        UcsText line = {};

        (void) ctl_u64(stall, "stall_nsec", &nsec);
        (void) ctl_u64(stall, "worst_nsec", &worst);
        (void) ctl_u64(stall, "tsc_hz", &hz);
        put_label(s, 32, 46, "h", "", "The machine stood still for %s%s", bound ? "at most " : "", ucs_format_stall(span, nsec));

        if (load) {
                old = ctl_string(load, "old_revision");
                new = ctl_string(load, "new_revision");
        }
        if (old && new)
                ucs_text_appendf(&line, "Microcode %s → %s on ", old, new);
        ucs_text_appendf(&line, "%zu CPU%s in %zu x2APIC cluster%s", s->m->n_rows, s->m->n_rows == 1 ? "" : "s", s->m->n_clusters,
                         s->m->n_clusters == 1 ? "" : "s");
        if (load && ctl_u64(load, "when_usec", &when))
                ucs_text_appendf(&line, ", %s", ctl_format_moment(s->ctl, moment, when));
        put_label(s, 32, 70, "", "", "%s", line.data ?: "");
        ucs_text_done(&line);

        line = (UcsText){};
        ticks = ucs_stall_ticks(nsec, hz);
        if (ticks != UCS_UNKNOWN)
                ucs_text_appendf(&line, "%s ticks of the TSC at %.3f GHz · ", ctl_format_grouped(grouped, ticks), (double) hz / 1e9);
        if (worst != UCS_UNKNOWN && ctl_u64(stall, "worst_cpu", &cpu))
                ucs_text_appendf(&line, "worst CPU %" PRIu64 ": %s · ", cpu, ucs_format_stall(span, worst));
        ucs_text_appendf(&line, "measured by %s", witness ?: "nobody");
        put_label(s, 32, 89, "", "", "%s", line.data ?: "");
        ucs_text_done(&line);
}

static void put_axis(Svg *s, double bottom) {
        const StallAxis axis = stall_axis(s->m->span_nsec, TICKS_MOST);

        if (s->row >= ROW_LABEL)
                put_label(s, PLOT_LEFT - 20, PLOT_TOP - 12, "small end", "", "CPU");
        for (unsigned i = 0; stall_axis_nsec(&axis, i) <= (double) s->m->span_nsec * 1.0001; i++) {
                const double x = PLOT_LEFT + stall_axis_nsec(&axis, i) * s->scale;
                char label[STALL_LABEL_MAX];

                ucs_text_appendf(&s->text, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x, PLOT_TOP - 6, x, bottom,
                                 i == 0 ? "edge" : "grid");
                put_label(s, x, PLOT_TOP - 12, "small mid", "", "%s", stall_axis_label(label, &axis, i));
        }
}

/* Where no CPU ran anything; without offsets, the length that all have in common. Behind the bars the band, over them its edges. */
static bool find_band(const Svg *s, const json_object *stall, uint64_t *ret_from, uint64_t *ret_to) {
        *ret_from = s->m->common_from_nsec;
        *ret_to = s->m->common_to_nsec;
        if (!s->m->intervals) {
                *ret_from = 0;
                return ctl_u64(stall, "stall_nsec", ret_to) && *ret_to <= s->m->span_nsec;
        }
        return *ret_from != UCS_UNKNOWN && *ret_to != UCS_UNKNOWN;
}

static void put_band(Svg *s, const json_object *stall, double bottom) {
        uint64_t from, to;

        if (find_band(s, stall, &from, &to))
                ucs_text_appendf(&s->text, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"band\"/>\n", x_of(s, from),
                                 PLOT_TOP - 4, (double) (to - from) * s->scale, bottom - PLOT_TOP + 10);
}

static void put_band_edges(Svg *s, const json_object *stall, double bottom) {
        uint64_t from, to;

        if (!find_band(s, stall, &from, &to))
                return;
        ucs_text_appendf(&s->text, "<path d=\"M%.2f %.1fV%.1fM%.2f %.1fV%.1f\" class=\"cut\"/>\n", x_of(s, from), PLOT_TOP - 4, bottom + 6, x_of(s, to),
                         PLOT_TOP - 4, bottom + 6);
        put_label(s, (x_of(s, from) + x_of(s, to)) / 2, bottom + 20, "small mid bandtext", "", "no CPU ran anything");
}

static void put_row(Svg *s, const StallRow *r, double y) {
        const double height = s->row >= 6 ? s->row * 0.76 : r->worst ? MAX(s->row, 1.5) : s->row, top = y + (s->row - height) / 2, middle = y + s->row / 2 + 3.5;
        const char *class = r->worst ? "w" : r->late ? "l" : r->mixed ? "m" : "b";
        const char *size = s->row >= 14 ? "small" : "tiny";
        uint64_t from = 0, to = r->stall_nsec;
        char span[UCS_TIMESPAN_MAX];

        if (s->row >= ROW_LABEL)
                put_label(s, PLOT_LEFT - 10, middle, r->worst ? "end wt" : "end", s->row >= 14 ? "" : " style=\"font-size:9px\"", "%" PRIu64, r->cpu);
        if (r->stall_nsec == UCS_UNKNOWN) {
                ucs_text_appendf(&s->text, "<line x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\" class=\"n\"/>\n", PLOT_LEFT, y + s->row / 2, PLOT_RIGHT,
                                 y + s->row / 2);
                if (s->row >= ROW_LABEL)
                        put_label(s, PLOT_RIGHT + 12, middle, size, "", "no evidence");
                return;
        }
        if (r->entry_nsec != UCS_UNKNOWN) {
                from = r->entry_nsec;
                to = r->exit_nsec;
        }
        ucs_text_appendf(&s->text, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\"%s><title>CPU %" PRIu64 ": %s</title></rect>\n",
                         x_of(s, from), top, MAX((double) (to - from) * s->scale, 0.5), height, class, s->row >= 6 ? " rx=\"2\"" : "", r->cpu,
                         ucs_format_stall(span, r->stall_nsec));
        if (s->row >= ROW_LABEL)
                put_label(s, PLOT_RIGHT + 12, middle, r->worst ? "wt" : "", s->row >= 14 ? "" : " style=\"font-size:9px\"", "%s",
                          ucs_format_stall(span, r->stall_nsec));
        else if (r->worst) {
                ucs_text_appendf(&s->text, "<path d=\"M%.1f %.2fl9 -4.5v9z\" class=\"w\"/>\n", PLOT_RIGHT + 3, y + s->row / 2);
                put_label(s, PLOT_RIGHT + 16, middle, "small wt", "", "CPU %" PRIu64, r->cpu);
        }
}

static void put_cluster(Svg *s, const StallRow *r, double from, double to) {
        char number[24] = "?";

        if (r->cluster != UCS_UNKNOWN)
                (void) snprintf(number, sizeof(number), "%" PRIu64, r->cluster);
        ucs_text_appendf(&s->text, "<rect x=\"94\" y=\"%.2f\" width=\"2.5\" height=\"%.2f\" class=\"rail\"/>\n", from, MAX(to - from, 0.5));
        put_label(s, 86, (from + to) / 2 + 3.5, "end", to - from < 12 ? " style=\"font-size:9px\"" : " style=\"font-size:11px\"", "cluster %s", number);
}

static void put_rows(Svg *s) {
        const StallModel *m = s->m;
        double y = PLOT_TOP, cluster_top = PLOT_TOP;

        for (size_t i = 0; i < m->n_rows; i++) {
                const StallRow *r = &m->rows[i];

                if (i == 0 || m->rows[i - 1].package != r->package) {
                        y += i > 0 ? PACKAGE_GAP : 0;
                        if (r->package == UCS_UNKNOWN)
                                put_label(s, 32, y + 17, "strong", "", "Package unknown");
                        else
                                put_label(s, 32, y + 17, "strong", "", "Package %" PRIu64, r->package);
                        y += PACKAGE_HEAD;
                        cluster_top = y;
                } else if (new_cluster(&m->rows[i - 1], r)) {
                        y += s->gap;
                        cluster_top = y;
                }
                put_row(s, r, y);
                y += s->row;
                if (i + 1 == m->n_rows || new_cluster(r, &m->rows[i + 1]))
                        put_cluster(s, r, cluster_top, y);
        }
}

static void put_key(Svg *s, double y) {
        struct {
                const char *class, *what;
                bool used;
        } keys[] = {
                { "b", s->m->intervals ? "stood still, from entry to exit" : "stood still, for so long", true },
                { "w", "the worst CPU", false },
                { "l", s->m->intervals ? "late" : "longer", false },
                { "m", "may hold other work", false },
                { "n", "no evidence", false },
        };
        double x = PLOT_LEFT;

        for (size_t i = 0; i < s->m->n_rows; i++) {
                const StallRow *r = &s->m->rows[i];

                keys[1].used |= r->worst;
                keys[2].used |= r->late && !r->worst;
                keys[3].used |= r->mixed && !r->worst && !r->late;
                keys[4].used |= r->stall_nsec == UCS_UNKNOWN;
        }
        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                if (!keys[i].used)
                        continue;
                ucs_text_appendf(&s->text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\" rx=\"2\" class=\"%s\"/>\n", x, y - 9, keys[i].class);
                put_label(s, x + 20, y, "small", "", "%s", keys[i].what);
                x += 20 + 6.2 * (double) strlen(keys[i].what) + 24;
        }
}

char *stall_svg(UcsCtl *ctl, const StallModel *m, const json_object *stall, const json_object *load) {
        Svg s = { .ctl = ctl, .m = m };
        double bottom, height;
        char *text = NULL;

        s.row = ROWS_WANTED / (double) MAX(m->n_rows, (size_t) 1);
        s.row = MIN(s.row, ROW_MAX);
        s.row = MAX(s.row, ROW_MIN);
        if (s.row >= 1 && s.row < ROW_LABEL)
                s.row = (double) (unsigned) (s.row + 0.99); /* whole pixels: no stripes that are not there */
        s.gap = s.row >= ROW_LABEL ? 8 : 3;
        s.scale = (PLOT_RIGHT - PLOT_LEFT) / (double) MAX(m->span_nsec, UINT64_C(1));
        bottom = PLOT_TOP + plot_height(&s) + 6;
        height = bottom + 72;

        ucs_text_appendf(&s.text,
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                         "aria-labelledby=\"t\">\n<title id=\"t\">For how long the machine stood still while microcode was loaded, by CPU</title>\n",
                         WIDTH, height, WIDTH, height);
        ucs_text_append(&s.text, style);
        ucs_text_appendf(&s.text, "<rect x=\"0.5\" y=\"0.5\" width=\"%.0f\" height=\"%.0f\" rx=\"12\" class=\"ground\"/>\n", WIDTH - 1, height - 1);
        put_head(&s, stall, load);
        if (m->span_nsec > 0) {
                put_axis(&s, bottom);
                put_band(&s, stall, bottom);
        }
        put_rows(&s);
        if (m->span_nsec > 0)
                put_band_edges(&s, stall, bottom);
        put_key(&s, bottom + 48);
        ucs_text_append(&s.text, "</svg>\n");
        return ucs_text_take(&s.text, &text, NULL) < 0 ? NULL : text;
}

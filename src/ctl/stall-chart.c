/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bars on a terminal; see stall-chart.h. */

#include <inttypes.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/timefmt.h"
#include "ctl/stall-axis.h"
#include "ctl/stall-chart.h"

#define WIDTH_DEFAULT 80U
#define BAR_WANTED    32U /* columns are left out until there is so much room, or half of all */
#define TICK_COLUMNS  10U
#define CELL_MAX      32
#define COLUMNS_MAX   8
#define CLUSTERS_MAX  24U /* of more only those that stand out */

typedef struct Column {
        const char *heading;
        bool left;
        unsigned leave; /* the highest goes first; 0: never */
} Column;

/* What a bar shows, in ns; light from `from` to `to`, dark in the middle. Nothing when to is 0. */
typedef struct Bar {
        uint64_t from, solid_from, solid_to, to;
} Bar;

typedef struct Chart Chart;
struct Chart {
        UcsCtl *ctl;
        const StallModel *model;
        const Column *columns;
        size_t n_columns, n_rows;
        void (*cell)(const Chart *c, size_t row, size_t column, char buf[static CELL_MAX]);
        CtlStyle (*look)(const Chart *c, size_t row, Bar *ret); /* 0 CPUs seen: an empty bar */
        const void *rows;
        size_t widths[COLUMNS_MAX];
        bool shown[COLUMNS_MAX];
        size_t bar_columns;
};

static void measure(Chart *c) {
        size_t total = c->ctl->width == SIZE_MAX ? WIDTH_DEFAULT : c->ctl->width, taken = 0;

        for (size_t k = 0; k < c->n_columns; k++) {
                c->widths[k] = 0;
                for (size_t i = 0; i < c->n_rows; i++) {
                        char buf[CELL_MAX];

                        c->cell(c, i, k, buf);
                        c->widths[k] = MAX(c->widths[k], strlen(buf));
                }
                c->shown[k] = c->widths[k] > 0;
                if (!c->shown[k])
                        continue;
                if (c->ctl->legend)
                        c->widths[k] = MAX(c->widths[k], strlen(c->columns[k].heading));
                taken += c->widths[k] + 2;
        }
        while (taken + MIN((size_t) BAR_WANTED, total / 2) > total) {
                size_t worst = 0;

                for (size_t k = 1; k < c->n_columns; k++)
                        if (c->shown[k] && (!c->shown[worst] || c->columns[k].leave > c->columns[worst].leave))
                                worst = k;
                if (!c->shown[worst] || c->columns[worst].leave == 0)
                        break;
                c->shown[worst] = false;
                taken -= c->widths[worst] + 2;
        }
        c->bar_columns = total > taken ? total - taken : 1;
}

/* How much of [cell, cell + 1) lies in [from, to). */
static double overlap(double cell, double from, double to) {
        const double a = MAX(cell, from), b = MIN(cell + 1, to);

        return b > a ? b - a : 0;
}

/* A dark bar has one edge or the other in a cell; blocks fill from the left in eighths, from the right only by half and by an eighth. */
static const char *block(double cell, double from, double to) {
        static const char *const lefts[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
        const double filled = overlap(cell, from, to);

        if (from > cell && to >= cell + 1)
                return filled > 0.75 ? "█" : filled > 0.3125 ? "▐" : filled > 0.0625 ? "▕" : " ";
        return lefts[(size_t) (filled * 8 + 0.5)];
}

static void put_bar(const Chart *c, const Bar *b) {
        const double scale = (double) c->bar_columns / (double) MAX(c->model->span_nsec, UINT64_C(1));
        const double from = (double) b->from * scale, to = (double) b->to * scale;
        double solid_from = (double) b->solid_from * scale, solid_to = (double) b->solid_to * scale;
        size_t blanks = 0;
        bool any = false;

        if (solid_from >= solid_to)
                solid_from = solid_to = to;
        for (size_t i = 0; i < c->bar_columns; i++) {
                const double cell = (double) i, solid = overlap(cell, solid_from, solid_to), all = overlap(cell, from, to);
                const char *s = " ";

                if (c->ctl->unicode) {
                        s = solid > 0 ? block(cell, solid_from, solid_to) : " ";
                        if (*s == ' ' && all >= 0.5 && all > solid + 0.4)
                                s = "░";
                } else if (solid >= 0.5)
                        s = "#";
                else if (all >= 0.5)
                        s = "-";
                /* whatever stood still is seen, however short it was */
                if (*s == ' ' && !any && to <= cell + 1)
                        s = c->ctl->unicode ? "▏" : "#";
                if (*s == ' ') {
                        if (any && cell >= to)
                                break;
                        blanks++;
                        continue;
                }
                (void) printf("%*s%s", (int) blanks, "", s);
                blanks = 0;
                any = true;
        }
}

static void put_axis(const Chart *c) {
        const uint64_t span = MAX(c->model->span_nsec, UINT64_C(1));
        const StallAxis axis = stall_axis(span, MAX((double) c->bar_columns / TICK_COLUMNS, 1.0));
        size_t at = 0;

        for (unsigned i = 0;; i++) {
                const size_t column = (size_t) (stall_axis_nsec(&axis, i) / (double) span * (double) c->bar_columns + 0.5);
                char label[STALL_LABEL_MAX];
                size_t n;

                n = strlen(stall_axis_label(label, &axis, i));
                if (column + 1 + n > c->bar_columns)
                        break;
                (void) printf("%*s%s%s", (int) (column - at), "", c->ctl->unicode ? "▏" : "|", label);
                at = column + 1 + n;
        }
}

/* Two blanks stand before every column but the first, and what ends a line has none behind it. */
static void put_cell(const Chart *c, size_t k, const char *text, bool last) {
        const int width = (int) c->widths[k];

        if (k > 0)
                (void) fputs("  ", stdout);
        if (!c->columns[k].left)
                (void) printf("%*s", width, text);
        else if (last)
                (void) fputs(text, stdout);
        else
                (void) printf("%-*s", width, text);
}

static size_t last_shown(const Chart *c) {
        size_t k = c->n_columns;

        while (k > 1 && !c->shown[k - 1])
                k--;
        return k - 1;
}

static void print(Chart *c) {
        size_t last;

        if (c->ctl->quiet)
                return;
        measure(c);
        last = last_shown(c);
        if (c->ctl->legend) {
                for (size_t k = 0; k < c->n_columns; k++)
                        if (c->shown[k])
                                put_cell(c, k, c->columns[k].heading, false);
                if (c->model->span_nsec > 0) {
                        (void) fputs("  ", stdout);
                        put_axis(c);
                }
                (void) putchar('\n');
        }
        for (size_t i = 0; i < c->n_rows; i++) {
                Bar bar = {};
                const CtlStyle style = c->look(c, i, &bar);
                const char *begin = style == CTL_NORMAL ? "" : ctl_escape(c->ctl, style);

                (void) fputs(begin, stdout);
                for (size_t k = 0; k < c->n_columns; k++)
                        if (c->shown[k]) {
                                char buf[CELL_MAX];

                                c->cell(c, i, k, buf);
                                put_cell(c, k, buf, k == last && bar.to == 0);
                        }
                if (bar.to > 0) {
                        (void) fputs("  ", stdout);
                        put_bar(c, &bar);
                }
                (void) fputs(*begin ? ctl_escape(c->ctl, CTL_NORMAL) : "", stdout);
                (void) putchar('\n');
        }
}

static void format_number(char buf[static CELL_MAX], uint64_t v) {
        if (v == UCS_UNKNOWN)
                (void) snprintf(buf, CELL_MAX, "-");
        else
                (void) snprintf(buf, CELL_MAX, "%" PRIu64, v);
}

static void format_span(char buf[static CELL_MAX], uint64_t nsec) {
        char span[UCS_TIMESPAN_MAX];

        (void) snprintf(buf, CELL_MAX, "%s", nsec == UCS_UNKNOWN ? "-" : ucs_format_stall(span, nsec));
}

static const char *mark(bool seen, bool worst, bool late, bool mixed) {
        return !seen ? "-" : worst ? "*" : late ? "!" : mixed ? "~" : "";
}

static void cpu_cell(const Chart *c, size_t row, size_t column, char buf[static CELL_MAX]) {
        const StallRow *r = &((const StallRow *) c->rows)[row];

        *buf = '\0';
        switch (column) {
        case 0:
                format_number(buf, r->cpu);
                break;
        case 1:
                (void) snprintf(buf, CELL_MAX, "%s", mark(r->stall_nsec != UCS_UNKNOWN, r->worst, r->late, r->mixed));
                break;
        case 2:
                format_number(buf, r->package);
                break;
        case 3:
                format_number(buf, r->cluster);
                break;
        case 4:
                if (c->model->intervals)
                        format_span(buf, r->entry_nsec);
                break;
        default:
                if (r->stall_nsec == UCS_UNKNOWN)
                        (void) snprintf(buf, CELL_MAX, "unknown");
                else
                        format_span(buf, r->stall_nsec);
        }
}

static CtlStyle cpu_look(const Chart *c, size_t row, Bar *ret) {
        const StallRow *r = &((const StallRow *) c->rows)[row];

        if (r->stall_nsec == UCS_UNKNOWN)
                return CTL_DIM;
        if (r->entry_nsec != UCS_UNKNOWN)
                *ret = (Bar){ r->entry_nsec, r->entry_nsec, r->exit_nsec, r->exit_nsec };
        else
                *ret = (Bar){ 0, 0, r->stall_nsec, r->stall_nsec };
        return r->worst ? CTL_BAD : r->late ? CTL_WARN : CTL_NORMAL;
}

/* "17" or "2,6-7" of the rows that `wanted` takes; NULL for none, or without memory. */
static char *list_cpus(const StallModel *m, bool (*wanted)(const StallRow *r)) {
        UcsCpuSet set = {};
        char *list;

        for (size_t i = 0; i < m->n_rows; i++)
                if (wanted(&m->rows[i]) && m->rows[i].cpu < UCS_CPU_MAX)
                        ucs_cpuset_add(&set, (unsigned) m->rows[i].cpu);
        return ucs_cpuset_count(&set) == 0 || ucs_cpuset_format(&set, &list) < 0 ? NULL : list;
}

static bool row_worst(const StallRow *r) {
        return r->worst;
}

static bool row_late(const StallRow *r) {
        return r->late;
}

static bool row_mixed(const StallRow *r) {
        return r->mixed;
}

static bool row_unseen(const StallRow *r) {
        return r->stall_nsec == UCS_UNKNOWN;
}

static void say_marks(UcsCtl *ctl, const StallModel *m) {
        const struct {
                const char *mark, *what;
                CtlStyle style;
                bool (*wanted)(const StallRow *r);
        } marks[] = {
                { "*", "stood still longest", CTL_BAD, row_worst },
                { "!", m->intervals ? "late, in or out, by more than a twentieth of the whole" : "longer than the median by more than a twentieth",
                  CTL_WARN, row_late },
                { "~", "may hold other work of the kernel's thread, and is in no figure", CTL_NORMAL, row_mixed },
                { "-", "without evidence", CTL_DIM, row_unseen },
        };
        CtlScreen s;

        ctl_screen_begin(&s, ctl, 0);
        ctl_gap(&s);
        for (size_t i = 0; i < ELEMENTSOF(marks); i++) {
                _cleanup_free_ char *list = list_cpus(m, marks[i].wanted);

                if (!list)
                        continue;
                ctl_row(&s, NULL);
                ctl_put(&s, marks[i].style, "%s CPU%s %s", marks[i].mark, strpbrk(list, ",-") ? "s" : "", list);
                ctl_put(&s, CTL_NORMAL, ": %s", marks[i].what);
        }
        if (!m->intervals) {
                ctl_row(&s, NULL);
                ctl_put(&s, CTL_DIM, "Lengths only: when each CPU came in is not known; all leave together");
        }
        ctl_screen_end(&s);
}

void stall_chart_cpus(UcsCtl *ctl, const StallModel *m) {
        static const Column columns[] = {
                { "CPU", false, 0 }, { "", true, 0 }, { "PACKAGE", false, 5 }, { "CLUSTER", false, 4 }, { "ENTRY", false, 3 }, { "STALL", false, 2 },
        };
        Chart c = {
                .ctl = ctl,
                .model = m,
                .columns = columns,
                .n_columns = ELEMENTSOF(columns),
                .n_rows = m->n_rows,
                .rows = m->rows,
                .cell = cpu_cell,
                .look = cpu_look,
        };

        print(&c);
        if (ctl->legend)
                say_marks(ctl, m);
}

static void group_cell(const Chart *c, size_t row, size_t column, char buf[static CELL_MAX]) {
        const StallGroup *g = ((const StallGroup *const *) c->rows)[row];
        const bool cluster = g >= c->model->clusters && g < c->model->clusters + c->model->n_clusters;
        char number[CELL_MAX];

        switch (column) {
        case 0:
                format_number(number, cluster ? g->cluster : g->package);
                (void) snprintf(buf, CELL_MAX, "%s%.16s", !cluster ? "Package " : g->across ? "Cluster " : "  cluster ", *number == '-' ? "unknown" : number);
                break;
        case 1:
                (void) snprintf(buf, CELL_MAX, "%s", mark(g->n_seen > 0, false, g->late, false));
                break;
        case 2:
                format_number(buf, g->n_cpus);
                break;
        case 3:
                format_span(buf, g->shortest_nsec);
                break;
        case 4:
                format_span(buf, g->longest_nsec);
                break;
        default:
                format_number(buf, g->longest_cpu);
        }
}

static CtlStyle group_look(const Chart *c, size_t row, Bar *ret) {
        const StallGroup *g = ((const StallGroup *const *) c->rows)[row];

        if (g->n_seen == 0)
                return CTL_DIM;
        if (g->first_entry_nsec != UCS_UNKNOWN)
                *ret = (Bar){ g->first_entry_nsec, g->last_entry_nsec, g->first_exit_nsec, g->last_exit_nsec };
        else
                *ret = (Bar){ 0, 0, g->shortest_nsec, g->longest_nsec };
        return g->late ? CTL_WARN : CTL_NORMAL;
}

void stall_chart_groups(UcsCtl *ctl, const StallModel *m) {
        static const Column columns[] = {
                { "", true, 0 }, { "", true, 0 }, { "CPUS", false, 4 }, { "SHORTEST", false, 5 }, { "LONGEST", false, 2 }, { "OF CPU", false, 3 },
        };
        _cleanup_free_ const StallGroup **rows = new0(const StallGroup *, m->n_packages + m->n_clusters);
        const bool many = m->n_clusters > CLUSTERS_MAX;
        Chart c = {
                .ctl = ctl,
                .model = m,
                .columns = columns,
                .n_columns = ELEMENTSOF(columns),
                .rows = rows,
                .cell = group_cell,
                .look = group_look,
        };
        size_t hidden = 0, listed = 0;
        bool nested = true;

        if (!rows)
                return;
        for (size_t k = 0; k < m->n_clusters; k++)
                nested = nested && !m->clusters[k].across;
        for (size_t p = 0; p < m->n_packages; p++) {
                rows[c.n_rows++] = &m->packages[p];
                /* below its package, or all below the last one */
                for (size_t k = 0; k < m->n_clusters && (nested || p + 1 == m->n_packages); k++) {
                        if (nested && m->clusters[k].package != m->packages[p].package)
                                continue;
                        if (many && (!m->clusters[k].late || listed == CLUSTERS_MAX))
                                hidden++;
                        else {
                                rows[c.n_rows++] = &m->clusters[k];
                                listed++;
                        }
                }
        }
        print(&c);
        if (hidden > 0 && ctl->legend)
                ctl_say(ctl, "%zu x2APIC clusters%s; --per-cpu --sort=cluster shows each CPU", hidden,
                        listed > 0 ? " more" : ", none of them late");
}

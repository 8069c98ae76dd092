/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From the list of CPUs to rows and groups; see stall-model.h. */

#include "base/cpuset.h"
#include "base/enum.h"
#include "ctl/stall-model.h"

#define LATE_SHARE 20U

static const char *const sort_table[_STALL_SORT_MAX] = {
        [STALL_SORT_CPU] = "cpu",
        [STALL_SORT_ENTRY] = "entry",
        [STALL_SORT_CLUSTER] = "cluster",
};

DEFINE_ENUM_STRINGS(stall_sort, StallSort, sort_table);

static uint64_t figure(const json_object *o, const char *key) {
        uint64_t v = UCS_UNKNOWN;

        (void) ctl_u64(o, key, &v);
        return v;
}

static bool has_interval(const StallRow *r) {
        return r->entry_nsec != UCS_UNKNOWN && r->exit_nsec != UCS_UNKNOWN && r->entry_nsec <= r->exit_nsec;
}

static int compare_u64(const void *a, const void *b) {
        const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

static int compare_numbers(uint64_t a, uint64_t b) {
        return (a > b) - (a < b);
}

static int compare_cpu(const void *a, const void *b) {
        return compare_numbers(((const StallRow *) a)->cpu, ((const StallRow *) b)->cpu);
}

static int compare_entry(const void *a, const void *b) {
        const StallRow *x = a, *y = b;
        int r;

        r = compare_numbers(x->entry_nsec, y->entry_nsec);
        if (r != 0)
                return r;
        /* lengths alone: the longest first, those without any last */
        if (x->stall_nsec != y->stall_nsec && !has_interval(x)) {
                if (x->stall_nsec == UCS_UNKNOWN || y->stall_nsec == UCS_UNKNOWN)
                        return x->stall_nsec == UCS_UNKNOWN ? 1 : -1;
                return compare_numbers(y->stall_nsec, x->stall_nsec);
        }
        return compare_cpu(a, b);
}

/* A cluster may lie across packages: of few CPUs each, sixteen APIC ids are several of them. */
static int compare_cluster_alone(const void *a, const void *b) {
        const int r = compare_numbers(((const StallRow *) a)->cluster, ((const StallRow *) b)->cluster);

        return r != 0 ? r : compare_cpu(a, b);
}

static int compare_cluster(const void *a, const void *b) {
        const StallRow *x = a, *y = b;
        int r;

        r = compare_numbers(x->package, y->package);
        if (r == 0)
                r = compare_numbers(x->cluster, y->cluster);
        return r != 0 ? r : compare_cpu(a, b);
}

static int (*const comparisons[_STALL_SORT_MAX])(const void *, const void *) = {
        [STALL_SORT_CPU] = compare_cpu,
        [STALL_SORT_ENTRY] = compare_entry,
        [STALL_SORT_CLUSTER] = compare_cluster,
};

/* The lower of the middle two of a member, or their mean, over the rows that have it; UCS_UNKNOWN for none. `buf` has room for all. */
static uint64_t median_of(const StallRow *rows, size_t n, size_t offset, bool mean, uint64_t *buf) {
        size_t k = 0;

        for (size_t i = 0; i < n; i++) {
                const uint64_t v = *(const uint64_t *) ((const char *) &rows[i] + offset);

                if (v != UCS_UNKNOWN)
                        buf[k++] = v;
        }
        if (k == 0)
                return UCS_UNKNOWN;
        qsort(buf, k, sizeof(*buf), compare_u64);
        return buf[(k - 1) / 2] + (mean ? (buf[k / 2] - buf[(k - 1) / 2]) / 2 : 0);
}

/* More than half of them must be late to move it. */
#define LOWER(rows, n, member, buf) median_of((rows), (n), offsetof(StallRow, member), false, (buf))
#define MEDIAN(rows, n, member, buf) median_of((rows), (n), offsetof(StallRow, member), true, (buf))

typedef struct Middle {
        uint64_t stall_nsec, entry_nsec, exit_nsec, tolerance_nsec;
} Middle;

static bool later(uint64_t v, uint64_t median, uint64_t tolerance) {
        return v != UCS_UNKNOWN && median != UCS_UNKNOWN && v > median && v - median > tolerance;
}

static bool is_late(const Middle *m, uint64_t stall_nsec, uint64_t entry_nsec, uint64_t exit_nsec) {
        if (m->entry_nsec != UCS_UNKNOWN)
                return later(entry_nsec, m->entry_nsec, m->tolerance_nsec) ||
                       later(exit_nsec, m->exit_nsec, m->tolerance_nsec);
        return later(stall_nsec, m->stall_nsec, m->tolerance_nsec);
}

static void read_rows(StallModel *m, const json_object *per_cpu, const json_object *stall) {
        const uint64_t worst = figure(stall, "worst_cpu");
        uint64_t last_entry = 0, first_exit = UCS_UNKNOWN;
        const char *mixed_list = ctl_string(stall, "mixed_cpus");
        UcsCpuSet mixed = {};

        if (mixed_list)
                (void) ucs_cpuset_parse(mixed_list, &mixed, NULL);
        for (size_t i = 0; i < m->n_rows; i++) {
                const json_object *o = json_object_array_get_idx(per_cpu, i);
                StallRow *r = &m->rows[i];

                *r = (StallRow){
                        .cpu = figure(o, "cpu"),
                        .package = figure(o, "package"),
                        .cluster = figure(o, "cluster"),
                        .stall_nsec = figure(o, "stall_nsec"),
                        .entry_nsec = figure(o, "entry_nsec"),
                        .exit_nsec = figure(o, "exit_nsec"),
                };
                r->worst = r->cpu == worst && r->stall_nsec != UCS_UNKNOWN;
                r->mixed = r->cpu < UCS_CPU_MAX && ucs_cpuset_has(&mixed, (unsigned) r->cpu);
                if (has_interval(r)) {
                        m->intervals = true;
                        m->span_nsec = MAX(m->span_nsec, r->exit_nsec);
                        if (!r->mixed) {
                                last_entry = MAX(last_entry, r->entry_nsec);
                                first_exit = MIN(first_exit, r->exit_nsec);
                        }
                } else {
                        r->entry_nsec = r->exit_nsec = UCS_UNKNOWN;
                        if (r->stall_nsec != UCS_UNKNOWN)
                                m->span_nsec = MAX(m->span_nsec, r->stall_nsec);
                }
        }
        m->common_from_nsec = m->common_to_nsec = UCS_UNKNOWN;
        if (first_exit != UCS_UNKNOWN && first_exit > last_entry) {
                m->common_from_nsec = last_entry;
                m->common_to_nsec = first_exit;
        }
}

/* `rows` are the group's, n of them. */
static void make_group(const StallRow *rows, size_t n, const Middle *middle, uint64_t *buf, StallGroup *ret) {
        StallGroup g = {
                .package = rows[0].package,
                .cluster = rows[0].cluster,
                .n_cpus = n,
                .shortest_nsec = UCS_UNKNOWN,
                .longest_nsec = UCS_UNKNOWN,
                .longest_cpu = UCS_UNKNOWN,
                .first_entry_nsec = UCS_UNKNOWN,
                .first_exit_nsec = UCS_UNKNOWN,
        };

        for (size_t i = 0; i < n; i++) {
                const StallRow *r = &rows[i];

                if (r->package != rows[0].package) {
                        g.package = UCS_UNKNOWN;
                        g.across = true;
                }
                if (r->stall_nsec == UCS_UNKNOWN)
                        continue;
                g.n_seen++;
                g.shortest_nsec = MIN(g.shortest_nsec, r->stall_nsec);
                if (g.longest_nsec == UCS_UNKNOWN || r->stall_nsec > g.longest_nsec) {
                        g.longest_nsec = r->stall_nsec;
                        g.longest_cpu = r->cpu;
                }
                if (!has_interval(r))
                        continue;
                g.first_entry_nsec = MIN(g.first_entry_nsec, r->entry_nsec);
                g.last_entry_nsec = MAX(g.last_entry_nsec, r->entry_nsec);
                g.first_exit_nsec = MIN(g.first_exit_nsec, r->exit_nsec);
                g.last_exit_nsec = MAX(g.last_exit_nsec, r->exit_nsec);
        }
        if (g.first_entry_nsec == UCS_UNKNOWN)
                g.last_entry_nsec = g.last_exit_nsec = UCS_UNKNOWN;
        g.median_nsec = MEDIAN(rows, n, stall_nsec, buf);
        g.late = is_late(middle, LOWER(rows, n, stall_nsec, buf), LOWER(rows, n, entry_nsec, buf), LOWER(rows, n, exit_nsec, buf));
        *ret = g;
}

/* One group for each run of rows that are equal in the member at `offset`; how many there are. */
static size_t make_groups(const StallModel *m, size_t offset, const Middle *middle, uint64_t *buf, StallGroup *groups) {
        size_t n = 0;

        for (size_t i = 0, begin = 0; i < m->n_rows; i++) {
                const uint64_t *here = (const uint64_t *) ((const char *) &m->rows[i] + offset),
                               *next = (const uint64_t *) ((const char *) &m->rows[i + 1] + offset);

                if (i + 1 < m->n_rows && *here == *next)
                        continue;
                make_group(&m->rows[begin], i + 1 - begin, middle, buf, &groups[n++]);
                begin = i + 1;
        }
        return n;
}

int stall_model_new(const json_object *per_cpu, const json_object *stall, StallSort sort, StallModel *ret) {
        _cleanup_(stall_model_done) StallModel m = { .n_rows = json_object_array_length(per_cpu) };
        _cleanup_free_ uint64_t *buf = new0(uint64_t, m.n_rows);
        Middle middle;

        m.rows = new0(StallRow, m.n_rows);
        m.packages = new0(StallGroup, m.n_rows);
        m.clusters = new0(StallGroup, m.n_rows);
        if (!buf || !m.rows || !m.packages || !m.clusters)
                return -ENOMEM;
        read_rows(&m, per_cpu, stall);

        middle.stall_nsec = LOWER(m.rows, m.n_rows, stall_nsec, buf);
        middle.entry_nsec = LOWER(m.rows, m.n_rows, entry_nsec, buf);
        middle.exit_nsec = LOWER(m.rows, m.n_rows, exit_nsec, buf);
        middle.tolerance_nsec = m.span_nsec / LATE_SHARE;
        for (size_t i = 0; i < m.n_rows; i++) {
                StallRow *r = &m.rows[i];

                r->late = is_late(&middle, r->stall_nsec, r->entry_nsec, r->exit_nsec);
        }

        qsort(m.rows, m.n_rows, sizeof(*m.rows), compare_cluster_alone);
        m.n_clusters = make_groups(&m, offsetof(StallRow, cluster), &middle, buf, m.clusters);
        qsort(m.rows, m.n_rows, sizeof(*m.rows), compare_cluster);
        m.n_packages = make_groups(&m, offsetof(StallRow, package), &middle, buf, m.packages);
        for (size_t i = 0; i < m.n_packages; i++)
                m.packages[i].cluster = UCS_UNKNOWN;
        qsort(m.rows, m.n_rows, sizeof(*m.rows), comparisons[sort]);
        *ret = m;
        m = (StallModel){};
        return 0;
}

void stall_model_done(StallModel *m) {
        free(m->rows);
        free(m->packages);
        free(m->clusters);
        *m = (StallModel){};
}

static void add(json_object *o, const char *key, uint64_t v) {
        (void) json_object_object_add(o, key, v == UCS_UNKNOWN ? NULL : json_object_new_uint64(v));
}

json_object *stall_groups_to_json(const StallGroup *groups, size_t n, bool clusters) {
        json_object *list = json_object_new_array();

        for (size_t i = 0; i < n; i++) {
                const StallGroup *g = &groups[i];
                json_object *o = json_object_new_object();

                add(o, "package", g->package);
                if (clusters)
                        add(o, "cluster", g->cluster);
                add(o, "cpus", g->n_cpus);
                add(o, "cpus_witnessed", g->n_seen);
                add(o, "shortest_nsec", g->shortest_nsec);
                add(o, "median_nsec", g->median_nsec);
                add(o, "longest_nsec", g->longest_nsec);
                add(o, "longest_cpu", g->longest_cpu);
                add(o, "first_entry_nsec", g->first_entry_nsec);
                add(o, "last_entry_nsec", g->last_entry_nsec);
                add(o, "first_exit_nsec", g->first_exit_nsec);
                add(o, "last_exit_nsec", g->last_exit_nsec);
                (void) json_object_object_add(o, "late", json_object_new_boolean(g->late));
                (void) json_object_array_add(list, o);
        }
        return list;
}

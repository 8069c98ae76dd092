/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the CPUs saw of the last load, for the charts: rows, and groups of rows by package and by x2APIC cluster. Read from the same JSON values
 * that --json prints; times in ns, UCS_UNKNOWN where there is none. Offsets are from the earliest entry of any CPU.
 *
 * "Late" is what a chart should make stand out: a CPU that came in, or got out, later than the median one by more than a twentieth of the whole;
 * where only lengths are known, one that stood still for so much longer. A group is late when more than half of its CPUs are. */

#include <errno.h>

#include "ctl/ctl-decode.h"

typedef struct StallRow {
        uint64_t cpu, package, cluster;
        uint64_t stall_nsec; /* UCS_UNKNOWN: no evidence */
        uint64_t entry_nsec, exit_nsec;
        bool mixed; /* other work of the same thread may be in it */
        bool worst, late;
} StallRow;

typedef struct StallGroup {
        uint64_t package, cluster; /* `cluster` UCS_UNKNOWN in a list of packages */
        bool across;               /* a cluster of several packages: `package` UCS_UNKNOWN */
        size_t n_cpus, n_seen;
        uint64_t shortest_nsec, median_nsec, longest_nsec;
        uint64_t longest_cpu;
        uint64_t first_entry_nsec, last_entry_nsec, first_exit_nsec, last_exit_nsec; /* all of them or none */
        bool late;
} StallGroup;

typedef struct StallModel {
        StallRow *rows; /* in the order that was asked for */
        size_t n_rows;
        StallGroup *packages, *clusters; /* by number */
        size_t n_packages, n_clusters;
        bool intervals;     /* some row has offsets */
        uint64_t span_nsec; /* what the axis has to hold; 0: nobody saw anything */
        uint64_t common_from_nsec, common_to_nsec; /* in which no CPU ran anything; UCS_UNKNOWN without offsets */
} StallModel;

typedef enum StallSort {
        STALL_SORT_CPU,
        STALL_SORT_ENTRY, /* the first one in first; without offsets the longest, since all leave together */
        STALL_SORT_CLUSTER,
        _STALL_SORT_MAX,
        _STALL_SORT_INVALID = -EINVAL,
} StallSort;

const char *stall_sort_to_string(StallSort s);
StallSort stall_sort_from_string(const char *s);

/* `per_cpu`: the list of that name; `stall`: the properties of org.ucodesync1.Stall. 0 or -ENOMEM. */
int stall_model_new(const json_object *per_cpu, const json_object *stall, StallSort sort, StallModel *ret);
void stall_model_done(StallModel *m);

/* The groups as JSON lists. */
json_object *stall_groups_to_json(const StallGroup *groups, size_t n, bool clusters);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A set of CPU numbers, and the kernel's text form of it, "0-3,8" (lib/bitmap.c, bitmap_parselist).
 *
 * CPU numbers below UCS_CPU_MAX; the largest x86 kernel configuration (NR_CPUS) is 8192. */

#include "base/cleanup.h"
#include "base/error.h"

#define UCS_CPU_MAX 8192U

typedef struct UcsCpuSet {
        uint64_t bits[UCS_CPU_MAX / 64];
} UcsCpuSet;

/* Replace `*ret` by what `s` lists; blanks and one newline at the end are taken, an empty list is an empty set.
 * -EINVAL (not such a list), -ERANGE (a CPU number of UCS_CPU_MAX or more), `ret` untouched. */
int ucs_cpuset_parse(const char *s, UcsCpuSet *ret, UcsError *e);

/* "0-3,8" in new memory. 0 or -ENOMEM. */
int ucs_cpuset_format(const UcsCpuSet *set, char **ret);

static inline bool ucs_cpuset_has(const UcsCpuSet *set, unsigned cpu) {
        return cpu < UCS_CPU_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}
static inline void ucs_cpuset_add(UcsCpuSet *set, unsigned cpu) {
        if (cpu < UCS_CPU_MAX)
                set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}
static inline void ucs_cpuset_remove(UcsCpuSet *set, unsigned cpu) {
        if (cpu < UCS_CPU_MAX)
                set->bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}
unsigned ucs_cpuset_count(const UcsCpuSet *set);
bool ucs_cpuset_equal(const UcsCpuSet *a, const UcsCpuSet *b);

/* The smallest CPU in the set that is `from` or above, or UCS_CPU_MAX. */
unsigned ucs_cpuset_next(const UcsCpuSet *set, unsigned from);

#define FOREACH_CPU(cpu, set)                                                                                  \
        for (unsigned cpu = ucs_cpuset_next((set), 0); cpu < UCS_CPU_MAX; cpu = ucs_cpuset_next((set), cpu + 1))

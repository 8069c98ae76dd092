/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets of CPUs and the kernel's lists of them. */

#include <errno.h>

#include "base/cpuset.h"
#include "base/str.h"
#include "ucs-test.h"

ucs_test(cpuset, parse) {
        static const struct {
                const char *s;
                int r;
                const char *formatted;
                unsigned count;
        } table[] = {
                { "0-3,8", 0, "0-3,8", 5 },
                { "0-3,8\n", 0, "0-3,8", 5 },
                { " 0-3,8 \t\n", 0, "0-3,8", 5 },
                { "0", 0, "0", 1 },
                { "", 0, "", 0 },
                { "\n", 0, "", 0 },
                { "8,0-3", 0, "0-3,8", 5 },
                { "0-1,1-3,2", 0, "0-3", 4 },
                { "0,1,2,3", 0, "0-3", 4 },
                { "0,2,4", 0, "0,2,4", 3 },
                { "5-5", 0, "5", 1 },
                { "007", 0, "7", 1 },
                { "63-64", 0, "63-64", 2 },
                { "0-8191", 0, "0-8191", 8192 },
                { "8191", 0, "8191", 1 },

                { "8192", -ERANGE, NULL, 0 },
                { "0-8192", -ERANGE, NULL, 0 },
                { "99999999999999999999", -ERANGE, NULL, 0 },
                { "0,4294967296", -ERANGE, NULL, 0 },
                { ",", -EINVAL, NULL, 0 },
                { "0,", -EINVAL, NULL, 0 },
                { ",0", -EINVAL, NULL, 0 },
                { "0,,1", -EINVAL, NULL, 0 },
                { "0, 1", -EINVAL, NULL, 0 },
                { "0 1", -EINVAL, NULL, 0 },
                { "0\n1", -EINVAL, NULL, 0 },
                { "-1", -EINVAL, NULL, 0 },
                { "0-", -EINVAL, NULL, 0 },
                { "3-0", -EINVAL, NULL, 0 },
                { "0--1", -EINVAL, NULL, 0 },
                { "0-1-2", -EINVAL, NULL, 0 },
                { "+1", -EINVAL, NULL, 0 },
                { "0x1", -EINVAL, NULL, 0 },
                { "a", -EINVAL, NULL, 0 },
                { "0-3:1/2", -EINVAL, NULL, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *s = NULL;
                UcsCpuSet set = {};
                UcsError e = {};
                int r;

                ucs_cpuset_add(&set, 4711);
                r = ucs_cpuset_parse(table[i].s, &set, &e);
                cr_expect_eq(r, table[i].r, "'%s': %d", table[i].s, r);
                if (r < 0) {
                        cr_expect(ucs_cpuset_count(&set) == 1 && ucs_cpuset_has(&set, 4711) && e.code == r && *e.text);
                        cr_expect(ucs_cpuset_parse(table[i].s, &set, NULL) == r);
                        continue;
                }
                cr_expect_eq(ucs_cpuset_count(&set), table[i].count);
                cr_assert(ucs_cpuset_format(&set, &s) == 0);
                cr_expect_str_eq(s, table[i].formatted);
        }
}

ucs_test(cpuset, bounds) {
        UcsCpuSet set = {}, other = {};

        cr_expect(!ucs_cpuset_has(&set, 0) && !ucs_cpuset_has(&set, UCS_CPU_MAX) && !ucs_cpuset_has(&set, UINT32_MAX));
        ucs_cpuset_add(&set, UCS_CPU_MAX);
        ucs_cpuset_add(&set, UINT32_MAX);
        ucs_cpuset_remove(&set, UCS_CPU_MAX);
        ucs_cpuset_remove(&set, 5);
        cr_expect(ucs_cpuset_equal(&set, &other) && ucs_cpuset_count(&set) == 0);

        ucs_cpuset_add(&set, UCS_CPU_MAX - 1);
        cr_expect(ucs_cpuset_has(&set, UCS_CPU_MAX - 1) && !ucs_cpuset_equal(&set, &other));
        ucs_cpuset_remove(&set, UCS_CPU_MAX - 1);
        cr_expect(ucs_cpuset_equal(&set, &other));
}

ucs_test(cpuset, iteration) {
        static const unsigned cpus[] = { 0, 1, 63, 64, 127, 4096, 8191 };
        UcsCpuSet set = {};
        size_t n = 0;

        FOREACH_CPU(cpu, &set)
                cr_assert(false, "an empty set has CPU %u", cpu);
        for (size_t i = 0; i < ELEMENTSOF(cpus); i++)
                ucs_cpuset_add(&set, cpus[i]);
        FOREACH_CPU(cpu, &set) {
                cr_assert(n < ELEMENTSOF(cpus) && cpu == cpus[n], "%u", cpu);
                n++;
        }
        cr_expect_eq(n, ELEMENTSOF(cpus));
        cr_expect_eq(ucs_cpuset_next(&set, 65), 127);
        cr_expect_eq(ucs_cpuset_next(&set, 8191), 8191);
        cr_expect_eq(ucs_cpuset_next(&set, 8192), UCS_CPU_MAX);
        cr_expect_eq(ucs_cpuset_next(&set, UINT32_MAX), UCS_CPU_MAX);
}

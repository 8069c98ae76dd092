/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets of CPUs and the kernel's list format; see cpuset.h. */

#include <ctype.h>
#include <errno.h>

#include "base/cpuset.h"
#include "base/str.h"

/* Digits at `*p`; moves `*p` behind them. A number too large to be a CPU is read to its end and given as UCS_CPU_MAX. */
static int parse_cpu(const char **p, unsigned *ret) {
        unsigned v = 0;

        if (!isdigit((unsigned char) **p))
                return -EINVAL;
        for (; isdigit((unsigned char) **p); (*p)++)
                v = MIN(v * 10 + (unsigned) (**p - '0'), UCS_CPU_MAX);
        *ret = v;
        return 0;
}

int ucs_cpuset_parse(const char *s, UcsCpuSet *ret, UcsError *e) {
        UcsCpuSet set = {};
        const char *p = s;

        while (isspace((unsigned char) *p))
                p++;
        while (*p) {
                unsigned first, last;

                if (parse_cpu(&p, &first) < 0)
                        goto invalid;
                last = first;
                if (*p == '-') {
                        p++;
                        if (parse_cpu(&p, &last) < 0)
                                goto invalid;
                }
                if (last < first)
                        goto invalid;
                if (last >= UCS_CPU_MAX)
                        return ucs_error_set(e, -ERANGE, "CPU list '%.64s' goes beyond CPU %u", s,
                                             UCS_CPU_MAX - 1);
                for (unsigned cpu = first; cpu <= last; cpu++)
                        ucs_cpuset_add(&set, cpu);

                if (*p == ',') {
                        p++;
                        if (!isdigit((unsigned char) *p))
                                goto invalid;
                        continue;
                }
                while (isspace((unsigned char) *p))
                        p++;
                if (*p)
                        goto invalid;
        }
        *ret = set;
        return 0;

invalid:
        return ucs_error_set(e, -EINVAL, "'%.64s' is not a CPU list such as 0-3,8", s);
}

int ucs_cpuset_format(const UcsCpuSet *set, char **ret) {
        _cleanup_text_ UcsText t = {};
        const char *comma = "";

        for (unsigned first = ucs_cpuset_next(set, 0); first < UCS_CPU_MAX;) {
                unsigned last = first;

                while (ucs_cpuset_has(set, last + 1))
                        last++;
                if (last > first)
                        ucs_text_appendf(&t, "%s%u-%u", comma, first, last);
                else
                        ucs_text_appendf(&t, "%s%u", comma, first);
                comma = ",";
                first = ucs_cpuset_next(set, last + 1);
        }
        return ucs_text_take(&t, ret, NULL);
}

unsigned ucs_cpuset_count(const UcsCpuSet *set) {
        unsigned n = 0;

        for (size_t i = 0; i < ELEMENTSOF(set->bits); i++)
                n += (unsigned) __builtin_popcountll(set->bits[i]);
        return n;
}

bool ucs_cpuset_equal(const UcsCpuSet *a, const UcsCpuSet *b) {
        return memcmp(a, b, sizeof(*a)) == 0;
}

unsigned ucs_cpuset_next(const UcsCpuSet *set, unsigned from) {
        for (size_t i = from / 64; i < ELEMENTSOF(set->bits); i++) {
                uint64_t word = set->bits[i];

                if (i == from / 64)
                        word &= UINT64_MAX << (from % 64);
                if (word)
                        return (unsigned) (i * 64) + (unsigned) __builtin_ctzll(word);
        }
        return UCS_CPU_MAX;
}

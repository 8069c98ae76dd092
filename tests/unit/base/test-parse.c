/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text into values: whole or not at all, and nothing is written on failure. */

#include <errno.h>

#include "base/parse.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "ucs-test.h"

ucs_test(parse, u64) {
        static const struct {
                const char *s;
                unsigned base;
                int r;
                uint64_t v;
        } table[] = {
                { "0", 10, 0, 0 },
                { "00012", 10, 0, 12 },
                { "18446744073709551615", 10, 0, UINT64_MAX },
                { "18446744073709551616", 10, -ERANGE, 0 },
                { "99999999999999999999999", 10, -ERANGE, 0 },
                { "99999999999999999999999x", 10, -EINVAL, 0 }, /* not of this form comes before too large */
                { "", 10, -EINVAL, 0 },
                { " 1", 10, -EINVAL, 0 },
                { "1 ", 10, -EINVAL, 0 },
                { "1\n", 10, -EINVAL, 0 },
                { "+1", 10, -EINVAL, 0 },
                { "-1", 10, -EINVAL, 0 },
                { "-0", 10, -EINVAL, 0 },
                { "1.0", 10, -EINVAL, 0 },
                { "0x1", 10, -EINVAL, 0 },
                { "a", 10, -EINVAL, 0 },

                { "0", 16, 0, 0 },
                { "ff", 16, 0, 255 },
                { "FF", 16, 0, 255 },
                { "0xfF", 16, 0, 255 },
                { "0XfF", 16, 0, 255 },
                { "ffffffffffffffff", 16, 0, UINT64_MAX },
                { "0x0ffffffffffffffff", 16, 0, UINT64_MAX },
                { "10000000000000000", 16, -ERANGE, 0 },
                { "0x", 16, -EINVAL, 0 },
                { "x1", 16, -EINVAL, 0 },
                { "0x0x1", 16, -EINVAL, 0 },
                { "g", 16, -EINVAL, 0 },
                { "0x-1", 16, -EINVAL, 0 },
                { "\xff", 16, -EINVAL, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint64_t v = 42;
                int r = ucs_parse_u64(table[i].s, table[i].base, &v);

                cr_expect(r == table[i].r && v == (r < 0 ? 42 : table[i].v), "'%s': %d, %lu", table[i].s, r, (unsigned long) v);
        }
}

ucs_test(parse, leading_u64) {
        static const struct {
                const char *s;
                int r;
                uint64_t v;
                const char *rest;
        } table[] = {
                { "0", 0, 0, "" },
                { "12 34\n", 0, 12, " 34\n" },
                { "007x", 0, 7, "x" },
                { "18446744073709551615\n", 0, UINT64_MAX, "\n" },
                { "18446744073709551616", -ERANGE, 42, "18446744073709551616" },
                { "99999999999999999999999 1", -ERANGE, 42, "99999999999999999999999 1" },
                { "", -EINVAL, 42, "" },
                { " 1", -EINVAL, 42, " 1" },
                { "-1", -EINVAL, 42, "-1" },
                { "+1", -EINVAL, 42, "+1" },
                { "\xff", -EINVAL, 42, "\xff" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const char *s = table[i].s;
                uint64_t v = 42;
                int r = ucs_parse_leading_u64(&s, &v);

                cr_expect(r == table[i].r && v == table[i].v && streq(s, table[i].rest), "'%s': %d, %lu, '%s'", table[i].s, r, (unsigned long) v, s);
        }
}

ucs_test(parse, u32) {
        static const struct {
                const char *s;
                unsigned base;
                int r;
                uint32_t v;
        } table[] = {
                { "4294967295", 10, 0, UINT32_MAX },
                { "4294967296", 10, -ERANGE, 0 },
                { "18446744073709551616", 10, -ERANGE, 0 },
                { "0xffffffff", 16, 0, UINT32_MAX },
                { "0x100000000", 16, -ERANGE, 0 },
                { "0x200005e", 16, 0, 0x200005e },
                { "", 10, -EINVAL, 0 },
                { "-1", 10, -EINVAL, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint32_t v = 42;
                int r = ucs_parse_u32(table[i].s, table[i].base, &v);

                cr_expect(r == table[i].r && v == (r < 0 ? 42 : table[i].v), "'%s': %d, %u", table[i].s, r, v);
        }
}

ucs_test(parse, boolean) {
        static const char *const yes[] = { "1", "yes", "YES", "y", "Y", "true", "True", "t", "on", "ON" };
        static const char *const no[] = { "0", "no", "No", "n", "false", "FALSE", "f", "off", "oFF" };
        static const char *const neither[] = { "", " yes", "yes ", "2", "01", "yess", "o", "enable", "-1" };
        bool v;

        for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
                v = false;
                cr_expect(ucs_parse_bool(yes[i], &v) == 0 && v, "'%s'", yes[i]);
        }
        for (size_t i = 0; i < ELEMENTSOF(no); i++) {
                v = true;
                cr_expect(ucs_parse_bool(no[i], &v) == 0 && !v, "'%s'", no[i]);
        }
        for (size_t i = 0; i < ELEMENTSOF(neither); i++) {
                v = true;
                cr_expect(ucs_parse_bool(neither[i], &v) == -EINVAL && v, "'%s'", neither[i]);
        }
}

ucs_test(parse, percent) {
        static const struct {
                const char *s;
                int r;
                uint32_t ppm;
        } table[] = {
                { "0%", 0, 0 },
                { "10%", 0, 100000 },
                { "10.5%", 0, 105000 },
                { "0.01%", 0, 100 },
                { "0.0001%", 0, 1 },
                { "0.00019%", 0, 1 }, /* what lies below a millionth is cut off */
                { "99.9999%", 0, 999999 },
                { "100%", 0, 1000000 },
                { "100.0%", 0, 1000000 },
                { "100.0001%", -ERANGE, 0 },
                { "100.00001%", 0, 1000000 },
                { "101%", -ERANGE, 0 },
                { "99999999999999999999%", -ERANGE, 0 },
                { "1844674407370956%", -ERANGE, 0 },
                { "", -EINVAL, 0 },
                { "%", -EINVAL, 0 },
                { "10", -EINVAL, 0 },
                { "10 %", -EINVAL, 0 },
                { "10%%", -EINVAL, 0 },
                { "10.%", -EINVAL, 0 },
                { ".5%", -EINVAL, 0 },
                { "1.2.3%", -EINVAL, 0 },
                { "-10%", -EINVAL, 0 },
                { "+10%", -EINVAL, 0 },
                { " 10%", -EINVAL, 0 },
                { "10,5%", -EINVAL, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint32_t v = 42;
                int r = ucs_parse_percent(table[i].s, &v);

                cr_expect(r == table[i].r && v == (r < 0 ? 42 : table[i].ppm), "'%s': %d, %u", table[i].s, r, v);
        }
}

ucs_test(parse, timespan) {
        static const struct {
                const char *s;
                int r;
                uint64_t usec;
        } table[] = {
                { "0", 0, 0 },
                { "90", 0, 90 * USEC_PER_SEC },
                { "1.5", 0, 1500000 },
                { "1min 30s", 0, 90 * USEC_PER_SEC },
                { "1min30s", 0, 90 * USEC_PER_SEC },
                { "1 min 30 s", 0, 90 * USEC_PER_SEC },
                { "  2h  ", 0, 2 * USEC_PER_HOUR },
                { "2h 30", 0, 2 * USEC_PER_HOUR + 30 * USEC_PER_SEC },
                { "14d", 0, 14 * USEC_PER_DAY },
                { "1.5h", 0, 90 * USEC_PER_MINUTE },
                { "0.25d", 0, 6 * USEC_PER_HOUR },
                { "1.9us", 0, 1 },
                { "1.0000019s", 0, 1000001 },
                { "7us", 0, 7 }, { "7usec", 0, 7 },
                { "7ms", 0, 7000 }, { "7msec", 0, 7000 },
                { "7s", 0, 7 * USEC_PER_SEC }, { "7sec", 0, 7 * USEC_PER_SEC },
                { "7second", 0, 7 * USEC_PER_SEC }, { "7seconds", 0, 7 * USEC_PER_SEC },
                { "7m", 0, 7 * USEC_PER_MINUTE }, { "7min", 0, 7 * USEC_PER_MINUTE },
                { "7minute", 0, 7 * USEC_PER_MINUTE }, { "7minutes", 0, 7 * USEC_PER_MINUTE },
                { "7h", 0, 7 * USEC_PER_HOUR }, { "7hr", 0, 7 * USEC_PER_HOUR },
                { "7hour", 0, 7 * USEC_PER_HOUR }, { "7hours", 0, 7 * USEC_PER_HOUR },
                { "7d", 0, 7 * USEC_PER_DAY }, { "7day", 0, 7 * USEC_PER_DAY }, { "7days", 0, 7 * USEC_PER_DAY },
                { "7w", 0, 7 * USEC_PER_WEEK }, { "7week", 0, 7 * USEC_PER_WEEK }, { "7weeks", 0, 7 * USEC_PER_WEEK },
                { "1M", 0, UINT64_C(2629800000000) }, { "2months", 0, UINT64_C(5259600000000) },
                { "1y", 0, UINT64_C(31557600000000) }, { "2years", 0, UINT64_C(63115200000000) },
                { "584542y", 0, UINT64_C(584542) * UINT64_C(31557600000000) },

                { "", -EINVAL, 0 },
                { "   ", -EINVAL, 0 },
                { "h", -EINVAL, 0 },
                { "2x", -EINVAL, 0 },
                { "2H", -EINVAL, 0 },
                { "2hrs", -EINVAL, 0 },
                { "2h-", -EINVAL, 0 },
                { "-2h", -EINVAL, 0 },
                { "+2h", -EINVAL, 0 },
                { "2h,30min", -EINVAL, 0 },
                { "5 5", -EINVAL, 0 },
                { "5.", -EINVAL, 0 },
                { "5.h", -EINVAL, 0 },
                { ".5h", -EINVAL, 0 },
                { "1.5.5h", -EINVAL, 0 },
                { "infinity", -EINVAL, 0 },
                { "99999999999999999999", -ERANGE, 0 },
                { "18446744073710s", -ERANGE, 0 },
                { "18446744073709s 551616us", -ERANGE, 0 },
                { "18446744073709s 551615us", 0, UINT64_MAX },
                { "584555y", -ERANGE, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint64_t v = 42;
                int r = ucs_parse_timespan(table[i].s, &v);

                cr_expect(r == table[i].r && v == (r < 0 ? 42 : table[i].usec), "'%s': %d, %lu", table[i].s, r, (unsigned long) v);
        }
}

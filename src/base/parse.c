/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text into values; see parse.h. */

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#include "base/parse.h"
#include "base/str.h"
#include "base/timefmt.h"

static int digit_value(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return 99;
}

int ucs_parse_u64(const char *s, unsigned base, uint64_t *ret) {
        bool too_large = false;
        uint64_t v = 0;

        if (base == 16 && (str_startswith(s, "0x") || str_startswith(s, "0X")))
                s += 2;
        if (!*s)
                return -EINVAL;
        for (; *s; s++) {
                int digit = digit_value(*s);

                if (digit >= (int) base)
                        return -EINVAL;
                too_large |= __builtin_mul_overflow(v, (uint64_t) base, &v) || __builtin_add_overflow(v, (uint64_t) digit, &v);
        }
        if (too_large)
                return -ERANGE;
        *ret = v;
        return 0;
}

int ucs_parse_leading_u64(const char **s, uint64_t *ret) {
        const char *p = *s;
        bool too_large = false;
        uint64_t v = 0;

        for (; *p >= '0' && *p <= '9'; p++)
                too_large |= __builtin_mul_overflow(v, UINT64_C(10), &v) || __builtin_add_overflow(v, (uint64_t) (*p - '0'), &v);
        if (p == *s)
                return -EINVAL;
        if (too_large)
                return -ERANGE;
        *s = p;
        *ret = v;
        return 0;
}

int ucs_parse_u32(const char *s, unsigned base, uint32_t *ret) {
        uint64_t v;
        int r;

        r = ucs_parse_u64(s, base, &v);
        if (r < 0)
                return r;
        if (v > UINT32_MAX)
                return -ERANGE;
        *ret = (uint32_t) v;
        return 0;
}

int ucs_parse_bool(const char *s, bool *ret) {
        static const char *const yes[] = { "1", "yes", "y", "true", "t", "on" };
        static const char *const no[] = { "0", "no", "n", "false", "f", "off" };

        for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
                if (strcasecmp(s, yes[i]) == 0) {
                        *ret = true;
                        return 0;
                }
                if (strcasecmp(s, no[i]) == 0) {
                        *ret = false;
                        return 0;
                }
        }
        return -EINVAL;
}

/* Digits with an optional fraction, scaled by `unit`; what lies below one `unit`-th is cut off. Moves `*s` behind it. */
static int parse_scaled(const char **s, uint64_t unit, uint64_t *ret) {
        const char *p = *s;
        uint64_t whole = 0, fraction = 0, scale = unit;

        if (!isdigit((unsigned char) *p))
                return -EINVAL;
        for (; isdigit((unsigned char) *p); p++)
                if (__builtin_mul_overflow(whole, UINT64_C(10), &whole) ||
                    __builtin_add_overflow(whole, (uint64_t) (*p - '0'), &whole))
                        return -ERANGE;
        if (*p == '.') {
                p++;
                if (!isdigit((unsigned char) *p))
                        return -EINVAL;
                for (; isdigit((unsigned char) *p); p++) {
                        /* each digit is worth a tenth of the one before, in units of `unit` */
                        uint64_t d = (uint64_t) (*p - '0');

                        fraction += scale / 10 * d + scale % 10 * d / 10;
                        scale /= 10;
                }
        }
        if (__builtin_mul_overflow(whole, unit, &whole) || __builtin_add_overflow(whole, fraction, &whole))
                return -ERANGE;
        *ret = whole;
        *s = p;
        return 0;
}

int ucs_parse_percent(const char *s, uint32_t *ret_ppm) {
        uint64_t v;
        int r;

        r = parse_scaled(&s, 10000, &v);
        if (r < 0)
                return r;
        if (!streq(s, "%"))
                return -EINVAL;
        if (v > 1000000)
                return -ERANGE;
        *ret_ppm = (uint32_t) v;
        return 0;
}

static const struct {
        const char *name;
        uint64_t usec;
} units[] = {
        { "us", 1 },
        { "usec", 1 },
        { "ms", USEC_PER_MSEC },
        { "msec", USEC_PER_MSEC },
        { "s", USEC_PER_SEC },
        { "sec", USEC_PER_SEC },
        { "second", USEC_PER_SEC },
        { "seconds", USEC_PER_SEC },
        { "m", USEC_PER_MINUTE },
        { "min", USEC_PER_MINUTE },
        { "minute", USEC_PER_MINUTE },
        { "minutes", USEC_PER_MINUTE },
        { "h", USEC_PER_HOUR },
        { "hr", USEC_PER_HOUR },
        { "hour", USEC_PER_HOUR },
        { "hours", USEC_PER_HOUR },
        { "d", USEC_PER_DAY },
        { "day", USEC_PER_DAY },
        { "days", USEC_PER_DAY },
        { "w", USEC_PER_WEEK },
        { "week", USEC_PER_WEEK },
        { "weeks", USEC_PER_WEEK },
        { "M", UINT64_C(2629800) * USEC_PER_SEC },
        { "month", UINT64_C(2629800) * USEC_PER_SEC },
        { "months", UINT64_C(2629800) * USEC_PER_SEC },
        { "y", UINT64_C(31557600) * USEC_PER_SEC },
        { "year", UINT64_C(31557600) * USEC_PER_SEC },
        { "years", UINT64_C(31557600) * USEC_PER_SEC },
};

/* The unit at `*s` (seconds when there is none before the end); moves `*s` behind it. */
static int parse_unit(const char **s, uint64_t *ret) {
        const char *p = *s;
        size_t n = 0;

        while (isalpha((unsigned char) p[n]))
                n++;
        if (n == 0) {
                if (*p)
                        return -EINVAL;
                *ret = USEC_PER_SEC;
                return 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(units); i++)
                if (strlen(units[i].name) == n && memcmp(units[i].name, p, n) == 0) {
                        *ret = units[i].usec;
                        *s = p + n;
                        return 0;
                }
        return -EINVAL;
}

int ucs_parse_timespan(const char *s, uint64_t *ret_usec) {
        uint64_t sum = 0;
        bool any = false;
        int r;

        for (;;) {
                const char *number, *after;
                uint64_t unit, ignored, v;

                while (isspace((unsigned char) *s))
                        s++;
                if (!*s)
                        break;

                /* the unit stands behind the number, but the number is read in its unit: look ahead first */
                number = s;
                r = parse_scaled(&s, 1, &ignored);
                if (r < 0)
                        return r;
                while (isspace((unsigned char) *s))
                        s++;
                r = parse_unit(&s, &unit);
                if (r < 0)
                        return r;
                after = s;
                r = parse_scaled(&number, unit, &v);
                if (r < 0)
                        return r;
                if (__builtin_add_overflow(sum, v, &sum))
                        return -ERANGE;
                s = after;
                any = true;
        }
        if (!any)
                return -EINVAL;
        *ret_usec = sum;
        return 0;
}

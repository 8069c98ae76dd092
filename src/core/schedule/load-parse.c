/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The text of /proc/pressure/cpu, /proc/stat and /proc/loadavg. A field that must be there is there exactly once and whole, or the text
 * is refused; what a newer kernel may add (further lines, words and columns) is passed over. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/schedule/load.h"

#define PPM UINT64_C(1000000)
#define WORD_MAX 64

/* The next word of the line at `*p` into `ret`. 1; 0 at the end of the line (or of the text); -EBADMSG when it is too long. */
static int next_word(const char **p, char ret[static WORD_MAX]) {
        size_t n;

        *p += strspn(*p, " \t");
        n = strcspn(*p, " \t\n");
        if (n == 0)
                return 0;
        if (n >= WORD_MAX)
                return -EBADMSG;
        memcpy(ret, *p, n);
        ret[n] = '\0';
        *p += n;
        return 1;
}

static const char *next_line(const char *p) {
        const char *end = strchr(p, '\n');

        return end ? end + 1 : NULL;
}

/* "12.34", as the kernel prints averages: two decimals, in hundredths. */
static int parse_hundredths(const char *s, uint64_t *ret) {
        const char *point = strchr(s, '.');
        uint64_t whole, fraction;
        char digits[WORD_MAX];

        if (!point || strlen(point + 1) != 2 || (size_t) (point - s) >= sizeof(digits))
                return -EINVAL;
        memcpy(digits, s, (size_t) (point - s));
        digits[point - s] = '\0';
        if (ucs_parse_u64(digits, 10, &whole) < 0 || ucs_parse_u64(point + 1, 10, &fraction) < 0)
                return -EINVAL;
        if (__builtin_mul_overflow(whole, UINT64_C(100), &whole) || __builtin_add_overflow(whole, fraction, ret))
                return -ERANGE;
        return 0;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", from behind the first word. */
static int parse_pressure_line(const char *p, const char *kind, uint64_t *ret_total, UcsError *e) {
        static const char *const keys[] = { "avg10=", "avg60=", "avg300=", "total=" };
        bool have[ELEMENTSOF(keys)] = {};
        uint64_t total = 0, average;
        char word[WORD_MAX];
        int r;

        while ((r = next_word(&p, word)) > 0)
                for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                        const char *value = str_startswith(word, keys[i]);

                        if (!value)
                                continue;
                        if (have[i])
                                return ucs_error_set(e, -EBADMSG, "the '%s' line of the CPU pressure has '%s' twice", kind,
                                                     keys[i]);
                        have[i] = true;
                        r = i + 1 == ELEMENTSOF(keys) ? ucs_parse_u64(value, 10, &total) : parse_hundredths(value, &average);
                        if (r < 0)
                                return ucs_error_set(e, -EBADMSG, "the '%s' line of the CPU pressure has '%s'", kind, word);
                }
        if (r < 0)
                return ucs_error_set(e, -EBADMSG, "the '%s' line of the CPU pressure has an overlong word", kind);
        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                if (!have[i])
                        return ucs_error_set(e, -EBADMSG, "the '%s' line of the CPU pressure lacks '%s'", kind, keys[i]);
        *ret_total = total;
        return 0;
}

int ucs_load_parse_pressure(const char *text, UcsLoadReading *r, UcsError *e) {
        static const char *const kinds[] = { "some", "full" };
        bool have[ELEMENTSOF(kinds)] = {};
        uint64_t totals[ELEMENTSOF(kinds)];

        for (const char *line = text; line && *line; line = next_line(line))
                for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
                        const char *rest = str_startswith(line, kinds[i]);
                        int k;

                        if (!rest || *rest != ' ')
                                continue;
                        if (have[i])
                                return ucs_error_set(e, -EBADMSG, "the CPU pressure has two '%s' lines", kinds[i]);
                        have[i] = true;
                        k = parse_pressure_line(rest, kinds[i], &totals[i], e);
                        if (k < 0)
                                return k;
                }
        if (!have[0])
                return ucs_error_set(e, -EBADMSG, "the CPU pressure has no 'some' line");
        r->have_pressure = true;
        r->some_usec = totals[0];
        return 0;
}

int ucs_load_parse_stat(const char *text, UcsLoadReading *r, UcsError *e) {
        /* proc(5), in ticks; guest time is in user and nice already */
        enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, N_COLUMNS };
        uint64_t v[N_COLUMNS], busy = 0, total = 0, guest = 0;
        const char *p = str_startswith(text, "cpu");
        bool overflow = false;
        char word[WORD_MAX];

        if (!p || *p != ' ')
                return ucs_error_set(e, -EBADMSG, "/proc/stat does not begin with the 'cpu' line");
        if (!strchr(p, '\n'))
                return ucs_error_set(e, -EBADMSG, "the 'cpu' line of /proc/stat has no end");
        for (size_t i = 0; i < N_COLUMNS; i++)
                if (next_word(&p, word) <= 0 || ucs_parse_u64(word, 10, &v[i]) < 0)
                        return ucs_error_set(e, -EBADMSG, "column %zu of the 'cpu' line of /proc/stat is no number, expected %u",
                                             i + 1, (unsigned) N_COLUMNS);

        for (size_t i = USER; i <= STEAL; i++) {
                overflow |= __builtin_add_overflow(total, v[i], &total);
                if (i != IDLE && i != IOWAIT)
                        busy += v[i];
        }
        overflow |= __builtin_add_overflow(v[GUEST], v[GUEST_NICE], &guest);
        if (overflow)
                return ucs_error_set(e, -EBADMSG, "the 'cpu' line of /proc/stat adds up to more than 2^64 ticks");

        r->have_stat = true;
        r->busy_ticks = busy;
        r->guest_ticks = guest;
        r->total_ticks = total;
        return 0;
}

int ucs_load_parse_loadavg(const char *text, unsigned n_cpus, UcsLoadReading *r, UcsError *e) {
        uint64_t averages[3], ppm;
        const char *p = text;
        char word[WORD_MAX];

        if (n_cpus == 0)
                return ucs_error_set(e, -EBADMSG, "a load average says nothing about no CPU at all");
        for (size_t i = 0; i < ELEMENTSOF(averages); i++)
                if (next_word(&p, word) <= 0 || parse_hundredths(word, &averages[i]) < 0)
                        return ucs_error_set(e, -EBADMSG, "word %zu of /proc/loadavg is no load such as 0.42", i + 1);
        if (next_word(&p, word) <= 0 || !strchr(word, '/'))
                return ucs_error_set(e, -EBADMSG, "word 4 of /proc/loadavg is no number of tasks such as 1/80");

        if (__builtin_mul_overflow(averages[0], PPM / 100, &ppm))
                ppm = UINT64_MAX;
        r->have_loadavg = true;
        r->loadavg_ppm = (uint32_t) MIN(ppm / n_cpus, (uint64_t) UINT32_MAX);
        return 0;
}

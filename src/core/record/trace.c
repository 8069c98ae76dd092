/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two events of a trace; see trace.h. A line is "comm-TID [CPU] flags timestamp: event: (…)"; a comm may hold anything, so that it is read
 * from the event's name to the left. */

#include <string.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/record/trace.h"

#define NUMBER_MAX 21U

/* The last word of [begin, *end), without the blanks behind it; moves `*end` to its first character. 0 when there is none. */
static size_t last_word(const char *begin, const char **end) {
        const char *stop = *end, *p;

        while (stop > begin && stop[-1] == ' ')
                stop--;
        for (p = stop; p > begin && p[-1] != ' ';)
                p--;
        *end = p;
        return (size_t) (stop - p);
}

static bool parse_number(const char *p, size_t n, uint64_t *ret) {
        char digits[NUMBER_MAX];

        if (n >= sizeof(digits))
                return false;
        memcpy(digits, p, n);
        digits[n] = '\0';
        return ucs_parse_u64(digits, 10, ret) >= 0;
}

/* Timestamp and thread of the line that begins at `line`, when it has this mark. */
static bool parse_event(const char *line, size_t length, const char *mark, uint64_t *ret_ticks, uint64_t *ret_tid) {
        const char *at, *end;
        size_t n;

        at = memmem(line, length, mark, strlen(mark));
        if (!at)
                return false;
        end = at;
        n = last_word(line, &end);
        if (!parse_number(end, n, ret_ticks))
                return false;
        if (last_word(line, &end) == 0) /* flags */
                return false;
        n = last_word(line, &end); /* CPU */
        if (n < 3 || end[0] != '[' || end[n - 1] != ']')
                return false;
        n = last_word(line, &end);
        for (size_t i = n; i > 0; i--)
                if (end[i - 1] == '-')
                        return parse_number(end + i, n - i, ret_tid);
        return false;
}

int ucs_trace_stop_ticks(const char *text, uint32_t tid, uint64_t *ret_ticks) {
        uint64_t begin = 0, longest = 0;
        bool inside = false, found = false;

        for (const char *line = text; *line;) {
                const char *newline = strchrnul(line, '\n');
                const size_t length = (size_t) (newline - line);
                uint64_t ticks, who;

                if (parse_event(line, length, ": " UCS_TRACE_EVENT_IN ": (", &ticks, &who) && who == tid) {
                        begin = ticks;
                        inside = true;
                } else if (parse_event(line, length, ": " UCS_TRACE_EVENT_OUT ": (", &ticks, &who) && who == tid) {
                        if (inside && ticks >= begin) {
                                longest = MAX(longest, ticks - begin);
                                found = true;
                        }
                        inside = false;
                }
                line = *newline ? newline + 1 : newline;
        }
        if (found)
                *ret_ticks = longest;
        return found;
}

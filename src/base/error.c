/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One sentence a failure; see error.h. Text from outside (file names, configuration values) may carry control characters, escape
 * sequences of either kind (ESC, or one of U+0080 to U+009F) or bytes that are no UTF-8: each such byte becomes '?', so that a
 * file name cannot forge a journal line or a terminal sequence, nor make a string that D-Bus refuses. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Room for one more sentence than is kept: what is cut off is cut here, at the end of a character. */
#define SCRATCH_MAX (2 * sizeof(((UcsError *) NULL)->text))

/* The length of the printable character at `s`, 0: it is none. (Unicode 15, table 3-7: well-formed UTF-8.) */
static size_t character_length(const char *s) {
        const unsigned char *p = (const unsigned char *) s;
        unsigned char low = 0x80, high = 0xbf;
        size_t n;

        if (p[0] >= 0x20 && p[0] < 0x7f)
                return 1;
        if (p[0] >= 0xc2 && p[0] <= 0xdf) {
                n = 2;
                low = p[0] == 0xc2 ? 0xa0 : low; /* the controls of U+0080 to U+009F */
        } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
                n = 3;
                low = p[0] == 0xe0 ? 0xa0 : low;   /* shorter forms exist */
                high = p[0] == 0xed ? 0x9f : high; /* surrogates */
        } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
                n = 4;
                low = p[0] == 0xf0 ? 0x90 : low;
                high = p[0] == 0xf4 ? 0x8f : high; /* beyond U+10FFFF */
        } else
                return 0;

        if (p[1] < low || p[1] > high)
                return 0;
        for (size_t i = 2; i < n; i++)
                if (p[i] < 0x80 || p[i] > 0xbf)
                        return 0;
        return n;
}

static void keep(UcsError *e, const char *s) {
        size_t length = 0;

        while (*s) {
                size_t n = character_length(s);

                if (length + MAX(n, (size_t) 1) >= sizeof(e->text))
                        break;
                if (n == 0)
                        e->text[length] = '?';
                else
                        memcpy(e->text + length, s, n);
                length += MAX(n, (size_t) 1);
                s += MAX(n, (size_t) 1);
        }
        e->text[length] = '\0';
}

int ucs_error_set(UcsError *e, int code, const char *format, ...) {
        char scratch[SCRATCH_MAX];
        va_list ap;

        if (!e)
                return code;

        va_start(ap, format);
        (void) vsnprintf(scratch, sizeof(scratch), format, ap);
        va_end(ap);

        keep(e, scratch);
        e->code = code;
        return code;
}

int ucs_error_prefix(UcsError *e, int code, const char *format, ...) {
        char scratch[2 * SCRATCH_MAX];
        va_list ap;
        size_t n;

        if (!e)
                return code;

        va_start(ap, format);
        (void) vsnprintf(scratch, SCRATCH_MAX, format, ap);
        va_end(ap);
        n = strlen(scratch);
        (void) snprintf(scratch + n, sizeof(scratch) - n, ": %s", e->text);

        keep(e, scratch);
        if (e->code == 0)
                e->code = code;
        return e->code;
}

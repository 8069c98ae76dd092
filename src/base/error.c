/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One sentence a failure; see error.h. Text from outside (file names, configuration values) may carry control
 * characters: they become '?', so that a file name cannot forge a journal line or a terminal sequence. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void text_sanitize(char *s) {
        for (; *s; s++)
                if ((unsigned char) *s < 0x20 || *s == 0x7f)
                        *s = '?';
}

int ucs_error_set(UcsError *e, int code, const char *format, ...) {
        va_list ap;

        if (!e)
                return code;

        va_start(ap, format);
        (void) vsnprintf(e->text, sizeof(e->text), format, ap);
        va_end(ap);

        text_sanitize(e->text);
        e->code = code;
        return code;
}

int ucs_error_prefix(UcsError *e, int code, const char *format, ...) {
        char before[sizeof(e->text)], after[sizeof(e->text)];
        va_list ap;
        size_t n;

        if (!e)
                return code;

        va_start(ap, format);
        (void) vsnprintf(before, sizeof(before), format, ap);
        va_end(ap);

        memcpy(after, e->text, sizeof(after));
        n = strnlen(before, sizeof(before) - 1);
        memcpy(e->text, before, n);
        if (snprintf(e->text + n, sizeof(e->text) - n, ": %s", after) < 0) /* what is too long is cut */
                e->text[n] = '\0';
        text_sanitize(e->text);
        if (e->code == 0)
                e->code = code;
        return e->code;
}

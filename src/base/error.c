/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One sentence a failure; see error.h. Text from outside (file names, configuration values) is kept as str_clean() has it. */

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

/* Room for one more sentence than is kept: what is cut off is cut here, at the end of a character. */
#define SCRATCH_MAX (2 * sizeof(((UcsError *) NULL)->text))

static void keep(UcsError *e, const char *s) {
        str_clean(e->text, sizeof(e->text), s);
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What all gates share; see gate.h. */

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "core/policy/gate.h"

bool ucs_gate_say(UcsBlockerReport *r, uint64_t clears_usec, const char *format, ...) {
        char text[2 * sizeof(r->sentence)]; /* what is cut off is cut by str_clean(), at the end of a character */
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        str_clean(r->sentence, sizeof(r->sentence), text);
        r->clears_usec = clears_usec;
        return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What all gates share; see gate.h. */

#include <stdarg.h>
#include <stdio.h>

#include "core/policy/gate.h"

bool ucs_gate_say(UcsBlockerReport *r, uint64_t clears_usec, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(r->sentence, sizeof(r->sentence), format, ap);
        va_end(ap);
        r->clears_usec = clears_usec;
        return true;
}

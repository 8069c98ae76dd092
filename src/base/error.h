/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How library code explains a failure without logging it: it returns a negative errno and, where the caller handed in a
 * UcsError, leaves one sentence that names the file, line, offset or CPU and what was expected. The edge (daemon/log, the
 * verbs of ucodectl) prints that sentence once. */

#include "base/macro.h"

typedef struct UcsError {
        int code;       /* negative errno, 0: nothing was set */
        char text[384]; /* one sentence, no final full stop; valid UTF-8 without control characters */
} UcsError;

/* Keep a sentence and return `code`, so that a failure is one line: return ucs_error_set(e, -EINVAL, "…"). A later call
 * replaces an earlier one; a NULL `e` only returns. */
int ucs_error_set(UcsError *e, int code, const char *format, ...) _printf_(3, 4);

/* Put "context: " in front of what `e` says already. Returns e->code, or `code` when `e` is NULL. */
int ucs_error_prefix(UcsError *e, int code, const char *format, ...) _printf_(3, 4);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The text of a file of sections and assignments, line by line, for those who know what they mean (conf.c, rules.c). libinih reads the lines; what
 * it would misread silently (a line over its limit of 199 bytes, a leading blank, a NUL byte, a key with ':' instead of '=', text behind a
 * section's ']', a name of a section that it would cut) is an error here.
 *
 * Comments begin with '#' or ';' at the start of a line. A ';' after a blank begins one inside a line, too (libinih 55); a '#' does not. */

#include "base/error.h"

#define UCS_INI_SIZE_MAX (1024U * 1024U) /* what a caller should read at most */

typedef struct UcsIniHandler {
        /* A section begins. `origin` is "path:line". A negative errno ends it, with `e` saying what is wrong; path and line are put in front of that. */
        int (*section)(void *userdata, const char *section, const char *origin, UcsError *e);

        /* Key=value in it; the value has no blanks around it, and may be empty. */
        int (*assign)(void *userdata, const char *section, const char *key, const char *value, const char *origin, UcsError *e);
} UcsIniHandler;

/* `text` has a NUL byte at text[size]. `path` is only named. -EINVAL with "path:line: …, expected …" for the first thing that is wrong, also what a
 * handler calls -ENOENT; other errors of the handler as they are; -ENOMEM. */
int ucs_ini_parse(const char *path, const char *text, size_t size, const UcsIniHandler *handler, void *userdata, UcsError *e);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Strings: comparison, trimming, and a growing buffer for text that is put together. */

#include <string.h>

#include "base/cleanup.h"

static inline bool streq(const char *a, const char *b) {
        return strcmp(a, b) == 0;
}

/* The rest of `s` after `prefix`, or NULL when it does not start so. */
static inline const char *str_startswith(const char *s, const char *prefix) {
        size_t n = strlen(prefix);

        return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

bool str_endswith(const char *s, const char *suffix);

/* Cut white space off both ends, in place. Returns the first character that is left. */
char *str_strip(char *s);

/* A copy of `s` in `ret`, of `size` > 0 bytes, with the NUL. Text from outside (file names, configuration values) may carry control characters, escape
 * sequences of either kind (ESC, or one of U+0080 to U+009F) or bytes that are no UTF-8: each such byte becomes '?', so that a file name cannot forge a journal
 * line or a terminal sequence, nor make a string that D-Bus refuses. What does not fit is cut off at the end of a character. */
void str_clean(char *ret, size_t size, const char *s);

/* Replace what `*p` owns by a copy of `s` (NULL empties it). 0, or -ENOMEM with `*p` untouched. */
int str_replace(char **p, const char *s);

/* A growing text. The first failed allocation sticks: append on, and look at the end with ucs_text_take(). */
typedef struct UcsText {
        char *data;
        size_t length;
        size_t allocated;
        bool failed;
} UcsText;

void ucs_text_append(UcsText *t, const char *s);
void ucs_text_append_bytes(UcsText *t, const void *data, size_t n);
void ucs_text_appendf(UcsText *t, const char *format, ...) _printf_(2, 3);
void ucs_text_done(UcsText *t);

/* Hand the NUL-terminated text over and leave `t` empty. 0, or -ENOMEM when any append had failed. */
int ucs_text_take(UcsText *t, char **ret, size_t *ret_length);

#define _cleanup_text_ _cleanup_(ucs_text_done)

/* A NULL-terminated list of strings that it owns. Grows by one; -ENOMEM leaves it as it was. */
int strv_push(char ***l, const char *s);
char **strv_free(char **l);
size_t strv_length(char *const *l);
bool strv_equal(char *const *a, char *const *b); /* the same strings in the same order; NULL is an empty list */
DEFINE_CLEANUP(char **, strv_free);
#define _cleanup_strv_ _cleanup_(strv_freep)

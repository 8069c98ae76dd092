/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Strings; see str.h. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

bool str_endswith(const char *s, const char *suffix) {
        size_t n = strlen(s), k = strlen(suffix);

        return n >= k && memcmp(s + n - k, suffix, k) == 0;
}

char *str_strip(char *s) {
        char *end;

        while (isspace((unsigned char) *s))
                s++;
        end = s + strlen(s);
        while (end > s && isspace((unsigned char) end[-1]))
                end--;
        *end = '\0';
        return s;
}

int str_replace(char **p, const char *s) {
        char *copy = NULL;

        if (s) {
                copy = strdup(s);
                if (!copy)
                        return -ENOMEM;
        }
        free(*p);
        *p = copy;
        return 0;
}

static bool text_reserve(UcsText *t, size_t more) {
        size_t need, size;
        char *p;

        if (t->failed)
                return false;
        if (__builtin_add_overflow(t->length, more, &need) || __builtin_add_overflow(need, 1, &need))
                goto fail;
        if (need <= t->allocated)
                return true;
        if (__builtin_mul_overflow(need, 2, &size))
                goto fail;
        p = realloc(t->data, size);
        if (!p)
                goto fail;
        t->data = p;
        t->allocated = size;
        return true;

fail:
        t->failed = true;
        return false;
}

void ucs_text_append_bytes(UcsText *t, const void *data, size_t n) {
        if (!text_reserve(t, n))
                return;
        if (n > 0)
                memcpy(t->data + t->length, data, n);
        t->length += n;
        t->data[t->length] = '\0';
}

void ucs_text_append(UcsText *t, const char *s) {
        ucs_text_append_bytes(t, s, strlen(s));
}

void ucs_text_appendf(UcsText *t, const char *format, ...) {
        va_list ap, again;
        int n;

        va_start(ap, format);
        va_copy(again, ap);
        n = vsnprintf(NULL, 0, format, ap);
        va_end(ap);
        if (n < 0)
                t->failed = true;
        else if (text_reserve(t, (size_t) n)) {
                (void) vsnprintf(t->data + t->length, (size_t) n + 1, format, again);
                t->length += (size_t) n;
        }
        va_end(again);
}

void ucs_text_done(UcsText *t) {
        free(t->data);
        *t = (UcsText){};
}

int ucs_text_take(UcsText *t, char **ret, size_t *ret_length) {
        if (t->failed || !text_reserve(t, 0)) {
                ucs_text_done(t);
                return -ENOMEM;
        }
        t->data[t->length] = '\0';
        *ret = TAKE_PTR(t->data);
        if (ret_length)
                *ret_length = t->length;
        *t = (UcsText){};
        return 0;
}

size_t strv_length(char *const *l) {
        size_t n = 0;

        while (l && l[n])
                n++;
        return n;
}

bool strv_equal(char *const *a, char *const *b) {
        static char *const empty[] = { NULL };

        for (a = a ?: empty, b = b ?: empty; *a && *b; a++, b++)
                if (!streq(*a, *b))
                        return false;
        return !*a && !*b;
}

int strv_push(char ***l, const char *s) {
        size_t n = strv_length(*l);
        char *copy, **p;

        copy = strdup(s);
        if (!copy)
                return -ENOMEM;
        p = reallocarray(*l, n + 2, sizeof(char *));
        if (!p) {
                free(copy);
                return -ENOMEM;
        }
        p[n] = copy;
        p[n + 1] = NULL;
        *l = p;
        return 0;
}

char **strv_free(char **l) {
        for (char **s = l; s && *s; s++)
                free(*s);
        free(l);
        return NULL;
}

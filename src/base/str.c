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

void str_clean(char *ret, size_t size, const char *s) {
        size_t length = 0;

        while (*s) {
                size_t n = character_length(s), bytes = MAX(n, (size_t) 1);

                if (length + bytes >= size)
                        break;
                if (n == 0)
                        ret[length] = '?';
                else
                        memcpy(ret + length, s, n);
                length += bytes;
                s += bytes;
        }
        ret[length] = '\0';
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

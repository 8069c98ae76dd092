/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Strings, growing texts and lists of strings; and the tables of enum names. */

#include <errno.h>

#include "base/enum.h"
#include "base/str.h"
#include "ucs-test.h"

ucs_test(str, ends) {
        static const struct {
                const char *s, *part;
                bool starts, ends;
        } table[] = {
                { "abc", "", true, true },  { "abc", "a", true, false },    { "abc", "c", false, true },
                { "abc", "abc", true, true }, { "abc", "abcd", false, false }, { "abc", "xabc", false, false },
                { "", "", true, true },     { "", "a", false, false },      { "06-55-04.zst", ".zst", false, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const char *rest = str_startswith(table[i].s, table[i].part);

                cr_expect_eq(rest != NULL, table[i].starts, "%zu", i);
                cr_expect(!rest || rest == table[i].s + strlen(table[i].part));
                cr_expect_eq(str_endswith(table[i].s, table[i].part), table[i].ends, "%zu", i);
        }
}

ucs_test(str, strip) {
        static const struct {
                const char *in, *out;
        } table[] = {
                { "", "" },           { "   ", "" },         { "a", "a" },        { " a", "a" },
                { "a ", "a" },        { "\t a b \r\n", "a b" }, { "\xc3\xa4 ", "\xc3\xa4" }, { "\xa0 x", "\xa0 x" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char s[32];

                strcpy(s, table[i].in);
                cr_expect_str_eq(str_strip(s), table[i].out);
        }
}

ucs_test(str, replace) {
        char *p = NULL;

        cr_expect(str_replace(&p, NULL) == 0 && !p);
        cr_assert(str_replace(&p, "one") == 0);
        cr_expect_str_eq(p, "one");
        cr_assert(str_replace(&p, p) == 0); /* by itself, and by a part of itself */
        cr_expect_str_eq(p, "one");
        cr_assert(str_replace(&p, p + 1) == 0);
        cr_expect_str_eq(p, "ne");
        cr_expect(str_replace(&p, NULL) == 0 && !p);
}

ucs_test(str, text) {
        _cleanup_text_ UcsText t = {};
        _cleanup_free_ char *s = NULL;
        size_t n;

        ucs_text_append(&t, "a");
        ucs_text_appendf(&t, "%d", 42);
        ucs_text_append_bytes(&t, "\0b", 2);
        ucs_text_append_bytes(&t, NULL, 0);
        ucs_text_append(&t, "");
        ucs_text_appendf(&t, "%s", "");
        cr_assert(ucs_text_take(&t, &s, &n) == 0);
        cr_expect(n == 5 && memcmp(s, "a42\0b", 6) == 0);
        cr_expect(!t.data && t.length == 0 && t.allocated == 0 && !t.failed);
}

ucs_test(str, text_empty) {
        _cleanup_text_ UcsText t = {};
        _cleanup_free_ char *s = NULL;
        size_t n = 7;

        cr_assert(ucs_text_take(&t, &s, &n) == 0);
        cr_expect(n == 0 && streq(s, ""));
}

ucs_test(str, text_grows) {
        _cleanup_text_ UcsText t = {};
        _cleanup_free_ char *s = NULL;

        for (unsigned i = 0; i < 10000; i++)
                ucs_text_appendf(&t, "%04u", i);
        cr_assert_eq(t.length, 40000);
        cr_assert(ucs_text_take(&t, &s, NULL) == 0);
        for (unsigned i = 0; i < 10000; i++) {
                char expected[5] = { (char) ('0' + i / 1000), (char) ('0' + i / 100 % 10), (char) ('0' + i / 10 % 10), (char) ('0' + i % 10), 0 };

                cr_assert(memcmp(s + 4 * i, expected, 4) == 0);
        }
        cr_expect_eq(s[40000], '\0');
}

/* The first failure sticks: nothing that follows makes half a text look whole. */
ucs_test(str, text_fails) {
        UcsText t = {};
        char *s = (char *) "untouched";

        ucs_text_append(&t, "begun");
        t.length = SIZE_MAX - 2; /* as if it were that long: the size overflows, no allocation is tried */
        ucs_text_append(&t, "more");
        cr_expect(t.failed);
        t.length = 5;
        ucs_text_append(&t, "more");
        ucs_text_appendf(&t, "%d", 5);
        cr_expect_eq(t.length, 5);
        cr_expect(ucs_text_take(&t, &s, NULL) == -ENOMEM);
        cr_expect_str_eq(s, "untouched");
        cr_expect(!t.data && !t.failed);
}

ucs_test(str, vector) {
        _cleanup_strv_ char **l = NULL;

        cr_expect_eq(strv_length(l), 0);
        cr_assert(strv_push(&l, "one") == 0 && strv_push(&l, "") == 0 && strv_push(&l, "three") == 0);
        cr_assert_eq(strv_length(l), 3);
        cr_expect(streq(l[0], "one") && streq(l[1], "") && streq(l[2], "three") && !l[3]);
        cr_expect_null(strv_free(NULL));
}

typedef enum Colour {
        COLOUR_RED,
        COLOUR_HOLE,
        COLOUR_BLUE,
        _COLOUR_MAX,
        _COLOUR_INVALID = -EINVAL,
} Colour;

static const char *const colours[_COLOUR_MAX] = { [COLOUR_RED] = "red", [COLOUR_BLUE] = "blue" };
DECLARE_ENUM_STRINGS(colour, Colour);
DEFINE_ENUM_STRINGS(colour, Colour, colours);

ucs_test(str, enum_names) {
        cr_expect_str_eq(colour_to_string(COLOUR_RED), "red");
        cr_expect_str_eq(colour_to_string(COLOUR_BLUE), "blue");
        cr_expect_null(colour_to_string(COLOUR_HOLE));
        cr_expect_null(colour_to_string(_COLOUR_MAX));
        cr_expect_null(colour_to_string(_COLOUR_INVALID));
        cr_expect_eq(colour_from_string("blue"), COLOUR_BLUE);
        cr_expect_eq(colour_from_string("Blue"), _COLOUR_INVALID);
        cr_expect_eq(colour_from_string(""), _COLOUR_INVALID);
        cr_expect_eq(colour_from_string(NULL), _COLOUR_INVALID);
}

ucs_test(str, strv_equal) {
        static char x[] = "x", y[] = "y";
        char *const none[] = { NULL }, *const a[] = { x, NULL }, *const ab[] = { x, y, NULL }, *const ba[] = { y, x, NULL };
        char *const *const lists[] = { NULL, none, a, ab, ba };

        for (size_t i = 0; i < ELEMENTSOF(lists); i++)
                for (size_t k = 0; k < ELEMENTSOF(lists); k++)
                        cr_expect_eq(strv_equal(lists[i], lists[k]), i == k || (i < 2 && k < 2), "%zu and %zu", i, k);
}

ucs_test(str, clean) {
        char text[5];

        str_clean(text, sizeof(text), "a\xff\n");
        cr_expect_str_eq(text, "a??");
        str_clean(text, sizeof(text), "abc\xc3\xa9"); /* what does not fit goes whole */
        cr_expect_str_eq(text, "abc");
        str_clean(text, sizeof(text), "ab\xc3\xa9x");
        cr_expect_str_eq(text, "ab\xc3\xa9");
        str_clean(text, 1, "x");
        cr_expect_str_eq(text, "");
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One sentence a failure. Whatever file names and configuration values bring along, it is one line of valid UTF-8: journals, terminals
 * and D-Bus strings get it. */

#include <errno.h>

#include "base/error.h"
#include "base/str.h"
#include "ucs-test.h"

ucs_test(error, set) {
        UcsError e = {};

        cr_expect_eq(ucs_error_set(&e, -EINVAL, "'%s' is not %d", "x", 5), -EINVAL);
        cr_expect(e.code == -EINVAL);
        cr_expect_str_eq(e.text, "'x' is not 5");

        cr_expect_eq(ucs_error_set(&e, -ENOENT, "later"), -ENOENT);
        cr_expect(e.code == -ENOENT);
        cr_expect_str_eq(e.text, "later");

        cr_expect_eq(ucs_error_set(NULL, -EIO, "nobody listens"), -EIO);
}

ucs_test(error, prefix) {
        UcsError e = {};

        ucs_error_set(&e, -EINVAL, "inner");
        cr_expect_eq(ucs_error_prefix(&e, -EIO, "line %d", 7), -EINVAL); /* the first code stays */
        cr_expect_str_eq(e.text, "line 7: inner");
        cr_expect_eq(ucs_error_prefix(&e, -EIO, "file"), -EINVAL);
        cr_expect_str_eq(e.text, "file: line 7: inner");
        cr_expect_eq(ucs_error_prefix(NULL, -EIO, "file"), -EIO);

        e = (UcsError){};
        cr_expect_eq(ucs_error_prefix(&e, -EIO, "file"), -EIO);
        cr_expect_eq(e.code, -EIO);
}

/* The text may be made of itself. */
ucs_test(error, from_itself) {
        UcsError e = {};

        ucs_error_set(&e, -EINVAL, "inner");
        cr_expect_eq(ucs_error_set(&e, -EIO, "outer (%s)", e.text), -EIO);
        cr_expect_str_eq(e.text, "outer (inner)");
        cr_expect_eq(ucs_error_prefix(&e, -EIO, "again %s", e.text), -EIO);
        cr_expect_str_eq(e.text, "again outer (inner): outer (inner)");
}

ucs_test(error, only_text) {
        static const struct {
                const char *in, *out;
        } table[] = {
                { "plain", "plain" },
                { "a\nb\tc\rd", "a?b?c?d" },
                { "\x1b[31mred\x7f", "?[31mred?" },
                { "gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x90\xa7", "gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x90\xa7" },
                { "\xc2\xa0 is a blank", "\xc2\xa0 is a blank" },
                { "\xc2\x9b[31m is another escape", "??[31m is another escape" }, /* C1 controls, U+0080 to U+009F */
                { "\xc2\x85 is a newline", "?? is a newline" },
                { "\xff\xfe", "??" },
                { "\x80 alone", "? alone" },
                { "\xc3 cut", "? cut" },
                { "\xe2\x82 cut", "?? cut" },
                { "cut \xf0\x9f\x90", "cut ???" },
                { "\xc0\xaf", "??" },             /* '/', too long */
                { "\xe0\x80\xaf", "???" },
                { "\xed\xa0\x80", "???" },        /* half a surrogate pair */
                { "\xf4\x90\x80\x80", "????" },   /* beyond U+10FFFF */
                { "\xf5\x80\x80\x80", "????" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsError e = {};

                ucs_error_set(&e, -EINVAL, "%s", table[i].in);
                cr_expect_str_eq(e.text, table[i].out);

                e = (UcsError){};
                ucs_error_prefix(&e, -EINVAL, "%s", table[i].in);
                cr_expect(str_startswith(e.text, table[i].out), "%zu", i);
        }
}

/* Cut off at the end of the buffer, but never inside a character. */
ucs_test(error, long_text) {
        for (size_t before = 0; before < 4; before++) {
                UcsError e = {};
                char in[1024];
                size_t n = 0;

                memset(in, 'a', before);
                for (n = before; n + 4 < sizeof(in); n += 3)
                        memcpy(in + n, "\xe2\x82\xac", 3);
                in[n] = '\0';

                ucs_error_set(&e, -EINVAL, "%s", in);
                n = strlen(e.text);
                cr_expect(n >= sizeof(e.text) - 4 && (n - before) % 3 == 0, "%zu bytes", n);
                cr_expect(strncmp(e.text, in, n) == 0);

                ucs_error_prefix(&e, -EINVAL, "b");
                n = strlen(e.text);
                cr_expect(str_startswith(e.text, "b: ") && n >= sizeof(e.text) - 4 && (n - 3 - before) % 3 == 0, "%zu bytes", n);

                ucs_error_set(&e, -EINVAL, "short");
                ucs_error_prefix(&e, -EINVAL, "%s", in);
                cr_expect(strncmp(e.text, in, strlen(e.text)) == 0 && strlen(e.text) >= sizeof(e.text) - 4);
        }
}

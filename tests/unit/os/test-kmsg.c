/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's log since a mark. */

#include "os/kmsg.h"
#include "tree.h"

#define kmsg_test(name) ucs_test(kmsg, name, .init = tmproot_init, .fini = tmproot_done)

static void append(const char *text) {
        FILE *f = fopen(tmproot_at("dev/kmsg"), "ae");

        cr_assert(f);
        cr_assert_eq(fwrite(text, 1, strlen(text), f), strlen(text));
        cr_assert_eq(fclose(f), 0);
}

static UcsKmsg *log_open(const char *text) {
        UcsKmsg *k = NULL;
        UcsError e = {};

        tmproot_text("dev/kmsg", text);
        cr_assert_eq(ucs_kmsg_open(tmproot, &k, &e), 0, "%s", e.text);
        return k;
}

kmsg_test(records) {
        static const struct {
                const char *name, *text, *lines[4];
        } table[] = {
                { "nothing", "", {} },
                { "two", "6,339,5140900,-;microcode: load: updated on 2 primary CPUs with 2 siblings\n4,340,5140901,-;second\n",
                  { "microcode: load: updated on 2 primary CPUs with 2 siblings", "second" } },
                { "another facility", "30,1,2,-;systemd[1]: Started\n6,2,3,-;kernel\n", { "kernel" } },
                { "a dictionary belongs to the record", "6,1,2,-;text\n SUBSYSTEM=cpu\n DEVICE=+cpu:0\n6,2,2,-;next\n", { "text", "next" } },
                { "further fields of the prefix", "6,1,2,c,caller=T1;part\n", { "part" } },
                { "semicolons in the text", "6,1,2,-;a;b;c\n", { "a;b;c" } },
                { "an empty text", "6,1,2,-;\n", { "" } },
                { "escapes", "6,1,2,-;tab\\x09 back\\x5cslash \\xzz \\x4\n", { "tab? back\\slash \\xzz \\x4" } },
                { "control characters", "6,1,2,-;a\033[31mb\n", { "a?[31mb" } },
                { "no prefix", "hello\n;x\n6;x\n,1;x\n-6,1,2;x\n6x,1;x\n999999999999,1,2,-;x\n\n", {} },
                { "a comma only behind the semicolon", "6;a,b\n", {} },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_kmsg_closep) UcsKmsg *k = log_open("6,1,1,-;before the mark\n");
                _cleanup_strv_ char **lines = NULL;
                UcsError e = {};

                append(table[i].text);
                cr_assert_eq(ucs_kmsg_read(k, &lines, &e), 0, "%s: %s", table[i].name, e.text);
                for (size_t n = 0; n < 4; n++) {
                        const char *line = n < strv_length(lines) ? lines[n] : NULL;

                        if (!table[i].lines[n]) {
                                cr_expect_null(line, "%s: '%s'", table[i].name, line);
                                break;
                        }
                        cr_assert(line, "%s: %zu lines", table[i].name, strv_length(lines));
                        cr_expect_str_eq(line, table[i].lines[n], "%s: '%s'", table[i].name, line);
                }
        }
}

kmsg_test(moves_on) {
        _cleanup_(ucs_kmsg_closep) UcsKmsg *k = log_open("");
        _cleanup_strv_ char **first = NULL, **second = NULL, **third = NULL;

        append("6,1,1,-;one\n6,2,2,-;tw");
        cr_assert_eq(ucs_kmsg_read(k, &first, NULL), 0);
        cr_expect_eq(strv_length(first), 1, "half a record waits");
        append("o\n");
        cr_assert_eq(ucs_kmsg_read(k, &second, NULL), 0);
        cr_assert_eq(strv_length(second), 1);
        cr_expect_str_eq(second[0], "two");
        append("6,3,3,-;three\n");
        cr_assert_eq(ucs_kmsg_mark(k), 0);
        append("6,4,4,-;four\n");
        cr_assert_eq(ucs_kmsg_read(k, &third, NULL), 0);
        cr_assert_eq(strv_length(third), 1);
        cr_expect_str_eq(third[0], "four");
}

/* A line longer than any record is left out, and what comes behind it is not lost. */
kmsg_test(long_line) {
        _cleanup_(ucs_kmsg_closep) UcsKmsg *k = log_open("");
        _cleanup_strv_ char **lines = NULL;
        _cleanup_text_ UcsText t = {};

        ucs_text_append(&t, "6,1,1,-;first\n6,2,2,-;");
        for (int i = 0; i < 10000; i++)
                ucs_text_append(&t, "xxxxxxxxxx");
        ucs_text_append(&t, "\n6,3,3,-;last\n");
        append(t.data);
        cr_assert_eq(ucs_kmsg_read(k, &lines, NULL), 0);
        cr_assert_eq(strv_length(lines), 2);
        cr_expect_str_eq(lines[0], "first");
        cr_expect_str_eq(lines[1], "last");
}

kmsg_test(many_lines) {
        _cleanup_(ucs_kmsg_closep) UcsKmsg *k = log_open("");
        _cleanup_text_ UcsText t = {};
        size_t sum = 0;

        for (unsigned i = 0; i < UCS_KMSG_LINES_MAX + 100; i++)
                ucs_text_appendf(&t, "6,%u,1,-;line %u\n", i, i);
        append(t.data);
        for (size_t n = 1; n > 0;) {
                _cleanup_strv_ char **lines = NULL;

                cr_assert_eq(ucs_kmsg_read(k, &lines, NULL), 0);
                n = strv_length(lines);
                cr_expect(n <= UCS_KMSG_LINES_MAX);
                for (size_t i = 0; i < n; i++)
                        cr_assert_str_eq(lines[i], tree_path("line %zu", sum + i));
                sum += n;
        }
        cr_expect_eq(sum, UCS_KMSG_LINES_MAX + 100);
}

kmsg_test(no_log) {
        UcsKmsg *k = NULL;
        UcsError e = {};

        cr_expect_eq(ucs_kmsg_open(tmproot, &k, &e), -ENOENT);
        expect_error(&e, "cannot open /dev/kmsg: No such file or directory");
        cr_expect_null(k);
}

/* The real device, where it can be read: nothing is asked of what it says. */
ucs_test(kmsg, device) {
        _cleanup_(ucs_kmsg_closep) UcsKmsg *k = NULL;
        _cleanup_strv_ char **lines = NULL;
        _cleanup_fd_ int root = -EBADF;

        cr_assert_eq(ucs_root_open("/", &root, NULL), 0);
        if (ucs_kmsg_open(root, &k, NULL) < 0)
                cr_skip("/dev/kmsg cannot be read here");
        cr_expect_geq(ucs_kmsg_read(k, &lines, NULL), 0);
        cr_expect(strv_length(lines) < UCS_KMSG_LINES_MAX);
}

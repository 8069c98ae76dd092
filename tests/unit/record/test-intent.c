/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The intent on disk: whole or not at all. */

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/record/intent.h"
#include "ucs-test.h"

static const UcsIntent sample = { .boot_id = "0b6b3f6e-6f0f-4f0e-8d6e-1f2e3d4c5b6a", .digest = { 1, 2, 0xff }, .signature = 0x50654, .platform_mask = 1,
                                  .from = 0x200003a, .to = 0x200005e, .when_usec = 1796126400000000, .id = 7, .uid = UINT32_MAX,
                                  .path = (char *) "/lib/firmware/intel-ucode/06-55-04" };

ucs_test(intent, round_trip) {
        _cleanup_(ucs_intent_done) UcsIntent back = {};
        _cleanup_free_ char *text = NULL;
        UcsError e = {};
        size_t size;

        cr_assert_eq(ucs_intent_format(&sample, &text, &size), 0);
        cr_assert_eq(ucs_intent_parse(text, size, &back, &e), 0, "%s", e.text);
        cr_expect_str_eq(back.boot_id, sample.boot_id);
        cr_expect_str_eq(back.path, sample.path);
        cr_expect(ucs_digest_equal(back.digest, sample.digest));
        cr_expect_eq(back.from, sample.from);
        cr_expect_eq(back.to, sample.to);
        cr_expect_eq(back.when_usec, sample.when_usec);
        cr_expect_eq(back.id, sample.id);
        cr_expect_eq(back.uid, sample.uid);
}

ucs_test(intent, truncation) {
        _cleanup_free_ char *text = NULL;
        size_t size;

        cr_assert_eq(ucs_intent_format(&sample, &text, &size), 0);
        for (size_t n = 0; n < size; n++) {
                UcsIntent back = { .id = 42 };
                UcsError e = {};

                cr_expect_eq(ucs_intent_parse(text, n, &back, &e), -EBADMSG, "%zu of %zu bytes were accepted", n, size);
                cr_expect_eq(back.id, 42U);
                cr_expect_null(back.path);
                cr_expect_neq(e.text[0], '\0');
        }
}

/* Each line that is missing, or there twice, is noticed. */
ucs_test(intent, every_line_once) {
        _cleanup_free_ char *text = NULL;
        size_t size;

        cr_assert_eq(ucs_intent_format(&sample, &text, &size), 0);
        for (char *line = strchr(text, '\n') + 1; strncmp(line, "end\n", 4) != 0; line = strchr(line, '\n') + 1) {
                size_t n = (size_t) (strchr(line, '\n') + 1 - line), before = (size_t) (line - text);
                _cleanup_text_ UcsText without = {}, twice = {};
                UcsIntent back = {};

                ucs_text_append_bytes(&without, text, before);
                ucs_text_append_bytes(&without, line + n, size - before - n);
                cr_expect_eq(ucs_intent_parse(without.data, without.length, &back, NULL), -EBADMSG, "without %.*s", (int) n, line);
                ucs_text_append_bytes(&twice, text, before + n);
                ucs_text_append_bytes(&twice, line, size - before);
                cr_expect_eq(ucs_intent_parse(twice.data, twice.length, &back, NULL), -EBADMSG, "twice %.*s", (int) n, line);
        }
}

ucs_test(intent, hostile) {
        UcsIntent bad = sample, back = {};
        _cleanup_free_ char *text = NULL;
        size_t size;

        bad.path = (char *) "/x\nend\n";
        cr_expect_eq(ucs_intent_format(&bad, &text, &size), -EINVAL);
        cr_expect_eq(ucs_intent_parse("ucodesync-intent 2\nend\n", 23, &back, NULL), -EPROTONOSUPPORT);
        cr_expect_eq(ucs_intent_parse("ucodesync-intent 1\nen\0d\n", 24, &back, NULL), -EBADMSG);
        cr_expect_eq(ucs_intent_parse("ucodesync-intent 1\nboot 0123456789012345678901234567890123456789\nend\n", 69, &back, NULL), -EBADMSG);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The policy's memory: rejections, and the text on disk, whole or not at all. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/policy/policy.h"
#include "ucs-test.h"

static void digest_make(uint8_t d[static UCS_DIGEST_SIZE], unsigned n) {
        memset(d, 0, UCS_DIGEST_SIZE);
        memcpy(d, &n, sizeof(n));
}

static UcsRejection rejection(unsigned n, UcsResult r) {
        UcsRejection x = { .result = r, .when_usec = 1000 + n, .until_usec = r == UCS_RESULT_BUSY ? 5000 : 0 };

        digest_make(x.digest, n);
        return x;
}

ucs_test(state, rejections) {
        UcsState s = {};
        uint8_t d[UCS_DIGEST_SIZE];

        for (unsigned i = 0; i < 2 * UCS_REJECTIONS_MAX; i++) {
                UcsRejection x = rejection(i, UCS_RESULT_REFUSED);

                ucs_state_reject(&s, &x);
                ucs_state_reject(&s, &x); /* once a file */
        }
        cr_expect_eq(s.n_rejections, (size_t) UCS_REJECTIONS_MAX);
        digest_make(d, UCS_REJECTIONS_MAX - 1);
        cr_expect_null(ucs_state_rejection(&s, d), "the oldest made room");
        digest_make(d, UCS_REJECTIONS_MAX);
        cr_expect_not_null(ucs_state_rejection(&s, d));
        cr_expect(ucs_state_acknowledge(&s, d));
        cr_expect_not(ucs_state_acknowledge(&s, d));
        cr_expect_eq(s.n_rejections, (size_t) UCS_REJECTIONS_MAX - 1);
}

static void state_make(UcsState *s, bool pending, unsigned n) {
        *s = (UcsState){};
        if (pending) {
                s->pending_since_usec = 1796126400000000;
                s->pending_revision = 0x200005e;
                s->overdue = n % 2;
                digest_make(s->pending_digest, 77);
                s->early_boots.broken = n;
                for (s->n_on_disk = 0; s->n_on_disk < n % (UCS_SEEN_MAX + 1); s->n_on_disk++)
                        s->on_disk[s->n_on_disk] = (UcsOnDisk){ 0x806c1, (uint32_t) s->n_on_disk, 0x68 + n };
                memcpy(s->early_boots.boot_id, "8b9cf1d2-6d5c-4f8e-9a43-0b6f4d0f7c11", 37);
        }
        for (unsigned i = 0; i < n; i++) {
                UcsRejection x = rejection(i, i % 2 ? UCS_RESULT_BUSY : UCS_RESULT_MIXED_REVISIONS);

                ucs_state_reject(s, &x);
        }
}

ucs_test(state, round_trip) {
        for (unsigned n = 0; n <= UCS_REJECTIONS_MAX; n += 7)
                for (int pending = 0; pending < 2; pending++) {
                        _cleanup_free_ char *text = NULL, *again = NULL;
                        UcsState s, back = {};
                        UcsError e = {};
                        size_t size, size_again;

                        state_make(&s, pending, n);
                        cr_assert_eq(ucs_state_format(&s, &text, &size), 0);
                        cr_assert_eq(ucs_state_parse(text, size, &back, &e), 0, "%s", e.text);
                        cr_expect_eq(back.n_rejections, s.n_rejections);
                        cr_expect_eq(memcmp(back.rejections, s.rejections, sizeof(s.rejections)), 0);
                        cr_expect_eq(back.pending_since_usec, s.pending_since_usec);
                        cr_expect_eq(back.pending_revision, s.pending_revision);
                        cr_expect_eq(back.overdue, s.overdue);
                        cr_expect_eq(back.n_on_disk, s.n_on_disk);
                        cr_expect_eq(memcmp(back.on_disk, s.on_disk, sizeof(s.on_disk)), 0);
                        cr_expect_eq(back.early_boots.broken, s.early_boots.broken);
                        cr_expect_str_eq(back.early_boots.boot_id, s.early_boots.boot_id);
                        cr_assert_eq(ucs_state_format(&back, &again, &size_again), 0);
                        cr_expect_str_eq(again, text);
                }
}

/* Cut short anywhere, it is refused, and what was there stays untouched. */
ucs_test(state, truncation) {
        _cleanup_free_ char *text = NULL;
        UcsState s, back = { .pending_revision = 42 };
        size_t size;

        state_make(&s, true, 3);
        cr_assert_eq(ucs_state_format(&s, &text, &size), 0);
        for (size_t n = 0; n < size; n++) {
                UcsError e = {};

                cr_expect_eq(ucs_state_parse(text, n, &back, &e), -EBADMSG, "accepted %zu of %zu bytes", n, size);
                cr_expect_neq(e.text[0], '\0');
                cr_expect_eq(back.pending_revision, 42U);
        }
}

static const struct {
        const char *text;
        int expected;
        const char *says;
} wrong[] = {
        { "", -EBADMSG, "end is missing" },
        { "end\n", -EBADMSG, "line 1" },
        { "ucodesync-state 2\nend\n", -EPROTONOSUPPORT, "version 2" },
        { "ucodesync-state x\nend\n", -EBADMSG, "line 1" },
        { "ucodesync-state 1\nfoo\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\npending 1 2 3 4\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nrejected 00 refused 1 2\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nrejected 0000000000000000000000000000000000000000000000000000000000000000 success 1 0\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nrejected 0000000000000000000000000000000000000000000000000000000000000000 refused -1 0\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nrejected 0000000000000000000000000000000000000000000000000000000000000000 refused 1 0 9\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\non-disk 0x1 0x2\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\non-disk 0x1 0x2 x\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nearly-boots -1 x\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nearly-boots 1\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nearly-boots 1 0123456789012345678901234567890123456789\nend\n", -EBADMSG, "line 2" },
        { "ucodesync-state 1\nearly-boots 1 x\nearly-boots 2 x\nend\n", -EBADMSG, "line 3" },
        { "ucodesync-state 1\nend\nend\n", -EBADMSG, "behind the end" },
};

ucs_test(state, wrong_texts) {
        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                UcsState s = {};
                UcsError e = {};
                int r;

                r = ucs_state_parse(wrong[i].text, strlen(wrong[i].text), &s, &e);
                cr_expect_eq(r, wrong[i].expected, "row %zu: %d", i, r);
                cr_expect_not_null(strstr(e.text, wrong[i].says), "row %zu says '%s'", i, e.text);
        }
        cr_expect_eq(ucs_state_parse("ucodesync-state 1\nen\0d\n", 23, &(UcsState){}, NULL), -EBADMSG, "a NUL byte");
}

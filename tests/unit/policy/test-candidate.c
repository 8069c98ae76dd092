/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* core/policy/candidate: which finding leads, and digests as text. */

#include "base/str.h"
#include "core/policy/candidate.h"
#include "ucs-test.h"

#define NOTHING  UCS_FOUND_NOTHING
#define NO_MATCH UCS_FOUND_NO_MATCH
#define OLD      UCS_FOUND_NOT_NEWER
#define NEWER    UCS_FOUND_NEWER
#define BAD      UCS_FOUND_BAD

ucs_test(candidate, leading) {
        static const struct {
                UcsFinding findings[4];
                size_t n;
                int leading; /* -1: none */
        } cases[] = {
                { {}, 0, -1 },
                { { NOTHING }, 1, 0 },
                { { BAD }, 1, 0 },
                { { NOTHING, OLD, NO_MATCH }, 3, 0 },
                { { OLD, NEWER }, 2, 1 },
                { { BAD, NEWER, NEWER }, 3, 1 },
                { { OLD, BAD, BAD }, 3, 1 },
                { { NO_MATCH, NOTHING, BAD, NEWER }, 4, 3 },
        };

        cr_expect_null(ucs_scan_leading(NULL));
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                UcsCandidate candidates[4] = {};
                UcsScan s = { candidates, cases[i].n };

                for (size_t k = 0; k < cases[i].n; k++)
                        candidates[k].finding = cases[i].findings[k];
                cr_expect_eq(ucs_scan_leading(&s),
                             cases[i].leading < 0 ? NULL : &candidates[cases[i].leading], "row %zu", i);
        }
}

ucs_test(candidate, free_takes_null_and_all) {
        UcsScan *s = new0(UcsScan, 1);

        cr_expect_null(ucs_scan_free(NULL));
        s->candidates = new0(UcsCandidate, 2);
        s->n_candidates = 2;
        s->candidates[1].path = strdup("/lib/firmware/intel-ucode/06-55-04");
        s->candidates[1].update.also = new0(UcsSignature, 3);
        cr_expect_null(ucs_scan_free(s));
}

ucs_test(candidate, digest_text) {
        static const struct {
                const char *text;
                int r;
        } cases[] = {
                { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff", 0 },
                { "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1EFF", 0 },
                { "", -EINVAL },
                { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1ef", -EINVAL },
                { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff0", -EINVAL },
                { "0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff", -EINVAL },
                { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e0x", -EINVAL },
                { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e f", -EINVAL },
                { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e-f", -EINVAL },
                { "g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff", -EINVAL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                uint8_t digest[UCS_DIGEST_SIZE], untouched[UCS_DIGEST_SIZE];
                char buf[UCS_DIGEST_HEX_MAX];

                memset(digest, 0xa5, sizeof(digest));
                memset(untouched, 0xa5, sizeof(untouched));
                cr_expect_eq(ucs_digest_parse(cases[i].text, digest), cases[i].r, "'%s'", cases[i].text);
                if (cases[i].r < 0)
                        cr_expect(ucs_digest_equal(digest, untouched));
                else {
                        cr_expect_str_eq(ucs_digest_format(buf, digest), cases[0].text);
                        cr_expect_eq(digest[10], 0x0a);
                        cr_expect_eq(digest[31], 0xff);
                        cr_expect_not(ucs_digest_equal(digest, untouched));
                }
        }
}

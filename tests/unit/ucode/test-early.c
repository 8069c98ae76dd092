/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Early images: where the member lies, where the search ends, and what the early loader would take from it.
 */

#include "core/ucode/early.h"
#include "mutate.h"
#include "ucs-test.h"

#define INTEL_NAME "kernel/x86/microcode/GenuineIntel.bin"

ucs_test(early, names) {
        cr_expect_str_eq(ucs_early_name(UCS_VENDOR_INTEL), INTEL_NAME);
        cr_expect_str_eq(ucs_early_name(UCS_VENDOR_AMD), "kernel/x86/microcode/AuthenticAMD.bin");
        cr_expect_null(ucs_early_name(UCS_VENDOR_UNKNOWN));
}

/* Found by steps through a window that grows only when asked: what os/early does with a file. */
static int find_by_steps(const Fixture *image, const char *name, size_t *ret_offset, size_t *ret_size) {
        UcsEarlyPlace place = {};
        size_t window = 1;

        for (size_t rounds = 0; rounds < 100000; rounds++) {
                uint64_t at = place.next;
                size_t n = at < image->size ? MIN(window, image->size - (size_t) at) : 0;
                Fixture part = {};
                uint8_t *copy;
                UcsEarlyStep step;

                fixture_append(&part, n > 0 ? image->data + at : NULL, n);
                copy = exact_copy(&part);
                step = ucs_early_step(copy, n, at, image->size, name, &place);
                free(copy);
                fixture_done(&part);
                switch (step) {
                case UCS_EARLY_END:
                        return -ENOENT;
                case UCS_EARLY_MEMBER:
                        *ret_offset = (size_t) place.data;
                        *ret_size = (size_t) place.size;
                        return 0;
                case UCS_EARLY_MORE:
                        cr_assert_eq(place.next, at);
                        cr_assert_gt(place.need, n);
                        cr_assert_leq(place.need, UCS_EARLY_WINDOW);
                        window = place.need;
                        break;
                case UCS_EARLY_SKIP:
                        cr_assert_gt(place.next, at);
                        window = 1;
                        break;
                }
        }
        cr_assert_fail("the search does not end");
        return -ELOOP;
}

static void expect_found(Fixture *image, const char *name, int code, const char *content, const char *what) {
        size_t offset = 0, size = 0, offset2 = 0, size2 = 0;
        _cleanup_free_ uint8_t *copy = exact_copy(image);

        cr_assert_eq(ucs_early_find(copy, image->size, name, &offset, &size), code, "%s", what);
        cr_assert_eq(find_by_steps(image, name, &offset2, &size2), code, "%s", what);
        cr_expect(offset == offset2 && size == size2, "%s", what);
        if (code == 0) {
                cr_assert_eq(size, strlen(content), "%s: %zu bytes", what, size);
                cr_expect(memcmp(copy + offset, content, size) == 0, "%s", what);
        }
}

ucs_test(early, find) {
        static const struct {
                const char *what;
                size_t zeros_before, block;
                const char *others; /* members in archives of their own before it, "name=content" separated
                                       by blanks */
                const char *name;
                const char *content;
                const char *tail;
                int code;
        } table[] = {
                { "alone", 0, 4, "", INTEL_NAME, "intel", "", 0 },
                { "padded to a block, then compressed data", 0, 512, "", INTEL_NAME, "intel",
                  "\x28\xb5\x2f\xfd....", 0 },
                { "zeros in front", 512, 512, "", INTEL_NAME, "intel", "", 0 },
                { "other archives in front", 0, 1024, "a=1 kernel/x86/microcode/AuthenticAMD.bin=amd",
                  INTEL_NAME, "intel", "", 0 },
                { "empty member", 0, 4, "", INTEL_NAME, "", "", 0 },
                { "odd sizes", 0, 4, "abc=12345 abcde=1", INTEL_NAME, "1234567", "", 0 },
                { "not there", 0, 512, "a=1", "kernel/firmware/acpi/ssdt.aml", "x", "\x1f\x8b\x08\x00",
                  -ENOENT },
                /* as far as the name goes, as the kernel compares it */
                { "a longer name", 0, 4, "", INTEL_NAME ".old", "old", "", 0 },
                { "a shorter name", 0, 4, "", "kernel/x86/microcode/GenuineIntel", "x", "", -ENOENT },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *others = strdup(table[i].others);
                Fixture image = {};
                char *save = NULL;

                cr_assert(others);
                fixture_append(&image, NULL, table[i].zeros_before);
                for (char *o = strtok_r(others, " ", &save); o; o = strtok_r(NULL, " ", &save)) {
                        char *content = strchr(o, '=');

                        *content++ = '\0';
                        fixture_cpio(&image, o, content, strlen(content), table[i].block);
                }
                fixture_cpio(&image, table[i].name, table[i].content, strlen(table[i].content),
                             table[i].block);
                fixture_append(&image, table[i].tail, strlen(table[i].tail));
                expect_found(&image, INTEL_NAME, table[i].code, table[i].content, table[i].what);
                fixture_done(&image);
        }
}

/* A header that is not one ends the search, and a member that is cut off is none. */
ucs_test(early, broken_headers) {
        static const struct {
                size_t at;
                const char *bytes;
                int code;
        } table[] = {
                { 0, "070701", 0 },          { 0, "070702", 0 },          { 0, "070703", -ENOENT },
                { 0, "070700", -ENOENT },    { 0, "070707", -ENOENT },    { 0, "\x1f\x8b", -ENOENT },
                { 6, "0000000g", -ENOENT },  { 6, "0000000F", 0 },        { 6, "0000000f", 0 },
                { 6, "0000000:", -ENOENT },  { 6, "0000000 ", -ENOENT },  { 6, "000000\xff\xff", -ENOENT },
                { 54, "ffffffff", -ENOENT }, { 54, "7fffffff", -ENOENT }, { 94, "ffffffff", -ENOENT },
                { 94, "fffffff8", -ENOENT },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                Fixture image = {};

                fixture_cpio(&image, INTEL_NAME, "intel", 5, 4);
                memcpy(image.data + table[i].at, table[i].bytes, strlen(table[i].bytes));
                expect_found(&image, INTEL_NAME, table[i].code, "intel", table[i].bytes);
                fixture_done(&image);
        }
}

ucs_test(early, every_truncation) {
        size_t offset = 0, size = 0;
        Fixture image = {};

        fixture_cpio(&image, INTEL_NAME, "intel", 5, 4);
        cr_assert_eq(ucs_early_find(image.data, image.size, INTEL_NAME, &offset, &size), 0);
        for (image.size = 0; image.size < offset + 8; image.size++)
                expect_found(&image, INTEL_NAME, -ENOENT, "", "truncated");
        /* up to the padding behind it the member is whole */
        expect_found(&image, INTEL_NAME, 0, "intel", "whole");
        fixture_done(&image);
}

ucs_test(early, a_directory_is_no_member) {
        Fixture image = {};

        fixture_cpio(&image, INTEL_NAME "/x", "no", 2, 4);
        memset(image.data, 0, 4);
        expect_found(&image, INTEL_NAME "/", -ENOENT, "", "starts in the middle of a header");
        fixture_done(&image);

        fixture_cpio(&image, "a/b", "x", 1, 4);
        expect_found(&image, "a/b", 0, "x", "a file");
        expect_found(&image, "a/c", -ENOENT, "", "another file");
        fixture_done(&image);
}

ucs_test(early, chance) {
        uint64_t state = 11;
        size_t found = 0;

        for (size_t i = 0; i < 20000; i++) {
                _cleanup_free_ uint8_t *copy = NULL;
                size_t offset = 0, size = 0, offset2 = 0, size2 = 0;
                Fixture image = {};
                int r;

                fixture_cpio(&image, "a", "b", 1, 4);
                fixture_cpio(&image, INTEL_NAME, "intel", 5, 64);
                mutate(&image, &state);
                copy = exact_copy(&image);
                r = ucs_early_find(copy, image.size, INTEL_NAME, &offset, &size);
                cr_assert(r == 0 || r == -ENOENT);
                cr_assert_eq(find_by_steps(&image, INTEL_NAME, &offset2, &size2), r);
                if (r == 0) {
                        found++;
                        cr_assert_leq(offset, image.size);
                        cr_assert_leq(size, image.size - offset);
                        cr_assert(offset == offset2 && size == size2);
                }
                fixture_done(&image);
        }
        cr_expect_gt(found, 1000);
}

ucs_test(early, choose_intel) {
        static const FixtureIntel make[] = {
                { .signature = 0x50654, .platform_mask = 1, .revision = 5 },
                { .signature = 0x50654,
                  .platform_mask = 1,
                  .revision = 9,
                  .also = { { 0x50653, 1 } },
                  .n_also = 1 },
                { .signature = 0x50654, .platform_mask = 2, .revision = 0x20 },
                { .signature = 0x50654, .platform_mask = 1, .revision = 7 },
        };
        static const struct {
                uint32_t signature, mask, revision;
        } table[] = {
                { 0x50654, 1, 9 }, { 0x50654, 2, 0x20 }, { 0x50653, 1, 9 },
                { 0x50657, 1, 0 }, { 0x50654, 8, 0 },
        };
        Fixture f = {};

        for (size_t i = 0; i < ELEMENTSOF(make); i++)
                fixture_intel(&f, &make[i]);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsUpdate u = {};

                cr_expect_eq(ucs_early_choose(UCS_VENDOR_INTEL, f.data, f.size, table[i].signature,
                                              table[i].mask, &u, NULL),
                             table[i].revision != 0, "row %zu", i);
                cr_expect_eq(u.revision, table[i].revision, "row %zu", i);
                cr_expect_eq(u.n_also, 0);
        }
        /* one byte too many, and the early loader takes nothing */
        fixture_append(&f, NULL, 4);
        cr_expect_eq(ucs_early_choose(UCS_VENDOR_INTEL, f.data, f.size, 0x50654, 1, &(UcsUpdate){}, NULL),
                     -EBADMSG);
        fixture_done(&f);
}

ucs_test(early, choose_amd) {
        static const FixtureAmd first[] = { { .patch_id = 0x06000852, .signature = 0x00600f20 } };
        static const FixtureAmd second[] = { { .patch_id = 0x0a0011de },
                                             { .patch_id = 0x0a0011d5 },
                                             { .patch_id = 0x0a201030 } };
        static const FixtureAmd third[] = { { .patch_id = 0x0a2010ff }, { .patch_id = 0x0830107c } };
        static const struct {
                uint32_t signature, revision;
        } table[] = {
                { 0x00600f20, 0x06000852 }, /* by the equivalence table */
                { 0x00a00f11, 0x0a0011d5 }, /* the last of its container, not the highest */
                { 0x00a20f10, 0x0a201030 }, /* of the first container that has one */
                { 0x00830f10, 0x0830107c }, /* of a later container */
                { 0x00a50f00, 0 },
        };
        Fixture f = {};

        fixture_amd(&f, first, ELEMENTSOF(first));
        fixture_amd(&f, second, ELEMENTSOF(second));
        fixture_amd(&f, third, ELEMENTSOF(third));
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsUpdate u = {};

                cr_expect_eq(
                        ucs_early_choose(UCS_VENDOR_AMD, f.data, f.size, table[i].signature, 0, &u, NULL),
                        table[i].revision != 0, "row %zu", i);
                cr_expect_eq(u.revision, table[i].revision, "row %zu: 0x%08x", i, u.revision);
        }
        /* trash behind the containers does not matter, in front of them it does */
        fixture_append(&f, "trash", 5);
        cr_expect_eq(ucs_early_choose(UCS_VENDOR_AMD, f.data, f.size, 0x00830f10, 0, &(UcsUpdate){}, NULL),
                     1);
        f.data[0] ^= 1;
        cr_expect_eq(ucs_early_choose(UCS_VENDOR_AMD, f.data, f.size, 0x00830f10, 0, &(UcsUpdate){}, NULL),
                     -EBADMSG);
        fixture_done(&f);
}

/* A bad section ends its container; what was found before it counts, what stands behind it is lost. */
ucs_test(early, bad_section) {
        static const char *const corruptions[] = { "section-type", "chipset" };
        static const FixtureAmd patches[] = { { .patch_id = 0x0830107c }, { .patch_id = 0x0a201030 } };

        for (size_t i = 0; i < ELEMENTSOF(corruptions); i++) {
                UcsUpdate u = {};
                Fixture f = {};

                fixture_amd(&f, patches, ELEMENTSOF(patches));
                cr_assert(fixture_corruption_find(corruptions[i])->apply(&f));
                fixture_amd(&f, &fixture_d, 1);
                cr_expect_eq(ucs_early_choose(UCS_VENDOR_AMD, f.data, f.size, 0x00830f10, 0, &u, NULL), 1);
                cr_expect_eq(u.revision, 0x0830107c);
                cr_expect_eq(ucs_early_choose(UCS_VENDOR_AMD, f.data, f.size, 0x00a20f10, 0, &u, NULL), 0,
                             "%s", corruptions[i]);
                fixture_done(&f);
        }
}

ucs_test(early, amd_chance) {
        static const FixtureAmd patches[] = { { .patch_id = 0x06000852, .signature = 0x00600f20 },
                                              { .patch_id = 0x0a201030 } };
        uint64_t state = 5;
        size_t found = 0;

        for (size_t i = 0; i < 20000; i++) {
                _cleanup_free_ uint8_t *copy = NULL;
                UcsUpdate u = {};
                Fixture f = {};

                fixture_amd(&f, patches, 2);
                fixture_amd(&f, patches, 1);
                mutate(&f, &state);
                copy = exact_copy(&f);
                if (ucs_early_choose(UCS_VENDOR_AMD, copy, f.size, i % 2 ? 0x00600f20 : 0x00a20f10, 0, &u,
                                     NULL) == 1) {
                        found++;
                        cr_assert_leq(u.offset + u.size, f.size);
                }
                fixture_done(&f);
        }
        cr_expect_gt(found, 1000);
}

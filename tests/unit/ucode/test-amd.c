/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* AMD containers: what is accepted, what the late loader refuses although it can be listed, and everything
 * that is broken. */

#include "base/str.h"
#include "core/ucode/amd.h"
#include "core/ucode/choose.h"
#include "core/ucode/file.h"
#include "mutate.h"
#include "ucs-test.h"

static int parse(const Fixture *f, UcsUpdateFile **ret, UcsError *e) {
        _cleanup_free_ uint8_t *copy = exact_copy(f);

        return ucs_update_file_parse(copy, f->size, ret, e);
}

static const FixtureAmd old_patch = {
        .patch_id = 0x010000c8, .signature = 0x00100f43, .date = 0x03112011, .size = 960, .checksum = 0x1234
};

ucs_test(amd, accepted) {
        static const struct {
                const char *name;
                FixtureAmd make;
                uint32_t signature, size, floor;
                uint16_t equiv_id;
                size_t n_also;
        } table[] = {
                { "Zen 3", { .patch_id = 0x0a201030, .date = 0x07152025 }, 0x00a20f10, 256, 0, 0xa210, 0 },
                { "Zen 2", { .patch_id = 0x0830107c, .size = 3200 }, 0x00830f10, 3200, 0, 0x8310, 0 },
                { "Zen 5", { .patch_id = 0x0b404031 }, 0x00b40f40, 256, 0, 0xb440, 0 },
                { "a floor",
                  { .patch_id = 0x0a0011de, .checksum = 0x0a0011d9 },
                  0x00a00f11,
                  256,
                  0x0a0011d9,
                  0xa011,
                  0 },
                { "a floor of another CPU",
                  { .patch_id = 0x0a0011de, .checksum = 0x0a0012d9 },
                  0x00a00f11,
                  256,
                  0,
                  0xa011,
                  0 },
                { "Zen 2 has no floor",
                  { .patch_id = 0x0830107c, .checksum = 0x08301070 },
                  0x00830f10,
                  256,
                  0,
                  0x8310,
                  0 },
                { "Zen: further rows are not looked at",
                  { .patch_id = 0x0a201030, .also = { { 0x00a20f12, 0 } }, .n_also = 1 },
                  0x00a20f10,
                  256,
                  0,
                  0xa210,
                  0 },
                { "family 15h",
                  { .patch_id = 0x06000852, .signature = 0x00600f20, .size = 2592 },
                  0x00600f20,
                  2592,
                  0,
                  0x6020,
                  0 },
                { "no multiple of four",
                  { .patch_id = 0x0700010f, .signature = 0x00700f01, .size = 3458 },
                  0x00700f01,
                  3458,
                  0,
                  0x7001,
                  0 },
                { "smallest",
                  { .patch_id = 0x0700010f, .signature = 0x00700f01, .size = 64 },
                  0x00700f01,
                  64,
                  0,
                  0x7001,
                  0 },
                { "several rows",
                  { .patch_id = 0x010000c8,
                    .signature = 0x00100f43,
                    .size = 2048,
                    .also = { { 0x00100f42, 0 }, { 0x00100f62, 0 } },
                    .n_also = 2 },
                  0x00100f43,
                  2048,
                  0,
                  0x1043,
                  2 },
                { "the same row twice",
                  { .patch_id = 0x010000c8,
                    .signature = 0x00100f43,
                    .also = { { 0x00100f43, 0 } },
                    .n_also = 1 },
                  0x00100f43,
                  256,
                  0,
                  0x1043,
                  0 },
                { "an id of its own",
                  { .patch_id = 0x010000c8, .signature = 0x00100f43, .equiv_id = 0x1041 },
                  0x00100f43,
                  256,
                  0,
                  0x1041,
                  0 },
                { "family 14h",
                  { .patch_id = 0x05000119, .signature = 0x00500f20, .size = 1824 },
                  0x00500f20,
                  1824,
                  0,
                  0x5020,
                  0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                const UcsUpdate *u;
                UcsError e = {};
                Fixture f = {};

                fixture_amd(&f, &table[i].make, 1);
                cr_assert_eq(parse(&f, &file, &e), 0, "%s: %s", table[i].name, e.text);
                cr_assert_eq(file->vendor, UCS_VENDOR_AMD);
                cr_assert_eq(file->n_updates, 1);
                u = &file->updates[0];
                cr_expect_eq(u->signature, table[i].signature, "%s: 0x%08x", table[i].name, u->signature);
                cr_expect_eq(u->revision, table[i].make.patch_id, "%s", table[i].name);
                cr_expect_eq(u->date, table[i].make.date, "%s", table[i].name);
                cr_expect_eq(u->size, table[i].size, "%s", table[i].name);
                cr_expect_eq(u->offset, f.last + 8, "%s", table[i].name);
                cr_expect_eq(u->equiv_id, table[i].equiv_id, "%s: 0x%04x", table[i].name, u->equiv_id);
                cr_expect_eq(u->floor_revision, table[i].floor, "%s: 0x%08x", table[i].name,
                             u->floor_revision);
                cr_expect_eq(u->min_revision, 0, "%s", table[i].name);
                cr_expect_eq(u->platform_mask, 0, "%s", table[i].name);
                cr_assert_eq(u->n_also, table[i].n_also, "%s: %zu", table[i].name, u->n_also);
                for (size_t k = 0; k < u->n_also; k++)
                        cr_expect_eq(u->also[k].signature, table[i].make.also[k].signature, "%s",
                                     table[i].name);
                fixture_done(&f);
        }
}

/* A CPU that stands in the table twice belongs to the first id, for the kernel and for us. */
ucs_test(amd, first_row_decides) {
        static const FixtureAmd patches[] = {
                { .patch_id = 0x01000083, .signature = 0x00100f22, .equiv_id = 0x1022 },
                { .patch_id = 0x01000084,
                  .signature = 0x00100f22,
                  .equiv_id = 0x1023,
                  .also = { { 0x00100f23, 0 } },
                  .n_also = 1 },
                { .patch_id = 0x01000085, .signature = 0x00100f22, .equiv_id = 0x1024 },
        };
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        Fixture f = {};

        fixture_amd(&f, patches, ELEMENTSOF(patches));
        cr_assert_eq(parse(&f, &file, NULL), 0);
        cr_assert_eq(file->n_updates, 3);
        cr_expect_eq(file->updates[0].signature, 0x00100f22);
        cr_expect_eq(file->updates[1].signature, 0x00100f23);
        cr_expect_eq(file->updates[1].n_also, 0);
        cr_expect_eq(file->updates[2].signature, 0, "a patch whose id no CPU has is for no CPU");
        cr_expect_not(ucs_update_matches(&file->updates[2], 0, 0));
        fixture_done(&f);
}

ucs_test(amd, corrupt) {
        static const struct {
                const char *name;
                const FixtureAmd *base;
                int code;
                const char *says;
        } table[] = {
                { "empty", &fixture_d, -ENODATA, "offset 0: the file is empty" },
                { "truncated", &fixture_d, -EBADMSG,
                  "offset 48: truncated, a patch of 256 bytes, but only 255 are left" },
                { "trailing-zeros", &fixture_d, -EBADMSG, "offset 308: section type 0x0, expected 1" },
                { "trailing-text", &fixture_d, -EBADMSG, "offset 308: section type 0x" },
                { "stray-byte", &fixture_d, -EBADMSG, "offset 0: not microcode, expected" },
                { "readme", &fixture_d, -EBADMSG, "offset 0: not microcode, expected" },
                { "magic", &fixture_d, -EBADMSG, "offset 0: not microcode, expected" },
                { "table-type", &fixture_d, -EBADMSG, "offset 4: section type 1, expected 0" },
                { "table-empty", &fixture_d, -EBADMSG,
                  "offset 8: an equivalence table of 0 bytes, expected 16 at least" },
                { "table-large", &fixture_d, -EBADMSG,
                  "offset 8: truncated, an equivalence table of 308 bytes, but only 296" },
                { "no-patch", &fixture_d, -EBADMSG, "offset 44: a container without a patch" },
                { "section-type", &fixture_d, -EBADMSG, "offset 44: section type 0x2, expected 1" },
                { "section-header", &fixture_d, -EBADMSG,
                  "offset 308: 4 bytes, expected a section header of 8" },
                { "patch-small", &fixture_d, -EBADMSG,
                  "offset 48: a patch of 63 bytes, expected 64 at least" },
                { "patch-large", &fixture_d, -EBADMSG,
                  "offset 48: truncated, a patch of 257 bytes, but only 256" },
                { "patch-too-large", &old_patch, -EBADMSG,
                  "offset 48: a patch of 2049 bytes, expected 2048 at most for family 10h" },
                { "chipset", &fixture_d, -EBADMSG, "offset 52: a chipset-specific patch" },
                { "second-container", &fixture_d, -EBADMSG,
                  "offset 308: a second container, expected a patch" },
        };
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const FixtureCorruption *c = fixture_corruption_find(table[i].name);
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                UcsError e = {};
                Fixture f = {};

                cr_assert(c, "%s", table[i].name);
                fixture_amd(&f, table[i].base, 1);
                cr_assert(c->apply(&f), "%s", table[i].name);
                cr_expect_eq(parse(&f, &file, &e), table[i].code, "%s", table[i].name);
                cr_expect_null(file);
                cr_expect_eq(e.code, table[i].code);
                cr_expect(strncmp(e.text, table[i].says, strlen(table[i].says)) == 0,
                          "%s: '%s', expected '%s'", table[i].name, e.text, table[i].says);
                fixture_done(&f);
        }
        for (size_t i = 0; i < fixture_n_corruptions; i++)
                n += fixture_corruptions[i].vendor != UCS_VENDOR_INTEL;
        cr_expect_eq(n, ELEMENTSOF(table), "a corruption of the generator is missing here");
}

/* Readable, though the late loader refuses: the list is complete and says why. */
ucs_test(amd, listed_although_refused) {
        static const struct {
                const char *name;
                size_t n_updates;
                const char *says;
        } table[] = {
                { "second-container", 2, "offset 308: a second container" },
                { "chipset", 1, "offset 52: a chipset-specific patch" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                Fixture f = {};

                fixture_amd(&f, &fixture_d, 1);
                cr_assert(fixture_corruption_find(table[i].name)->apply(&f));
                cr_assert_eq(ucs_update_file_list(f.data, f.size, &file, NULL), 0);
                cr_assert_eq(file->n_updates, table[i].n_updates);
                cr_expect_eq(file->updates[0].container, 0);
                cr_expect_eq(file->updates[file->n_updates - 1].container, file->n_updates - 1);
                cr_expect_eq(file->updates[0].chipset_specific, streq(table[i].name, "chipset"));
                cr_expect_eq(file->refusal.code, -EBADMSG);
                cr_expect(str_startswith(file->refusal.text, table[i].says), "%s", file->refusal.text);
                fixture_done(&f);
        }
}

/* A broken second container is broken, not merely refused. */
ucs_test(amd, broken_second_container) {
        Fixture f = {};

        fixture_amd(&f, &fixture_d, 1);
        fixture_amd(&f, &fixture_d, 1);
        for (f.size = 309; f.size < 616; f.size++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;

                cr_assert_eq(ucs_update_file_list(f.data, f.size, &file, NULL), -EBADMSG, "%zu bytes",
                             f.size);
        }
        fixture_done(&f);
}

ucs_test(amd, every_truncation_is_refused) {
        Fixture f = {};

        fixture_amd(&f, &fixture_d, 1);
        for (f.size = 0; f.size < 308; f.size++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                UcsError e = {};

                cr_assert_eq(parse(&f, &file, &e), f.size == 0 ? -ENODATA : -EBADMSG, "%zu bytes", f.size);
                cr_assert(*e.text);
        }
        fixture_done(&f);
}

/* Containers have no checksum: a flipped bit is refused, or lies where it changes no structure. The fields
 * of the patch header come out as they stand, and everything else as before. */
ucs_test(amd, every_flipped_bit) {
        Fixture f = {};

        fixture_amd(&f, &fixture_d, 1);
        for (size_t bit = 0; bit < 8 * f.size; bit++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                size_t at = bit / 8;
                bool structure = at < 12 || (at >= 44 && at < 52), chipset = at >= 68 && at < 76;
                int r;

                f.data[at] ^= (uint8_t) (1U << bit % 8);
                r = parse(&f, &file, NULL);
                cr_assert_eq(r, structure || chipset ? -EBADMSG : 0, "bit %zu: %d", bit, r);
                if (r == 0) {
                        const UcsUpdate *u = &file->updates[0];

                        cr_assert_eq(file->n_updates, 1);
                        cr_assert_eq(u->size, 256);
                        cr_assert_eq(u->date, fixture_get(&f, 52));
                        cr_assert_eq(u->revision, fixture_get(&f, 56));
                        cr_assert_eq(u->equiv_id, fixture_get(&f, 76) & 0xffff);
                        /* a bit of the patch id or of the equivalence id is another CPU's patch, or another
                         * revision */
                        if (at < 56 || at >= 78)
                                cr_assert(ucs_update_matches(u, 0x00a20f10, 0), "bit %zu", bit);
                }
                f.data[at] ^= (uint8_t) (1U << bit % 8);
        }
        fixture_done(&f);
}

ucs_test(amd, signature) {
        static const struct {
                uint32_t patch_id, signature;
        } table[] = {
                { 0x0a201030, 0x00a20f10 }, { 0x08701034, 0x00870f10 }, { 0x0800126f, 0x00800f12 },
                { 0x0a60120a, 0x00a60f12 }, { 0x0a70c008, 0x00a70fc0 }, { 0x0aa0021c, 0x00aa0f02 },
                { 0x0b404031, 0x00b40f40 }, { 0x0b700031, 0x00b70f00 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_amd_signature(table[i].patch_id), table[i].signature, "0x%08x: 0x%08x",
                             table[i].patch_id, ucs_amd_signature(table[i].patch_id));
}

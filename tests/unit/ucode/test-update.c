/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which update is for a CPU, which of several is taken, and the small change: names, dates, signatures. */

#include "core/ucode/amd.h"
#include "core/ucode/choose.h"
#include "core/ucode/entrysign.h"
#include "core/ucode/file.h"
#include "mutate.h"
#include "ucs-test.h"

ucs_test(update, vendor) {
        static const struct {
                const char *bytes;
                size_t size;
                UcsVendor vendor;
        } table[] = {
                { "", 0, UCS_VENDOR_UNKNOWN },
                { "DMA", 3, UCS_VENDOR_UNKNOWN },
                { "DMA\0", 4, UCS_VENDOR_AMD },
                { "\1\0\0", 3, UCS_VENDOR_UNKNOWN },
                { "\1\0\0\0", 4, UCS_VENDOR_INTEL },
                { "\2\0\0\0", 4, UCS_VENDOR_INTEL },
                { "\3\0\0\0", 4, UCS_VENDOR_UNKNOWN },
                { "# README\n", 9, UCS_VENDOR_UNKNOWN },
                { "\x28\xb5\x2f\xfd", 4, UCS_VENDOR_UNKNOWN }, /* zstd: the caller decompresses */
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_update_vendor(table[i].bytes, table[i].size), table[i].vendor, "row %zu",
                             i);
        for (UcsVendor v = 0; v < _UCS_VENDOR_MAX; v++)
                cr_expect_eq(ucs_vendor_from_string(ucs_vendor_to_string(v)), v);
        cr_expect_eq(ucs_vendor_from_string("via"), _UCS_VENDOR_INVALID);
}

ucs_test(update, matches) {
        static const UcsSignature rows[] = { { 0x806f7, 0x10 }, { 0x806f6, 0 } };
        static const UcsUpdate intel = { .vendor = UCS_VENDOR_INTEL,
                                         .signature = 0x806f8,
                                         .platform_mask = 0x87,
                                         .also = (UcsSignature *) rows,
                                         .n_also = 2 };
        static const UcsUpdate no_mask = { .vendor = UCS_VENDOR_INTEL, .signature = 0x632 };
        static const UcsUpdate zen = { .vendor = UCS_VENDOR_AMD, .signature = 0xa20f10, .equiv_id = 0xa210 };
        static const UcsUpdate wrong_family = { .vendor = UCS_VENDOR_AMD,
                                                .signature = 0xa20f10,
                                                .equiv_id = 0x8210 };
        static const UcsUpdate chipset = {
                .vendor = UCS_VENDOR_AMD, .signature = 0xa20f10, .equiv_id = 0xa210, .chipset_specific = true
        };
        static const struct {
                const UcsUpdate *u;
                uint32_t signature, mask;
                bool expected;
        } table[] = {
                { &intel, 0x806f8, 0x01, true },  { &intel, 0x806f8, 0x80, true },
                { &intel, 0x806f8, 0x87, true },  { &intel, 0x806f8, 0x10, false },
                { &intel, 0x806f8, 0, false },    { &intel, 0x806f7, 0x10, true },
                { &intel, 0x806f7, 0x01, false }, { &intel, 0x806f6, 0, true },
                { &intel, 0x806f6, 0x01, false }, { &intel, 0x806f5, 0x01, false },
                { &intel, 0, 0, false },          { &no_mask, 0x632, 0, true },
                { &no_mask, 0x632, 1, false },    { &zen, 0xa20f10, 0, true },
                { &zen, 0xa20f10, 0xff, true },   { &zen, 0xa20f12, 0, false },
                { &zen, 0x820f10, 0, false },     { &wrong_family, 0xa20f10, 0, false },
                { &chipset, 0xa20f10, 0, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_update_matches(table[i].u, table[i].signature, table[i].mask),
                             table[i].expected, "row %zu", i);
}

/* A file of updates of (signature, mask, revision, minimum revision), and the CPU that looks into it. */
ucs_test(update, choose_intel) {
        static const FixtureIntel files[][4] = {
                { { .signature = 0x50654,
                    .platform_mask = 0xb7,
                    .revision = 0x2007006,
                    .min_revision = 0x2006b06 } },
                { { .signature = 0x50654, .platform_mask = 1, .revision = 5, .min_revision = 3 },
                  { .signature = 0x50654, .platform_mask = 1, .revision = 9 },
                  { .signature = 0x50654, .platform_mask = 1, .revision = 7, .min_revision = 6 },
                  { .signature = 0x50654, .platform_mask = 2, .revision = 0x20, .min_revision = 1 } },
                { { .signature = 0x806f8,
                    .platform_mask = 0x87,
                    .revision = 0x2b000650,
                    .also = { { 0x806f7, 0x87 } },
                    .n_also = 1 },
                  { .signature = 0x806f8, .platform_mask = 0x10, .revision = 0x2c000410 } },
                { { .signature = 0x906eb, .platform_mask = 2, .revision = 0x80000001 } },
        };
        static const size_t lengths[] = { 1, 4, 2, 1 };
        static const struct {
                size_t file;
                uint32_t signature, mask, running;
                UcsChoice plain;
                uint32_t revision; /* that is taken; 0: none */
                UcsChoice forced;  /* with force_minrev */
                uint32_t forced_revision;
        } table[] = {
                { 0, 0x50654, 1, 0x200003a, UCS_CHOICE_NEWER, 0x2007006, UCS_CHOICE_NONE, 0 },
                { 0, 0x50654, 1, 0x2006b06, UCS_CHOICE_NEWER, 0x2007006, UCS_CHOICE_NEWER, 0x2007006 },
                { 0, 0x50654, 1, 0x2006b05, UCS_CHOICE_NEWER, 0x2007006, UCS_CHOICE_NONE, 0 },
                { 0, 0x50654, 1, 0x2007006, UCS_CHOICE_NOT_NEWER, 0x2007006, UCS_CHOICE_NOT_NEWER,
                  0x2007006 },
                { 0, 0x50654, 1, 0x2007007, UCS_CHOICE_NOT_NEWER, 0x2007006, UCS_CHOICE_NOT_NEWER,
                  0x2007006 },
                { 0, 0x50654, 8, 0x200003a, UCS_CHOICE_NONE, 0, UCS_CHOICE_NONE, 0 },
                { 0, 0x50657, 1, 0x200003a, UCS_CHOICE_NONE, 0, UCS_CHOICE_NONE, 0 },
                /* in any order the highest; with force_minrev the best of the safe ones */
                { 1, 0x50654, 1, 1, UCS_CHOICE_NEWER, 9, UCS_CHOICE_NONE, 0 },
                { 1, 0x50654, 1, 3, UCS_CHOICE_NEWER, 9, UCS_CHOICE_NEWER, 5 },
                { 1, 0x50654, 1, 6, UCS_CHOICE_NEWER, 9, UCS_CHOICE_NEWER, 7 },
                { 1, 0x50654, 1, 8, UCS_CHOICE_NEWER, 9, UCS_CHOICE_NOT_NEWER, 7 },
                /* platform masks are revision spaces of their own */
                { 1, 0x50654, 2, 9, UCS_CHOICE_NEWER, 0x20, UCS_CHOICE_NEWER, 0x20 },
                { 2, 0x806f8, 1, 0x2b000100, UCS_CHOICE_NEWER, 0x2b000650, UCS_CHOICE_NONE, 0 },
                { 2, 0x806f8, 0x10, 0x2c000100, UCS_CHOICE_NEWER, 0x2c000410, UCS_CHOICE_NONE, 0 },
                { 2, 0x806f7, 1, 0x2b000100, UCS_CHOICE_NEWER, 0x2b000650, UCS_CHOICE_NONE, 0 },
                { 2, 0x806f7, 0x10, 0x2b000100, UCS_CHOICE_NONE, 0, UCS_CHOICE_NONE, 0 },
                /* revisions are unsigned, as in the kernel's comparison */
                { 3, 0x906eb, 2, 0x100, UCS_CHOICE_NEWER, 0x80000001, UCS_CHOICE_NONE, 0 },
                { 3, 0x906eb, 2, 0xffffffff, UCS_CHOICE_NOT_NEWER, 0x80000001, UCS_CHOICE_NONE, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                const UcsUpdate *u = NULL;
                Fixture f = {};

                for (size_t k = 0; k < lengths[table[i].file]; k++)
                        fixture_intel(&f, &files[table[i].file][k]);
                cr_assert_eq(ucs_update_file_parse(f.data, f.size, &file, NULL), 0);
                cr_expect_eq(
                        ucs_update_choose(file, table[i].signature, table[i].mask, table[i].running, &u),
                        table[i].plain, "row %zu", i);
                cr_expect_eq(u ? u->revision : 0, table[i].revision, "row %zu", i);
                cr_expect_eq(ucs_update_choose_with(file, table[i].signature, table[i].mask,
                                                    table[i].running, UCS_CHOOSE_FORCE_MINREV, &u),
                             table[i].forced, "row %zu", i);
                cr_expect_eq(u ? u->revision : 0, table[i].forced_revision, "row %zu", i);
                fixture_done(&f);
        }
}

ucs_test(update, first_of_equals) {
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        const UcsUpdate *u = NULL;
        Fixture f = {};

        fixture_intel(&f, &fixture_a);
        fixture_intel(&f, &fixture_a);
        cr_assert_eq(ucs_update_file_parse(f.data, f.size, &file, NULL), 0);
        cr_expect_eq(ucs_update_choose(file, 0x906eb, 2, 1, &u), UCS_CHOICE_NEWER);
        cr_expect_eq(u, &file->updates[0]);
        fixture_done(&f);
}

/* Two patches for one CPU in one container, on both sides of the cutoff 0x0a0011da, as vendors ship them
 * since 2025. */
ucs_test(update, choose_amd) {
        static const FixtureAmd patches[] = {
                { .patch_id = 0x0a0011d5 },
                { .patch_id = 0x0a0011de },
                { .patch_id = 0x0a201030 },
                { .patch_id = 0x06000852, .signature = 0x00600f20 },
        };
        static const struct {
                uint32_t signature, running;
                UcsChooseFlags flags;
                UcsChoice choice;
                uint32_t revision;
        } table[] = {
                { 0x00a00f11, 0x0a0011d1, 0, UCS_CHOICE_NEWER, 0x0a0011de },
                { 0x00a00f11, 0x0a0011de, 0, UCS_CHOICE_NOT_NEWER, 0x0a0011de },
                { 0x00a00f11, 0x0a0011d1, UCS_CHOOSE_ENTRYSIGN_SIDE, UCS_CHOICE_NEWER, 0x0a0011d5 },
                { 0x00a00f11, 0x0a0011d5, UCS_CHOOSE_ENTRYSIGN_SIDE, UCS_CHOICE_NOT_NEWER, 0x0a0011d5 },
                { 0x00a00f11, 0x0a0011da, UCS_CHOOSE_ENTRYSIGN_SIDE, UCS_CHOICE_NOT_NEWER, 0x0a0011d5 },
                { 0x00a00f11, 0x0a0011db, UCS_CHOOSE_ENTRYSIGN_SIDE, UCS_CHOICE_NEWER, 0x0a0011de },
                { 0x00a20f10, 0x0a201016, 0, UCS_CHOICE_NEWER, 0x0a201030 },
                { 0x00a20f10, 0x0a201016, UCS_CHOOSE_ENTRYSIGN_SIDE, UCS_CHOICE_NONE, 0 },
                { 0x00600f20, 0x06000800, 0, UCS_CHOICE_NEWER, 0x06000852 },
                { 0x00600f20, 0x06000800, UCS_CHOOSE_ENTRYSIGN_SIDE, UCS_CHOICE_NEWER, 0x06000852 },
                { 0x00a50f00, 0x0a500001, 0, UCS_CHOICE_NONE, 0 },
                /* the kernel takes nothing of AMD's with force_minrev */
                { 0x00a00f11, 0x0a0011d1, UCS_CHOOSE_FORCE_MINREV, UCS_CHOICE_NONE, 0 },
        };
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        Fixture f = {};

        fixture_amd(&f, patches, ELEMENTSOF(patches));
        cr_assert_eq(ucs_update_file_parse(f.data, f.size, &file, NULL), 0);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                const UcsUpdate *u = NULL;

                cr_expect_eq(ucs_update_choose_with(file, table[i].signature, 0, table[i].running,
                                                    table[i].flags, &u),
                             table[i].choice, "row %zu", i);
                cr_expect_eq(u ? u->revision : 0, table[i].revision, "row %zu", i);
        }
        fixture_done(&f);
}

ucs_test(update, minrev) {
        static const struct {
                uint32_t min_revision, running;
                bool met;
        } table[] = {
                { 0, 0, false },
                { 0, 0x100, false },
                { 0x100, 0xff, false },
                { 0x100, 0x100, true },
                { 0x100, 0x101, true },
                { 0x80000001, 0x100, false },
                { 0x100, 0x80000001, true },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_update_minrev_met(&(UcsUpdate){ .min_revision = table[i].min_revision },
                                                   table[i].running),
                             table[i].met, "row %zu", i);
}

ucs_test(update, firmware_name) {
        static const struct {
                UcsVendor vendor;
                uint32_t signature;
                const char *name;
        } table[] = {
                { UCS_VENDOR_INTEL, 0x000906eb, "intel-ucode/06-9e-0b" },
                { UCS_VENDOR_INTEL, 0x00050654, "intel-ucode/06-55-04" },
                { UCS_VENDOR_INTEL, 0x00000f4a, "intel-ucode/0f-04-0a" },
                { UCS_VENDOR_INTEL, 0x000006fb, "intel-ucode/06-0f-0b" },
                { UCS_VENDOR_INTEL, 0x00400f10, "intel-ucode/13-01-00" },
                { UCS_VENDOR_INTEL, 0x00000543, "intel-ucode/05-04-03" },
                { UCS_VENDOR_AMD, 0x00100f43, "amd-ucode/microcode_amd.bin" },
                { UCS_VENDOR_AMD, 0x00500f20, "amd-ucode/microcode_amd.bin" },
                { UCS_VENDOR_AMD, 0x00600f12, "amd-ucode/microcode_amd_fam15h.bin" },
                { UCS_VENDOR_AMD, 0x00830f10, "amd-ucode/microcode_amd_fam17h.bin" },
                { UCS_VENDOR_AMD, 0x00b40f40, "amd-ucode/microcode_amd_fam1ah.bin" },
                { UCS_VENDOR_UNKNOWN, 0x000906eb, NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char buf[UCS_FIRMWARE_NAME_MAX];
                const char *name = ucs_firmware_name(buf, table[i].vendor, table[i].signature);

                if (table[i].name)
                        cr_expect_str_eq(name, table[i].name);
                else
                        cr_expect_null(name);
        }
}

ucs_test(update, date) {
        static const struct {
                uint32_t bcd;
                const char *date;
        } table[] = {
                { 0x07282023, "2023-07-28" },
                { 0x01152024, "2024-01-15" },
                { 0x02292024, "2024-02-29" },
                { 0x12312099, "2099-12-31" },
                { 0x01011995, "1995-01-01" },
                { 0x02292000, "2000-02-29" },
                { 0x02292023, NULL },
                { 0x02291900, NULL },
                { 0x13092011, NULL },
                { 0x00152024, NULL },
                { 0x01002024, NULL },
                { 0x04312024, NULL },
                { 0x1a152024, NULL },
                { 0x011a2024, NULL },
                { 0x0115202a, NULL },
                { 0x01152a24, NULL },
                { 0, NULL },
                { 0xffffffff, NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                char buf[UCS_DATE_MAX] = "x";
                const char *date = ucs_update_date(buf, table[i].bcd);

                if (table[i].date)
                        cr_expect_str_eq(date, table[i].date);
                else {
                        cr_expect_null(date, "0x%08x", table[i].bcd);
                        cr_expect_str_empty(buf);
                }
        }
}

ucs_test(update, signature) {
        static const struct {
                uint32_t signature;
                unsigned family, model, stepping;
        } table[] = {
                { 0x000906eb, 6, 0x9e, 0xb }, { 0x00050654, 6, 0x55, 4 },    { 0x00000f4a, 0xf, 4, 0xa },
                { 0x000006fb, 6, 0xf, 0xb },  { 0x00a20f10, 0x19, 0x21, 0 }, { 0x00830f10, 0x17, 0x31, 0 },
                { 0x00100f43, 0x10, 4, 3 },   { 0x00600f20, 0x15, 2, 0 },    { 0x00b40f40, 0x1a, 0x44, 0 },
                { 0x000c06f2, 6, 0xcf, 2 },   { 0x00400f10, 0x13, 1, 0 },    { 0x00000543, 5, 4, 3 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                cr_expect_eq(ucs_signature_family(table[i].signature), table[i].family, "row %zu", i);
                cr_expect_eq(ucs_signature_model(table[i].signature), table[i].model, "row %zu", i);
                cr_expect_eq(ucs_signature_stepping(table[i].signature), table[i].stepping, "row %zu", i);
        }
        /* and back, for every CPU that there can be */
        for (unsigned family = 6; family < 0x10f; family++)
                for (unsigned model = 0; model < 256; model++) {
                        uint32_t s = ucs_signature_make(family, model, model % 16);

                        if (family > 6 && family < 0xf && model > 0xf)
                                continue; /* extended models were only ever used in families 6 and 0fh up */
                        cr_assert_eq(ucs_signature_family(s), family);
                        cr_assert_eq(ucs_signature_model(s), model);
                        cr_assert_eq(ucs_signature_stepping(s), model % 16);
                }
}

ucs_test(update, entrysign) {
        static const struct {
                uint32_t signature, running;
                bool affected, needs_digest;
        } table[] = {
                { 0x00800f12, 0x08001277, true, true },
                { 0x00800f12, 0x08001278, true, false },
                { 0x00830f10, 0x0830107c, true, true },
                { 0x00830f10, 0x08301081, true, false },
                { 0x00870f10, 0x08701034, true, true },
                { 0x00870f10, 0x08701035, true, false },
                { 0x00a00f11, 0x0a0011da, true, true },
                { 0x00a10f11, 0x0a101154, true, false },
                { 0x00b00f21, 0x0b002146, true, true },
                { 0x00b40f40, 0x0b404032, true, false },
                { 0x00a70fc0, 0x0a70c009, true, true },
                { 0x00b70f00, 0x0b700031, false, false },
                /* runs nothing: counts as the lowest of its type */
                { 0x00830f10, 0, true, true },
                { 0x00b40f40, 0, true, true },
                /* of an affected family, but its cutoff is unknown: the kernel checks */
                { 0x00820f10, 0x08201010, true, true },
                /* families and models with the fix from the start, or before Zen */
                { 0x00b50f00, 0x0b500010, false, false },
                { 0x00b80f00, 0x0b800010, false, false },
                { 0x00600f20, 0x06000852, false, false },
                { 0x00c00f00, 0x0c000010, false, false },
        };
        static const struct {
                uint32_t running, patch_id;
                bool same;
        } sides[] = {
                { 0x0a0011d1, 0x0a0011da, true },  { 0x0a0011d1, 0x0a0011db, false },
                { 0x0a0011db, 0x0a0011da, false }, { 0x0a0011db, 0x0a0011de, true },
                { 0x06000800, 0x06000852, true },  { 0x0a201016, 0x0a201030, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                cr_expect_eq(ucs_entrysign_affected(table[i].signature), table[i].affected, "row %zu", i);
                cr_expect_eq(ucs_entrysign_needs_digest(table[i].signature, table[i].running),
                             table[i].needs_digest, "row %zu", i);
        }
        for (size_t i = 0; i < ELEMENTSOF(sides); i++)
                cr_expect_eq(ucs_entrysign_same_side(sides[i].running, sides[i].patch_id), sides[i].same,
                             "row %zu", i);

        /* the search finds every row, from any revision of the type, and nothing between the rows */
        for (uint32_t type = 0x80000; type < 0xc0000; type++) {
                uint32_t cutoff = ucs_entrysign_cutoff(type << 8);

                cr_assert_eq(ucs_entrysign_cutoff(type << 8 | 0xff), cutoff, "0x%x", type);
                cr_assert(cutoff == 0 || cutoff >> 8 == type);
                /* 0x0b7000 has a cutoff in the kernel's table although its model, 70h, is not one that it
                 * checks */
                if (cutoff && type != 0xb7000)
                        cr_assert(ucs_entrysign_affected(ucs_amd_signature(cutoff)), "0x%08x", cutoff);
        }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Intel updates: what is accepted, and everything that is not. */

#include <stdio.h>

#include "core/ucode/file.h"
#include "core/ucode/intel.h"
#include "mutate.h"
#include "ucs-test.h"

static int parse(const Fixture *f, UcsUpdateFile **ret, UcsError *e) {
        _cleanup_free_ uint8_t *copy = exact_copy(f);

        return ucs_update_file_parse(copy, f->size, ret, e);
}

ucs_test(intel, accepted) {
        static const struct {
                const char *name;
                FixtureIntel make;
                uint32_t size;
                size_t n_also;
        } table[] = {
                { "plain",
                  { .signature = 0x906eb, .platform_mask = 2, .revision = 0x100, .date = 0x07282023 },
                  1024,
                  0 },
                { "minimum revision",
                  { .signature = 0x906eb, .platform_mask = 2, .revision = 0x110, .min_revision = 0x100 },
                  1024,
                  0 },
                { "table",
                  { .signature = 0x806f8,
                    .platform_mask = 0x87,
                    .revision = 0x120,
                    .also = { { 0x806f7, 0x87 }, { 0x806f6, 0x10 } },
                    .n_also = 2 },
                  1024,
                  3 },
                { "sizes of 0", { .signature = 0x616, .revision = 0xc6, .implied_size = true }, 2048, 0 },
                { "no multiple of 1024", { .signature = 0x50654, .revision = 1, .size = 1052 }, 1052, 0 },
                { "large", { .signature = 0x50654, .revision = 1, .size = 3 << 20, .seed = 5 }, 3 << 20, 0 },
                { "metadata", { .signature = 0x806f8, .revision = 1, .metadata = 128, .seed = 7 }, 1024, 0 },
                { "more metadata than data",
                  { .signature = 0x806f8, .revision = 1, .metadata = 4096 },
                  1024,
                  0 },
                { "negative revision",
                  { .signature = 0x906eb, .platform_mask = 2, .revision = 0x80000001 },
                  1024,
                  0 },
                { "no date", { .signature = 0x906eb, .revision = 1, .date = 0xffffffff }, 1024, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                const FixtureIntel *m = &table[i].make;
                const UcsUpdate *u;
                UcsError e = {};
                Fixture f = {};

                fixture_intel(&f, m);
                cr_assert_eq(parse(&f, &file, &e), 0, "%s: %s", table[i].name, e.text);
                cr_assert_eq(file->vendor, UCS_VENDOR_INTEL);
                cr_assert_eq(file->n_updates, 1);
                u = &file->updates[0];
                cr_expect_eq(u->signature, m->signature, "%s", table[i].name);
                cr_expect_eq(u->platform_mask, m->platform_mask, "%s", table[i].name);
                cr_expect_eq(u->revision, m->revision, "%s", table[i].name);
                cr_expect_eq(u->min_revision, m->min_revision, "%s", table[i].name);
                cr_expect_eq(u->date, m->date, "%s", table[i].name);
                cr_expect_eq(u->metadata_size, m->metadata, "%s", table[i].name);
                cr_expect_eq(u->size, table[i].size, "%s", table[i].name);
                cr_expect_eq(u->offset, 0, "%s", table[i].name);
                cr_assert_eq(u->n_also, table[i].n_also, "%s", table[i].name);
                if (u->n_also > 0)
                        cr_expect(u->also[0].signature == m->signature &&
                                  u->also[0].platform_mask == m->platform_mask);
                for (size_t k = 1; k < u->n_also; k++)
                        cr_expect(u->also[k].signature == m->also[k - 1].signature &&
                                  u->also[k].platform_mask == m->also[k - 1].platform_mask);
                fixture_done(&f);
        }
}

ucs_test(intel, several_in_a_file) {
        static const uint32_t revisions[] = { 5, 0xf, 1, 9 };
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        FixtureIntel make = fixture_c;
        UcsError e = {};
        Fixture f = {};

        for (size_t i = 0; i < ELEMENTSOF(revisions); i++) {
                make.revision = revisions[i];
                make.size = i == 2 ? 4096 : 0;
                make.n_also = i % 2;
                fixture_intel(&f, &make);
        }
        cr_assert_eq(parse(&f, &file, &e), 0, "%s", e.text);
        cr_assert_eq(file->n_updates, 4);
        for (size_t i = 0; i < 4; i++)
                cr_expect_eq(file->updates[i].revision, revisions[i]);
        cr_expect_eq(file->updates[3].offset, 1024 + 1024 + 4096);
        fixture_done(&f);
}

/* `base` is A without, C with an extended table. What is said names the offset of the field and what was
 * expected of it. */
ucs_test(intel, corrupt) {
        static const struct {
                const char *name;
                const FixtureIntel *base;
                int code;
                size_t offset; /* within the update */
                const char *says;
        } table[] = {
                { "empty", &fixture_a, -ENODATA, 0, "empty" },
                { "truncated", &fixture_a, -EBADMSG, 0, "1023 bytes are left, expected 1024" },
                { "truncated", &fixture_c, -EBADMSG, 0, "1023 bytes are left, expected 1024" },
                { "truncated-header", &fixture_a, -EBADMSG, 0, "47 bytes, expected a header of 48" },
                { "trailing-zeros", &fixture_a, -EBADMSG, 1024, "16 bytes, expected a header of 48" },
                { "trailing-text", &fixture_c, -EBADMSG, 1024, "16 bytes, expected a header of 48" },
                { "body-bit", &fixture_a, -EBADMSG, 0, "header and data sum to 0x00000010, expected 0" },
                { "header-bit", &fixture_a, -EBADMSG, 0, "header and data sum to 0x00000001, expected 0" },
                { "header-bit", &fixture_c, -EBADMSG, 0, "header and data sum to 0x00000001, expected 0" },
                { "total-size", &fixture_a, -EBADMSG, 32, "total size 40, expected 1024 at least" },
                { "data-size", &fixture_a, -EBADMSG, 32, "total size 1024, expected 1072 at least" },
                { "data-size-odd", &fixture_a, -EBADMSG, 28, "data size 978, expected a multiple of 4" },
                { "ifs", &fixture_a, -EBADMSG, 0, "header type 2, an In-Field Scan image, expected 1" },
                { "header-version", &fixture_a, -EBADMSG, 0, "header type 3, expected 1" },
                { "loader-version", &fixture_c, -EBADMSG, 20, "loader version 2, expected 1" },
                { "table-checksum", &fixture_c, -EBADMSG, 980, "table sums to 0x00000001, expected 0" },
                { "row-checksum", &fixture_c, -EBADMSG, 1000,
                  "row 1 of the extended signature table sums to" },
                { "table-count-more", &fixture_c, -EBADMSG, 980,
                  "44 bytes for an extended signature table, expected 56" },
                { "table-count-less", &fixture_c, -EBADMSG, 980,
                  "44 bytes for an extended signature table, expected 32" },
                { "table-count-wraps", &fixture_c, -EBADMSG, 980,
                  "expected 12884901932 for 1073741826 rows" },
                { "table-ragged", &fixture_c, -EBADMSG, 980,
                  "48 bytes for an extended signature table, expected 44" },
                { "table-stub", &fixture_a, -EBADMSG, 1024,
                  "16 bytes for an extended signature table, expected 20" },
        };
        /* alone, and behind a good update: one bad update makes the whole file bad */
        static const bool behind[] = { false, true };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                for (size_t k = 0; k < ELEMENTSOF(behind); k++) {
                        const FixtureCorruption *c = fixture_corruption_find(table[i].name);
                        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                        char offset[32];
                        UcsError e = {};
                        Fixture f = {};

                        cr_assert(c);
                        if (behind[k] && table[i].code == -ENODATA)
                                continue;
                        if (behind[k])
                                fixture_intel(&f, &fixture_b);
                        fixture_intel(&f, table[i].base);
                        cr_assert(c->apply(&f), "%s", table[i].name);
                        cr_expect_eq(parse(&f, &file, &e), table[i].code, "%s", table[i].name);
                        cr_expect_null(file);
                        cr_expect_eq(e.code, table[i].code);
                        cr_expect(strstr(e.text, table[i].says), "%s: '%s' does not say '%s'", table[i].name,
                                  e.text, table[i].says);
                        (void) snprintf(offset, sizeof(offset),
                                        "offset %zu:", table[i].offset + (behind[k] ? 1024 : 0));
                        cr_expect(strncmp(e.text, offset, strlen(offset)) == 0, "%s: '%s' does not name %s",
                                  table[i].name, e.text, offset);
                        fixture_done(&f);
                }
}

/* Every corruption of the generator is in the table above or below: a new one cannot be forgotten. */
ucs_test(intel, every_corruption_is_refused) {
        static const FixtureIntel *const bases[] = { &fixture_a, &fixture_b, &fixture_c };
        size_t applied = 0;

        for (size_t i = 0; i < fixture_n_corruptions; i++)
                for (size_t k = 0; k < ELEMENTSOF(bases); k++) {
                        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                        Fixture f = {};

                        if (fixture_corruptions[i].vendor == UCS_VENDOR_AMD)
                                continue;
                        fixture_intel(&f, bases[k]);
                        if (fixture_corruptions[i].apply(&f)) {
                                cr_expect_lt(parse(&f, &file, NULL), 0, "%s", fixture_corruptions[i].name);
                                applied++;
                        }
                        fixture_done(&f);
                }
        cr_expect_gt(applied, 50);
}

ucs_test(intel, every_truncation_is_refused) {
        static const FixtureIntel *const fixtures[] = { &fixture_a, &fixture_b, &fixture_c };

        for (size_t i = 0; i < ELEMENTSOF(fixtures); i++) {
                Fixture f = {};

                fixture_intel(&f, fixtures[i]);
                for (f.size = 0; f.size < 1024; f.size++) {
                        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                        UcsError e = {};

                        cr_assert_eq(parse(&f, &file, &e), f.size == 0 ? -ENODATA : -EBADMSG,
                                     "fixture %zu, %zu bytes", i, f.size);
                        cr_assert(*e.text);
                }
                fixture_done(&f);
        }
}

/* A sum of words sees every single bit. */
ucs_test(intel, every_flipped_bit_is_refused) {
        static const FixtureIntel *const fixtures[] = { &fixture_a, &fixture_b, &fixture_c };

        for (size_t i = 0; i < ELEMENTSOF(fixtures); i++) {
                Fixture f = {};

                fixture_intel(&f, fixtures[i]);
                for (size_t bit = 0; bit < 8 * f.size; bit++) {
                        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;

                        f.data[bit / 8] ^= (uint8_t) (1U << bit % 8);
                        cr_assert_eq(ucs_update_file_parse(f.data, f.size, &file, NULL), -EBADMSG,
                                     "fixture %zu, bit %zu", i, bit);
                        f.data[bit / 8] ^= (uint8_t) (1U << bit % 8);
                }
                fixture_done(&f);
        }
}

static uint32_t slow_sum(const uint8_t *p, size_t n) {
        uint32_t s = 0;

        for (size_t i = 0; i + 4 <= n; i += 4)
                s += (uint32_t) p[i] | (uint32_t) p[i + 1] << 8 | (uint32_t) p[i + 2] << 16 |
                     (uint32_t) p[i + 3] << 24;
        return s;
}

/* What is accepted after changes by chance covers the buffer to its last byte, and all sums hold. */
ucs_test(intel, chance) {
        uint64_t state = 20240115;
        size_t accepted = 0;

        for (size_t i = 0; i < 40000; i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                _cleanup_free_ uint8_t *copy = NULL;
                size_t end = 0;
                Fixture f = {};

                fixture_intel(&f, i % 3 == 0 ? &fixture_c : &fixture_b);
                if (i % 5 == 0)
                        fixture_intel(&f, &fixture_a);
                mutate(&f, &state);
                if (i % 2 == 0 && f.size >= 1024 && fixture_get(&f, 0x1c) <= f.size - 48 &&
                    fixture_get(&f, 0x20) <= f.size && fixture_get(&f, 0x1c) > 0)
                        fixture_intel_seal(&f, 0);
                copy = exact_copy(&f);
                if (ucs_update_file_parse(copy, f.size, &file, NULL) < 0) {
                        fixture_done(&f);
                        continue;
                }
                accepted++;
                for (size_t k = 0; k < file->n_updates; k++) {
                        const UcsUpdate *u = &file->updates[k];
                        uint32_t data_size = fixture_get(&f, u->offset + 0x1c) ?: 2000;

                        cr_assert_eq(u->offset, end);
                        end += u->size;
                        cr_assert_eq(slow_sum(copy + u->offset, 48 + data_size), 0);
                        cr_assert_eq(slow_sum(copy + u->offset + 48 + data_size, u->size - 48 - data_size),
                                     0);
                }
                cr_assert_eq(end, f.size);
                fixture_done(&f);
        }
        cr_expect_gt(accepted, 1000, "only %zu files were accepted: the test sees too little", accepted);
}

ucs_test(intel, noise) {
        uint64_t state = 7;

        for (size_t i = 0; i < 20000; i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                Fixture f = {};

                fixture_append(&f, NULL, chance(&state) % 200);
                for (size_t k = 0; k < f.size; k++)
                        f.data[k] = (uint8_t) chance(&state);
                if (f.size >= 4 && i % 2 == 0)
                        fixture_put(&f, 0, 1);
                cr_assert_lt(parse(&f, &file, NULL), 0);
                fixture_done(&f);
        }
}

ucs_test(intel, sum) {
        _cleanup_free_ uint8_t *data = malloc(4096);
        uint64_t state = 3;

        cr_assert(data);
        for (size_t i = 0; i < 4096; i++)
                data[i] = (uint8_t) chance(&state);
        for (size_t at = 0; at < 17; at++)
                for (size_t n = 0; n < 600; n += 4)
                        cr_assert_eq(ucs_intel_sum(data + at, n), slow_sum(data + at, n), "%zu bytes at %zu",
                                     n, at);
        cr_assert_eq(ucs_intel_sum(data, 4096), slow_sum(data, 4096));
}

/* At any alignment: a file behind other data, a mapped archive. */
ucs_test(intel, alignment) {
        _cleanup_free_ uint8_t *data = malloc(1024 + 16);
        Fixture f = {};

        cr_assert(data);
        fixture_intel(&f, &fixture_c);
        for (size_t at = 0; at < 16; at++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;

                memcpy(data + at, f.data, f.size);
                cr_assert_eq(ucs_update_file_parse(data + at, f.size, &file, NULL), 0, "at %zu", at);
                cr_expect_eq(file->updates[0].revision, 0x120);
                cr_expect_eq(file->updates[0].n_also, 2);
        }
        fixture_done(&f);
}

ucs_test(intel, metadata) {
        static const struct {
                uint32_t metadata;
                bool found;
                size_t offset;
        } table[] = {
                { 0, false, 0 },   { 8, true, 1024 - 8 }, { 128, true, 1024 - 128 },
                { 976, true, 48 }, { 977, false, 0 },     { UINT32_MAX, false, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                FixtureIntel make = fixture_a;
                size_t offset = 0, size = 0;
                Fixture f = {};

                make.metadata = table[i].metadata;
                fixture_intel(&f, &make);
                cr_assert_eq(parse(&f, &file, NULL), 0);
                cr_expect_eq(ucs_intel_metadata(f.data, f.size, &file->updates[0], &offset, &size),
                             table[i].found);
                cr_expect_eq(offset, table[i].offset);
                cr_expect_eq(size, table[i].found ? table[i].metadata : 0);
                fixture_done(&f);
        }
}

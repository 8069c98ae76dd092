/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* AMD containers that are wrong by chance, and such that are made to exhaust whoever reads them. */

#include "core/ucode/amd.h"
#include "core/ucode/file.h"
#include "mutate.h"
#include "ucs-test.h"

ucs_test(amd, chance) {
        static const FixtureAmd patches[] = {
                { .patch_id = 0x0a201030 },
                { .patch_id = 0x010000c8,
                  .signature = 0x00100f43,
                  .also = { { 0x00100f42, 0 } },
                  .n_also = 1 },
        };
        uint64_t state = 20250715;
        size_t accepted = 0, refused = 0;

        for (size_t i = 0; i < 40000; i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                _cleanup_free_ uint8_t *copy = NULL;
                size_t end;
                Fixture f = {};

                fixture_amd(&f, patches, 1 + i % 2);
                if (i % 7 == 0)
                        fixture_amd(&f, patches, 1);
                mutate(&f, &state);
                copy = exact_copy(&f);
                if (ucs_update_file_list(copy, f.size, &file, NULL) < 0) {
                        fixture_done(&f);
                        continue;
                }
                accepted++;
                refused += file->refusal.code < 0;
                cr_assert_gt(file->n_updates, 0);
                end = 12 + fixture_get(&f, 8);
                for (size_t k = 0; k < file->n_updates; k++) {
                        const UcsUpdate *u = &file->updates[k];

                        if (k > 0 && u->container != file->updates[k - 1].container)
                                end += 12 + fixture_get(&f, end + 8);
                        cr_assert_eq(u->offset, end + 8);
                        end = u->offset + u->size;
                }
                cr_assert_eq(end, f.size);
                fixture_done(&f);
        }
        cr_expect_gt(accepted, 1000, "only %zu files were accepted: the test sees too little", accepted);
        cr_expect_gt(refused, 100);
}

/* Files that are made to exhaust whoever reads them. */
ucs_test(amd, bounds) {
        static const struct {
                uint32_t rows;
                size_t patches;
                int code;
        } table[] = {
                { UCS_AMD_ROWS_MAX, 1, 0 },
                { UCS_AMD_ROWS_MAX + 1, 1, -EBADMSG },
                { 2, UCS_AMD_PATCHES_MAX, 0 },
                { 2, UCS_AMD_PATCHES_MAX + 1, -EBADMSG },
                { UCS_AMD_ROWS_MAX, UCS_AMD_PATCHES_MAX, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                UcsError e = {};
                Fixture f = {};

                fixture_append(&f, NULL, 12 + 16 * (size_t) table[i].rows + 72 * table[i].patches);
                fixture_put(&f, 0, UCS_AMD_MAGIC);
                fixture_put(&f, 8, 16 * table[i].rows);
                for (uint32_t k = 0; k < table[i].rows; k++) {
                        fixture_put(&f, 12 + 16 * (size_t) k, 0x00100f00 + k);
                        fixture_put(&f, 24 + 16 * (size_t) k, 0x1020);
                }
                for (size_t k = 0; k < table[i].patches; k++) {
                        size_t at = 12 + 16 * (size_t) table[i].rows + 72 * k;

                        fixture_put(&f, at, 1);
                        fixture_put(&f, at + 4, 64);
                        fixture_put(&f, at + 8 + 24, 0x1020);
                }
                cr_expect_eq(ucs_update_file_parse(f.data, f.size, &file, &e), table[i].code, "row %zu: %s",
                             i, e.text);
                if (file) {
                        cr_expect_eq(file->n_updates, table[i].patches);
                        cr_expect_eq(file->updates[0].n_also, table[i].rows - 1);
                }
                fixture_done(&f);
        }
}

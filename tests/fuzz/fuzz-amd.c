/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* AMD containers. Holds: what is listed tiles the file, container by container; a choice matches and nothing
 * exceeds it; and what the early loader would take is one of the patches. */

#include "core/ucode/amd.h"
#include "core/ucode/choose.h"
#include "core/ucode/early.h"
#include "core/ucode/file.h"
#include "fuzz.h"

static uint32_t get(const uint8_t *p) {
        return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

static void check_choice(const UcsUpdateFile *file, uint32_t signature, uint32_t running) {
        for (unsigned flags = 0; flags < 4; flags++) {
                const UcsUpdate *u = NULL;
                UcsChoice c =
                        ucs_update_choose_with(file, signature, 0, running, (UcsChooseFlags) flags, &u);

                fuzz_check((c == UCS_CHOICE_NONE) == !u);
                fuzz_check(!u || !(flags & UCS_CHOOSE_FORCE_MINREV));
                if (!u)
                        continue;
                fuzz_check(ucs_update_matches(u, signature, 0) && !u->chipset_specific);
                fuzz_check((c == UCS_CHOICE_NEWER) == (u->revision > running));
                for (size_t i = 0; flags == 0 && i < file->n_updates; i++)
                        fuzz_check(!ucs_update_matches(&file->updates[i], signature, 0) ||
                                   file->updates[i].revision <= u->revision);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        UcsUpdateFile *file = NULL, *strict = NULL;
        UcsUpdate early = {};
        UcsError e = {};
        size_t end;
        int r;

        (void) ucs_early_choose(UCS_VENDOR_AMD, data, size, 0x00a20f10, 0, &early, NULL);
        (void) ucs_early_choose(UCS_VENDOR_AMD, data, size, 0x00100f43, 0, &early, NULL);
        r = ucs_update_file_list(data, size, &file, &e);
        if (r < 0) {
                fuzz_check(!file && e.code == r && *e.text);
                return 0;
        }
        if (file->vendor != UCS_VENDOR_AMD) {
                ucs_update_file_free(file);
                return 0;
        }

        fuzz_check(ucs_update_file_parse(data, size, &strict, NULL) == file->refusal.code);
        ucs_update_file_free(strict);
        fuzz_check(file->n_updates > 0 && file->n_updates <= UCS_AMD_PATCHES_MAX);
        end = 12 + get(data + 8);
        for (size_t i = 0; i < file->n_updates; i++) {
                const UcsUpdate *u = &file->updates[i];

                if (i > 0 && u->container != file->updates[i - 1].container) {
                        fuzz_check(u->container == file->updates[i - 1].container + 1 &&
                                   file->refusal.code < 0);
                        end += 12 + get(data + end + 8);
                }
                fuzz_check(u->offset == end + 8 && u->size >= 64 && u->size <= size - u->offset);
                end = u->offset + u->size;
                check_choice(file, u->signature, u->revision - 1);
                for (size_t k = 0; k < u->n_also && k < 4; k++)
                        check_choice(file, u->also[k].signature, 0);
                if (i < 4 &&
                    ucs_early_choose(UCS_VENDOR_AMD, data, size, u->signature, 0, &early, NULL) == 1)
                        fuzz_check(ucs_update_matches(&early, u->signature, 0) ||
                                   ucs_amd_family(early.equiv_id) < 0x17);
        }
        fuzz_check(end == size);
        ucs_update_file_free(file);
        return 0;
}

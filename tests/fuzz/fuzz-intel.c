/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Intel files, as they come, and once more with the checksums of the first update put right: behind them a
 * fuzzer never gets by itself. Holds: what is accepted tiles the file, its sums are zero, and every choice
 * is one that matches and that nothing exceeds. */

#include "core/ucode/choose.h"
#include "core/ucode/early.h"
#include "core/ucode/file.h"
#include "core/ucode/intel.h"
#include "fixture.h"
#include "fuzz.h"

static uint32_t sum(const uint8_t *p, size_t n) {
        uint32_t s = 0;

        for (size_t i = 0; i + 4 <= n; i += 4)
                s += (uint32_t) p[i] | (uint32_t) p[i + 1] << 8 | (uint32_t) p[i + 2] << 16 |
                     (uint32_t) p[i + 3] << 24;
        return s;
}

static void check_choice(const UcsUpdateFile *file, uint32_t signature, uint32_t mask, uint32_t running) {
        static const UcsChooseFlags flags[] = { 0, UCS_CHOOSE_FORCE_MINREV };

        for (size_t k = 0; k < 2; k++) {
                const UcsUpdate *u = NULL;
                UcsChoice c = ucs_update_choose_with(file, signature, mask, running, flags[k], &u);

                fuzz_check((c == UCS_CHOICE_NONE) == !u);
                if (!u)
                        continue;
                fuzz_check(ucs_update_matches(u, signature, mask));
                fuzz_check((c == UCS_CHOICE_NEWER) == (u->revision > running));
                if (flags[k])
                        fuzz_check(ucs_update_minrev_met(u, running));
                else
                        for (size_t i = 0; i < file->n_updates; i++)
                                fuzz_check(!ucs_update_matches(&file->updates[i], signature, mask) ||
                                           file->updates[i].revision <= u->revision);
        }
}

static void check(const uint8_t *data, size_t size) {
        UcsUpdateFile *file = NULL;
        UcsUpdate early = {};
        UcsError e = {};
        size_t end = 0;
        int r;

        r = ucs_update_file_list(data, size, &file, &e);
        if (r < 0) {
                fuzz_check(!file && e.code == r && *e.text);
                return;
        }
        for (size_t i = 0; file->vendor == UCS_VENDOR_INTEL && i < file->n_updates; i++) {
                const UcsUpdate *u = &file->updates[i];
                const uint8_t *p = data + u->offset;
                size_t offset = 0, length = 0, data_size;

                fuzz_check(u->offset == end && u->size <= size - end && u->size >= 48);
                end += u->size;
                data_size = (uint32_t) (p[0x1c] | p[0x1d] << 8 | p[0x1e] << 16 | (uint32_t) p[0x1f] << 24)
                                    ?: 2000;
                fuzz_check(sum(p, 48 + data_size) == 0);
                fuzz_check(sum(p + 48 + data_size, u->size - 48 - data_size) == 0);
                fuzz_check(20 + 12 * u->n_also == u->size - 48 - data_size ||
                           (u->n_also == 0 && u->size == 48 + data_size));
                if (ucs_intel_metadata(data, size, u, &offset, &length))
                        fuzz_check(offset >= u->offset + 48 &&
                                   offset + length == u->offset + 48 + data_size);
                check_choice(file, u->signature, u->platform_mask, u->min_revision);
                check_choice(file, u->signature, u->platform_mask, u->revision - 1);
                for (size_t k = 0; k < u->n_also && k < 4; k++)
                        check_choice(file, u->also[k].signature, u->also[k].platform_mask, 0);
                if (u->signature != 0 && u->revision != 0 && i < 4)
                        fuzz_check(ucs_early_choose(UCS_VENDOR_INTEL, data, size, u->signature,
                                                    u->platform_mask, &early, NULL) == 1);
        }
        fuzz_check(file->vendor != UCS_VENDOR_INTEL || end == size);
        ucs_update_file_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        Fixture f = {};
        uint8_t *exact;

        check(data, size);
        if (size < 48)
                return 0;
        fixture_append(&f, data, size);
        if ((uint64_t) fixture_get(&f, 0x1c) + 48 <= fixture_get(&f, 0x20) &&
            fixture_get(&f, 0x20) <= size && fixture_get(&f, 0x1c) != 0) {
                fixture_intel_seal(&f, 0);
                exact = malloc(size);
                if (!exact)
                        abort();
                memcpy(exact, f.data, size);
                check(exact, size);
                free(exact);
        }
        fixture_done(&f);
        return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An AMD container under the eyes of the late loader (facts of arch/x86/kernel/cpu/microcode/amd.c): an
 * equivalence table, then patches to the very end of the file. Whatever else comes in between, a second
 * container too, spoils the file.
 *
 * Bad files are only spoken of at debug level, so there is next to nothing in the log. That the kernel keeps
 * patches of earlier files in memory is not modelled. */

#include "request.h"

#define MAGIC            0x00414d44U
#define CONTAINER_HEADER 12U
#define SECTION_HEADER   8U
#define PATCH_HEADER     64U
#define ROW              16U

/* The signature that a patch id of family 17h and later names. */
static uint32_t patch_signature(uint32_t id) {
        return (id >> 8 & 0xf) | (id >> 12 & 0xf) << 4 | UINT32_C(0xf) << 8 | (id >> 20 & 0xf) << 16 |
               (id >> 24) << 20;
}

static uint32_t equivalent(const uint8_t *table, uint32_t size, uint32_t signature) {
        for (uint32_t i = 0; i + ROW <= size; i += ROW)
                if (sim_le32(table + i) == signature)
                        return sim_le32(table + i + 12) & 0xffff;
        return 0;
}

static uint32_t patch_size_max(uint32_t family) {
        if (family >= 0x15)
                return UINT32_MAX;
        return family == 0x14 ? 1824 : 2048;
}

SimVerdict sim_request_amd(SimMachine *m, const uint8_t *data, size_t size, SimPatch *ret) {
        uint32_t signature = m->settings.signature, family = sim_signature_family(signature);
        uint32_t table_size, equiv, best = 0, date = 0;
        size_t at;

        if (size <= CONTAINER_HEADER || sim_le32(data) != MAGIC)
                return SIM_VERDICT_BAD;
        table_size = sim_le32(data + 8);
        if (table_size > size - CONTAINER_HEADER)
                return SIM_VERDICT_BAD;
        if (family < 0x17 && (sim_le32(data + 4) != 0 || table_size < ROW))
                return SIM_VERDICT_BAD;
        equiv = equivalent(data + CONTAINER_HEADER, table_size, signature);

        at = CONTAINER_HEADER + table_size;
        if (size - at < 4 || sim_le32(data + at) != 1) {
                sim_log(m, SIM_ERR, "microcode: invalid type field in container file section header");
                return SIM_VERDICT_BAD;
        }
        while (at < size) {
                const uint8_t *patch = data + at + SECTION_HEADER;
                uint32_t patch_size, id, processor;

                if (size - at < SECTION_HEADER || sim_le32(data + at) != 1)
                        return SIM_VERDICT_BAD;
                patch_size = sim_le32(data + at + 4);
                if (patch_size < PATCH_HEADER || patch_size > size - at - SECTION_HEADER ||
                    patch_size > patch_size_max(family))
                        return SIM_VERDICT_BAD;
                at += SECTION_HEADER + patch_size;

                id = sim_le32(patch + 4);
                processor = sim_le32(patch + 24) & 0xffff;
                if (sim_le32(patch + 16) != 0 || sim_le32(patch + 20) != 0) {
                        sim_log(m, SIM_ERR, "microcode: Patch-ID 0x%08x: chipset-specific code unsupported.",
                                id);
                        continue;
                }
                if (0xf + (processor >> 12) != family)
                        continue;
                if (family >= 0x17 ? patch_signature(id) != signature : equiv == 0 || processor != equiv)
                        continue;
                if (id > best) {
                        best = id;
                        date = sim_le32(patch);
                }
        }

        *ret = (SimPatch){ best, date };
        return best > 0 && sim_request_wants(m, best) ? SIM_VERDICT_NEW : SIM_VERDICT_NOTHING;
}

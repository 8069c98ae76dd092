/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cutoffs of EntrySign; see entrysign.h. */

#include "core/ucode/entrysign.h"
#include "core/ucode/signature.h"

/* One a CPU type, sorted: the type is the upper 24 bits. From the kernel's need_sha_check(), later
 * get_cutoff_revision() (arch/x86/kernel/cpu/microcode/amd.c), as of 6.19: with dd14022a7ce9 (0x0b4041) and
 * 876f0d43af78 (0x080012). */
/* clang-format off */
static const uint32_t cutoffs[] = {
        /* family 17h */
        0x08001277, 0x0800820f, 0x0830107c, 0x0860010e, 0x08608108, 0x08701034, 0x08a0000a,
        /* family 19h */
        0x0a00107a, 0x0a0011da, 0x0a001243, 0x0a00820e, 0x0a101153, 0x0a10124e, 0x0a108109, 0x0a20102f,
        0x0a201212, 0x0a404109, 0x0a500013, 0x0a60120a, 0x0a704109, 0x0a705208, 0x0a708009, 0x0a70c009,
        0x0aa00116, 0x0aa00218,
        /* family 1Ah */
        0x0b002146, 0x0b008111, 0x0b101046, 0x0b204031, 0x0b404031, 0x0b404101, 0x0b600031, 0x0b608031,
        0x0b700031,
};
/* clang-format on */

uint32_t ucs_entrysign_cutoff(uint32_t revision) {
        size_t low = 0, high = ELEMENTSOF(cutoffs);

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (cutoffs[middle] >> 8 == revision >> 8)
                        return cutoffs[middle];
                if (cutoffs[middle] < revision)
                        low = middle + 1;
                else
                        high = middle;
        }
        return 0;
}

bool ucs_entrysign_affected(uint32_t signature) {
        unsigned family = ucs_signature_family(signature), model = ucs_signature_model(signature);

        switch (family) {
        case 0x17:
        case 0x19:
                return true;
        case 0x1a:
                return model <= 0x2f || (model >= 0x40 && model <= 0x4f) || (model >= 0x60 && model <= 0x6f);
        default:
                return false;
        }
}

/* The patch id of this CPU type with its lowest byte 0: the reverse of ucs_amd_signature(). */
static uint32_t lowest_revision(uint32_t signature) {
        return (signature >> 20 & 0xff) << 24 | (signature >> 16 & 0xf) << 20 |
               (signature >> 4 & 0xf) << 12 | (signature & 0xf) << 8;
}

bool ucs_entrysign_needs_digest(uint32_t signature, uint32_t running) {
        uint32_t cutoff;

        if (!ucs_entrysign_affected(signature))
                return false;
        if (running == 0)
                running = lowest_revision(signature);
        cutoff = ucs_entrysign_cutoff(running);
        return cutoff == 0 || running <= cutoff;
}

bool ucs_entrysign_same_side(uint32_t running, uint32_t patch_id) {
        uint32_t cutoff = ucs_entrysign_cutoff(running);

        return cutoff == 0 || (running <= cutoff) == (patch_id <= cutoff);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The choice of an update for a CPU; see choose.h. */

#include "core/ucode/amd.h"
#include "core/ucode/choose.h"
#include "core/ucode/entrysign.h"

static bool pair_matches(const UcsUpdate *u, uint32_t have, uint32_t have_mask, uint32_t signature,
                         uint32_t mask) {
        if (have != signature || signature == 0)
                return false;
        return u->vendor != UCS_VENDOR_INTEL || (have_mask & mask) != 0 || (have_mask == 0 && mask == 0);
}

bool ucs_update_matches(const UcsUpdate *u, uint32_t signature, uint32_t platform_mask) {
        if (u->vendor == UCS_VENDOR_AMD &&
            (u->chipset_specific || ucs_amd_family(u->equiv_id) != ucs_signature_family(signature)))
                return false;
        if (pair_matches(u, u->signature, u->platform_mask, signature, platform_mask))
                return true;
        for (size_t i = 0; i < u->n_also; i++)
                if (pair_matches(u, u->also[i].signature, u->also[i].platform_mask, signature,
                                 platform_mask))
                        return true;
        return false;
}

bool ucs_update_minrev_met(const UcsUpdate *u, uint32_t running) {
        return u->min_revision != 0 && running >= u->min_revision;
}

static bool considered(const UcsUpdate *u, uint32_t running, UcsChooseFlags flags) {
        if ((flags & UCS_CHOOSE_FORCE_MINREV) && !ucs_update_minrev_met(u, running))
                return false;
        return !(flags & UCS_CHOOSE_ENTRYSIGN_SIDE) || u->vendor != UCS_VENDOR_AMD ||
               ucs_entrysign_same_side(running, u->revision);
}

UcsChoice ucs_update_choose_with(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask,
                                 uint32_t running, UcsChooseFlags flags, const UcsUpdate **ret) {
        const UcsUpdate *best = NULL;

        for (size_t i = 0; i < file->n_updates; i++) {
                const UcsUpdate *u = &file->updates[i];

                if (ucs_update_matches(u, signature, platform_mask) && considered(u, running, flags) &&
                    (!best || u->revision > best->revision))
                        best = u;
        }
        *ret = best;
        if (!best)
                return UCS_CHOICE_NONE;
        return best->revision > running ? UCS_CHOICE_NEWER : UCS_CHOICE_NOT_NEWER;
}

UcsChoice ucs_update_choose(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask,
                            uint32_t running, const UcsUpdate **ret) {
        return ucs_update_choose_with(file, signature, platform_mask, running, 0, ret);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which update of a file is for a CPU, as the kernel's late loader chooses (arch/x86/kernel/cpu/microcode/{intel,amd}.c). */

#include "core/ucode/update.h"

/* Whether the update is for a CPU of this signature and platform mask. Intel: a pair of the update has this
 * signature, and the masks overlap or both are 0. AMD: one of its signatures is this one, the family of its
 * equivalence id is the CPU's (the kernel's family filter), and it is not chipset-specific; the mask is
 * ignored. */
bool ucs_update_matches(const UcsUpdate *u, uint32_t signature, uint32_t platform_mask);

/* Whether the vendor vouches for a late load from `running`: it names a minimum revision, and that is met
 * (the kernel's ucode_validate_minrev()). */
bool ucs_update_minrev_met(const UcsUpdate *u, uint32_t running);

typedef enum UcsChoice {
        UCS_CHOICE_NONE,      /* nothing in the file is for this CPU */
        UCS_CHOICE_NOT_NEWER, /* something is, but nothing newer than what runs */
        UCS_CHOICE_NEWER,
} UcsChoice;

/* The update that the kernel's late loader would take: of the matching ones that of the highest revision, of
 * equal ones the first. `*ret` points into `file`, and is NULL for UCS_CHOICE_NONE. Revisions compare as
 * unsigned numbers. */
UcsChoice ucs_update_choose(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask,
                            uint32_t running, const UcsUpdate **ret);

/* The same for kernels that leave some updates out of account, as if the file did not hold them (so NONE can
 * mean "only such"; compare with ucs_update_choose()). */
typedef enum UcsChooseFlags {
        /* microcode.force_minrev (6.7 on). Intel: updates without a minimum revision, or with one above
         * `running`, are skipped and the best of the others is taken. AMD: nothing is ever taken. */
        UCS_CHOOSE_FORCE_MINREV = 1 << 0,
        /* AMD, 6.19 and stable kernels since (8d171045069c, "Select which microcode patch to load"): patches
         * on the other side of the EntrySign cutoff than `running` are skipped; see entrysign.h. Containers
         * since 2025 hold one patch for each side. */
        UCS_CHOOSE_ENTRYSIGN_SIDE = 1 << 1,
} UcsChooseFlags;

UcsChoice ucs_update_choose_with(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask,
                                 uint32_t running, UcsChooseFlags flags, const UcsUpdate **ret);

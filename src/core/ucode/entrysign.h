/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* EntrySign (CVE-2024-36347, AMD-SB-7033): Zen CPUs accepted forged patches until a firmware update fixed
 * them. While a CPU runs a revision up to the cutoff of its model, kernels since 6.14 (50cef76d5cb0) load
 * only patches whose SHA-256 they know; above it the CPU's own check is sound again. A pure table; the
 * kernel's list of digests is not kept here, so which patches it knows cannot be told. */

#include "base/macro.h"

/* The last revision of this CPU type that does not have the fix, or 0 when the kernel names none. The type
 * is what `revision` (any revision of it, a patch id) has above its lowest byte. */
uint32_t ucs_entrysign_cutoff(uint32_t revision);

/* Whether the CPU is one whose patches the kernel checks at all: family 17h and 19h, and of 1Ah models up to
 * 2fh, 40h-4fh, 60h-6fh. */
bool ucs_entrysign_affected(uint32_t signature);

/* Whether a kernel with the check takes for this CPU only patches whose digest it knows: an affected CPU
 * that runs a revision up to the cutoff, or whose cutoff is unknown. `running` 0: the CPU reports none, and
 * counts as its type's lowest. */
bool ucs_entrysign_needs_digest(uint32_t signature, uint32_t running);

/* Whether kernels that choose by side (UCS_CHOOSE_ENTRYSIGN_SIDE) consider this patch: both are up to the
 * cutoff, or both above it, or there is none. */
bool ucs_entrysign_same_side(uint32_t running, uint32_t patch_id);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* CPU features before and after a load, from raw CPUID: /proc/cpuinfo keeps what it said at boot. Programs that looked once and use what has
 * gone (TSX, say) fail afterwards. */

#include "base/macro.h"
#include "base/str.h"

typedef struct UcsCpuidLeaf {
        uint32_t leaf, subleaf;
        uint32_t eax, ebx, ecx, edx;
} UcsCpuidLeaf;

/* The leaves that are compared (SDM vol. 2 and APM vol. 3, CPUID): features only, nothing that differs from CPU to CPU. */
#define UCS_FEATURE_LEAVES 8
extern const UcsCpuidLeaf ucs_feature_leaves[UCS_FEATURE_LEAVES];

/* "-hle -rtm +md_clear", bits without a name as "-leaf7.0:edx[13]"; "" when nothing differs. Both have UCS_FEATURE_LEAVES leaves in the order of
 * the table. 0 or -ENOMEM. */
int ucs_features_compare(const UcsCpuidLeaf *before, const UcsCpuidLeaf *after, char **ret);

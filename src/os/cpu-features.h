/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Raw CPUID, of the machine below the root: dev/cpu/N/cpuid (drivers: arch/x86/kernel/cpuid.c: 16 bytes at offset subleaf<<32 | leaf), and on the
 * machine's own root, where the sandbox closes that file, the instruction itself, on whichever CPU this thread runs. */

#include "core/record/features.h"

/* Fill `ret` (UCS_FEATURE_LEAVES leaves, in the order of ucs_feature_leaves); a leaf that the CPU does not have is all zero. 0, or -EOPNOTSUPP
 * when CPUID cannot be read at all. */
int ucs_cpuid_features(int root_fd, unsigned cpu, UcsCpuidLeaf *ret);

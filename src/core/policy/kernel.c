/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The words for generations of the loader, and what is assumed of a kernel of which nothing is known; see kernel.h. */

#include "base/enum.h"
#include "core/policy/kernel.h"

static const char *const generation_names[_UCS_KERNEL_MAX] = {
        [UCS_KERNEL_UNKNOWN] = "unknown",
        [UCS_KERNEL_OLD] = "old",
        [UCS_KERNEL_MODERN] = "modern",
};
DEFINE_ENUM_STRINGS(ucs_kernel_generation, UcsKernelGeneration, generation_names);

const UcsKernel ucs_kernel_unknown = { .generation = UCS_KERNEL_UNKNOWN, .digest_check = true };

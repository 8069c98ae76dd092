/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whose CPU it is and which: the vendor, the signature (CPUID.1:EAX), and the name of the file in which the kernel looks for it. */

#include <errno.h>

#include "base/macro.h"

typedef enum UcsVendor {
        UCS_VENDOR_UNKNOWN, /* "unknown" */
        UCS_VENDOR_INTEL,   /* "intel" */
        UCS_VENDOR_AMD,     /* "amd" */
        _UCS_VENDOR_MAX,
        _UCS_VENDOR_INVALID = -EINVAL,
} UcsVendor;

const char *ucs_vendor_to_string(UcsVendor v);
UcsVendor ucs_vendor_from_string(const char *s);

/* CPUID.1:EAX from what /proc/cpuinfo prints (SDM vol. 2, CPUID: extended family and model). */
uint32_t ucs_signature_make(unsigned family, unsigned model, unsigned stepping);
unsigned ucs_signature_family(uint32_t signature);
unsigned ucs_signature_model(uint32_t signature);
unsigned ucs_signature_stepping(uint32_t signature);

/* The name below a firmware directory in which the kernel looks for this CPU's file: "intel-ucode/06-55-04",
 * "amd-ucode/microcode_amd_fam17h.bin". Returns `buf`, or NULL for an unknown vendor. */
#define UCS_FIRMWARE_NAME_MAX 48
const char *ucs_firmware_name(char buf[static UCS_FIRMWARE_NAME_MAX], UcsVendor vendor, uint32_t signature);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Vendors and signatures; see signature.h. */

#include <stdio.h>

#include "base/enum.h"
#include "core/ucode/signature.h"

static const char *const vendor_table[_UCS_VENDOR_MAX] = {
        [UCS_VENDOR_UNKNOWN] = "unknown",
        [UCS_VENDOR_INTEL] = "intel",
        [UCS_VENDOR_AMD] = "amd",
};
DEFINE_ENUM_STRINGS(ucs_vendor, UcsVendor, vendor_table);

uint32_t ucs_signature_make(unsigned family, unsigned model, unsigned stepping) {
        uint32_t base = MIN(family, 0xfU);

        return ((family - base) & 0xff) << 20 | (model >> 4 & 0xf) << 16 | base << 8 | (model & 0xf) << 4 |
               (stepping & 0xf);
}

unsigned ucs_signature_family(uint32_t signature) {
        unsigned base = signature >> 8 & 0xf;

        return base == 0xf ? base + (signature >> 20 & 0xff) : base;
}

unsigned ucs_signature_model(uint32_t signature) {
        unsigned model = signature >> 4 & 0xf;

        /* the extended model counts from family 6 on, as in the kernel's x86_model() */
        return ucs_signature_family(signature) >= 6 ? model | (signature >> 16 & 0xf) << 4 : model;
}

unsigned ucs_signature_stepping(uint32_t signature) {
        return signature & 0xf;
}

const char *ucs_firmware_name(char buf[static UCS_FIRMWARE_NAME_MAX], UcsVendor vendor, uint32_t signature) {
        unsigned family = ucs_signature_family(signature);

        switch (vendor) {
        case UCS_VENDOR_INTEL:
                (void) snprintf(buf, UCS_FIRMWARE_NAME_MAX, "intel-ucode/%02x-%02x-%02x", family,
                                ucs_signature_model(signature), ucs_signature_stepping(signature));
                return buf;
        case UCS_VENDOR_AMD:
                if (family < 0x15)
                        (void) snprintf(buf, UCS_FIRMWARE_NAME_MAX, "amd-ucode/microcode_amd.bin");
                else
                        (void) snprintf(buf, UCS_FIRMWARE_NAME_MAX, "amd-ucode/microcode_amd_fam%.2xh.bin",
                                        family);
                return buf;
        case UCS_VENDOR_UNKNOWN:
        case _UCS_VENDOR_MAX:
        case _UCS_VENDOR_INVALID:
                break;
        }
        return NULL;
}

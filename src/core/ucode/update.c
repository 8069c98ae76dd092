/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of either vendor, and the choice of an update for a CPU; see update.h. */

#include <stdio.h>

#include "base/enum.h"
#include "base/timefmt.h"
#include "core/ucode/amd.h"
#include "core/ucode/bytes.h"
#include "core/ucode/entrysign.h"
#include "core/ucode/file.h"
#include "core/ucode/intel.h"

static const char *const vendor_table[_UCS_VENDOR_MAX] = {
        [UCS_VENDOR_UNKNOWN] = "unknown",
        [UCS_VENDOR_INTEL] = "intel",
        [UCS_VENDOR_AMD] = "amd",
};
DEFINE_ENUM_STRINGS(ucs_vendor, UcsVendor, vendor_table);

UcsUpdateFile *ucs_update_file_free(UcsUpdateFile *file) {
        if (!file)
                return NULL;
        for (size_t i = 0; i < file->n_updates; i++)
                free(file->updates[i].also);
        free(file->updates);
        free(file);
        return NULL;
}

int ucs_update_file_add(UcsUpdateFile *file, UcsUpdate *u) {
        UcsUpdate *p;

        /* grows at powers of two */
        if ((file->n_updates & (file->n_updates - 1)) == 0) {
                p = reallocarray(file->updates, 2 * file->n_updates ?: 1, sizeof(UcsUpdate));
                if (!p) {
                        free(u->also);
                        return -ENOMEM;
                }
                file->updates = p;
        }
        file->updates[file->n_updates++] = *u;
        return 0;
}

UcsVendor ucs_update_vendor(const void *data, size_t size) {
        if (ucs_amd_probe(data, size))
                return UCS_VENDOR_AMD;
        if (ucs_intel_probe(data, size))
                return UCS_VENDOR_INTEL;
        return UCS_VENDOR_UNKNOWN;
}

int ucs_update_file_list(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e) {
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        int r = -EBADMSG;

        if (size == 0)
                return ucs_error_set(e, -ENODATA, "offset 0: the file is empty, expected microcode");
        file = new0(UcsUpdateFile, 1);
        if (!file)
                return -ENOMEM;

        file->vendor = ucs_update_vendor(data, size);
        switch (file->vendor) {
        case UCS_VENDOR_INTEL:
                r = ucs_intel_parse(data, size, file, e);
                break;
        case UCS_VENDOR_AMD:
                r = ucs_amd_parse(data, size, file, e);
                break;
        case UCS_VENDOR_UNKNOWN:
        case _UCS_VENDOR_MAX:
        case _UCS_VENDOR_INVALID:
                r = ucs_error_set(
                        e, -EBADMSG,
                        "offset 0: not microcode, expected the header of an Intel update (01 00 00 00) or of an AMD "
                        "container (44 4d 41 00)");
                break;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(file);
        return 0;
}

int ucs_update_file_parse(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e) {
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        int r;

        r = ucs_update_file_list(data, size, &file, e);
        if (r < 0)
                return r;
        if (file->refusal.code < 0)
                return ucs_error_set(e, file->refusal.code, "%s", file->refusal.text);
        *ret = TAKE_PTR(file);
        return 0;
}

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

/* Two decimal digits, or -1. */
static int bcd_byte(uint32_t v) {
        return (v & 0xf) <= 9 && (v >> 4 & 0xf) <= 9 ? (int) ((v >> 4 & 0xf) * 10 + (v & 0xf)) : -1;
}

const char *ucs_update_date(char buf[static UCS_DATE_MAX], uint32_t bcd) {
        int month = bcd_byte(bcd >> 24), day = bcd_byte(bcd >> 16), century = bcd_byte(bcd >> 8),
            year = bcd_byte(bcd);
        unsigned same_month, same_day;
        int64_t same_year;

        buf[0] = '\0';
        if (month < 1 || month > 12 || day < 1 || century < 0 || year < 0)
                return NULL;
        /* a day that the calendar does not have comes back as another one */
        ucs_civil_from_days(ucs_days_from_civil(century * 100 + year, (unsigned) month, (unsigned) day),
                            &same_year, &same_month, &same_day);
        if (same_month != (unsigned) month || same_day != (unsigned) day)
                return NULL;
        (void) snprintf(buf, UCS_DATE_MAX, "%02d%02d-%02d-%02d", century % 100, year % 100, month % 100,
                        day % 100);
        return buf;
}

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

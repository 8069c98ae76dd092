/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file goes to the parser of its vendor; see file.h. */

#include "core/ucode/amd.h"
#include "core/ucode/file.h"
#include "core/ucode/intel.h"

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

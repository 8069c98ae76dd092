/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The early image; see early.h. Offsets are those of the image: the kernel aligns addresses, and an
 * initramfs starts at a page. All arithmetic is 64 bits wide, on fields of 32 bits: nothing wraps. */

#include "core/ucode/choose.h"
#include "core/ucode/early.h"
#include "base/str.h"
#include "core/ucode/amd.h"
#include "core/ucode/intel.h"

/* The fields of a header: the magic of 6 hexadecimal digits, then 13 of 8. */
enum {
        FIELD_MODE = 1,
        FIELD_FILE_SIZE = 6,
        FIELD_NAME_SIZE = 11,
        N_FIELDS = 13,
};

#define MAGIC_SIZE  6U
#define FIELD_SIZE  8U
#define HEADER_SIZE (MAGIC_SIZE + FIELD_SIZE * N_FIELDS)
#define MAGIC_NEWC  0x070701U
#define MAGIC_CRC   0x070702U
#define MODE_TYPE   0170000U
#define MODE_FILE   0100000U
#define ALIGNMENT   4U

const char *ucs_early_name(UcsVendor vendor) {
        switch (vendor) {
        case UCS_VENDOR_INTEL:
                return "kernel/x86/microcode/GenuineIntel.bin";
        case UCS_VENDOR_AMD:
                return "kernel/x86/microcode/AuthenticAMD.bin";
        case UCS_VENDOR_UNKNOWN:
        case _UCS_VENDOR_MAX:
        case _UCS_VENDOR_INVALID:
                break;
        }
        return NULL;
}

static bool parse_hex(const uint8_t *p, size_t n, uint32_t *ret) {
        uint32_t v = 0;

        for (size_t i = 0; i < n; i++) {
                unsigned c = p[i], digit;

                if (c >= '0' && c <= '9')
                        digit = c - '0';
                else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
                        digit = (c | 0x20) - 'a' + 10;
                else
                        return false;
                v = v << 4 | digit;
        }
        *ret = v;
        return true;
}

static bool parse_header(const uint8_t *p, uint32_t fields[static N_FIELDS]) {
        uint32_t magic;

        if (!parse_hex(p, MAGIC_SIZE, &magic) || (magic != MAGIC_NEWC && magic != MAGIC_CRC))
                return false;
        for (size_t i = 0; i < N_FIELDS; i++)
                if (!parse_hex(p + MAGIC_SIZE + i * FIELD_SIZE, FIELD_SIZE, &fields[i]))
                        return false;
        return true;
}

static uint64_t align(uint64_t offset) {
        return (offset + ALIGNMENT - 1) & ~(uint64_t) (ALIGNMENT - 1);
}

/* Zeros, in words whose first byte is looked at, as the kernel does. */
static UcsEarlyStep skip_padding(const uint8_t *window, size_t n, uint64_t offset, UcsEarlyPlace *ret) {
        size_t i = 0;

        while (i < n && window[i] == 0)
                i += ALIGNMENT;
        *ret = (UcsEarlyPlace){ .next = offset + i };
        return UCS_EARLY_SKIP;
}

UcsEarlyStep ucs_early_step(const uint8_t *window, size_t n, uint64_t offset, uint64_t image_size,
                            const char *name, UcsEarlyPlace *ret) {
        uint64_t left = image_size - offset, data, next;
        size_t name_size = strlen(name);
        uint32_t fields[N_FIELDS];

        if (offset > image_size || left <= HEADER_SIZE)
                return UCS_EARLY_END;
        if (n == 0) {
                *ret = (UcsEarlyPlace){ .next = offset, .need = HEADER_SIZE };
                return UCS_EARLY_MORE;
        }
        if (window[0] == 0)
                return skip_padding(window, n, offset, ret);
        if (n < HEADER_SIZE) {
                *ret = (UcsEarlyPlace){ .next = offset, .need = HEADER_SIZE };
                return UCS_EARLY_MORE;
        }
        if (!parse_header(window, fields))
                return UCS_EARLY_END;

        data = align(offset + HEADER_SIZE + fields[FIELD_NAME_SIZE]);
        next = align(data + fields[FIELD_FILE_SIZE]);
        if (next > image_size)
                return UCS_EARLY_END;

        if ((fields[FIELD_MODE] & MODE_TYPE) == MODE_FILE && fields[FIELD_NAME_SIZE] >= name_size) {
                if (n < HEADER_SIZE + name_size) {
                        *ret = (UcsEarlyPlace){ .next = offset, .need = HEADER_SIZE + name_size };
                        return UCS_EARLY_MORE;
                }
                if (memcmp(window + HEADER_SIZE, name, name_size) == 0) {
                        *ret = (UcsEarlyPlace){ .data = data,
                                                .size = fields[FIELD_FILE_SIZE],
                                                .next = next };
                        return UCS_EARLY_MEMBER;
                }
        }
        *ret = (UcsEarlyPlace){ .next = next };
        return UCS_EARLY_SKIP;
}

int ucs_early_find(const uint8_t *image, size_t size, const char *name, size_t *ret_offset,
                   size_t *ret_size) {
        UcsEarlyPlace place = {};

        for (;;) {
                size_t at = (size_t) place.next;

                if (at > size)
                        return -ENOENT;
                switch (ucs_early_step(image + at, size - at, at, size, name, &place)) {
                case UCS_EARLY_SKIP:
                        continue;
                case UCS_EARLY_MEMBER:
                        *ret_offset = (size_t) place.data;
                        *ret_size = (size_t) place.size;
                        return 0;
                case UCS_EARLY_END:
                case UCS_EARLY_MORE:
                        return -ENOENT;
                }
        }
}

static int choose_intel(const uint8_t *data, size_t size, uint32_t signature, uint32_t mask, UcsUpdate *ret,
                        UcsError *e) {
        UcsUpdate best = {};
        size_t offset = 0;
        int r;

        while (offset < size) {
                UcsUpdate u;

                r = ucs_intel_read(data, size, offset, &u, &offset, e);
                if (r < 0)
                        return r;
                if (u.revision > best.revision && ucs_update_matches(&u, signature, mask))
                        best = u;
                free(u.also);
        }
        if (best.revision == 0)
                return 0;
        best.also = NULL;
        best.n_also = 0;
        *ret = best;
        return 1;
}

static int choose_amd(const uint8_t *data, size_t size, uint32_t signature, UcsUpdate *ret, UcsError *e) {
        size_t offset = 0;
        int r;

        while (offset < size) {
                UcsAmdContainer c;
                UcsUpdate u, last = {};
                bool found = false;

                r = ucs_amd_container_open(&c, data, size, offset, e);
                if (r < 0)
                        return offset == 0 ? r : 0;
                while ((r = ucs_amd_container_next(&c, &u, NULL)) == UCS_AMD_PATCH) {
                        bool matches = ucs_update_matches(&u, signature, 0);

                        free(u.also);
                        if (u.chipset_specific) {
                                /* the container ends before it, and no other begins there */
                                c.next = size;
                                break;
                        }
                        if (matches) {
                                last = u;
                                found = true;
                        }
                }
                if (r == -ENOMEM)
                        return r;
                if (found) {
                        last.also = NULL;
                        last.n_also = 0;
                        *ret = last;
                        return 1;
                }
                /* the next container has to begin where this one stopped */
                offset = c.next;
        }
        return 0;
}

int ucs_early_choose(UcsVendor vendor, const uint8_t *data, size_t size, uint32_t signature,
                     uint32_t platform_mask, UcsUpdate *ret, UcsError *e) {
        switch (vendor) {
        case UCS_VENDOR_INTEL:
                return choose_intel(data, size, signature, platform_mask, ret, e);
        case UCS_VENDOR_AMD:
                return choose_amd(data, size, signature, ret, e);
        case UCS_VENDOR_UNKNOWN:
        case _UCS_VENDOR_MAX:
        case _UCS_VENDOR_INVALID:
                break;
        }
        return 0;
}

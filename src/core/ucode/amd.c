/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* AMD containers; see amd.h.
 *
 * The kernel judges a file for the one family that it runs on; here the family is that of each patch, which
 * comes to the same for the files that the kernel opens (one a family from 15h on, one for all before).
 * Stricter than the kernel in two things. From family 17h on it looks neither at the type nor at the length
 * of the equivalence table, and a length that reaches behind the file takes the kernel down (7.3 was seen
 * to); here both have to be right. And rows and patches have a bound. The sizes that Xen expects of newer
 * families are not asked for: Linux takes any. */

#include "core/ucode/amd.h"
#include "core/ucode/bytes.h"

#define CONTAINER_HEADER_SIZE 12U /* magic, type and length of the equivalence table */
#define SECTION_HEADER_SIZE   8U
#define ROW_SIZE              16U
#define PATCH_HEADER_SIZE     64U
#define TYPE_TABLE            0U
#define TYPE_PATCH            1U

/* struct equiv_cpu_entry */
enum {
        AT_INSTALLED_CPU = 0,
        AT_EQUIV_CPU = 12,
};

/* struct microcode_header_amd */
enum {
        AT_DATE = 0,
        AT_PATCH_ID = 4,
        AT_CHECKSUM = 12,
        AT_NB_DEV_ID = 16,
        AT_SB_DEV_ID = 20,
        AT_PROCESSOR_REV_ID = 24,
};

/* The largest patch of a family (F1XH_MPB_MAX_SIZE, F14H_MPB_MAX_SIZE); none from 15h on. */
static uint32_t patch_size_max(unsigned family) {
        switch (family) {
        case 0x10:
        case 0x11:
        case 0x12:
                return 2048;
        case 0x14:
                return 1824;
        default:
                return UINT32_MAX;
        }
}

bool ucs_amd_probe(const uint8_t *data, size_t size) {
        return size >= 4 && get_le32(data) == UCS_AMD_MAGIC;
}

uint32_t ucs_amd_signature(uint32_t patch_id) {
        /* revision[7:0] stepping[11:8] model[15:12] reserved[19:16] extended model[23:20] extended
         * family[31:24] */
        return (patch_id >> 24 & 0xff) << 20 | (patch_id >> 20 & 0xf) << 16 | 0xfU << 8 |
               (patch_id >> 12 & 0xf) << 4 | (patch_id >> 8 & 0xf);
}

static uint32_t row_signature(const UcsAmdContainer *c, size_t i) {
        return get_le32(c->data + c->rows + i * ROW_SIZE + AT_INSTALLED_CPU);
}

static uint16_t row_equiv_id(const UcsAmdContainer *c, size_t i) {
        return get_le16(c->data + c->rows + i * ROW_SIZE + AT_EQUIV_CPU);
}

static bool row_is_dead(const UcsAmdContainer *c, size_t i) {
        if (row_signature(c, i) == 0 || row_equiv_id(c, i) == 0)
                return true;
        for (size_t k = 0; k < i; k++)
                if (row_signature(c, k) == row_signature(c, i))
                        return true;
        return false;
}

int ucs_amd_container_open(UcsAmdContainer *c, const uint8_t *data, size_t size, size_t offset,
                           UcsError *e) {
        size_t left = size - offset;
        uint32_t type, length;

        if (left <= CONTAINER_HEADER_SIZE)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: %zu bytes, expected a container of more than %u", offset,
                                     left, CONTAINER_HEADER_SIZE);
        if (!ucs_amd_probe(data + offset, left))
                return ucs_error_set(e, -EBADMSG, "offset %zu: 0x%08x, expected the magic number 0x%08x",
                                     offset, get_le32(data + offset), UCS_AMD_MAGIC);
        type = get_le32(data + offset + 4);
        length = get_le32(data + offset + 8);
        if (type != TYPE_TABLE)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: section type %u, expected 0 (equivalence table)",
                                     offset + 4, type);
        if (length < ROW_SIZE)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: an equivalence table of %u bytes, expected %u at least",
                                     offset + 8, length, ROW_SIZE);
        if (length > left - CONTAINER_HEADER_SIZE)
                return ucs_error_set(
                        e, -EBADMSG,
                        "offset %zu: truncated, an equivalence table of %u bytes, but only %zu are left",
                        offset + 8, length, left - CONTAINER_HEADER_SIZE);

        if (length / ROW_SIZE > UCS_AMD_ROWS_MAX)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: an equivalence table of %u rows, expected %u at most",
                                     offset + 8, length / ROW_SIZE, UCS_AMD_ROWS_MAX);

        *c = (UcsAmdContainer){
                .data = data,
                .size = size,
                .rows = offset + CONTAINER_HEADER_SIZE,
                .n_rows = length / ROW_SIZE,
                .next = offset + CONTAINER_HEADER_SIZE + length,
        };
        for (size_t i = 0; i < c->n_rows; i++)
                if (row_is_dead(c, i))
                        c->dead[i / 64] |= UINT64_C(1) << (i % 64);
        return 0;
}

/* The next row from `i` on that gives a CPU this id; n_rows when there is none. */
static size_t find_row(const UcsAmdContainer *c, size_t i, uint16_t equiv_id) {
        while (i < c->n_rows && (row_equiv_id(c, i) != equiv_id || c->dead[i / 64] >> (i % 64) & 1))
                i++;
        return i;
}

static int read_signatures(const UcsAmdContainer *c, UcsUpdate *u) {
        size_t first, n = 0;

        if (ucs_amd_family(u->equiv_id) >= 0x17) {
                u->signature = ucs_amd_signature(u->revision);
                return 0;
        }
        first = find_row(c, 0, u->equiv_id);
        if (first == c->n_rows)
                return 0;
        u->signature = row_signature(c, first);

        for (size_t i = find_row(c, first + 1, u->equiv_id); i < c->n_rows;
             i = find_row(c, i + 1, u->equiv_id))
                n++;
        if (n == 0)
                return 0;
        u->also = new0(UcsSignature, n);
        if (!u->also)
                return -ENOMEM;
        for (size_t i = find_row(c, first + 1, u->equiv_id); i < c->n_rows;
             i = find_row(c, i + 1, u->equiv_id))
                u->also[u->n_also++].signature = row_signature(c, i);
        return 0;
}

/* Zen 3 on, the checksum field carries a revision of the same CPU type instead (Xen, check_min_rev()). */
static uint32_t floor_revision(uint16_t equiv_id, uint32_t patch_id, uint32_t checksum) {
        return equiv_id >= 0xa000 && checksum >> 8 == patch_id >> 8 ? checksum : 0;
}

int ucs_amd_container_next(UcsAmdContainer *c, UcsUpdate *ret, UcsError *e) {
        const uint8_t *section = c->data + c->next, *patch;
        size_t left = c->size - c->next;
        uint32_t type, size;
        UcsUpdate u;
        int r;

        if (left == 0)
                return UCS_AMD_END;
        if (left < SECTION_HEADER_SIZE)
                return ucs_error_set(e, -EBADMSG, "offset %zu: %zu bytes, expected a section header of %u",
                                     c->next, left, SECTION_HEADER_SIZE);
        type = get_le32(section);
        size = get_le32(section + 4);
        if (type == UCS_AMD_MAGIC)
                return UCS_AMD_CONTAINER;
        if (type != TYPE_PATCH)
                return ucs_error_set(e, -EBADMSG, "offset %zu: section type 0x%x, expected 1 (patch)",
                                     c->next, type);
        if (size < PATCH_HEADER_SIZE)
                return ucs_error_set(e, -EBADMSG, "offset %zu: a patch of %u bytes, expected %u at least",
                                     c->next + 4, size, PATCH_HEADER_SIZE);
        left -= SECTION_HEADER_SIZE;
        if (size > left)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: truncated, a patch of %u bytes, but only %zu are left",
                                     c->next + 4, size, left);

        patch = section + SECTION_HEADER_SIZE;
        u = (UcsUpdate){
                .vendor = UCS_VENDOR_AMD,
                .revision = get_le32(patch + AT_PATCH_ID),
                .date = get_le32(patch + AT_DATE),
                .size = size,
                .offset = c->next + SECTION_HEADER_SIZE,
                .chipset_specific =
                        get_le32(patch + AT_NB_DEV_ID) != 0 || get_le32(patch + AT_SB_DEV_ID) != 0,
                .equiv_id = get_le16(patch + AT_PROCESSOR_REV_ID),
                .container = c->index,
        };
        if (size > patch_size_max(ucs_amd_family(u.equiv_id)))
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: a patch of %u bytes, expected %u at most for family %xh",
                                     c->next + 4, size, patch_size_max(ucs_amd_family(u.equiv_id)),
                                     ucs_amd_family(u.equiv_id));
        u.floor_revision = floor_revision(u.equiv_id, u.revision, get_le32(patch + AT_CHECKSUM));
        r = read_signatures(c, &u);
        if (r < 0)
                return r;

        c->next += SECTION_HEADER_SIZE + size;
        *ret = u;
        return UCS_AMD_PATCH;
}

/* The first reason is kept. */
static void refuse(UcsUpdateFile *file, size_t offset, const char *why) {
        if (file->refusal.code == 0)
                (void) ucs_error_set(&file->refusal, -EBADMSG, "offset %zu: %s", offset, why);
}

int ucs_amd_parse(const uint8_t *data, size_t size, UcsUpdateFile *file, UcsError *e) {
        UcsAmdContainer c;
        size_t n = 0;
        int r;

        r = ucs_amd_container_open(&c, data, size, 0, e);
        if (r < 0)
                return r;
        for (;;) {
                UcsUpdate u;

                r = ucs_amd_container_next(&c, &u, e);
                if (r < 0)
                        return r;
                if (r != UCS_AMD_PATCH && n == 0)
                        return ucs_error_set(
                                e, -EBADMSG,
                                "offset %zu: a container without a patch, expected one at least", c.next);
                if (r == UCS_AMD_END)
                        return 0;
                if (r == UCS_AMD_CONTAINER) {
                        uint32_t index = c.index + 1;

                        refuse(file, c.next,
                               "a second container, expected a patch (the late loader reads one container)");
                        r = ucs_amd_container_open(&c, data, size, c.next, e);
                        if (r < 0)
                                return r;
                        c.index = index;
                        n = 0;
                        continue;
                }
                n++;
                if (file->n_updates == UCS_AMD_PATCHES_MAX) {
                        free(u.also);
                        return ucs_error_set(e, -EBADMSG, "offset %zu: more than %u patches", u.offset,
                                             UCS_AMD_PATCHES_MAX);
                }
                if (u.chipset_specific)
                        refuse(file, u.offset, "a chipset-specific patch, expected one for every chipset");
                r = ucs_update_file_add(file, &u);
                if (r < 0)
                        return r;
        }
}

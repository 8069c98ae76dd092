/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Intel updates; see intel.h.
 *
 * A file is a plain row of updates. Each is a header, data (encrypted, opaque), and sometimes a table of
 * further CPUs; three sums of 32-bit words guard it: header with data, the table, and each row of the table
 * against the header. Nothing is believed before it was compared with the bytes that are left: sizes are
 * computed in 64 bits, so that a row count cannot wrap around. What the kernel does not ask for (a total
 * size in steps of 1024, a sane date) is not asked for here. */

#include "core/ucode/intel.h"
#include "core/ucode/bytes.h"

/* Offsets in the header, struct microcode_header_intel of asm/microcode.h. */
enum {
        AT_HEADER_VERSION = 0x00,
        AT_REVISION = 0x04,
        AT_DATE = 0x08,
        AT_SIGNATURE = 0x0c,
        AT_CHECKSUM = 0x10,
        AT_LOADER_VERSION = 0x14,
        AT_PLATFORM_MASK = 0x18,
        AT_DATA_SIZE = 0x1c,
        AT_TOTAL_SIZE = 0x20,
        AT_METADATA_SIZE = 0x24,
        AT_MIN_REVISION = 0x28,
};

#define HEADER_VERSION_MICROCODE 1U
#define HEADER_VERSION_IFS       2U /* MC_HEADER_TYPE_IFS: In-Field Scan test images use the same header */
#define LOADER_VERSION           1U
#define IMPLIED_DATA_SIZE        2000U /* when the header says 0; the total size is not looked at then */
#define IMPLIED_TOTAL_SIZE       2048U

/* The extended table: count, checksum, three reserved words; then rows of signature, mask, checksum. */
#define TABLE_HEADER_SIZE 20U
#define TABLE_ROW_SIZE    12U

#define SUM_LANES 16U

uint32_t ucs_intel_sum(const uint8_t *data, size_t size) {
        uint32_t lanes[SUM_LANES] = {}, sum = 0;

        /* independent lanes and a constant inner count: compilers make vector additions of it, at -O2
         * already, which leaves the scan of a whole release bound by memory */
        for (; size >= sizeof(lanes); data += sizeof(lanes), size -= sizeof(lanes))
                for (size_t i = 0; i < SUM_LANES; i++)
                        lanes[i] += get_le32(data + 4 * i);
        for (size_t i = 0; i < SUM_LANES; i++)
                sum += lanes[i];
        for (; size >= 4; data += 4, size -= 4)
                sum += get_le32(data);
        return sum;
}

bool ucs_intel_probe(const uint8_t *data, size_t size) {
        uint32_t version;

        if (size < 4)
                return false;
        version = get_le32(data);
        return version == HEADER_VERSION_MICROCODE || version == HEADER_VERSION_IFS ||
               (size >= UCS_INTEL_HEADER_SIZE && get_le32(data + AT_LOADER_VERSION) == LOADER_VERSION);
}

/* The table at `offset` of the buffer, `size` bytes up to the end of the update. */
static int read_table(const uint8_t *data, size_t offset, size_t size, UcsUpdate *u, uint32_t checksum,
                      UcsError *e) {
        const uint8_t *table = data + offset;
        _cleanup_free_ UcsSignature *also = NULL;
        uint32_t sum, count;
        uint64_t expected;

        if (size < TABLE_HEADER_SIZE)
                return ucs_error_set(
                        e, -EBADMSG,
                        "offset %zu: %zu bytes for an extended signature table, expected %u at least",
                        offset, size, TABLE_HEADER_SIZE);
        count = get_le32(table);
        expected = TABLE_HEADER_SIZE + (uint64_t) TABLE_ROW_SIZE * count;
        if (size != expected)
                return ucs_error_set(
                        e, -EBADMSG,
                        "offset %zu: %zu bytes for an extended signature table, expected %llu for %u rows",
                        offset, size, (unsigned long long) expected, count);
        sum = ucs_intel_sum(table, size);
        if (sum != 0)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: the extended signature table sums to 0x%08x, expected 0",
                                     offset, sum);

        also = new0(UcsSignature, count);
        if (!also)
                return -ENOMEM;
        for (uint32_t i = 0; i < count; i++) {
                const uint8_t *row = table + TABLE_HEADER_SIZE + (size_t) TABLE_ROW_SIZE * i;

                also[i] = (UcsSignature){ .signature = get_le32(row), .platform_mask = get_le32(row + 4) };
                sum = also[i].signature + also[i].platform_mask + get_le32(row + 8);
                if (sum != u->signature + u->platform_mask + checksum)
                        return ucs_error_set(
                                e, -EBADMSG,
                                "offset %zu: row %u of the extended signature table sums to 0x%08x, expected 0x%08x",
                                (size_t) (row - data), i + 1, sum,
                                u->signature + u->platform_mask + checksum);
        }
        u->also = TAKE_PTR(also);
        u->n_also = count;
        return 0;
}

static int check_versions(const uint8_t *header, size_t offset, UcsError *e) {
        uint32_t version = get_le32(header + AT_HEADER_VERSION),
                 loader = get_le32(header + AT_LOADER_VERSION);

        if (version == HEADER_VERSION_IFS)
                return ucs_error_set(
                        e, -EBADMSG,
                        "offset %zu: header type 2, an In-Field Scan image, expected 1 (microcode)", offset);
        if (version != HEADER_VERSION_MICROCODE)
                return ucs_error_set(e, -EBADMSG, "offset %zu: header type %u, expected 1 (microcode)",
                                     offset, version);
        if (loader != LOADER_VERSION)
                return ucs_error_set(e, -EBADMSG, "offset %zu: loader version %u, expected 1",
                                     offset + AT_LOADER_VERSION, loader);
        return 0;
}

int ucs_intel_read(const uint8_t *data, size_t size, size_t offset, UcsUpdate *ret, size_t *ret_next,
                   UcsError *e) {
        const uint8_t *header = data + offset;
        size_t left = size - offset, data_end;
        uint32_t data_size, total_size, sum;
        UcsUpdate u;
        int r;

        if (left < UCS_INTEL_HEADER_SIZE)
                return ucs_error_set(e, -EBADMSG, "offset %zu: %zu bytes, expected a header of %u", offset,
                                     left, UCS_INTEL_HEADER_SIZE);
        r = check_versions(header, offset, e);
        if (r < 0)
                return r;

        data_size = get_le32(header + AT_DATA_SIZE);
        total_size = data_size ? get_le32(header + AT_TOTAL_SIZE) : IMPLIED_TOTAL_SIZE;
        data_size = data_size ?: IMPLIED_DATA_SIZE;
        if (data_size % 4 != 0)
                return ucs_error_set(e, -EBADMSG, "offset %zu: data size %u, expected a multiple of 4",
                                     offset + AT_DATA_SIZE, data_size);
        if ((uint64_t) UCS_INTEL_HEADER_SIZE + data_size > total_size)
                return ucs_error_set(e, -EBADMSG,
                                     "offset %zu: total size %u, expected %llu at least for header and data",
                                     offset + AT_TOTAL_SIZE, total_size,
                                     (unsigned long long) UCS_INTEL_HEADER_SIZE + data_size);
        if (total_size > left)
                return ucs_error_set(e, -EBADMSG, "offset %zu: truncated, %zu bytes are left, expected %u",
                                     offset, left, total_size);

        data_end = (size_t) UCS_INTEL_HEADER_SIZE + data_size;
        sum = ucs_intel_sum(header, data_end);
        if (sum != 0)
                return ucs_error_set(e, -EBADMSG, "offset %zu: header and data sum to 0x%08x, expected 0",
                                     offset, sum);

        u = (UcsUpdate){
                .vendor = UCS_VENDOR_INTEL,
                .signature = get_le32(header + AT_SIGNATURE),
                .platform_mask = get_le32(header + AT_PLATFORM_MASK),
                .revision = get_le32(header + AT_REVISION),
                .min_revision = get_le32(header + AT_MIN_REVISION),
                .date = get_le32(header + AT_DATE),
                .size = total_size,
                .offset = offset,
                .metadata_size = get_le32(header + AT_METADATA_SIZE),
        };
        if (total_size > data_end) {
                r = read_table(data, offset + data_end, total_size - data_end, &u,
                               get_le32(header + AT_CHECKSUM), e);
                if (r < 0)
                        return r;
        }
        *ret = u;
        *ret_next = offset + total_size;
        return 0;
}

int ucs_intel_parse(const uint8_t *data, size_t size, UcsUpdateFile *file, UcsError *e) {
        size_t offset = 0;
        int r;

        while (offset < size) {
                UcsUpdate u;

                r = ucs_intel_read(data, size, offset, &u, &offset, e);
                if (r < 0)
                        return r;
                r = ucs_update_file_add(file, &u);
                if (r < 0)
                        return r;
        }
        return 0;
}

bool ucs_intel_metadata(const uint8_t *data, size_t size, const UcsUpdate *u, size_t *ret_offset,
                        size_t *ret_size) {
        uint32_t data_size;

        if (u->vendor != UCS_VENDOR_INTEL || u->metadata_size == 0 || u->offset > size ||
            size - u->offset < UCS_INTEL_HEADER_SIZE)
                return false;
        data_size = get_le32(data + u->offset + AT_DATA_SIZE) ?: IMPLIED_DATA_SIZE;
        if (u->metadata_size > data_size || data_size > size - u->offset - UCS_INTEL_HEADER_SIZE)
                return false;
        *ret_offset = u->offset + UCS_INTEL_HEADER_SIZE + data_size - u->metadata_size;
        *ret_size = u->metadata_size;
        return true;
}

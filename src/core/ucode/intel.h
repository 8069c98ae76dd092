/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Intel updates: SDM vol. 3, "Microcode Update Facilities"; strictness as in the kernel's
 * intel_microcode_sanity_check() and parse_microcode_blobs() (arch/x86/kernel/cpu/microcode/intel.c). Use
 * core/ucode/update.h unless you need a single update. */

#include "core/ucode/update.h"

#define UCS_INTEL_HEADER_SIZE 48U

/* Whether the bytes begin like an Intel update or an In-Field Scan image, right or wrong. */
bool ucs_intel_probe(const uint8_t *data, size_t size);

/* The update that begins at `offset` of the buffer; `*ret_next` is where the next one would. Fills `ret`
 * (and its `also`, which the caller frees). -EBADMSG with what was expected, -ENOMEM. */
int ucs_intel_read(const uint8_t *data, size_t size, size_t offset, UcsUpdate *ret, size_t *ret_next,
                   UcsError *e);

/* All updates of a file, one behind the other to its last byte. Errors as above. */
int ucs_intel_parse(const uint8_t *data, size_t size, UcsUpdateFile *file, UcsError *e);

/* Sum of the little-endian 32-bit words, modulo 2^32. `size` is a multiple of 4; any alignment. */
uint32_t ucs_intel_sum(const uint8_t *data, size_t size);

/* Where the metadata of an update lie: false when it has none, or when the header claims more than the data
 * hold. */
bool ucs_intel_metadata(const uint8_t *data, size_t size, const UcsUpdate *u, size_t *ret_offset,
                        size_t *ret_size);

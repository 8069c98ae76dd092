/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* AMD containers, as the kernel reads them (arch/x86/kernel/cpu/microcode/amd.c), as AMD's amd_ucode_info
 * lists them, and as Xen's docs/misc/amd-ucode-container.txt describes them. Use core/ucode/update.h unless
 * you need a single container.
 *
 * A container is a magic number, an equivalence table (CPU signature -> 16-bit id), and one section a patch.
 * From family 17h on the patch id itself spells out the CPU and the table is not looked at. */

#include "core/ucode/update.h"

#define UCS_AMD_MAGIC 0x00414d44U /* "DMA\0" */

bool ucs_amd_probe(const uint8_t *data, size_t size);

/* The CPUID.1:EAX that a patch of family 17h or later is for. */
uint32_t ucs_amd_signature(uint32_t patch_id);

/* The family of an equivalence id: its upper four bits, counted from 0fh. */
static inline unsigned ucs_amd_family(uint16_t equiv_id) {
        return 0xfU + (equiv_id >> 12);
}

/* More than vendors ever shipped (40 rows, 23 patches), and a bound on work and memory for a file that was
 * made to exhaust them. */
#define UCS_AMD_ROWS_MAX    1024U
#define UCS_AMD_PATCHES_MAX 4096U

typedef struct UcsAmdContainer {
        const uint8_t *data; /* the buffer that it lies in */
        size_t size;
        size_t rows, n_rows;                  /* offset and number of rows of the equivalence table */
        uint64_t dead[UCS_AMD_ROWS_MAX / 64]; /* rows that name no CPU, or one that an earlier row names: the
                                                 kernel takes the first */
        size_t next; /* offset of the next section; moved by ucs_amd_container_next() */
        uint32_t index;
} UcsAmdContainer;

/* The container that begins at `offset`. -EBADMSG with what was expected. */
int ucs_amd_container_open(UcsAmdContainer *c, const uint8_t *data, size_t size, size_t offset, UcsError *e);

typedef enum UcsAmdSection {
        UCS_AMD_END,       /* the buffer ends, as it should */
        UCS_AMD_PATCH,     /* `*ret` is filled; the caller frees its `also` */
        UCS_AMD_CONTAINER, /* another container begins at c->next */
} UcsAmdSection;

/* The next section: a UcsAmdSection; -EBADMSG with what was expected (c->next stays at the bad section),
 * -ENOMEM. */
int ucs_amd_container_next(UcsAmdContainer *c, UcsUpdate *ret, UcsError *e);

/* All patches of all containers of a file; file->refusal says when the late loader does not take it as a
 * whole. Errors as above. */
int ucs_amd_parse(const uint8_t *data, size_t size, UcsUpdateFile *file, UcsError *e);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An update as the vendors publish it, whatever the vendor, and the updates of a file: values only. file.h makes them of bytes, choose.h finds the
 * one for a CPU. */

#include "base/cleanup.h"
#include "base/error.h"
#include "core/ucode/signature.h"

#define UCS_DIGEST_SIZE 32 /* SHA-256 */

/* A further CPU that an update is for: Intel's extended signature table, further rows of AMD's equivalence
 * table. */
typedef struct UcsSignature {
        uint32_t signature;     /* CPUID.1:EAX */
        uint32_t platform_mask; /* Intel: bit set of platform ids; AMD: 0 */
} UcsSignature;

typedef struct UcsUpdate {
        UcsVendor vendor;
        uint32_t signature;     /* primary; AMD: derived from the patch id (family 17h on) or the equivalence
                                   table; 0: no CPU */
        uint32_t platform_mask; /* AMD: 0 */
        uint32_t revision;      /* AMD: the patch id */
        uint32_t min_revision;  /* 0: the vendor names none (AMD never does, see floor_revision) */
        uint32_t date;          /* BCD mmddyyyy, as it stands in the header; may be none at all */
        uint32_t size;          /* Intel: total size; AMD: the patch without its 8-byte section header */
        size_t offset; /* of the update in the (decompressed) file; AMD: of the patch, behind the section
                          header */
        UcsSignature *also; /* Intel: the extended table as it stands, so that it mostly begins with the
                               primary pair */
        size_t n_also;

        uint32_t metadata_size; /* Intel: bytes of metadata, the last ones of the data; the loader does not
                                   read them */

        bool chipset_specific;   /* AMD: nb_dev_id or sb_dev_id set; the kernel takes no such patch */
        uint16_t equiv_id;       /* AMD: processor_rev_id of the patch header */
        uint32_t container;      /* AMD: 0 for the first one of the file */
        uint32_t floor_revision; /* AMD, Zen 3 on: the CPU itself takes the patch only from this revision on;
                                  * 0: none. Xen reads this (ucode-amd.c, check_min_rev()), Linux does not */
} UcsUpdate;

typedef struct UcsUpdateFile {
        UcsVendor vendor;
        UcsUpdate *updates;
        size_t n_updates;

        /* ucs_update_file_list() only. Every update could be read, and still the late loader refuses the
         * file: code is -EBADMSG and the text says why. Otherwise code is 0. */
        UcsError refusal;
} UcsUpdateFile;

UcsUpdateFile *ucs_update_file_free(UcsUpdateFile *file);
DEFINE_CLEANUP(UcsUpdateFile *, ucs_update_file_free);

/* How a file's parser adds to it. Takes over `u`, also when it fails: 0 or -ENOMEM. */
int ucs_update_file_add(UcsUpdateFile *file, UcsUpdate *u);

/* "2023-07-28" of a header's BCD date; NULL (and an empty `buf`) when it is no day of the calendar. */
#define UCS_DATE_MAX 16
const char *ucs_update_date(char buf[static UCS_DATE_MAX], uint32_t bcd);

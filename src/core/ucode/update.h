/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An update as the vendors publish it, whatever the vendor: what a file holds, and which of it is for a CPU.
 *
 * Strict as the kernel's late loader is (arch/x86/kernel/cpu/microcode/{intel,amd}.c): one bad update anywhere in a file
 * makes the whole file bad. Bytes in, values out; nothing is read and nothing is logged here. */

#include <errno.h>

#include "base/cleanup.h"
#include "base/error.h"

#define UCS_DIGEST_SIZE 32 /* SHA-256 */
#define UCS_FIRMWARE_SIZE_MAX (16U * 1024U * 1024U)

typedef enum UcsVendor {
        UCS_VENDOR_UNKNOWN, /* "unknown" */
        UCS_VENDOR_INTEL,   /* "intel" */
        UCS_VENDOR_AMD,     /* "amd" */
        _UCS_VENDOR_MAX,
        _UCS_VENDOR_INVALID = -EINVAL,
} UcsVendor;

const char *ucs_vendor_to_string(UcsVendor v);
UcsVendor ucs_vendor_from_string(const char *s);

/* A further CPU that an update is for: Intel's extended signature table, further rows of AMD's equivalence table. */
typedef struct UcsSignature {
        uint32_t signature;     /* CPUID.1:EAX */
        uint32_t platform_mask; /* Intel: bit set of platform ids; AMD: 0 */
} UcsSignature;

typedef struct UcsUpdate {
        UcsVendor vendor;
        uint32_t signature;     /* primary; AMD: derived from the patch id (family 17h on) or the equivalence table */
        uint32_t platform_mask; /* AMD: 0 */
        uint32_t revision;      /* AMD: the patch id */
        uint32_t min_revision;  /* 0: the vendor names none */
        uint32_t date;          /* BCD mmddyyyy, as it stands in the header; may be none at all */
        uint32_t size;          /* Intel: total size; AMD: the patch without its 8-byte section header */
        size_t offset;          /* of the update in the (decompressed) file */
        UcsSignature *also;
        size_t n_also;
        bool chipset_specific; /* AMD: nb_dev_id or sb_dev_id set; the kernel skips such a patch */
        uint16_t equiv_id;     /* AMD: processor_rev_id of the patch header */
} UcsUpdate;

typedef struct UcsUpdateFile {
        UcsVendor vendor;
        UcsUpdate *updates;
        size_t n_updates;
} UcsUpdateFile;

/* Parse a whole file of either vendor (told by its first bytes). On failure `e` says what is wrong at which offset.
 * -EBADMSG: the kernel would refuse it (-EBADFD at the write); -ENODATA: empty; -ENOMEM. */
int ucs_update_file_parse(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e);
UcsUpdateFile *ucs_update_file_free(UcsUpdateFile *file);
DEFINE_CLEANUP(UcsUpdateFile *, ucs_update_file_free);

/* Whether the update is for a CPU of this signature and platform mask (Intel: `sig` equal and the masks overlap, or both are 0). */
bool ucs_update_matches(const UcsUpdate *u, uint32_t signature, uint32_t platform_mask);

typedef enum UcsChoice {
        UCS_CHOICE_NONE,      /* nothing in the file is for this CPU */
        UCS_CHOICE_NOT_NEWER, /* something is, but nothing newer than what runs */
        UCS_CHOICE_NEWER,
} UcsChoice;

/* The update that the kernel's late loader would take: of the matching ones that of the highest revision. `*ret` points
 * into `file`, and is NULL for UCS_CHOICE_NONE. Revisions compare as unsigned numbers. */
UcsChoice ucs_update_choose(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask, uint32_t running,
                            const UcsUpdate **ret);

/* The name below a firmware directory in which the kernel looks for this CPU's file: "intel-ucode/06-55-04",
 * "amd-ucode/microcode_amd_fam17h.bin". Returns `buf`, or NULL for an unknown vendor. */
#define UCS_FIRMWARE_NAME_MAX 48
const char *ucs_firmware_name(char buf[static UCS_FIRMWARE_NAME_MAX], UcsVendor vendor, uint32_t signature);

/* "2023-07-28" of a header's BCD date; NULL (and an empty `buf`) when it is no date. */
#define UCS_DATE_MAX 16
const char *ucs_update_date(char buf[static UCS_DATE_MAX], uint32_t bcd);

/* CPUID.1:EAX from what /proc/cpuinfo prints (SDM vol. 2, CPUID: extended family and model). */
uint32_t ucs_signature_make(unsigned family, unsigned model, unsigned stepping);
unsigned ucs_signature_family(uint32_t signature);
unsigned ucs_signature_model(uint32_t signature);
unsigned ucs_signature_stepping(uint32_t signature);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An update as the vendors publish it, whatever the vendor: what a file holds, and which of it is for a CPU.
 *
 * Strict as the kernel's late loader is (arch/x86/kernel/cpu/microcode/{intel,amd}.c): one bad update
 * anywhere in a file makes the whole file bad. Bytes in, values out; nothing is read and nothing is logged
 * here. */

#include <errno.h>

#include "base/cleanup.h"
#include "base/error.h"

#define UCS_DIGEST_SIZE       32 /* SHA-256 */
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

/* Whose file it is, by its first bytes; UNKNOWN for anything else. Says nothing about the rest. */
UcsVendor ucs_update_vendor(const void *data, size_t size);

/* Parse a whole file of either vendor (told by its first bytes). On failure `e` says what is wrong at which
 * offset. -EBADMSG: the kernel would refuse it (-EBADFD at the write); -ENODATA: empty; -ENOMEM. */
int ucs_update_file_parse(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e);

/* The same for people who want to see what is in a file: a file that is whole but that the late loader
 * refuses is read, with `refusal` set (AMD: several containers, which the early loader takes; a
 * chipset-specific patch). Errors as above. */
int ucs_update_file_list(const void *data, size_t size, UcsUpdateFile **ret, UcsError *e);

UcsUpdateFile *ucs_update_file_free(UcsUpdateFile *file);
DEFINE_CLEANUP(UcsUpdateFile *, ucs_update_file_free);

/* Whether the update is for a CPU of this signature and platform mask. Intel: a pair of the update has this
 * signature, and the masks overlap or both are 0. AMD: one of its signatures is this one, the family of its
 * equivalence id is the CPU's (the kernel's family filter), and it is not chipset-specific; the mask is
 * ignored. */
bool ucs_update_matches(const UcsUpdate *u, uint32_t signature, uint32_t platform_mask);

/* Whether the vendor vouches for a late load from `running`: it names a minimum revision, and that is met
 * (the kernel's ucode_validate_minrev()). */
bool ucs_update_minrev_met(const UcsUpdate *u, uint32_t running);

typedef enum UcsChoice {
        UCS_CHOICE_NONE,      /* nothing in the file is for this CPU */
        UCS_CHOICE_NOT_NEWER, /* something is, but nothing newer than what runs */
        UCS_CHOICE_NEWER,
} UcsChoice;

/* The update that the kernel's late loader would take: of the matching ones that of the highest revision, of
 * equal ones the first. `*ret` points into `file`, and is NULL for UCS_CHOICE_NONE. Revisions compare as
 * unsigned numbers. */
UcsChoice ucs_update_choose(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask,
                            uint32_t running, const UcsUpdate **ret);

/* The same for kernels that leave some updates out of account, as if the file did not hold them (so NONE can
 * mean "only such"; compare with ucs_update_choose()). */
typedef enum UcsChooseFlags {
        /* microcode.force_minrev (6.7 on). Intel: updates without a minimum revision, or with one above
         * `running`, are skipped and the best of the others is taken. AMD: nothing is ever taken. */
        UCS_CHOOSE_FORCE_MINREV = 1 << 0,
        /* AMD, 6.19 and stable kernels since (8d171045069c, "Select which microcode patch to load"): patches
         * on the other side of the EntrySign cutoff than `running` are skipped; see entrysign.h. Containers
         * since 2025 hold one patch for each side. */
        UCS_CHOOSE_ENTRYSIGN_SIDE = 1 << 1,
} UcsChooseFlags;

UcsChoice ucs_update_choose_with(const UcsUpdateFile *file, uint32_t signature, uint32_t platform_mask,
                                 uint32_t running, UcsChooseFlags flags, const UcsUpdate **ret);

/* The name below a firmware directory in which the kernel looks for this CPU's file: "intel-ucode/06-55-04",
 * "amd-ucode/microcode_amd_fam17h.bin". Returns `buf`, or NULL for an unknown vendor. */
#define UCS_FIRMWARE_NAME_MAX 48
const char *ucs_firmware_name(char buf[static UCS_FIRMWARE_NAME_MAX], UcsVendor vendor, uint32_t signature);

/* "2023-07-28" of a header's BCD date; NULL (and an empty `buf`) when it is no day of the calendar. */
#define UCS_DATE_MAX 16
const char *ucs_update_date(char buf[static UCS_DATE_MAX], uint32_t bcd);

/* CPUID.1:EAX from what /proc/cpuinfo prints (SDM vol. 2, CPUID: extended family and model). */
uint32_t ucs_signature_make(unsigned family, unsigned model, unsigned stepping);
unsigned ucs_signature_family(uint32_t signature);
unsigned ucs_signature_model(uint32_t signature);
unsigned ucs_signature_stepping(uint32_t signature);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a scan of the firmware directories found for one group of CPUs: at most one file, and at most one update in it. */

#include "core/policy/machine.h"

typedef enum UcsFinding {
        UCS_FOUND_NOTHING,   /* no file of that name in the search path */
        UCS_FOUND_NO_MATCH,  /* a file, but nothing in it for this CPU */
        UCS_FOUND_NOT_NEWER, /* nothing newer than what runs */
        UCS_FOUND_NEWER,     /* a candidate */
        UCS_FOUND_BAD,       /* the file is not what the kernel accepts, or could not be read: `error` says why */
} UcsFinding;

typedef struct UcsCandidate {
        UcsFinding finding;
        uint32_t signature, platform_mask; /* of the group */
        char *path;                        /* as the kernel opens it, e.g. /lib/firmware/intel-ucode/06-55-04.xz */
        uint8_t digest[UCS_DIGEST_SIZE];   /* SHA-256 of the file as it lies on disk */
        uint64_t changed_usec;             /* its ctime, CLOCK_REALTIME */
        UcsUpdate update;                  /* NO_MATCH, NOTHING and BAD: all zero; `also` is not kept */
        uint32_t on_disk; /* the newest revision in the file for these CPUs, whether this kernel would take it or not; 0: none */
        UcsError error;
        bool unreadable; /* with `error`: it could not be read or unpacked, which to the kernel is as if it were not there */
        UcsError skipped; /* a file earlier in the search path that the kernel passes over without a word (a link loop, a
                           * directory, empty, not to be decompressed): no finding, but worth a line; code 0: none */
} UcsCandidate;

/* One a group, in the order of the machine's groups. */
typedef struct UcsScan {
        UcsCandidate *candidates;
        size_t n_candidates;
} UcsScan;

UcsScan *ucs_scan_free(UcsScan *s);
DEFINE_CLEANUP(UcsScan *, ucs_scan_free);

/* The candidate that decides: the first NEWER one, else the first BAD one, else the first. NULL for an empty scan. */
const UcsCandidate *ucs_scan_leading(const UcsScan *s);
bool ucs_digest_equal(const uint8_t a[static UCS_DIGEST_SIZE], const uint8_t b[static UCS_DIGEST_SIZE]);

#define UCS_DIGEST_HEX_MAX (2 * UCS_DIGEST_SIZE + 1)
const char *ucs_digest_format(char buf[static UCS_DIGEST_HEX_MAX], const uint8_t digest[static UCS_DIGEST_SIZE]);
int ucs_digest_parse(const char *s, uint8_t ret[static UCS_DIGEST_SIZE]); /* -EINVAL */

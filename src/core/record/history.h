/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What was done to this machine: one entry a load, kept as text on disk, and the daemon's own memory beside it. Both files
 * start with a format version; a newer one is an error, never half understood. Pure: os/state reads and writes the bytes. */

#include "core/policy/candidate.h"
#include "core/policy/result.h"
#include "core/record/stall.h"

#define UCS_HISTORY_MAX 256 /* older entries are dropped when the file is written */

typedef struct UcsHistoryEntry {
        uint64_t when_usec; /* CLOCK_REALTIME of the write */
        uint32_t id;        /* of the request, 0: by itself */
        UcsResult result;
        uint32_t signature, platform_mask;
        uint32_t old_revision, target_revision, new_revision; /* lowest of the group before and after */
        char *path;
        uint8_t digest[UCS_DIGEST_SIZE];
        int predicted_errno, write_errno; /* positive errno, 0: success, -1: no prediction, or no write */
        uint64_t flags;                   /* that overrode something */
        uint32_t uid;                     /* who asked; UINT32_MAX: nobody */
        uint32_t n_cpus;
        UcsWitnessKind witness;
        uint64_t stall_nsec, worst_nsec, write_nsec;
        uint32_t worst_cpu;
        uint64_t tsc_hz;
        char *cpus; /* list of the CPUs that lag behind, NULL: none */
        char *note; /* further sentences, NULL: none */
        char boot_id[40];
} UcsHistoryEntry;

typedef struct UcsHistory {
        UcsHistoryEntry *entries; /* oldest first */
        size_t n_entries;
        UcsStallTotals totals;
        uint64_t applied_total, failed_total;
} UcsHistory;

void ucs_history_entry_done(UcsHistoryEntry *e);
void ucs_history_done(UcsHistory *h);

/* Takes ownership of what `e` points to on success, and counts it in the totals. 0 or -ENOMEM. */
int ucs_history_add(UcsHistory *h, UcsHistoryEntry *e, uint64_t budget_nsec);

/* Text out and in. Reading: -EBADMSG with the line; -EPROTONOSUPPORT for a newer format. */
int ucs_history_format(const UcsHistory *h, char **ret, size_t *ret_size);
int ucs_history_parse(const char *text, size_t size, UcsHistory *ret, UcsError *e);

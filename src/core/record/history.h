/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What was done to this machine: one entry a load, kept as text on disk. The first line names the format's version (a newer one is
 * an error, never half understood), the last one how many entries there are, so that a file cut short anywhere is an error too.
 * Pure: os/state reads and writes the bytes.
 *
 *     ucodesync-history 2
 *     totals applied=1 failed=0 stalls=1 total=12450000 max=12450000 over-budget=0 buckets=0,0,0,0,0,0,1,0,0,0,0,0
 *     entry when=1774746000000000 id=7 result=success signature=0x00050654 … path=/lib/firmware/intel-ucode/06-55-04 boot=…
 *     end 1
 *
 * A line an entry, every key of history-fields.c once, in any order; optional ones (path, cpus, note, boot, witnesses) are left out when they
 * are empty. Blanks, control characters and backslashes in a value are written as \xNN. Format 1 had no witnesses ("perf=12430000,write=14020000");
 * it is read as well. */

#include "core/policy/candidate.h"
#include "core/policy/result.h"
#include "core/record/stall.h"

#define UCS_HISTORY_MAX 256                     /* older entries are dropped */
#define UCS_HISTORY_STRING_MAX (32U * 1024U)    /* bytes; the longest list of UCS_CPU_MAX CPUs fits */
#define UCS_HISTORY_TEXT_MAX (2U * 1024U * 1024U) /* os/state refuses files of more than 4 MiB */

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
        UcsWitnessed witnessed[_UCS_WITNESS_MAX]; /* what each that was on has seen */
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

/* Takes ownership of what `e` points to on success, and counts it: its stall in the totals unless it is unknown, its result as applied
 * (success), failed (whatever else a load can end in), or neither (no-change, cancelled, external). The oldest entry beyond UCS_HISTORY_MAX
 * goes; strings beyond UCS_HISTORY_STRING_MAX are cut. 0 or -ENOMEM, `e` and `h` untouched. */
int ucs_history_add(UcsHistory *h, UcsHistoryEntry *e, uint64_t budget_nsec);

/* Text out and in. Writing: the oldest entries are left out beyond UCS_HISTORY_TEXT_MAX; 0 or -ENOMEM. Reading: -EBADMSG with the line and
 * what was expected; -EPROTONOSUPPORT for a newer format; -ENOMEM; `ret` untouched. */
int ucs_history_format(const UcsHistory *h, char **ret, size_t *ret_size);
int ucs_history_parse(const char *text, size_t size, UcsHistory *ret, UcsError *e);

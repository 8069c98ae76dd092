/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A machine that is asked about its next boot: what it runs, what is on disk and in its image, and what was loaded. A test then spoils what it wants to see handled. */

#include <stdio.h>
#include <string.h>

#include "core/policy/outlook.h"
#include "ucs-test.h"

#define SECOND UINT64_C(1000000)
#define NOW (UINT64_C(2000000000) * SECOND)
#define UPTIME (UINT64_C(86400) * SECOND)
#define BEFORE (NOW - UPTIME - SECOND) /* the image was there when this boot began */
#define AFTER (NOW - SECOND)           /* it was made since */

#define OLD 0x100U
#define MID 0x108U
#define NEW 0x110U
#define IMAGE "/boot/initrd.img-6.1.0-13-amd64"

/* A machine of one group, and everything that is asked about it. */
typedef struct Scene {
        UcsGroup groups[2];
        UcsMachine machine;
        UcsCandidate candidates[2];
        UcsScan scan;
        UcsHealth health;
        UcsHistoryEntry entries[2];
        UcsHistory history;
        UcsEarly early;
        UcsDecision decision;
        UcsWorld world;
} Scene;

static inline void scene(Scene *s, uint32_t runs, uint32_t disk, uint32_t early, uint64_t image_changed) {
        *s = (Scene){
                .groups = { { .signature = 0x50654, .platform_mask = 1, .n_cpus = 8, .lowest_revision = runs, .highest_revision = runs } },
                .machine = { .vendor = UCS_VENDOR_INTEL, .support = UCS_SUPPORT_LATE_LOAD, .n_groups = 1 },
                .candidates = { { .finding = disk > runs ? UCS_FOUND_NEWER : disk > 0 ? UCS_FOUND_NOT_NEWER : UCS_FOUND_NOTHING, .signature = 0x50654,
                                  .platform_mask = 1, .update.revision = disk } },
                .scan.n_candidates = 1,
                .health.uptime_usec = UPTIME,
                .early.running = { .finding = UCS_EARLY_FOUND, .path = IMAGE, .release = "6.1.0-13-amd64", .changed_usec = image_changed, .revisions = { early } },
                .world = { .realtime_usec = NOW },
        };
        s->machine.groups = s->groups;
        s->scan.candidates = s->candidates;
        s->history.entries = s->entries;
        s->world.machine = &s->machine;
        s->world.scan = &s->scan;
        s->world.health = &s->health;
        if (disk > runs)
                s->decision.candidate = &s->candidates[0];
}

static inline void loaded(Scene *s, const char *boot, uint32_t from, uint32_t to) {
        UcsHistoryEntry *e = &s->entries[s->history.n_entries++];

        *e = (UcsHistoryEntry){ .result = UCS_RESULT_SUCCESS, .signature = 0x50654, .platform_mask = 1, .old_revision = from, .new_revision = to };
        (void) snprintf(e->boot_id, sizeof(e->boot_id), "%s", boot);
}

static inline void blocked(Scene *s, UcsBlocker b, uint64_t clears) {
        s->decision.blocked |= ucs_blocker_bit(b);
        s->decision.reports[s->decision.n_reports++] = (UcsBlockerReport){ .blocker = b, .clears_usec = clears };
}

static inline void ask(Scene *s, UcsOutlook *o) {
        ucs_outlook(&s->world, &s->decision, &s->history, &s->early, 0, "this-boot", o);
}

static inline bool says(const UcsOutlook *o, const char *text) {
        for (size_t i = 0; i < o->n_sentences; i++)
                if (strstr(o->sentences[i], text))
                        return true;
        return false;
}

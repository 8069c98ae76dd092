/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Revisions that are taken back. A vendor withdraws one by shipping the one before it, a file without it, or no file at all; which CPUs run it
 * meanwhile, and whether a board's firmware is ahead of the package, makes no difference: what was on disk is compared with what is on disk. What
 * kind of an event that is, is not for this file to say. */

#include "core/policy/policy.h"

static UcsOnDisk *find(UcsState *s, const UcsCandidate *k) {
        for (size_t i = 0; i < s->n_on_disk; i++)
                if (s->on_disk[i].signature == k->signature && s->on_disk[i].platform_mask == k->platform_mask)
                        return &s->on_disk[i];
        if (s->n_on_disk == UCS_SEEN_MAX)
                return NULL;
        s->on_disk[s->n_on_disk] = (UcsOnDisk){ k->signature, k->platform_mask, 0 };
        return &s->on_disk[s->n_on_disk++];
}

size_t ucs_state_note_disk(UcsState *state, const UcsScan *scan, UcsDowngrade *ret, bool *ret_changed) {
        bool changed = false;
        size_t n = 0;

        for (size_t i = 0; i < scan->n_candidates; i++) {
                const UcsCandidate *k = &scan->candidates[i];
                UcsOnDisk *then;

                if (k->finding == UCS_FOUND_BAD || k->error.code != 0) /* half of it may be there; it is looked at again when it is right */
                        continue;
                then = find(state, k);
                if (!then || then->revision == k->on_disk)
                        continue;
                if (then->revision > k->on_disk)
                        ret[n++] = (UcsDowngrade){ .now = k, .from = then->revision };
                then->revision = k->on_disk;
                changed = true;
        }
        *ret_changed = changed;
        return n;
}

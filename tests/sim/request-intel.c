/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An Intel file under the eyes of the late loader (facts of arch/x86/kernel/cpu/microcode/intel.c): a row of
 * updates to the very end, each checked in full, and of those for CPU 0 the newest that is newer than what
 * it runs.
 *
 * From 6.7 on one bad update spoils the file. Before, reading stopped at the bad one, and the file was only
 * spoilt when bytes were left behind it. */

#include "request.h"

#define HEADER          48U
#define EXTENDED_HEADER 20U
#define EXTENDED_ENTRY  12U

typedef struct Update {
        const uint8_t *data;
        uint32_t revision, date, signature, checksum, mask, data_size, total_size, min_revision;
} Update;

static uint32_t sum32(const uint8_t *p, size_t n) {
        uint32_t sum = 0;

        for (size_t i = 0; i + 4 <= n; i += 4)
                sum += sim_le32(p + i);
        return sum;
}

/* The extended table of a whole update: its entries, or NULL when there is none or it is not whole. */
static const uint8_t *extended(const Update *u, uint32_t *ret_count) {
        uint32_t left = u->total_size - HEADER - u->data_size;
        const uint8_t *t = u->data + HEADER + u->data_size;

        *ret_count = 0;
        if (left < EXTENDED_HEADER || sim_le32(t) > (left - EXTENDED_HEADER) / EXTENDED_ENTRY)
                return NULL;
        *ret_count = sim_le32(t);
        return t + EXTENDED_HEADER;
}

static bool sound(SimMachine *m, const Update *u) {
        uint32_t left, count = 0, sum = u->signature + u->mask + u->checksum;
        const uint8_t *entries = NULL;

        if ((uint64_t) HEADER + u->data_size > u->total_size || u->data_size % 4 != 0) {
                sim_log(m, SIM_ERR, "microcode: Error: bad microcode data file size.");
                return false;
        }
        if (sim_le32(u->data + 20) != 1 || sim_le32(u->data) != 1) {
                sim_log(m, SIM_ERR,
                        "microcode: Error: invalid/unknown microcode update format. Header type %d",
                        (int) sim_le32(u->data));
                return false;
        }
        left = u->total_size - HEADER - u->data_size;
        if (left > 0) {
                entries = extended(u, &count);
                if (left < EXTENDED_HEADER || (left - EXTENDED_HEADER) % EXTENDED_ENTRY != 0) {
                        sim_log(m, SIM_ERR, "microcode: Error: truncated extended signature table.");
                        return false;
                }
                if (!entries || left != EXTENDED_HEADER + count * EXTENDED_ENTRY) {
                        sim_log(m, SIM_ERR, "microcode: Error: extended signature table size mismatch.");
                        return false;
                }
                if (sum32(entries - EXTENDED_HEADER, left) != 0) {
                        sim_log(m, SIM_WARNING,
                                "microcode: Bad extended signature table checksum, aborting.");
                        return false;
                }
        }
        if (sum32(u->data, HEADER + u->data_size) != 0) {
                sim_log(m, SIM_ERR, "microcode: Bad microcode data checksum, aborting.");
                return false;
        }
        for (uint32_t i = 0; i < count; i++, entries += EXTENDED_ENTRY)
                if (sum32(entries, EXTENDED_ENTRY) != sum) {
                        sim_log(m, SIM_ERR, "microcode: Bad extended signature checksum, aborting.");
                        return false;
                }
        return true;
}

static bool pair_matches(const SimSettings *s, uint32_t signature, uint32_t mask) {
        return signature == s->signature && ((s->platform == 0 && mask == 0) || (s->platform & mask) != 0);
}

static bool matches(const SimSettings *s, const Update *u) {
        const uint8_t *entry;
        uint32_t count;

        if (pair_matches(s, u->signature, u->mask))
                return true;
        entry = extended(u, &count);
        for (uint32_t i = 0; i < count; i++, entry += EXTENDED_ENTRY)
                if (pair_matches(s, sim_le32(entry), sim_le32(entry + 4)))
                        return true;
        return false;
}

/* The update at `p`. False, with the kernel's complaint, when its header or its size is not whole. */
static bool next(SimMachine *m, const uint8_t *p, size_t left, Update *ret) {
        if (left < HEADER) {
                sim_log(m, SIM_ERR,
                        "microcode: error! Truncated or inaccessible header in microcode data file");
                return false;
        }
        *ret = (Update){
                .data = p,
                .revision = sim_le32(p + 4),
                .date = sim_le32(p + 8),
                .signature = sim_le32(p + 12),
                .checksum = sim_le32(p + 16),
                .mask = sim_le32(p + 24),
                .data_size = sim_le32(p + 28),
                .total_size = sim_le32(p + 32),
                .min_revision = sim_le32(p + 40),
        };
        if (ret->data_size == 0) { /* the format of before there were sizes */
                ret->data_size = 2000;
                ret->total_size = 2048;
        }
        if (ret->total_size < HEADER) {
                sim_log(m, SIM_ERR,
                        "microcode: error! Bad data in microcode data file (totalsize too small)");
                return false;
        }
        if (ret->total_size > left) {
                sim_log(m, SIM_ERR, "microcode: error! Bad data in microcode data file (truncated file?)");
                return false;
        }
        return true;
}

static bool safe(SimMachine *m, const Update *u) {
        uint32_t running = m->cpus[0].revision;

        if (u->min_revision == 0) {
                sim_log(m, SIM_INFO,
                        "microcode: Unsafe microcode update: Microcode header does not specify a required min version");
                return false;
        }
        if (running < u->min_revision) {
                sim_log(m, SIM_INFO, "microcode: Unsafe microcode update: Current revision 0x%x too old",
                        running);
                sim_log(m, SIM_INFO,
                        "microcode: Current should be at 0x%x or higher. Use early loading instead",
                        u->min_revision);
                return false;
        }
        return true;
}

SimVerdict sim_request_intel(SimMachine *m, const uint8_t *data, size_t size, SimPatch *ret) {
        const SimSettings *s = &m->settings;
        bool modern = sim_kernel_is_modern(s), found = false, found_safe = false;
        uint32_t newest = m->cpus[0].revision;
        size_t at = 0;

        while (at < size) {
                bool is_safe = false;
                Update u;

                if (!next(m, data + at, size - at, &u))
                        return SIM_VERDICT_BAD;
                at += u.total_size;
                if (!sound(m, &u)) {
                        if (modern || at < size)
                                return SIM_VERDICT_BAD;
                        break;
                }
                if (u.revision <= newest || !matches(s, &u))
                        continue;
                if (modern) {
                        is_safe = safe(m, &u);
                        if (s->force_minrev && !is_safe)
                                continue;
                }
                newest = u.revision;
                found = true;
                found_safe = is_safe;
                *ret = (SimPatch){ u.revision, u.date };
        }
        if (!found)
                return SIM_VERDICT_NOT_FOUND;
        return found_safe ? SIM_VERDICT_NEW_SAFE : SIM_VERDICT_NEW;
}

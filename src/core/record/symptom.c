/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of patterns; see symptom.h. A pattern is one or two pieces of text that stand in this order in the line, so that numbers in between do
 * not matter. */

#include "base/str.h"
#include "core/record/symptom.h"

static const struct {
        const char *first, *second;
        unsigned symptoms;
} patterns[] = {
        /* the loader, 6.7 and later */
        { "microcode: load: updated on ", " primary CPUs", UCS_SYMPTOM_LOADED },
        { "microcode: load incomplete. ", " timed out or failed", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: update failed: ", " CPUs failed", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: load: ", " CPUs timed out", UCS_SYMPTOM_LOAD_FAILED },
        { "offline siblings did not respond", NULL, UCS_SYMPTOM_LOAD_FAILED | UCS_SYMPTOM_OFFLINE },
        { "microcode: CPU ", " not online, loading aborted", UCS_SYMPTOM_OFFLINE },
        { "Late microcode loading without minimal revision check", NULL, UCS_SYMPTOM_UNSAFE },
        { "Unsafe microcode update: ", NULL, UCS_SYMPTOM_UNSAFE },
        { "microcode: error! ", "in microcode data file", UCS_SYMPTOM_BAD_FILE },
        { "microcode: Bad microcode data checksum", NULL, UCS_SYMPTOM_BAD_FILE },
        { "microcode: Error: staging failed", NULL, UCS_SYMPTOM_LOAD_FAILED },
        /* up to 6.6 */
        { "microcode: Reload succeeded, microcode revision: ", NULL, UCS_SYMPTOM_LOADED },
        { "microcode: Reload completed, microcode revision: ", NULL, UCS_SYMPTOM_LOADED },
        { "microcode: updated to revision 0x", NULL, UCS_SYMPTOM_LOADED },
        { "microcode: Reload failed, current microcode revision: ", NULL, UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: Error reloading microcode on CPU ", NULL, UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: Not all CPUs online, aborting microcode update", NULL, UCS_SYMPTOM_OFFLINE },
        { "Attempting late microcode loading - it is dangerous", NULL, UCS_SYMPTOM_UNSAFE },
        /* AMD */
        { "microcode: CPU", ": update failed for patch_level=", UCS_SYMPTOM_LOAD_FAILED },
        { "No sha256 digest for patch ID", NULL, UCS_SYMPTOM_DIGEST },
        { "SHA256 digest mismatch", NULL, UCS_SYMPTOM_DIGEST },
        /* what came after */
        { "CPU features have changed after loading microcode", NULL, UCS_SYMPTOM_FEATURES },
        { "mce: [Hardware Error]: ", NULL, UCS_SYMPTOM_MACHINE_CHECK },
        { "mce: CPU", "Machine Check Exception", UCS_SYMPTOM_MACHINE_CHECK },
        { "Machine check events logged", NULL, UCS_SYMPTOM_MACHINE_CHECK },
        { "BUG: soft lockup", NULL, UCS_SYMPTOM_LOCKUP },
        { "hard LOCKUP", NULL, UCS_SYMPTOM_LOCKUP },
        { "rcu: INFO: rcu_", "stall", UCS_SYMPTOM_RCU_STALL },
        { "INFO: rcu_", " detected stall", UCS_SYMPTOM_RCU_STALL },
        { "INFO: rcu_", "self-detected stall", UCS_SYMPTOM_RCU_STALL },
        { "invalid opcode: ", NULL, UCS_SYMPTOM_INVALID_OPCODE },
        { "trap invalid opcode ", NULL, UCS_SYMPTOM_INVALID_OPCODE },
        { "Marking clocksource 'tsc", "unstable", UCS_SYMPTOM_TSC_UNSTABLE },
        { "Marking TSC unstable", NULL, UCS_SYMPTOM_TSC_UNSTABLE },
        { "TSC found unstable after boot", NULL, UCS_SYMPTOM_TSC_UNSTABLE },
};

unsigned ucs_symptoms_of_line(const char *line) {
        unsigned found = 0;

        for (size_t i = 0; i < ELEMENTSOF(patterns); i++) {
                const char *p = strstr(line, patterns[i].first);

                if (!p || (patterns[i].second && !strstr(p + strlen(patterns[i].first), patterns[i].second)))
                        continue;
                found |= patterns[i].symptoms;
        }
        return found;
}

unsigned ucs_symptoms(char *const *lines, unsigned wanted, const char **ret_first) {
        const char *first = NULL;
        unsigned found = 0;

        for (; lines && *lines; lines++) {
                unsigned s = ucs_symptoms_of_line(*lines);

                if (!first && s & wanted)
                        first = *lines;
                found |= s;
        }
        if (ret_first)
                *ret_first = first;
        return found;
}

const char *ucs_symptom_describe(unsigned symptom) {
        static const char *const names[] = {
                "loaded",           "load failed", "digest unknown", "features changed", "no minimum revision", "bad file", "CPU offline", "machine check",
                "lockup",           "RCU stall",   "invalid opcode", "unstable TSC",
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (symptom == 1U << i)
                        return names[i];
        return NULL;
}

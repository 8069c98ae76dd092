/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of the kernel's log, as kernels of all generations print them, and lines that are none of ours. */

#include <stdio.h>

#include "core/record/features.h"
#include "core/record/symptom.h"
#include "ucs-test.h"

static const struct {
        const char *line;
        unsigned symptoms;
} rows[] = {
        { "microcode: load: updated on 36 primary CPUs with 36 siblings", UCS_SYMPTOM_LOADED },
        { "microcode: load incomplete. 2 CPUs timed out or failed", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: update failed: 4 CPUs failed 0 CPUs timed out", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: load: 3 CPUs timed out", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: 1 offline siblings did not respond.", UCS_SYMPTOM_LOAD_FAILED | UCS_SYMPTOM_OFFLINE },
        { "microcode: CPU 2 not online, loading aborted", UCS_SYMPTOM_OFFLINE },
        { "microcode: Late microcode loading without minimal revision check.", UCS_SYMPTOM_UNSAFE },
        { "microcode: Unsafe microcode update: Current revision 0x100 too old", UCS_SYMPTOM_UNSAFE },
        { "microcode: error! Truncated or inaccessible header in microcode data file", UCS_SYMPTOM_BAD_FILE },
        { "microcode: Bad microcode data checksum, aborting.", UCS_SYMPTOM_BAD_FILE },
        { "microcode: Reload succeeded, microcode revision: 0x200003a -> 0x200005e", UCS_SYMPTOM_LOADED },
        { "microcode: Reload completed, microcode revision: 0x1 -> 0x2", UCS_SYMPTOM_LOADED },
        { "microcode: updated to revision 0x200005e, date = 2019-04-02", UCS_SYMPTOM_LOADED },
        { "microcode: Reload failed, current microcode revision: 0x1", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: Error reloading microcode on CPU 3", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: Not all CPUs online, aborting microcode update.", UCS_SYMPTOM_OFFLINE },
        { "microcode: Attempting late microcode loading - it is dangerous and taints the kernel.", UCS_SYMPTOM_UNSAFE },
        { "microcode: CPU3: update failed for patch_level=0x08301090", UCS_SYMPTOM_LOAD_FAILED },
        { "microcode: No sha256 digest for patch ID: 0x8701035 found", UCS_SYMPTOM_DIGEST },
        { "microcode: Patch 0x8701035 SHA256 digest mismatch!", UCS_SYMPTOM_DIGEST },
        { "x86/CPU: CPU features have changed after loading microcode, but might not take effect.", UCS_SYMPTOM_FEATURES },
        { "mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: cc00008000010090", UCS_SYMPTOM_MACHINE_CHECK },
        { "mce: [Hardware Error]: Machine check events logged", UCS_SYMPTOM_MACHINE_CHECK },
        { "watchdog: BUG: soft lockup - CPU#5 stuck for 23s! [kworker/5:1:77]", UCS_SYMPTOM_LOCKUP },
        { "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3", UCS_SYMPTOM_LOCKUP },
        { "rcu: INFO: rcu_sched self-detected stall on CPU", UCS_SYMPTOM_RCU_STALL },
        { "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks: { 3-... }", UCS_SYMPTOM_RCU_STALL },
        { "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... }", UCS_SYMPTOM_RCU_STALL },
        { "traps: mysqld[811] trap invalid opcode ip:55d0 sp:7ffd error:0 in mysqld", UCS_SYMPTOM_INVALID_OPCODE },
        { "invalid opcode: 0000 [#1] PREEMPT SMP NOPTI", UCS_SYMPTOM_INVALID_OPCODE },
        { "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:", UCS_SYMPTOM_TSC_UNSTABLE },
        { "tsc: Marking TSC unstable due to clocksource watchdog", UCS_SYMPTOM_TSC_UNSTABLE },
        { "TSC found unstable after boot, most likely due to broken BIOS. Use 'tsc=unstable'.", UCS_SYMPTOM_TSC_UNSTABLE },
        /* neighbours that say nothing bad */
        { "microcode: Current revision: 0x0200003a", 0 },
        { "microcode: Updated early from: 0x02000030", 0 },
        { "mce: CPU0: Thermal monitoring enabled (TM1)", 0 },
        { "mce: Using 20 MCE banks", 0 },
        { "rcu: Hierarchical RCU implementation.", 0 },
        { "rcu: INFO: rcu_tasks initialized", 0 },
        { "clocksource: Switched to clocksource tsc", 0 },
        { "tsc: Detected 2400.000 MHz processor", 0 },
        { "watchdog: Delayed init of the lockup detector failed: -19", 0 },
        { "usb 1-1: new high-speed USB device number 2 using xhci_hcd", 0 },
        { "", 0 },
};

ucs_test(symptom, table) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                cr_expect_eq(ucs_symptoms_of_line(rows[i].line), rows[i].symptoms, "0x%x, expected 0x%x: %s", ucs_symptoms_of_line(rows[i].line),
                             rows[i].symptoms, rows[i].line);
}

ucs_test(symptom, many_lines) {
        char *lines[ELEMENTSOF(rows) + 1] = {};
        const char *first = NULL;
        unsigned all = 0, found;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                lines[i] = (char *) rows[i].line;
                all |= rows[i].symptoms;
        }
        found = ucs_symptoms(lines, UCS_SYMPTOM_RCU_STALL, &first);
        cr_expect_eq(found, all);
        cr_expect_str_eq(first, "rcu: INFO: rcu_sched self-detected stall on CPU");
        cr_expect_eq(ucs_symptoms(NULL, UINT32_MAX, &first), 0U);
        cr_expect_null(first);
        for (unsigned bit = 0; bit < 32; bit++)
                cr_expect_eq(ucs_symptom_describe(1U << bit) != NULL, (all >> bit & 1) == 1, "bit %u", bit);
        cr_expect_null(ucs_symptom_describe(3));
}

static const struct {
        size_t leaf;
        uint32_t ebx_before, ebx_after, ecx_before, ecx_after, edx_before, edx_after;
        const char *expected;
} differences[] = {
        { 1, .expected = "" },
        { 1, .ebx_before = 1U << 4 | 1U << 11, .expected = "-hle -rtm" },
        { 1, .edx_after = 1U << 10, .expected = "+md_clear" },
        { 1, .ebx_before = 1U << 11, .edx_after = 1U << 11, .expected = "-rtm +rtm_always_abort" },
        { 0, .ebx_before = 0x01000000, .ebx_after = 0x05000000, .expected = "" }, /* the APIC id: another CPU answered */
        { 0, .ecx_before = 1U << 27, .expected = "" },                           /* OSXSAVE is the kernel's */
        { 1, .ecx_after = 1U << 4, .expected = "" },                             /* OSPKE too */
        { 1, .ecx_after = 1U << 22, .expected = "+leaf7.0:ecx[22]" },
        { 6, .ebx_after = 1U << 12, .expected = "+amd_ibpb" },
};

ucs_test(features, differences) {
        for (size_t i = 0; i < ELEMENTSOF(differences); i++) {
                UcsCpuidLeaf before[UCS_FEATURE_LEAVES], after[UCS_FEATURE_LEAVES];
                _cleanup_free_ char *text = NULL;
                size_t l = differences[i].leaf;

                for (size_t k = 0; k < UCS_FEATURE_LEAVES; k++)
                        before[k] = after[k] = ucs_feature_leaves[k];
                before[l].ebx = differences[i].ebx_before;
                after[l].ebx = differences[i].ebx_after;
                before[l].ecx = differences[i].ecx_before;
                after[l].ecx = differences[i].ecx_after;
                before[l].edx = differences[i].edx_before;
                after[l].edx = differences[i].edx_after;
                cr_assert_eq(ucs_features_compare(before, after, &text), 0);
                cr_expect_str_eq(text, differences[i].expected, "row %zu: '%s', expected '%s'", i, text, differences[i].expected);
        }
}

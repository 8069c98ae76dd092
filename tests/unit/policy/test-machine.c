/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Groups, mixed revisions and the words of core/policy/machine. */

#include "base/str.h"
#include "core/policy/machine.h"
#include "ucs-test.h"

#define CPUS_MAX 6

static UcsMachine *machine_of(const UcsCpu *cpus, size_t n) {
        UcsMachine *m = new0(UcsMachine, 1);

        m->cpus = new0(UcsCpu, n);
        if (n > 0)
                memcpy(m->cpus, cpus, n * sizeof(*cpus));
        m->n_cpus = n;
        cr_assert_eq(ucs_machine_regroup(m), 0);
        return m;
}

ucs_test(machine, groups) {
        static const struct {
                const char *name;
                UcsCpu cpus[CPUS_MAX];
                size_t n_cpus;
                UcsGroup groups[CPUS_MAX];
                size_t n_groups;
                bool mixed;
        } table[] = {
                { .name = "no CPU at all" },
                { .name = "one",
                  .cpus = { { .cpu = 3, .signature = 0x50654, .platform_mask = 1, .revision = 0x2006b06 } },
                  .n_cpus = 1,
                  .groups = { { 0x50654, 1, 1, 0x2006b06, 0x2006b06 } },
                  .n_groups = 1 },
                { .name = "equal ones",
                  .cpus = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 7 },
                            { .cpu = 1, .signature = 0x50654, .platform_mask = 1, .revision = 7 } },
                  .n_cpus = 2,
                  .groups = { { 0x50654, 1, 2, 7, 7 } },
                  .n_groups = 1 },
                { .name = "one lags behind",
                  .cpus = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 7 },
                            { .cpu = 1, .signature = 0x50654, .platform_mask = 1, .revision = 6 },
                            { .cpu = 2, .signature = 0x50654, .platform_mask = 1, .revision = 7 } },
                  .n_cpus = 3,
                  .groups = { { 0x50654, 1, 3, 6, 7 } },
                  .n_groups = 1,
                  .mixed = true },
                { .name = "revisions compare as unsigned numbers",
                  .cpus = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 0x80000001 },
                            { .cpu = 1, .signature = 0x50654, .platform_mask = 1, .revision = 0x7fffffff } },
                  .n_cpus = 2,
                  .groups = { { 0x50654, 1, 2, 0x7fffffff, 0x80000001 } },
                  .n_groups = 1,
                  .mixed = true },
                { .name = "another stepping in the second socket is no mixture",
                  .cpus = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 7 },
                            { .cpu = 1, .signature = 0x50656, .platform_mask = 1, .revision = 9 },
                            { .cpu = 2, .signature = 0x50654, .platform_mask = 1, .revision = 7 } },
                  .n_cpus = 3,
                  .groups = { { 0x50654, 1, 2, 7, 7 }, { 0x50656, 1, 1, 9, 9 } },
                  .n_groups = 2 },
                { .name = "another platform is another revision space",
                  .cpus = { { .cpu = 0, .signature = 0x806f8, .platform_mask = 0x10, .revision = 0x2c000001 },
                            { .cpu = 1, .signature = 0x806f8, .platform_mask = 0x80, .revision = 0x2b000001 } },
                  .n_cpus = 2,
                  .groups = { { 0x806f8, 0x10, 1, 0x2c000001, 0x2c000001 }, { 0x806f8, 0x80, 1, 0x2b000001, 0x2b000001 } },
                  .n_groups = 2 },
                { .name = "an unread revision says nothing",
                  .cpus = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 0 },
                            { .cpu = 1, .signature = 0x50654, .platform_mask = 1, .revision = 7 } },
                  .n_cpus = 2,
                  .groups = { { 0x50654, 1, 2, 7, 7 } },
                  .n_groups = 1 },
                { .name = "also when it comes last",
                  .cpus = { { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 7 },
                            { .cpu = 1, .signature = 0x50654, .platform_mask = 1, .revision = 0 } },
                  .n_cpus = 2,
                  .groups = { { 0x50654, 1, 2, 7, 7 } },
                  .n_groups = 1 },
                { .name = "none could be read",
                  .cpus = { { .cpu = 0, .signature = 0x50654 }, { .cpu = 1, .signature = 0x50654 } },
                  .n_cpus = 2,
                  .groups = { { 0x50654, 0, 2, 0, 0 } },
                  .n_groups = 1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsMachine *m = machine_of(table[i].cpus, table[i].n_cpus);

                cr_expect_eq(m->n_groups, table[i].n_groups, "%s: %zu groups", table[i].name, m->n_groups);
                for (size_t k = 0; k < m->n_groups && k < table[i].n_groups; k++)
                        cr_expect(memcmp(&m->groups[k], &table[i].groups[k], sizeof(UcsGroup)) == 0, "%s: group %zu",
                                  table[i].name, k);
                cr_expect_eq(ucs_machine_mixed(m), table[i].mixed, "%s: mixed", table[i].name);
                cr_expect_null(ucs_machine_free(m));
        }
        cr_expect_null(ucs_machine_free(NULL));
}

ucs_test(machine, regroup_replaces) {
        const UcsCpu cpu = { .cpu = 0, .signature = 0x50654, .platform_mask = 1, .revision = 7 };
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(&cpu, 1);

        m->cpus[0].revision = 8;
        cr_assert_eq(ucs_machine_regroup(m), 0);
        cr_expect_eq(m->n_groups, 1);
        cr_expect_eq(m->groups[0].lowest_revision, 8);
        m->n_cpus = 0;
        cr_assert_eq(ucs_machine_regroup(m), 0);
        cr_expect_eq(m->n_groups, 0);
}

ucs_test(machine, laggards) {
        static const UcsCpu cpus[] = {
                { .cpu = 1, .signature = 0x50654, .platform_mask = 1, .revision = 7 },
                { .cpu = 2, .signature = 0x50654, .platform_mask = 1, .revision = 6 },
                { .cpu = 3, .signature = 0x50656, .platform_mask = 1, .revision = 5 },
                { .cpu = 4, .signature = 0x50654, .platform_mask = 1, .revision = 0 },
                { .cpu = 70, .signature = 0x50654, .platform_mask = 1, .revision = 5 },
        };
        _cleanup_(ucs_machine_freep) UcsMachine *m = machine_of(cpus, ELEMENTSOF(cpus));
        static const char *const expected[] = { "2,70", "" };

        cr_assert_eq(m->n_groups, ELEMENTSOF(expected));
        for (size_t i = 0; i < m->n_groups; i++) {
                _cleanup_free_ char *text = NULL;
                UcsCpuSet set;

                ucs_machine_laggards(m, &m->groups[i], &set);
                cr_assert_eq(ucs_cpuset_format(&set, &text), 0);
                cr_expect_str_eq(text, expected[i]);
        }
}

ucs_test(machine, words) {
        static const struct {
                UcsSupportReason reason;
                const char *word, *advice; /* what the sentence has to name */
        } table[] = {
                { UCS_REASON_NONE, "", "can load" },
                { UCS_REASON_ARCHITECTURE, "architecture", "x86" },
                { UCS_REASON_CONTAINER, "container", "host" },
                { UCS_REASON_XEN, "xen", "xen-ucode" },
                { UCS_REASON_KERNEL_OPTION, "kernel-option", "CONFIG_MICROCODE_LATE_LOADING" },
                { UCS_REASON_DISABLED_BY_COMMAND_LINE, "disabled-by-command-line", "dis_ucode_ldr" },
                { UCS_REASON_VIRTUAL_MACHINE, "virtual-machine", "host" },
                { UCS_REASON_NO_CPU_DRIVER, "no-cpu-driver", "CONFIG_MICROCODE" },
                { UCS_REASON_READ_ONLY, "read-only", "ReadWritePaths=" },
        };

        cr_assert_eq(ELEMENTSOF(table), (size_t) _UCS_SUPPORT_REASON_MAX);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                cr_expect_str_eq(ucs_support_reason_to_string(table[i].reason), table[i].word);
                cr_expect_eq(ucs_support_reason_from_string(table[i].word), table[i].reason);
                cr_expect(strstr(ucs_support_reason_describe(table[i].reason), table[i].advice), "%s", table[i].word);
        }
        cr_expect_null(ucs_support_reason_describe(_UCS_SUPPORT_REASON_MAX));
        cr_expect_null(ucs_support_reason_describe(_UCS_SUPPORT_REASON_INVALID));
        cr_expect_str_eq(ucs_support_to_string(UCS_SUPPORT_ADVISORY), "advisory");
        cr_expect_str_eq(ucs_support_to_string(UCS_SUPPORT_LATE_LOAD), "late-load");
        cr_expect_eq(ucs_support_from_string("late-load"), UCS_SUPPORT_LATE_LOAD);
        cr_expect_eq(ucs_support_from_string("late"), _UCS_SUPPORT_INVALID);
}

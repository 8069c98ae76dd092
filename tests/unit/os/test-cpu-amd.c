/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which source of a revision is believed where sysfs and /proc/cpuinfo differ. */

#include "os/cpu.h"
#include "tree.h"

#define cpu_test(name) ucs_test(cpu_amd, name, .init = tmproot_init, .fini = tmproot_done)

static UcsCpuReader *reader_new(void) {
        UcsCpuReader *r = NULL;

        cr_assert_eq(ucs_cpu_reader_new(tmproot, &r), 0);
        return r;
}

static void amd_says(unsigned cpu, unsigned version, unsigned cpuinfo_of_0, unsigned cpuinfo_of_1) {
        char text[512];

        tree_printf(tree_path(TREE_CPU "/cpu%u/microcode/version", cpu), "0x%x\n", version);
        (void) snprintf(text, sizeof(text), "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 49\nstepping\t: 0\nmicrocode\t: 0x%x\n\n"
                        "processor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 49\nstepping\t: 0\nmicrocode\t: 0x%x\n\n",
                        cpuinfo_of_0, cpuinfo_of_1);
        tmproot_write("proc/cpuinfo", text, strlen(text));
}

/* AMD's loader files the revision of the CPU that writes to reload under the first one of each node: cpuinfo counts, for as long as the file says so. */
cpu_test(version_of_another_cpu) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(2, 0x8301082);
        amd_says(0, 0x8301082, 0x8301082, 0x8301081);
        amd_says(1, 0x8301081, 0x8301082, 0x8301081);
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), 0, "%s", e.text);
        cr_expect(ucs_machine_mixed(m));

        /* CPU 1 wrote */
        amd_says(0, 0x8301081, 0x8301082, 0x8301081);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[0].revision, 0x8301081, "sysfs alone cannot know");
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), 1);
        cr_expect_eq(e.code, -ESTALE);
        cr_expect_str_eq(e.text, "CPU 0 runs 0x8301082 by /proc/cpuinfo; its version file says 0x8301081, which is another CPU's");
        cr_expect(ucs_machine_mixed(m));
        cr_expect_eq(m->cpus[0].revision, 0x8301082);
        cr_expect_eq(m->cpus[1].revision, 0x8301081);
        for (int i = 0; i < 4; i++) { /* known by now, and no news */
                if (i < 2)
                        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
                else {
                        m = ucs_machine_free(m);
                        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
                        cr_expect_eq(ucs_cpu_read_details(r, m, &e), 0);
                }
                cr_expect_eq(m->cpus[0].revision, 0x8301082);
                cr_expect_eq(ucs_cpu_read_details(r, m, &e), 0);
                cr_expect_eq(m->cpus[0].revision, 0x8301082);
        }

        /* cpuinfo goes on, the file does not: what is said of the file is what stands in it */
        amd_says(0, 0x8301081, 0x8301084, 0x8301081);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), 1);
        cr_expect_str_eq(e.text, "CPU 0 runs 0x8301084 by /proc/cpuinfo; its version file says 0x8301081, which is another CPU's");
        amd_says(0, 0x8301081, 0x8301082, 0x8301081);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), 1);
        cr_expect_eq(m->cpus[0].revision, 0x8301082);

        /* both are brought up; then the file is right again, and what it says next counts */
        amd_says(1, 0x8301083, 0x8301083, 0x8301083);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[0].revision, 0x8301082);
        amd_says(0, 0x8301083, 0x8301083, 0x8301083);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[0].revision, 0x8301083);
        amd_says(0, 0x8301081, 0x8301081, 0x8301083);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[0].revision, 0x8301081, "an old lie would not be believed for ever");
}

/* Intel's are what they are, and a record without a revision corrects nothing. */
cpu_test(version_is_believed) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(2, 0x10);
        tree_printf(TREE_CPU "/cpu0/microcode/version", "0x11\n");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), 0, "%s", e.text);
        cr_expect_eq(m->cpus[0].revision, 0x11);

        amd_says(0, 0x12, 0, 0x10);
        m = ucs_machine_free(m);
        cr_assert_geq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_expect_geq(ucs_cpu_read_details(r, m, &e), 0, "%s", e.text);
        cr_expect_eq(m->cpus[0].revision, 0x12);
}

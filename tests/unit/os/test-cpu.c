/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine below a root: topology, revisions, and what happens when its files are not what they should be. */

#include <sys/resource.h>

#include "os/cpu.h"
#include "tree.h"

#define cpu_test(name) ucs_test(cpu, name, .init = tmproot_init, .fini = tmproot_done)

static UcsCpuReader *reader_new(void) {
        UcsCpuReader *r = NULL;

        cr_assert_eq(ucs_cpu_reader_new(tmproot, &r), 0);
        return r;
}

static void expect_set(const char *what, const UcsCpuSet *set, const char *list) {
        _cleanup_free_ char *text = NULL;

        cr_assert_eq(ucs_cpuset_format(set, &text), 0);
        cr_expect_str_eq(text, list, "%s: %s, expected %s", what, text, list);
}

cpu_test(whole_machine) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(72, 0x200003a);
        tree_printf(TREE_CPU "/isolated", "4-5\n");
        tree_printf(TREE_CPU "/nohz_full", "5\n");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_expect_eq(m->vendor, UCS_VENDOR_INTEL);
        cr_expect_not(m->hypervisor);
        cr_assert_eq(m->n_cpus, 72);
        cr_expect_eq(m->n_groups, 1);
        cr_expect_eq(m->groups[0].signature, 0x50654);
        cr_expect_eq(m->groups[0].platform_mask, 1);
        cr_expect_eq(m->groups[0].lowest_revision, 0x200003a);
        cr_expect_eq(m->cpus[37].cpu, 37);
        cr_expect_eq(m->cpus[37].package, 0);
        cr_expect_eq(m->cpus[37].core, 1);
        cr_expect_eq(m->cpus[71].package, 1);
        cr_expect_eq(m->cpus[71].apic_id, UCS_ID_UNKNOWN, "only with the details");
        expect_set("present", &m->present, "0-71");
        expect_set("online", &m->online, "0-71");
        expect_set("isolated", &m->isolated, "4-5");
        expect_set("nohz_full", &m->nohz_full, "5");
        expect_set("offline first threads", &m->offline_primaries, "");
        expect_set("offline siblings", &m->offline_siblings, "");
        cr_expect_eq(m->support, UCS_SUPPORT_LATE_LOAD);

        cr_assert_eq(ucs_cpu_read_details(r, m, &e), 0, "%s", e.text);
        cr_expect_eq(m->cpus[71].apic_id, 142);
        cr_expect_eq(m->cpus[71].package, 1, "what sysfs knows stays");
}

/* The first CPU need not be 0 (JDK-8283199). */
cpu_test(without_cpu0) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(8, 0x10);
        tree_printf(TREE_CPU "/online", "1-3,5\n");
        tree_remove(TREE_CPU "/cpu0");
        tree_remove(TREE_CPU "/cpu4/microcode");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_assert_eq(m->n_cpus, 4);
        cr_expect_eq(m->cpus[0].cpu, 1);
        cr_expect_eq(m->cpus[3].cpu, 5);
        cr_expect_eq(m->cpus[3].revision, 0x10);
        expect_set("offline first threads", &m->offline_primaries, "0");
        expect_set("offline siblings", &m->offline_siblings, "4,6-7");
}

cpu_test(refresh) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(8, 0x10);
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->groups[0].highest_revision, 0x10);

        tree_microcode(5, 0x11, 1);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[5].revision, 0x11);
        cr_expect(ucs_machine_mixed(m));
        cr_expect_eq(m->groups[0].highest_revision, 0x11);
        cr_expect_eq(m->groups[0].lowest_revision, 0x10);

        /* details survive a CPU's going, and the CPU comes back with what it is then */
        cr_assert_eq(ucs_cpu_read_details(r, m, &e), 0);
        tree_printf(TREE_CPU "/online", "0-4,6-7\n");
        tree_remove(TREE_CPU "/cpu5/microcode");
        tree_remove(TREE_CPU "/cpu5/topology");
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 1);
        cr_assert_eq(m->n_cpus, 7);
        cr_expect_eq(m->cpus[6].cpu, 7);
        cr_expect_eq(m->cpus[6].apic_id, 14);
        cr_expect_not(ucs_machine_mixed(m));
        expect_set("offline siblings", &m->offline_siblings, "5");
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);

        tree_printf(TREE_CPU "/online", "0-7\n");
        tree_topology(5, 0, 1, "1,5");
        tree_microcode(5, 0x12, 2);
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 1);
        cr_assert_eq(m->n_cpus, 8);
        cr_expect_eq(m->cpus[5].revision, 0x12);
        cr_expect_eq(m->cpus[5].platform_mask, 2, "read again when the CPU reappears");
        cr_expect_eq(m->cpus[5].apic_id, 10, "as the details, once they were asked for");
        cr_expect_eq(m->n_groups, 2);
        cr_expect_eq(e.code, 0, "%s", e.text);
}

/* What was seen of a CPU while it was online outlives it, under a numbering that tells nothing. */
cpu_test(remembers_cores) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(4, 0x10);
        tree_topology(0, 0, 0, "0,3");
        tree_topology(1, 0, 1, "1-2");
        tree_topology(2, 0, 1, "1-2");
        tree_topology(3, 0, 0, "0,3");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        tree_printf(TREE_CPU "/online", "0-1\n");
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 1);
        expect_set("offline siblings", &m->offline_siblings, "2-3");
        expect_set("offline first threads", &m->offline_primaries, "");

        /* seen alone, a sibling stays one */
        tree_topology(3, 0, 0, "3");
        tree_printf(TREE_CPU "/online", "1-3\n");
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 1);
        tree_printf(TREE_CPU "/online", "1\n");
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 1);
        expect_set("offline siblings", &m->offline_siblings, "2-3");
        expect_set("offline first threads", &m->offline_primaries, "0");
}

/* A CPU that was away between two looks at the mask may be another one. */
cpu_test(reads_the_platform_again) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = NULL;
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        struct rlimit before, few;
        UcsError e = {};

        tree_machine(4, 0x10);
        cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        few = (struct rlimit){ .rlim_cur = 100, .rlim_max = before.rlim_max }; /* keep none: a plain file does not die under a descriptor */
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        r = reader_new();
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        tree_printf(TREE_CPU "/cpu1/microcode/processor_flags", "0x2\n");
        cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[1].platform_mask, 1, "read once while the CPU is there");

        tmproot_unlink(TREE_CPU "/cpu1/microcode/version");
        cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
        expect_error(&e, "/sys/devices/system/cpu/cpu1/microcode/version of CPU 1 is missing");
        cr_expect_eq(m->cpus[1].revision, 0);
        cr_expect_eq(m->cpus[1].platform_mask, 1, "what is not known to have changed stays");

        tree_microcode(1, 0x10, 2);
        cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[1].platform_mask, 2);
        cr_expect_eq(m->n_groups, 2);
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* One CPU's bad file: that figure is unknown, one sentence names file and CPU, all others are read. */
cpu_test(bad_version) {
        static const struct {
                const char *name, *text; /* NULL: no file */
                size_t size;
                const char *sentence;
        } table[] = {
                { "empty", "", 0, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is empty, expected 0x and digits" },
                { "newline", "\n", 1, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is '', expected 0x and digits" },
                { "words", "none\n", 5, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is 'none', expected 0x and digits" },
                { "no 0x", "10\n", 3, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is '10', expected 0x and digits" },
                { "33 bits", "0x100000000\n", 12, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is '0x100000000', expected 0x and digits" },
                { "two lines", "0x10\n0x11\n", 10, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is '0x10?0x11', expected 0x and digits" },
                { "a NUL byte", "0x\0001\n", 5, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is '0x', expected 0x and digits" },
                { "huge", "0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000010\n", 88,
                  "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is '0x000000000000000000000000000000', expected 0x and digits" },
                { "missing", NULL, 0, "/sys/devices/system/cpu/cpu3/microcode/version of CPU 3 is missing" },
        };

        tree_machine(8, 0x10);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
                _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
                UcsError e = {};

                if (table[i].text)
                        tmproot_write(TREE_CPU "/cpu3/microcode/version", table[i].text, table[i].size);
                else
                        tmproot_unlink(TREE_CPU "/cpu3/microcode/version");
                cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 1, "%s", table[i].name);
                expect_error(&e, table[i].sentence);
                cr_expect_eq(m->cpus[3].revision, 0, "%s", table[i].name);
                cr_expect_eq(m->cpus[4].revision, 0x10, "%s", table[i].name);
                cr_expect_eq(m->cpus[2].revision, 0x10, "%s", table[i].name);
                cr_expect_not(ucs_machine_mixed(m), "%s", table[i].name);
                cr_expect_eq(m->support, UCS_SUPPORT_LATE_LOAD, "%s", table[i].name);

                e = (UcsError){};
                cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
                expect_error(&e, table[i].sentence);

                /* and it is read as soon as it is right */
                e = (UcsError){};
                tree_microcode(3, 0x10, 1);
                cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
                cr_expect_eq(e.code, 0, "%s", e.text);
                cr_expect_eq(m->cpus[3].revision, 0x10, "%s", table[i].name);
                cr_expect_eq(m->n_groups, 1, "%s", table[i].name);
        }
}

cpu_test(bad_others) {
        static const struct {
                const char *path, *text; /* NULL: a directory instead */
                const char *part;        /* of the sentence */
        } table[] = {
                { TREE_CPU "/cpu2/microcode/processor_flags", "x\n", "cpu2/microcode/processor_flags of CPU 2 is 'x'" },
                { TREE_CPU "/cpu2/topology/core_id", "1 2\n", "cpu2/topology/core_id is '1 2'" },
                { TREE_CPU "/cpu2/topology/physical_package_id", "", "cpu2/topology/physical_package_id is ''" },
                { TREE_CPU "/cpu2/topology/thread_siblings_list", "2-1\n", "cpu2/topology/thread_siblings_list" },
                { TREE_CPU "/cpu2/topology/thread_siblings_list", "0-99999\n", "beyond CPU 8191" },
                { TREE_CPU "/present", "all\n", "/sys/devices/system/cpu/present" },
                { TREE_CPU "/isolated", "1,,2\n", "/sys/devices/system/cpu/isolated" },
                { TREE_CPU "/nohz_full", "(nil)\n", "/sys/devices/system/cpu/nohz_full" },
                { TREE_CPU "/online", "x\n", "/sys/devices/system/cpu/online" },
                { TREE_CPU "/online", "", "/sys/devices/system/cpu/online names no CPU" },
                { "proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: six\n\n", "/proc/cpuinfo, first record: cpu family is 'six'" },
                { "proc/cpuinfo", "", "/proc/cpuinfo is empty" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
                _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
                UcsError e = {};

                tree_machine(4, 0x10);
                tmproot_text(table[i].path, table[i].text);
                cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 1, "row %zu: %s", i, e.text);
                cr_expect(strstr(e.text, table[i].part), "row %zu: %s", i, e.text);
                cr_expect_eq(m->n_cpus, 4, "row %zu: %zu CPUs", i, m->n_cpus);
                for (size_t k = 0; k < m->n_cpus; k++)
                        cr_expect_eq(m->cpus[k].revision, 0x10, "row %zu", i);
        }
}

/* A failure to read the mask changes nothing of the machine. */
cpu_test(refresh_fails_untouched) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(4, 0x10);
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0);
        tree_microcode(1, 0x11, 1);
        tmproot_text(TREE_CPU "/online", "garbage");
        cr_expect(ucs_cpu_refresh(r, m, &e) < 0);
        cr_expect(strstr(e.text, "/online"), "%s", e.text);
        cr_expect_eq(m->n_cpus, 4);
        cr_expect_eq(m->cpus[1].revision, 0x10);
        tmproot_text(TREE_CPU "/online", "0-3\n");
        cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[1].revision, 0x11);
}

/* A guest: no microcode below cpuN, one record of cpuinfo says it all. */
cpu_test(guest) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_machine(4, 0x10);
        tree_remove(TREE_CPU "/microcode");
        for (unsigned cpu = 0; cpu < 4; cpu++)
                tree_remove(tree_path(TREE_CPU "/cpu%u/microcode", cpu));
        tree_cpuinfo(4, 0x1, " hypervisor");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_expect(m->hypervisor);
        cr_expect_eq(m->reason, UCS_REASON_VIRTUAL_MACHINE);
        cr_expect_eq(m->cpus[0].revision, 1);
        cr_expect_eq(m->cpus[1].revision, 0, "its record was not read");
        cr_expect_eq(m->groups[0].lowest_revision, 1);

        cr_assert_eq(ucs_cpu_read_details(r, m, &e), 0);
        cr_expect_eq(m->cpus[3].revision, 1);
        cr_expect_eq(m->cpus[3].apic_id, 6);

        tree_cpuinfo(4, 0x2, " hypervisor");
        cr_assert_eq(ucs_cpu_refresh(r, m, &e), 0);
        cr_expect_eq(m->cpus[0].revision, 2);
}

/* No sysfs at all: cpuinfo counts the CPUs too. */
cpu_test(no_sysfs) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_cpuinfo(3, 0x10, "");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 1);
        cr_expect_str_eq(e.text, "/sys/devices/system/cpu is missing");
        cr_expect_eq(m->n_cpus, 3);
        expect_set("present", &m->present, "0-2");
        cr_expect_eq(m->cpus[0].revision, 0x10);
        cr_expect_eq(ucs_cpu_refresh(r, m, &e), 0);

        tmproot_unlink("proc/cpuinfo");
        m = ucs_machine_free(m);
        r = ucs_cpu_reader_free(r);
        r = reader_new();
        cr_expect_eq(ucs_cpu_read_machine(r, &m, &e), -ENODATA);
        cr_expect(strstr(e.text, "no CPU is known to be online"), "%s", e.text);
}

cpu_test(other_architecture) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        UcsError e = {};

        tree_printf(TREE_CPU "/present", "0-1\n");
        tree_printf(TREE_CPU "/online", "0-1\n");
        tree_topology(0, 0, 0, "0");
        tree_printf(TREE_CPU "/cpu0/topology/physical_package_id", "-1\n");
        tree_topology(1, 0, 1, "1");
        tmproot_text("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n");
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0, "%s", e.text);
        cr_expect_eq(m->vendor, UCS_VENDOR_UNKNOWN);
        cr_expect_eq(m->reason, UCS_REASON_ARCHITECTURE);
        cr_expect_eq(m->cpus[0].package, UCS_ID_UNKNOWN);
        cr_expect_eq(m->cpus[0].signature, 0);
}

cpu_test(details) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        _cleanup_text_ UcsText t = {};
        UcsError e = {};

        tree_machine(4, 0x10);
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0);
        cr_expect_eq(m->n_groups, 1);

        /* another stepping in the second package; a CPU that is not online; a garbage line in one record */
        tree_cpuinfo_record(&t, 0, 4, 0x10, 0, "");
        tree_cpuinfo_record(&t, 1, 6, 0x10, 33, "");
        ucs_text_append(&t, "processor\t: 2\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 99\n\n");
        tree_cpuinfo_record(&t, 9, 7, 0x10, 90, "");
        tmproot_write("proc/cpuinfo", t.data, t.length);
        cr_assert_eq(ucs_cpu_read_details(r, m, &e), 1);
        cr_expect_str_eq(e.text, "/proc/cpuinfo, record 3: stepping is '99', expected a stepping up to 15");
        cr_expect_eq(m->n_groups, 2);
        cr_expect_eq(m->cpus[1].signature, 0x50656);
        cr_expect_eq(m->cpus[1].apic_id, 33);
        cr_expect_eq(m->cpus[3].signature, 0x50654, "no record: as it was");

        /* not text: nothing is changed */
        tmproot_write("proc/cpuinfo", "processor\t: 1\n\0\n\n", 17);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), -EBADMSG);
        cr_expect(strstr(e.text, "record 1: there is a NUL byte"), "%s", e.text);
        cr_expect_eq(m->cpus[1].apic_id, 33);
}

/* A file of records without an end, and a record without an end, end. */
cpu_test(endless_cpuinfo) {
        _cleanup_(ucs_cpu_reader_freep) UcsCpuReader *r = reader_new();
        _cleanup_(ucs_machine_freep) UcsMachine *m = NULL;
        _cleanup_text_ UcsText t = {};
        UcsError e = {};

        tree_machine(2, 0x10);
        cr_assert_eq(ucs_cpu_read_machine(r, &m, &e), 0);
        for (unsigned i = 0; i < 3 * UCS_CPU_MAX; i++)
                ucs_text_append(&t, "processor\t: 1\n\n");
        tmproot_write("proc/cpuinfo", t.data, t.length);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), -EBADMSG);
        cr_expect(strstr(e.text, "more than 16384 records"), "%s", e.text);

        memset(t.data, 'x', t.length);
        tmproot_write("proc/cpuinfo", t.data, t.length);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), -EBADMSG);
        cr_expect(strstr(e.text, "without an end"), "%s", e.text);
        memset(t.data, '\n', t.length);
        tmproot_write("proc/cpuinfo", t.data, t.length);
        cr_expect_eq(ucs_cpu_read_details(r, m, &e), -ENODATA);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A machine in a directory: the files of sysfs and procfs that the adapters read, over tmproot.h. Numbers are what the kernel would
 * print; a test then spoils what it wants to see handled. */

#include <assert.h>
#include <stdarg.h>

#include "base/str.h"
#include "tmproot.h"

#define TREE_CPU "sys/devices/system/cpu"

/* Instead of tmproot_init, for trees of some ten thousand files: on a disk's file system they take half a minute. */
static inline void tree_init_in_memory(void) {
        static const char path[] = "/dev/shm/ucs-XXXXXX";

        static_assert(sizeof(path) <= sizeof(tmproot_path), "takes the place of the other one");
        if (access("/dev/shm", W_OK) == 0)
                memcpy(tmproot_path, path, sizeof(path));
        tmproot_init();
}

_printf_(2, 3) static inline void tree_printf(const char *path, const char *format, ...) {
        char *text = NULL;
        va_list ap;

        va_start(ap, format);
        cr_assert(vasprintf(&text, format, ap) >= 0);
        va_end(ap);
        tmproot_text(path, text);
        free(text);
}

_printf_(1, 2) static inline const char *tree_path(const char *format, ...) {
        static char bufs[4][256];
        static unsigned next;
        char *buf = bufs[next++ % 4];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(buf, sizeof(bufs[0]), format, ap);
        va_end(ap);
        return buf;
}

static inline void tree_topology(unsigned cpu, unsigned package, unsigned core, const char *threads) {
        tree_printf(tree_path(TREE_CPU "/cpu%u/topology/physical_package_id", cpu), "%u\n", package);
        tree_printf(tree_path(TREE_CPU "/cpu%u/topology/core_id", cpu), "%u\n", core);
        tree_printf(tree_path(TREE_CPU "/cpu%u/topology/thread_siblings_list", cpu), "%s\n", threads);
}

static inline void tree_microcode(unsigned cpu, unsigned revision, unsigned mask) {
        tree_printf(tree_path(TREE_CPU "/cpu%u/microcode/version", cpu), "0x%x\n", revision);
        tree_printf(tree_path(TREE_CPU "/cpu%u/microcode/processor_flags", cpu), "0x%x\n", mask);
}

static inline void tree_remove(const char *path) {
        (void) nftw(tmproot_at(path), tmproot_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A record of cpuinfo of an Intel CPU, signature 0x5065N. */
static inline void tree_cpuinfo_record(UcsText *t, unsigned cpu, unsigned stepping, unsigned revision, unsigned apic_id,
                                       const char *more_flags) {
        ucs_text_appendf(t, "processor\t: %u\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n", cpu);
        ucs_text_appendf(t, "model name\t: Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz\nstepping\t: %u\n", stepping);
        ucs_text_appendf(t, "microcode\t: 0x%x\ncpu MHz\t\t: 2300.000\nphysical id\t: 0\ncore id\t\t: 0\n", revision);
        ucs_text_appendf(t, "apicid\t\t: %u\ninitial apicid\t: %u\n", apic_id, apic_id);
        ucs_text_appendf(t, "flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep%s\n", more_flags);
        ucs_text_append(t, "bugs\t\t: spectre_v1\nbogomips\t: 4600.00\npower management:\n\n");
}

static inline void tree_cpuinfo(unsigned n, unsigned revision, const char *more_flags) {
        UcsText t = {};

        for (unsigned cpu = 0; cpu < n; cpu++)
                tree_cpuinfo_record(&t, cpu, 4, revision, cpu * 2, more_flags);
        tmproot_write("proc/cpuinfo", t.data, t.length);
        ucs_text_done(&t);
}

/* `n` CPUs, two threads a core, the siblings after all cores, all online, loadable late. */
static inline void tree_machine(unsigned n, unsigned revision) {
        tree_printf(TREE_CPU "/present", "0-%u\n", n - 1);
        tree_printf(TREE_CPU "/online", "0-%u\n", n - 1);
        tree_printf(TREE_CPU "/isolated", "\n");
        tree_printf(TREE_CPU "/nohz_full", "  (null)\n");
        tree_printf(TREE_CPU "/smt/control", "on\n");
        tree_printf(TREE_CPU "/microcode/reload", "%s", "");
        for (unsigned cpu = 0; cpu < n; cpu++) {
                const unsigned core = cpu % (n / 2);

                tree_topology(cpu, core / 18, core % 18, tree_path("%u,%u", core, core + n / 2));
                tree_microcode(cpu, revision, 1);
        }
        tree_cpuinfo(n, revision, "");
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The machine below a root, into a UcsMachine. Revisions come from cpuN/microcode/version through descriptors that are kept
 * (one pread a CPU; cpu0 need not be there: JDK-8283199), reopened when a CPU went away and came back (-ENODEV, -ENOENT). Where
 * sysfs has none, /proc/cpuinfo, of which only the first record is read. */

#include "core/policy/machine.h"

typedef struct UcsCpuReader UcsCpuReader;

/* Keeps its own duplicate of `root_fd`, and what it learns: which CPUs share a core is remembered while they are offline. 0, -ENOMEM,
 * -EMFILE. Not for two threads at a time. */
int ucs_cpu_reader_new(int root_fd, UcsCpuReader **ret);
UcsCpuReader *ucs_cpu_reader_free(UcsCpuReader *r);
DEFINE_CLEANUP(UcsCpuReader *, ucs_cpu_reader_free);

/* Everything, afresh: topology, vendor, signature, platform masks, revisions, support. What is missing or garbage in one CPU's
 * files leaves that CPU's figure unknown and a sentence in `e` (the first one); only a machine without any readable online CPU is
 * an error. Returns 0, 1 (read, but `e` has a complaint), or a negative errno.
 *
 * All CPUs get the signature of the first record of /proc/cpuinfo until ucs_cpu_read_details() has read the others. Without
 * cpuN/microcode only that record's CPU has a revision. */
int ucs_cpu_read_machine(UcsCpuReader *r, UcsMachine **ret, UcsError *e);

/* Only what changes in an idle hour: revisions of all online CPUs and the online mask, into an existing machine: one pread(2) a CPU and one
 * for the mask, and no allocation as long as nothing has changed.
 * 0, 1 (the set of online CPUs changed: topology was read afresh, and the details again if they were read before), or a negative errno
 * with the machine untouched. A CPU whose revision cannot be read has revision 0 then, and `e` a complaint (e->code is set). */
int ucs_cpu_refresh(UcsCpuReader *r, UcsMachine *m, UcsError *e);

/* The whole of /proc/cpuinfo: per-CPU signature and APIC id, and the revision where sysfs has none (expensive; ListProcessors, before a
 * load). On AMD it is also believed over sysfs, see ucs_revisions_correct(). 0, 1 (`e` complains about a record, or tells of a revision that sysfs has
 * wrong), or a negative errno with the machine untouched. */
int ucs_cpu_read_details(UcsCpuReader *r, UcsMachine *m, UcsError *e);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* sys/devices/system/cpu: the lists of CPUs and where each online CPU sits (Documentation/admin-guide/cputopology.rst). A pure
 * reader: nothing is remembered here. `cpu_fd` is that directory. */

#include "base/cpuset.h"
#include "core/policy/smt.h"
#include "os/kept.h"

/* A list file such as "online". An empty file and the "(null)" that some kernels print in nohz_full are an empty set. -ENOENT: no such
 * file; -EBADMSG, -ERANGE, …: not a list, `e` names the file. `ret` untouched on failure. */
int ucs_topology_read_list(int cpu_fd, const char *name, UcsCpuSet *ret, UcsError *e);

/* What the text of a list file says; `path` is only for the error. */
int ucs_topology_parse_list(const char *path, const char *text, UcsCpuSet *ret, UcsError *e);

/* "online", through a kept descriptor of that directory. -EBADMSG also when no CPU is in it. */
int ucs_topology_read_online(UcsKeptPool *pool, UcsKept *file, UcsCpuSet *ret, UcsError *e);

typedef struct UcsTopology {
        uint32_t package, core; /* UCS_ID_UNKNOWN where the kernel names none */
        UcsCpuSet threads;      /* of the same core, those that are online, `cpu` itself always among them */
} UcsTopology;

/* Of one online CPU. 0, or 1: some file is there and garbage, its figure is unknown and `e` names it. */
int ucs_topology_read(int cpu_fd, unsigned cpu, UcsTopology *ret, UcsError *e);

UcsSmtControl ucs_topology_read_smt_control(int cpu_fd);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* /proc/cpuinfo, as little of it as will do. The kernel formats records until the buffer asked for is full, so a short read(2) formats one
 * CPU where the whole file of 4096 takes 24 ms; and open(2), which on Linux 4.13 to 5.17 interrupts every CPU and may sleep for 10 ms, is
 * done once: the descriptor is kept. */

#include "core/policy/cpuinfo.h"

typedef struct UcsCpuinfoFile UcsCpuinfoFile;

/* Keeps its own duplicate of `root_fd`; the file is opened when it is read first. */
int ucs_cpuinfo_file_new(int root_fd, UcsCpuinfoFile **ret);
UcsCpuinfoFile *ucs_cpuinfo_file_free(UcsCpuinfoFile *f);
DEFINE_CLEANUP(UcsCpuinfoFile *, ucs_cpuinfo_file_free);

/* The first record. 0, 1 (read, but `e` complains about a field), -ENODATA (empty), -EBADMSG (not text), or -errno of the file. */
int ucs_cpuinfo_file_first(UcsCpuinfoFile *f, UcsCpuinfo *ret, UcsError *e);

/* All records, in the order of the file, one call each; a negative return of `found` ends the walk and is returned. Return values as
 * above; `e` names the record. */
int ucs_cpuinfo_file_walk(UcsCpuinfoFile *f, int (*found)(const UcsCpuinfo *info, void *userdata), void *userdata, UcsError *e);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The load counters of /proc/pressure/cpu, /proc/stat and /proc/loadavg, one reading at a time, through kept descriptors. What cannot
 * be read (no PSI: ENOENT, or EOPNOTSUPP with psi=0) is simply not in the reading. */

#include "core/schedule/load.h"

typedef struct UcsPressure UcsPressure;

/* Keeps its own duplicate of `root_fd`. 0, -ENOMEM or -EMFILE; the files are opened when they are read first. */
int ucs_pressure_new(int root_fd, UcsPressure **ret);
UcsPressure *ucs_pressure_free(UcsPressure *p);
DEFINE_CLEANUP(UcsPressure *, ucs_pressure_free);

/* 0, or -ENODATA when no source could be read. A source that is there and cannot be read or parsed leaves a sentence in `e` in either
 * case (the first one); that there is no PSI is none. Not for two threads at a time. */
int ucs_pressure_read(UcsPressure *p, unsigned n_online, UcsLoadReading *ret, UcsError *e);

/* All steal time since boot, in ns (field 8 of /proc/stat's first line); UCS_UNKNOWN when unreadable. */
uint64_t ucs_pressure_steal_nsec(UcsPressure *p);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel as far as a load depends on it: how it answers, what it insists on, which files it can read. Recognised by what it offers, not by
 * its version: vendors carry backports. os/kernel fills it. */

#include <errno.h>

#include "base/macro.h"

typedef enum UcsKernelGeneration {
        UCS_KERNEL_UNKNOWN, /* nothing tells: what either of the two demands counts */
        UCS_KERNEL_OLD,    /* to 6.6: EINVAL for CPUs that are offline, success when there is nothing to do, EPERM for a load that fails */
        UCS_KERNEL_MODERN, /* 6.7 on: EBUSY for offline primaries, ENOENT when there is nothing usable, minimum revisions */
        _UCS_KERNEL_MAX,
        _UCS_KERNEL_INVALID = -EINVAL,
} UcsKernelGeneration;

const char *ucs_kernel_generation_to_string(UcsKernelGeneration g);
UcsKernelGeneration ucs_kernel_generation_from_string(const char *s);

typedef struct UcsKernel {
        UcsKernelGeneration generation;
        char release[72];    /* proc/sys/kernel/osrelease */
        bool minrev_built_in; /* CONFIG_MICROCODE_LATE_FORCE_MINREV, where the build options are to be read */
        bool force_minrev;   /* only updates with a met minimum revision are loaded; AMD's never */
        bool digest_check;   /* AMD: EntrySign digests are checked (not microcode.amd_sha_check=off) */
        bool loader_off;     /* dis_ucode_ldr */
        bool all_cpus;       /* every present CPU has to be online, siblings too: from before Linux knew of SMT being off (4.19) */
        bool parallel;       /* loads on all cores at once (5.5 on) */
        bool compression_known, zstd, xz; /* which compressed firmware it reads; not known: its configuration is nowhere to be read */
        bool old_microcode;  /* it says whether its microcode is old: 6.16 on */
        char nodes_without_cpus[64]; /* AMD: possible memory nodes that have no CPU, as a list; "": none, or not known */
        bool llc_known;      /* the next is */
        uint64_t llc_per_core; /* last-level cache per core, bytes: BDX90 */
} UcsKernel;

/* What stands in for a kernel that nobody looked at. */
extern const UcsKernel ucs_kernel_unknown;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel would answer to a write of "1" now, and whether anything would be loaded by it. The answer proves nothing by itself; that prediction
 * and answer differ does: both are kept in the history.
 *
 * Sources: arch/x86/kernel/cpu/microcode/{core,intel,amd}.c, load_late_locked() and what it calls, of 6.7 and later ("modern"), and reload_store() of
 * 5.10 and 6.1 ("old"). Of a kernel of neither kind the stricter answer is foretold. Not foretold is what only the CPUs know: a load that fails on
 * them, or times out. */

#include "core/policy/candidate.h"
#include "core/policy/kernel.h"

typedef struct UcsPreflight {
        int error;  /* positive errno of the write: ENOENT, EBADFD, EBUSY, EINVAL, EIO, EPERM, EROFS; 0: success */
        bool loads; /* something would be loaded; false with an error of 0: the kernel calls it success, and does nothing */
        bool cpus;  /* it is because of CPUs that are offline */
        char sentence[256]; /* why nothing would be loaded, no final full stop; empty when `loads` */
} UcsPreflight;

/* One write is for the whole machine, so this is about all that a scan found; but the kernel looks at CPU 0 alone (AMD: at the first CPU of each
 * node) when it chooses. `kernel` and `scan` may be NULL: nothing is known, there is no file. */
void ucs_preflight(const UcsMachine *m, const UcsKernel *kernel, const UcsScan *scan, UcsPreflight *ret);

/* The offline CPUs without which this kernel does not load: first threads of a core; on AMD the others too, but for old kernels; and on kernels from
 * before SMT could be switched off all that are present. */
void ucs_preflight_missing_cpus(const UcsMachine *m, const UcsKernel *kernel, UcsCpuSet *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What kind of kernel this is, as far as a load depends on it: from what it offers in sysfs, from its command line and, where they are readable, its
 * build options. Version numbers are not looked at: vendors carry backports. */

#include "core/policy/kernel.h"
#include "core/policy/machine.h"

/* Read it afresh. Never fails: what cannot be read is unknown, and said to be.
 *
 * - generation: `force_minrev` among the parameters of the microcode module is in 6.7 to 6.17, `vulnerabilities/old_microcode` in 6.16 and later; one
 *   of them makes it modern, neither of them old. Unknown without sys/module.
 * - force_minrev: that parameter (mode 0600: root may read it), which can change at run time; where there is none `microcode.force_minrev` or
 *   `microcode=force_minrev` (6.18 on) on the command line, else CONFIG_MICROCODE_LATE_FORCE_MINREV.
 * - digest_check: unless `microcode.amd_sha_check=off` is on the command line. Kernels without any check cannot be told from those with one.
 * - all_cpus: there is no smt/control, which came together with the permission to load without siblings.
 * - parallel: modern; and any kernel that runs this program, for openat2(2) is younger (5.6) than loading in parallel (5.5).
 * - nodes_without_cpus: what node/possible has and node/has_cpu has not, on machines of AMD.
 * - compression: CONFIG_FW_LOADER_COMPRESS_*. Build options come from boot/config-RELEASE or lib/modules/RELEASE/config; they are read once for each
 *   release, and kept in `k`: start with all zero.
 * - llc_per_core: cache/index3 of the first online CPU, its size over the cores that share it. A core of which all threads are offline is not
 *   counted, so the figure is then too large rather than too small. */
void ucs_kernel_read(int root_fd, const UcsMachine *m, UcsKernel *k);

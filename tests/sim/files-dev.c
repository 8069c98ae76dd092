/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* dev: two character devices that are ordinary files here (a device node on a mounted file system would open
 * this host's device). */

#include "tree.h"

static bool has_cpuid(const SimMachine *m, uint32_t cpu) {
        return cpu < m->n_cpus;
}

static bool has_sgx(const SimMachine *m, uint32_t cpu) {
        return m->settings.sgx;
}

/* The device is only ever looked for. */
static void show_nothing(SimMachine *m, uint32_t cpu, UcsText *t) {}

const SimFile sim_files_dev[] = {
        { "dev/cpu/%/cpuid", 0440, SIM_FILE_CPUID, NULL, NULL, has_cpuid, false },
        { "dev/kmsg", 0644, SIM_FILE_KMSG, NULL, NULL, NULL, false },
        { "dev/sgx_enclave", 0600, SIM_FILE_TEXT, show_nothing, NULL, has_sgx, false },
        {},
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What can be asked of a simulated machine. One table is the command line (--NAME=VALUE), the control
 * command "set NAME VALUE", the text of --help and docs/ucodesim.md. The defaults are the machine of the
 * 2019 measurement (facts: 2 sockets x 18 cores x 2 threads, signature 0x50654, revision 0x200003a, TSC 2.4
 * GHz). */

#include <stdio.h>

#include "base/cpuset.h"
#include "base/str.h"

#define SIM_CPU_MAX 4096U

typedef enum SimVendor {
        SIM_INTEL,
        SIM_AMD,
} SimVendor;

/* Generations of the loader, oldest first: what the answers of a release stand for. */
typedef enum SimKernel {
        SIM_KERNEL_5_10,
        SIM_KERNEL_6_1,
        SIM_KERNEL_6_12,
        SIM_KERNEL_7_3,
} SimKernel;

typedef enum SimLoad {
        SIM_LOAD_SERIAL,   /* one core after the other, up to Linux 5.4 */
        SIM_LOAD_PARALLEL, /* all cores at once */
} SimLoad;

typedef enum SimPsi {
        SIM_PSI_ON,
        SIM_PSI_OFF,         /* no /proc/pressure */
        SIM_PSI_UNSUPPORTED, /* opening works, reading answers EOPNOTSUPP */
} SimPsi;

typedef enum SimDigest {
        SIM_DIGEST_OFF,
        SIM_DIGEST_FAIL,   /* the patch is refused CPU by CPU, the write answers EIO */
        SIM_DIGEST_SILENT, /* the log line only, the write succeeds and nothing changes */
} SimDigest;

typedef struct SimTopology {
        uint32_t sockets, cores, threads; /* cores a socket, threads a core */
} SimTopology;

typedef struct SimSettings {
        SimTopology topology;
        bool adjacent_threads;
        int vendor;
        uint32_t signature, platform, revision, early_from;
        int kernel;
        char *release, *cmdline, *boot_id;
        uint64_t uptime_sec;
        uint64_t llc_kb;

        uint64_t tsc_hz;
        int load;
        uint64_t cost_usec; /* 0: the default of stall.h */
        bool real_stall;
        uint64_t skew_usec, account_delay_usec, steal_usec;
        UcsCpuSet account_missing, account_mixed;

        UcsCpuSet offline, isolated, nohz_full;
        UcsCpuSet fail_cpus, timeout_cpus;
        bool hang, force_minrev, features_change, clocksource_flip;
        int answer, refuse_open; /* positive errno; 0: as the kernel would */
        int log_digest;
        uint32_t arrive_revision;

        bool hypervisor, realtime, no_reload, no_microcode_dir, crash_kernel, sgx;
        char *hypervisor_type, *hypervisor_guest_type, *container, *clocksource, *pstore;
        char *sys_vendor, *bios_vendor, *product_name;
        uint64_t tainted, panic;

        int psi;
        uint32_t load_percent, guest_percent;
        int64_t pressure_percent; /* negative: as load_percent */

        char *firmware_root, *firmware_path, *compress;
} SimSettings;

/* The defaults. 0 or -ENOMEM. */
int sim_settings_init(SimSettings *s);
void sim_settings_done(SimSettings *s);

/* Change one setting by its name. `value` may be NULL for a switch that is turned on. `running`: refuse what
 * only a start can set (-EBUSY). -ENOENT (no such setting), -EINVAL, -ERANGE with a sentence. */
int sim_settings_set(SimSettings *s, const char *name, const char *value, bool running, UcsError *e);

/* The value in the form in which it is set, in new memory. -ENOENT or -ENOMEM. */
int sim_settings_get(const SimSettings *s, const char *name, char **ret);

/* A line a setting, as --help prints it. */
void sim_settings_help(FILE *f);

const char *sim_kernel_release(const SimSettings *s);

static inline uint32_t sim_settings_n_cpus(const SimSettings *s) {
        return s->topology.sockets * s->topology.cores * s->topology.threads;
}
static inline bool sim_kernel_is_modern(const SimSettings *s) {
        return s->kernel >= SIM_KERNEL_6_12;
}

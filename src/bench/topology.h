/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The CPUs that may be measured on, and where each sits by its own word: CPUID executed on it (leaves 1Fh, 0Bh, 1; SDM vol. 3, 9.9.3).
 * /proc/cpuinfo would say the same, and interrupts every CPU in open(2) on Linux 4.13 to 5.17. */

#include "bench/bench.h"

typedef struct BenchCpu {
        uint32_t cpu;
        uint32_t apic_id;
        uint32_t cluster; /* x2APIC: apic_id >> 4 (arch/x86/kernel/apic/x2apic_cluster.c) */
        uint32_t package; /* UCS_ID_UNKNOWN where the kernel names none */
} BenchCpu;

typedef struct BenchTopology {
        BenchCpu *cpus; /* by number; owned */
        size_t n;
        uint32_t n_online;             /* of the machine */
        uint32_t n_clusters, n_packages;
        uint32_t n_left_out;           /* allowed, but isolated or nohz_full */
        uint32_t highest_apic_id;
        bool hypervisor;
        char vendor[13], model[49];    /* CPUID 0 and 80000002h..4h, trimmed; "" where there is none */
} BenchTopology;

/* The CPUs of the affinity mask, less what --cpus= leaves out; isolated and nohz_full ones only with --all-cpus or when --cpus= names them.
 * 0; -ENODATA: none is left; -EINVAL: --cpus= names one that may not be used; or another -errno, all with `e`. */
int bench_topology_read(const Bench *b, BenchTopology *ret, UcsError *e);
void bench_topology_done(BenchTopology *t);
#define _cleanup_topology_ _cleanup_(bench_topology_done)

/* How many different clusters these CPUs fall into. */
uint32_t bench_count_clusters(const BenchCpu *cpus, size_t n);

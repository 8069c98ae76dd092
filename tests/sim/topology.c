/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who is where: package, core and thread of each CPU number, and its APIC id.
 *
 * An APIC id is the package above the core above the thread, each in as many bits as its largest number
 * needs (SDM vol. 3, "Hierarchical ID of logical processors in an MP system"): 18 cores take 5 bits, and
 * there are holes. Servers number the first threads of all cores and packages first, then the second ones;
 * some firmware, and QEMU, number the threads of a core side by side. */

#include "machine.h"

static uint32_t bits_for(uint32_t n) {
        uint32_t bits = 0;

        while ((UINT32_C(1) << bits) < n)
                bits++;
        return bits;
}

void sim_topology_shifts(const SimTopology *t, uint32_t *ret_core, uint32_t *ret_package) {
        *ret_core = bits_for(t->threads);
        *ret_package = bits_for(t->threads) + bits_for(t->cores);
}

void sim_topology_build(const SimSettings *s, SimCpu *cpus) {
        const SimTopology *t = &s->topology;
        uint32_t core_shift, package_shift, n_cores = t->sockets * t->cores;

        sim_topology_shifts(t, &core_shift, &package_shift);
        for (uint32_t cpu = 0; cpu < n_cores * t->threads; cpu++) {
                uint32_t core = s->adjacent_threads ? cpu / t->threads : cpu % n_cores;
                uint32_t thread = s->adjacent_threads ? cpu % t->threads : cpu / n_cores;
                SimCpu *c = &cpus[cpu];

                c->package = core / t->cores;
                c->core = core % t->cores;
                c->thread = thread;
                c->first = s->adjacent_threads ? core * t->threads : core;
                c->apic_id = c->package << package_shift | c->core << core_shift | thread;
        }
}

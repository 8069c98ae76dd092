/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Leaves 0, 1, 7, 0Bh, 15h, 1Fh, 80000000h, 80000001h, 80000008h (SDM vol. 2 and AMD's APM vol. 3, CPUID).
 * AMD has neither 15h nor 1Fh. These are the processor's own words: a load can change them while
 * /proc/cpuinfo keeps what was found at boot. */

#include "cpuid.h"

#define CRYSTAL_HZ 25000000U

#define BIT(n) (UINT32_C(1) << (n))
#define HLE    BIT(4)
#define RTM    BIT(11)

static SimRegisters leaf_vendor(const SimMachine *m) {
        if (m->settings.vendor == SIM_INTEL)
                return (SimRegisters){ 0x1f, 0x756e6547, 0x6c65746e, 0x49656e69 }; /* GenuineIntel */
        return (SimRegisters){ 0x10, 0x68747541, 0x444d4163, 0x69746e65 };         /* AuthenticAMD */
}

static SimRegisters leaf_features(const SimMachine *m, const SimCpu *c) {
        const SimTopology *t = &m->settings.topology;
        uint32_t logical = MIN(t->cores * t->threads, 255U);

        return (SimRegisters){
                .eax = m->settings.signature,
                .ebx = (c->apic_id & 0xff) << 24 | logical << 16 | 8 << 8,
                .ecx = BIT(0) | BIT(1) | BIT(9) | BIT(12) | BIT(13) | BIT(19) | BIT(20) | BIT(21) | BIT(22) |
                       BIT(23) | BIT(25) | BIT(26) | BIT(28) | BIT(29) | BIT(30) |
                       (m->settings.hypervisor ? BIT(31) : 0),
                .edx = 0x078bfbff | (logical > 1 ? BIT(28) : 0),
        };
}

static SimRegisters leaf_extended_features(const SimMachine *m) {
        SimRegisters r = {
                .ebx = BIT(0) | BIT(3) | BIT(5) | BIT(7) | BIT(8) | BIT(9) | BIT(10) | BIT(18) | BIT(19) |
                       BIT(20) | BIT(23) | BIT(24),
                .edx = BIT(26) | BIT(27),
        };

        if (m->settings.vendor == SIM_INTEL && !m->features_changed)
                r.ebx |= HLE | RTM;
        return r;
}

/* Levels from the inside: threads (type 1) of a core, then cores (type 2) of a package, then none. */
static SimRegisters leaf_topology(const SimMachine *m, const SimCpu *c, uint32_t level) {
        const SimTopology *t = &m->settings.topology;
        uint32_t core_shift, package_shift;
        SimRegisters r = { .ecx = level & 0xff, .edx = c->apic_id };

        sim_topology_shifts(t, &core_shift, &package_shift);
        if (level == 0) {
                r.eax = core_shift;
                r.ebx = t->threads;
                r.ecx |= 1 << 8;
        } else if (level == 1) {
                r.eax = package_shift;
                r.ebx = t->cores * t->threads;
                r.ecx |= 2 << 8;
        }
        return r;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
        while (b > 0) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

/* TSC rate = ECX * EBX / EAX. */
static SimRegisters leaf_tsc(const SimMachine *m) {
        uint64_t g = gcd(m->settings.tsc_hz, CRYSTAL_HZ), numerator = g > 0 ? m->settings.tsc_hz / g : 0;

        if (numerator == 0 || numerator > UINT32_MAX)
                return (SimRegisters){};
        return (SimRegisters){ (uint32_t) (CRYSTAL_HZ / g), (uint32_t) numerator, CRYSTAL_HZ, 0 };
}

SimRegisters sim_cpuid(const SimMachine *m, uint32_t cpu, uint32_t leaf, uint32_t subleaf) {
        bool intel = m->settings.vendor == SIM_INTEL;
        const SimCpu *c = &m->cpus[cpu];

        switch (leaf) {
        case 0:
                return leaf_vendor(m);
        case 1:
                return leaf_features(m, c);
        case 7:
                return subleaf == 0 ? leaf_extended_features(m) : (SimRegisters){};
        case 0xb:
                return leaf_topology(m, c, subleaf);
        case 0x1f:
                return intel ? leaf_topology(m, c, subleaf) : (SimRegisters){};
        case 0x15:
                return intel ? leaf_tsc(m) : (SimRegisters){};
        case 0x80000000:
                return (SimRegisters){ .eax = 0x80000008 };
        case 0x80000001:
                return (SimRegisters){ .ecx = BIT(0) | BIT(5),
                                       .edx = BIT(11) | BIT(20) | BIT(26) | BIT(27) | BIT(29) };
        case 0x80000008:
                return (SimRegisters){ .eax = 48 << 8 | 46, .ecx = intel ? 0 : MIN(m->n_cpus, 256U) - 1 };
        default:
                return (SimRegisters){};
        }
}

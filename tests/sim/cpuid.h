/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The CPUID instruction of a simulated CPU. */

#include "machine.h"

typedef struct SimRegisters {
        uint32_t eax, ebx, ecx, edx;
} SimRegisters;

/* With the lock. Leaves that are not modelled are all 0. */
SimRegisters sim_cpuid(const SimMachine *m, uint32_t cpu, uint32_t leaf, uint32_t subleaf);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The proof that an IPI was sent: the lines TLB (remote TLB flushes) and CAL (function calls) of /proc/interrupts (arch/x86/kernel/irq.c,
 * arch_show_interrupts()), of given CPUs. A flush is counted in both, a membarrier in CAL alone. */

#include "bench/topology.h"

typedef struct BenchInterrupts {
        uint64_t tlb, cal; /* sums over the CPUs asked for */
} BenchInterrupts;

/* From the file's text. -EBADMSG: not such a file, or without these lines; `ret` untouched. */
int bench_interrupts_parse(const char *text, const BenchCpu *cpus, size_t n, BenchInterrupts *ret);

/* `fd`: of /proc/interrupts; `buf` of `size` bytes is for its text. -EFBIG, -EBADMSG or -errno. */
int bench_interrupts_read(int fd, char *buf, size_t size, const BenchCpu *cpus, size_t n, BenchInterrupts *ret);

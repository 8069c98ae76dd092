/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel threads migration/N, in which stop_machine() runs (kernel/stop_machine.c): found by name AND by PF_KTHREAD, since any program
 * may call itself so. A thread keeps its id while its CPU is offline. */

#include "core/policy/machine.h"

typedef struct UcsStopper {
        uint32_t cpu;
        uint32_t tid; /* 0: not found */
} UcsStopper;

/* Fill in the tid of each of `n` stoppers, in rising order of `cpu`. procfs lists its threads by id, and these have the lowest: the search
 * ends when all are found. `proc_fd` is the directory proc. How many were found, or -errno. */
int ucs_stopper_find(int proc_fd, UcsStopper *stoppers, size_t n);

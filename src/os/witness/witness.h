/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Witnesses of the stall, one file each. All that are asked for and there are on at the same time, and each has its say (UcsStall.witnessed); the
 * most exact one decides. A witness is opened beforehand (slow, may fail: then it is missing), armed in the writing thread right before
 * the write, and read right after it. In between nothing of ours runs on any CPU: what is recorded, the kernel records. */

#include "core/policy/machine.h"
#include "core/record/stall.h"

typedef struct UcsWitness UcsWitness;

/* `kind`: which ones are on, if they are there. _UCS_WITNESS_INVALID: perf, schedstat and write; a kind asks for itself and those behind it in the
 * order kernel, perf, schedstat, write. The write is always on: 0 or -ENOMEM. `e` says of each other one that was asked for why it is not there
 * (e->code is set then). Keeps copies of what it needs from `m` and `root_fd`. */
int ucs_witness_open(int root_fd, UcsWitnessKind kind, const UcsMachine *m, UcsWitness **ret, UcsError *e);
UcsWitness *ucs_witness_close(UcsWitness *w);
DEFINE_CLEANUP(UcsWitness *, ucs_witness_close);

/* The one that will decide, unless it sees nothing. */
UcsWitnessKind ucs_witness_kind(const UcsWitness *w);
bool ucs_witness_on(const UcsWitness *w, UcsWitnessKind kind);

/* Baseline. In the thread that writes, as the last thing before the write. 0, or a negative errno when no CPU could be read (ucs_witness_collect()
 * then finds no evidence). */
int ucs_witness_arm(UcsWitness *w);

/* What the CPUs saw since. Reads a CPU again whose stopper ran once more but has not been charged yet (the scheduler charges when the
 * thread is switched out), for about UCS_WITNESS_RETRY_USEC in all; such a CPU is then missing. Fills `cpus`, `n_cpus`, `witness`,
 * `witnessed` of `s`, and `stall_nsec` if the one that decides speaks for the whole machine ("kernel"); the rest is
 * ucs_stall_summarize()'s. 0 or -ENOMEM. */
int ucs_witness_collect(UcsWitness *w, UcsStall *s);

#define UCS_WITNESS_RETRY_USEC (200 * UINT64_C(1000))

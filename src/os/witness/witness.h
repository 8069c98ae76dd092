/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Witnesses of the stall, one file each, one table that picks. A witness is opened beforehand (slow, may fail: then the next in the table is
 * asked), armed in the writing thread right before the write, and read right after it. */

#include "core/policy/machine.h"
#include "core/record/stall.h"

typedef struct UcsWitness UcsWitness;

/* `kind`: _UCS_WITNESS_INVALID picks (perf if permitted, else schedstat, else write); a kind asks from that one on, in the order kernel,
 * perf, schedstat, write. 0 or -ENOMEM: without
 * any other it is UCS_WITNESS_WRITE. `e` says why the one that was asked for would not serve, or, if none was, why only the write is left
 * (e->code is set then). Keeps copies of what it needs from `m` and `root_fd`. */
int ucs_witness_open(int root_fd, UcsWitnessKind kind, const UcsMachine *m, UcsWitness **ret, UcsError *e);
UcsWitness *ucs_witness_close(UcsWitness *w);
DEFINE_CLEANUP(UcsWitness *, ucs_witness_close);

UcsWitnessKind ucs_witness_kind(const UcsWitness *w);

/* Baseline. In the thread that writes, as the last thing before the write. 0, or a negative errno when no CPU could be read (ucs_witness_collect()
 * then finds no evidence). */
int ucs_witness_arm(UcsWitness *w);

/* What the CPUs saw since. Reads a CPU again whose stopper ran once more but has not been charged yet (the scheduler charges when the
 * thread is switched out), for about UCS_WITNESS_RETRY_USEC in all; such a CPU is then missing. Fills `cpus`, `n_cpus`, `witness` of
 * `s`, and `stall_nsec` if the witness speaks for the whole machine ("kernel"); the rest is ucs_stall_summarize()'s. 0 or -ENOMEM. */
int ucs_witness_collect(UcsWitness *w, UcsStall *s);

#define UCS_WITNESS_RETRY_USEC (200 * UINT64_C(1000))

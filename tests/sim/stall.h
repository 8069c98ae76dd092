/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long a load stops the machine, the stop itself, and what the accounts of migration/N say of it
 * afterwards.
 *
 * The model, with c a core's load and j what each CPU costs at the rendezvous:
 *      serial:    cores x c + cpus x j   (threads of a core share its load)
 *      parallel:          c + cpus x j
 * c and j are such that 36 cores with 72 CPUs at 2.4 GHz come to what was measured in 2019, 842 898 034 and
 * 29 889 604 ticks. */

#include "machine.h"

#define SIM_COST_NSEC UINT64_C(9678672)
#define SIM_JOIN_NSEC UINT64_C(38546)

/* The stop that a load of `n_cores` cores takes. */
uint64_t sim_stall_model(const SimMachine *m, uint32_t n_cores);

/* stop_machine(): every online CPU's stopper runs once, for `nsec` or, with real_stall, for as long as the
 * threads on this host's CPUs took. Called with both locks; `lock` is open meanwhile. */
void sim_stall_stop(SimMachine *m, uint64_t nsec);

/* What /proc/TID/schedstat shows now. */
void sim_account_read(const SimAccount *a, uint64_t *ret_nsec, uint64_t *ret_runs);

/* Other work of a stopper: a task that was moved. */
void sim_account_add(SimAccount *a, uint64_t nsec, uint64_t runs);

/* The longest stop that the CPUs of the host are held for: below the share that the kernel leaves to other
 * tasks in each second. */
#define SIM_REAL_STALL_MAX_NSEC UINT64_C(900000000)

/* One SCHED_FIFO 99 thread a CPU of this host, until all have been there together for `nsec`. `*ret` is the
 * shortest time that one of them held its CPU. 0 or -errno (-EPERM: not allowed; -ERANGE: too long). */
int sim_real_stall(uint64_t nsec, uint64_t *ret);

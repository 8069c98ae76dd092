/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's late loader: what a write to microcode/reload does and answers. Two generations: loader-old.c
 * up to 6.6, loader-modern.c from 6.7 on. All of it is measured against the table "What the real kernel
 * answers" of the project's facts. */

#include "request.h"

/* A write of `text` (without its NUL). Blocks for the duration of the load; call without locks. 0 (the write
 * returns its length) or the kernel's negative errno. */
int sim_loader_write(SimMachine *m, const char *text);

/* Another program's successful load of `revision`, the file aside. Blocks as well. */
int sim_loader_external(SimMachine *m, uint32_t revision);

/* The two generations, with both locks: 0 or negative errno. */
int sim_loader_modern(SimMachine *m);
int sim_loader_old(SimMachine *m);

/* What became of one CPU. */
typedef enum SimOutcome {
        SIM_OUTCOME_NONE, /* never got to it */
        SIM_OUTCOME_UPDATED,
        SIM_OUTCOME_SAME, /* had it already: a sibling, or a CPU that was not old */
        SIM_OUTCOME_FAILED,
        SIM_OUTCOME_TIMEOUT,
        SIM_OUTCOME_OFFLINE, /* offline sibling that took part by NMI */
} SimOutcome;

/* The apply() of one CPU, with what it does to its core; the log lines are those of the vendor's part of the
 * kernel. */
SimOutcome sim_apply(SimMachine *m, uint32_t cpu, const SimPatch *patch);

/* Cores that have a CPU below the patch: what the model of the stall counts. */
uint32_t sim_cores_to_load(const SimMachine *m, const SimPatch *patch);

/* Stop the machine for the load of the patch, and as long as the setting `hang` is on. */
void sim_stop_for(SimMachine *m, const SimPatch *patch);

/* After a load that changed something: what else may have changed with it. */
void sim_after_load(SimMachine *m);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The stall as bars on a terminal: from entry to exit, relative to the earliest entry of any CPU, as wide as the terminal is; 80 columns where
 * there is none. Without offsets a bar is a length. Narrow terminals lose columns, never bars. What stands out has a mark, so that it
 * does without colours: "*" the worst, "!" late, "~" other work in it, "-" no evidence. */

#include "ctl/ctl-screen.h"
#include "ctl/stall-model.h"

/* A row a CPU, in the model's order, and what the marks mean. */
void stall_chart_cpus(UcsCtl *ctl, const StallModel *m);

/* A row a package and, below it, a row a cluster: dark where all of its CPUs stood still, light where only some did. Of many clusters
 * only those that stand out. */
void stall_chart_groups(UcsCtl *ctl, const StallModel *m);

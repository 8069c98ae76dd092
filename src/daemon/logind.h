/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What systemd-logind knows of the machine's near future: that it goes down, or to sleep. Both are in `m->health`, as logind's properties PreparingForShutdown
 * and PreparingForSleep have them; without a logind they are false.
 *
 * No lock of logind's is taken, not even for the time of a load: a shutdown waits for this daemon by itself, a suspend for the thread that is in the kernel. */

#include "daemon/manager.h"

/* From now on the machine's waking up is noticed. The bus is there. 0 or -errno. */
int logind_new(Manager *m, Logind **ret);
Logind *logind_free(Logind *l);

/* After each decision: while something is pending more is listened to, and else no more than waking up. */
void logind_follow(Manager *m);

/* Ask logind now, and wait for its answer, a second at most: right before a load. One that does not answer in time has said nothing new. */
void logind_ask(Manager *m);

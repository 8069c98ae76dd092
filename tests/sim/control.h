/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Commands to a running simulator, over a UNIX stream socket: one line a connection, one answer, "OK text"
 * or "ERROR text". */

#include "machine.h"

typedef struct SimControl SimControl;

/* Listen on `path` (an old socket there is replaced), in a thread. `exit_fd`: an eventfd that "quit" writes.
 */
int sim_control_new(SimMachine *m, const char *path, int exit_fd, SimControl **ret, UcsError *e);
SimControl *sim_control_free(SimControl *c); /* the machine must be `stopping` */
DEFINE_CLEANUP(SimControl *, sim_control_free);

/* Carry out one command, without locks; may block. The answer, or the sentence in `e`. `*ret_quit` is set by
 * "quit". */
int sim_command_run(SimMachine *m, char *line, UcsText *answer, bool *ret_quit, UcsError *e);
void sim_command_help(FILE *f);

/* The client: send, print the answer. Returns an exit status. */
int sim_control_send(const char *path, int argc, char **argv);

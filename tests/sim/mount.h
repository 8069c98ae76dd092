/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A part of the machine's tree on a directory of this host: one FUSE session, its threads, and the waiting
 * that some requests do. */

#include "tree.h"

typedef struct SimMount SimMount;

/* Mount the subtree `path` ("sys", "sys/devices/system/cpu", …) on `directory`. A mount of a simulator that
 * died there is taken away first. `exit_fd`: an eventfd that is written when the mount ends by itself
 * (umount). 0 or -errno with a sentence. */
int sim_mount_new(SimMachine *m, const SimTree *t, const char *path, const char *directory, int exit_fd,
                  SimMount **ret, UcsError *e);

/* Unmount (lazily, if somebody still has files open) and join all threads. The machine must be `stopping`.
 */
SimMount *sim_mount_free(SimMount *mount);
DEFINE_CLEANUP(SimMount *, sim_mount_free);

const char *sim_mount_directory(const SimMount *mount);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What mount.c (session and threads), mount-ops.c (requests) and mount-wait.c (requests that wait) share. */

#define FUSE_USE_VERSION 312

#include <fuse_lowlevel.h>

#include "handle.h"
#include "mount.h"

#define SIM_WORKERS 2

typedef struct SimWaiter SimWaiter;
typedef struct SimWatch SimWatch;

struct SimMount {
        SimMachine *machine;
        const SimTree *tree;
        SimInstance root;
        char *directory;
        struct fuse_session *session;
        bool mounted;
        int stop_fd, exit_fd;
        pthread_t workers[SIM_WORKERS], waker;
        unsigned n_workers;
        bool waker_runs;

        pthread_mutex_t lock; /* of what follows; inside the machine's lock */
        pthread_cond_t idle;
        SimHandle *handles; /* open files; those that nobody closes any more end with the mount */
        unsigned n_jobs;    /* writes in threads of their own */
        SimWaiter *waiters; /* reads of dev/kmsg that wait for a record */
        SimWatch *watches;  /* polls of dev/kmsg */
};

extern const struct fuse_lowlevel_ops sim_mount_ops;

/* Instances and inode numbers; the root of a mount is inode 1, whatever it is in the tree. */
fuse_ino_t sim_mount_ino(const SimMount *mount, SimInstance i);
SimInstance sim_mount_instance(const SimMount *mount, fuse_ino_t ino);

/* Run a write in a thread of its own and reply at its end. */
void sim_mount_write_later(SimMount *mount, fuse_req_t req, SimHandle *h, const char *data, size_t size,
                           uint64_t offset);

/* Reply to this read when the kernel log has a new record, or when it is interrupted. */
void sim_mount_read_later(SimMount *mount, fuse_req_t req, SimHandle *h, size_t size, uint64_t offset);

/* Notify `ph` when there is a record. */
void sim_mount_poll_later(SimMount *mount, SimHandle *h, struct fuse_pollhandle *ph);

/* Keep an open file in mind, and close it with all that waits for it. */
void sim_mount_opened(SimMount *mount, SimHandle *h);
void sim_mount_close(SimMount *mount, SimHandle *h);

/* The thread that answers them; ends when the machine is stopping. */
void *sim_mount_waker(void *userdata);
void sim_mount_jobs_join(SimMount *mount);

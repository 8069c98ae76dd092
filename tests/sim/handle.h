/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An open file of the machine, whoever opened it: what a read at an offset gives, what a write does. Knows
 * nothing of FUSE.
 *
 * A read at offset 0 takes a fresh look (as a pread() on a kept descriptor of sysfs does); reads behind it
 * go on in the text of that look. */

#include "tree.h"

typedef struct SimHandle SimHandle;

struct SimHandle {
        SimHandle *next, **link; /* for a list of whoever opened it */
        SimMachine *machine;
        const SimFile *file;
        SimInstance instance;
        uint32_t incarnation;

        pthread_mutex_t lock;
        UcsText text;      /* of the last look */
        uint32_t next_cpu; /* SIM_FILE_RECORDS: whose record comes next */

        size_t next_record; /* SIM_FILE_KMSG */
        uint64_t expected;  /* offset of a read that goes on */
};

/* Open with the access mode of `flags`. 0, -EACCES (not for reading or writing), what the file refuses with,
 * -ENODEV, -ENXIO (the CPU is offline), -ENOMEM. */
int sim_handle_open(const SimTree *t, SimMachine *m, SimInstance i, int flags, SimHandle **ret);
SimHandle *sim_handle_close(SimHandle *h);

/* Bytes read into `buf`, or negative errno. -EAGAIN: no record of the kernel log yet. */
ssize_t sim_handle_read(SimHandle *h, char *buf, size_t size, uint64_t offset);

/* One write. Blocks: 0 or negative errno. */
int sim_handle_write(SimHandle *h, const char *data, size_t size, uint64_t offset);

/* dev/kmsg: is there a record that this reader has not had? With the machine's lock. */
bool sim_kmsg_readable(const SimHandle *h);
ssize_t sim_kmsg_read(SimHandle *h, char *buf, size_t size, uint64_t offset);
int sim_kmsg_write(SimHandle *h, const char *data, size_t size, uint64_t offset);

/* What stat() says of the size of dev/kmsg, so that lseek(SEEK_END) leads behind the last record. With the
 * machine's lock. */
uint64_t sim_kmsg_size(const SimMachine *m);

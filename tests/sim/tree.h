/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files of the machine: tables of paths with what reads and writes them (files-*.c), and a tree that is
 * made of the tables at start.
 *
 * In a path, % is the number of a CPU and # the thread id of its migration/N. A node and one such number are
 * an instance, and name a file for good; whether it exists at the moment is asked each time. Nothing here
 * knows of FUSE. */

#include <sys/stat.h>

#include "machine.h"

typedef enum SimFileKind {
        SIM_FILE_TEXT,    /* show() makes all of it */
        SIM_FILE_RECORDS, /* show() makes the part of one online CPU; made as far as it is read */
        SIM_FILE_CPUID,   /* dev/cpu/N/cpuid */
        SIM_FILE_KMSG,    /* dev/kmsg */
        SIM_FILE_DIRECTORY,
} SimFileKind;

typedef struct SimFile {
        const char *path;
        mode_t mode; /* permission bits */
        SimFileKind kind;

        /* With the machine's lock. NULL: cannot be read. */
        void (*show)(SimMachine *m, uint32_t cpu, UcsText *t);

        /* One write of the NUL-terminated `text`: 0 or negative errno. NULL: cannot be written. Without
         * locks, in a thread of its own: it may block. */
        int (*store)(SimMachine *m, uint32_t cpu, const char *text);

        /* With the lock. NULL: always. */
        bool (*exists)(const SimMachine *m, uint32_t cpu);

        /* Belongs to a CPU's own incarnation: a descriptor does not outlive its going offline. */
        bool of_cpu;

        /* With the lock: the errno with which it cannot be read, or 0; without show() it cannot be opened
         * then. NULL: never. */
        int (*refuse)(const SimMachine *m);
} SimFile;

/* Each ends in a row without a path. */
extern const SimFile sim_files_cpu[], sim_files_sys[], sim_files_proc[], sim_files_dev[];

typedef struct SimNode SimNode;
typedef struct SimTree SimTree;

int sim_tree_new(SimTree **ret);
SimTree *sim_tree_free(SimTree *t);
DEFINE_CLEANUP(SimTree *, sim_tree_free);

typedef struct SimInstance {
        uint32_t node, cpu; /* cpu is 0 where the path has none */
} SimInstance;

/* Numbers that fit an inode number; the root is 0. */
SimInstance sim_tree_root(void);

/* The file of a directory that is called so. With the lock. 0 or -ENOENT. */
int sim_tree_lookup(const SimTree *t, const SimMachine *m, SimInstance directory, const char *name,
                    SimInstance *ret);

/* The same for a path such as "sys/devices/system/cpu". */
int sim_tree_resolve(const SimTree *t, const SimMachine *m, const char *path, SimInstance *ret);

/* Does it exist now? With the lock. */
bool sim_tree_exists(const SimTree *t, const SimMachine *m, SimInstance i);

/* The row of a table, or NULL for a directory that only follows from paths. */
const SimFile *sim_tree_file(const SimTree *t, SimInstance i);
bool sim_tree_is_directory(const SimTree *t, SimInstance i);

/* Can it come or go? What cannot may be cached. */
bool sim_tree_is_dynamic(const SimTree *t, SimInstance i);

/* The entry at `*cursor` of a directory (0: the first), and `*cursor` set behind it. With the lock. False at
 * the end. */
#define SIM_NAME_MAX 64
bool sim_tree_entry(const SimTree *t, const SimMachine *m, SimInstance directory, uint64_t *cursor,
                    SimInstance *ret, char ret_name[static SIM_NAME_MAX]);

/* The thread id of migration/N: one in six kernel threads of a CPU, as they are created at boot. */
static inline uint32_t sim_migration_tid(uint32_t cpu) {
        return 19 + 6 * cpu;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a witness is made of: one such table a file of this directory, all of them listed in witness.c. Private to os/witness. */

#include "os/witness/witness.h"

typedef struct UcsWitnessOps {
        UcsWitnessKind kind;
        bool automatic; /* on without being asked for */

        /* Everything that is slow or may fail. `e` says what is missing. -ENOMEM ends it all, with another errno this witness is off. */
        int (*open)(int root_fd, const UcsMachine *m, void **ret, UcsError *e);
        int (*arm)(void *state);

        /* `s->cpus` are the machine's, in its order, without evidence yet. */
        int (*collect)(void *state, UcsStall *s);
        void (*close)(void *state);
} UcsWitnessOps;

extern const UcsWitnessOps witness_kernel, witness_perf, witness_schedstat, witness_write;

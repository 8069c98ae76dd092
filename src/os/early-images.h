/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which files may be handed to which kernel, for early.c; see early.h for the names. Nothing is opened here but directories. */

#include "core/ucode/update.h"
#include "base/str.h"

typedef struct UcsEarlyChain {
        char **paths;     /* in the order in which a boot loader hands them over; NULL: none */
        char release[72]; /* "": a name that says none */
} UcsEarlyChain;

/* 0 or -ENOMEM. */
int ucs_early_chains(int root_fd, char *const *configured, UcsEarlyChain *ret_running, UcsEarlyChain *ret_other);

static inline void ucs_early_chain_done(UcsEarlyChain *c) {
        c->paths = strv_free(c->paths);
}

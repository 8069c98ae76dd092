/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which files may be handed to which kernel, for early.c; see early.h for the names, and os/boot-loader.h for who says which one is next. No image is
 * opened here. */

#include "base/str.h"
#include "core/policy/outlook.h"

typedef struct UcsEarlyChain {
        char **paths;     /* in the order in which a boot loader hands them over; NULL: none */
        char release[72]; /* "": a name that says none */
} UcsEarlyChain;

typedef struct UcsEarlyChains {
        UcsEarlyChain running, other;
        UcsNextKernel next;
        char next_by[sizeof(((UcsEarly *) NULL)->next_by)];
} UcsEarlyChains;

/* 0 or -ENOMEM. */
int ucs_early_chains(int root_fd, char *const *configured, UcsEarlyChains *ret);

static inline void ucs_early_chain_done(UcsEarlyChain *c) {
        c->paths = strv_free(c->paths);
}

static inline void ucs_early_chains_done(UcsEarlyChains *c) {
        ucs_early_chain_done(&c->running);
        ucs_early_chain_done(&c->other);
}

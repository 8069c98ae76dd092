/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Scope-bound ownership. A destructor takes NULL and returns NULL, so that `p = thing_free(p)` reads as what it does;
 * DEFINE_CLEANUP() makes the variant that the compiler calls at the end of a scope. */

#include <stdlib.h>

#include "base/macro.h"

#define _cleanup_(f) __attribute__((__cleanup__(f)))

static inline void freep(void *p) {
        free(*(void **) p);
}
#define _cleanup_free_ _cleanup_(freep)

#define DEFINE_CLEANUP(type, func)                                                                             \
        static inline void func##p(type *p) {                                                                  \
                if (*p)                                                                                        \
                        func(*p);                                                                              \
        }                                                                                                      \
        struct _semicolon_

#define TAKE_PTR(p)                                                                                            \
        ({                                                                                                     \
                typeof(p) *_pp = &(p);                                                                         \
                typeof(p) _taken = *_pp;                                                                       \
                *_pp = NULL;                                                                                   \
                _taken;                                                                                        \
        })

#define new0(t, n) ((t *) calloc((n) ?: 1, sizeof(t)))

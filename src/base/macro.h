/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The smallest words of the alphabet: attributes, array sizes, minimum and maximum. Nothing here has a body that could fail. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define _printf_(a, b) __attribute__((__format__(__printf__, a, b)))
#define _unused_ __attribute__((__unused__))
#define _warn_unused_ __attribute__((__warn_unused_result__))

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))

#define MIN(a, b)                                                                                              \
        ({                                                                                                     \
                const typeof(a) _a = (a);                                                                      \
                const typeof(b) _b = (b);                                                                      \
                _a < _b ? _a : _b;                                                                             \
        })
#define MAX(a, b)                                                                                              \
        ({                                                                                                     \
                const typeof(a) _a = (a);                                                                      \
                const typeof(b) _b = (b);                                                                      \
                _a > _b ? _a : _b;                                                                             \
        })

/* "Unknown" for every 64-bit figure that is published: a stall that nobody saw is not a stall of zero. */
#define UCS_UNKNOWN UINT64_MAX

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A fuzz target is this one function. It aborts when something that our own code promises does not hold;
 * what it is fed may be anything. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_check(condition)                                                                               \
        do {                                                                                                \
                if (!(condition)) {                                                                         \
                        (void) fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,            \
                                       #condition);                                                         \
                        abort();                                                                            \
                }                                                                                           \
        } while (0)

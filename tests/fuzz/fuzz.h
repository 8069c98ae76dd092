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

typedef void (*FuzzReader)(const char *text, size_t size);

/* For a target of several readers of text: the first byte says which of them gets the rest, with a NUL behind it and in a buffer of just that size. */
static inline int fuzz_one_of(const FuzzReader *readers, size_t n_readers, const uint8_t *data, size_t size) {
        char *text;

        if (size == 0)
                return 0;
        text = malloc(size);
        fuzz_check(text);
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        readers[data[0] % n_readers](text, size - 1);
        free(text);
        return 0;
}

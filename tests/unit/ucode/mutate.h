/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files that are wrong by chance, the same on every run: a seeded generator and the changes that it makes.
 */

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static inline uint32_t chance(uint64_t *state) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (uint32_t) (*state >> 33);
}

/* Numbers at which parsers go wrong. */
static inline uint32_t chance_number(uint64_t *state) {
        static const uint32_t edges[] = { 0,          1,          2,          3,         4,    12,
                                          20,         40,         47,         48,        63,   64,
                                          976,        980,        1000,       1024,      2000, 2048,
                                          4095,       4096,       7999,       8000,      9999, 0x00414d44,
                                          0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff };
        uint32_t k = chance(state) % (ELEMENTSOF(edges) + 4);

        return k < ELEMENTSOF(edges) ? edges[k] : chance(state) ^ chance(state) << 16;
}

/* Up to three changes: a word, a byte, a shorter or a longer file. */
static inline void mutate(Fixture *f, uint64_t *state) {
        for (uint32_t n = chance(state) % 3 + 1; n > 0 && f->size >= 64; n--) {
                /* words near the front and near the back, where the headers and tables are */
                size_t where = chance(state) % 3 == 0 ? f->size - 64 : 0;

                switch (chance(state) % 5) {
                case 0:
                case 1:
                        fixture_put(f, where + chance(state) % 15 * 4, chance_number(state));
                        break;
                case 2:
                        f->data[chance(state) % f->size] ^= (uint8_t) (1U << chance(state) % 8);
                        break;
                case 3:
                        f->size = chance(state) % (f->size + 1);
                        break;
                default:
                        fixture_append(f, NULL, chance(state) % 100);
                        break;
                }
        }
}

/* In memory of exactly its size, so that a sanitizer sees every byte that is read too far. */
static inline uint8_t *exact_copy(const Fixture *f) {
        uint8_t *p = malloc(f->size ?: 1);

        if (!p)
                abort();
        if (f->size > 0)
                memcpy(p, f->data, f->size);
        return p;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* TZif files made to measure: one that is right, and what can be otherwise in it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TZIF_MAX 4096
#define SAY(n) ((n) + 1U)

typedef struct TzifType {
        int32_t offset;
        uint8_t dst, abbreviation;
} TzifType;

/* What is 0 or NULL is as in the usual file: version 2; CET, CEST and CET again at 1, 2 and 3 million seconds; the footer of Berlin. */
typedef struct Tzif {
        bool version_1, no_times, no_footer;
        uint8_t version, second_version; /* '2', …; of the second header where it is another one */
        const int64_t *times;            /* 3 of them */
        const uint8_t *type_of;          /* 3 */
        const TzifType *types;           /* 2 */
        const char *footer;              /* without newlines */
        size_t n_ut, n_standard;         /* indicators */
        uint32_t say_times, say_types, say_chars, say_leap, say_ut, say_standard; /* SAY(n): what the header tells instead */
} Tzif;

/* Into `buf`, of TZIF_MAX bytes; returns the size. The block of version 1 in a later file holds one type and no transition. */
size_t tzif_make(const Tzif *t, uint8_t *buf);

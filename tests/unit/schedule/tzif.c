/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* TZif files made to measure; see tzif.h. */

#include <string.h>

#include "base/macro.h"
#include "tzif.h"

static uint8_t *put(uint8_t *p, uint64_t v, size_t bytes) {
        for (size_t i = 0; i < bytes; i++)
                p[i] = (uint8_t) (v >> 8 * (bytes - 1 - i));
        return p + bytes;
}

static uint8_t *put_header(uint8_t *p, uint8_t version, const uint32_t *counts) {
        memcpy(p, "TZif", 4);
        memset(p + 4, 0, 16);
        p[4] = version;
        p += 20;
        for (size_t i = 0; i < 6; i++)
                p = put(p, counts[i], 4);
        return p;
}

static uint32_t told(uint32_t say, size_t n) {
        return say > 0 ? say - 1 : (uint32_t) n;
}

size_t tzif_make(const Tzif *t, uint8_t *buf) {
        static const int64_t usual_times[] = { 1000000, 2000000, 3000000 };
        static const uint8_t usual_type_of[] = { 1, 0, 1 };
        static const TzifType usual_types[] = { { 3600, 0, 0 }, { 7200, 1, 4 } };
        static const char chars[] = "CET\0CEST";
        static const uint32_t stub[] = { 0, 0, 0, 0, 1, 4 };

        const int64_t *times = t->times ?: usual_times;
        const uint8_t *type_of = t->type_of ?: usual_type_of;
        const TzifType *types = t->types ?: usual_types;
        const char *footer = t->footer ?: "CET-1CEST,M3.5.0,M10.5.0/3";
        size_t n_times = t->no_times ? 0 : 3, time_size = t->version_1 ? 4 : 8;
        uint8_t version = t->version_1 ? 0 : t->version ?: '2', *p = buf;
        const uint32_t counts[] = {
                told(t->say_ut, t->n_ut),       told(t->say_standard, t->n_standard), told(t->say_leap, 0),
                told(t->say_times, n_times),    told(t->say_types, 2),                told(t->say_chars, sizeof(chars)),
        };

        if (!t->version_1) {
                p = put_header(p, version, stub);
                memset(p, 0, 6);
                memcpy(p + 6, "old", 4);
                p += 10;
        }
        p = put_header(p, t->second_version ?: version, counts);
        for (size_t i = 0; i < n_times; i++)
                p = put(p, (uint64_t) times[i], time_size);
        for (size_t i = 0; i < n_times; i++)
                *p++ = type_of[i];
        for (size_t i = 0; i < 2; i++) {
                p = put(p, (uint32_t) types[i].offset, 4);
                *p++ = types[i].dst;
                *p++ = types[i].abbreviation;
        }
        memcpy(p, chars, sizeof(chars));
        p += sizeof(chars);
        memset(p, 0, t->n_ut + t->n_standard);
        p += t->n_ut + t->n_standard;
        if (!t->no_footer && !t->version_1) {
                *p++ = '\n';
                memcpy(p, footer, strlen(footer));
                p += strlen(footer);
                *p++ = '\n';
        }
        return (size_t) (p - buf);
}

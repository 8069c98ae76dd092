/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The generator makes exactly the files that iucode_tool and amd_ucode_info were shown once. */

#include <string.h>

#include "fixture.h"
#include "ucs-test.h"

/* What stands at an offset; all other bytes are zero. */
typedef struct Piece {
        size_t offset, size;
        const char *bytes;
} Piece;

static void check(const Fixture *f, size_t size, const Piece *pieces, size_t n, const char *name) {
        uint8_t expected[1024] = {};

        cr_assert_eq(f->size, size, "%s: %zu bytes", name, f->size);
        for (size_t i = 0; i < n; i++)
                memcpy(expected + pieces[i].offset, pieces[i].bytes, pieces[i].size);
        for (size_t i = 0; i < size; i++)
                cr_assert_eq(f->data[i], expected[i], "%s: byte %zu is %02x, expected %02x", name, i,
                             f->data[i], expected[i]);
}

ucs_test(fixture, intel) {
        static const struct {
                const char *name;
                const FixtureIntel *fixture;
                Piece pieces[2];
                size_t n;
        } table[] = {
                { "A",
                  &fixture_a,
                  { { 0, 36,
                      "\x01\x00\x00\x00\x00\x01\x00\x00\x23\x20\x28\x07\xeb\x06\x09\x00\x1e\xd0\xce\xf8\x01\x00\x00\x00"
                      "\x02\x00\x00\x00\xd0\x03\x00\x00\x00\x04\x00\x00" } },
                  1 },
                { "B",
                  &fixture_b,
                  { { 0, 44,
                      "\x01\x00\x00\x00\x10\x01\x00\x00\x24\x20\x15\x01\xeb\x06\x09\x00\x0d\xcf\xe1\xfe\x01\x00\x00\x00"
                      "\x02\x00\x00\x00\xd0\x03\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00" } },
                  1 },
                { "C",
                  &fixture_c,
                  { { 0, 36,
                      "\x01\x00\x00\x00\x20\x01\x00\x00\x24\x20\x15\x01\xf8\x06\x08\x00\x97\xcf\xe2\xfe\x01\x00\x00\x00"
                      "\x87\x00\x00\x00\xa4\x03\x00\x00\x00\x04\x00\x00" },
                    { 980, 44,
                      "\x02\x00\x00\x00\xd2\x51\x2a\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf8\x06\x08\x00"
                      "\x87\x00\x00\x00\x97\xcf\xe2\xfe\xf7\x06\x08\x00\x87\x00\x00\x00\x98\xcf\xe2\xfe" } },
                  2 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                Fixture f = {};

                fixture_intel(&f, table[i].fixture);
                check(&f, 1024, table[i].pieces, table[i].n, table[i].name);
                fixture_done(&f);
        }
}

ucs_test(fixture, amd) {
        static const Piece pieces[] = {
                { 0, 28,
                  "\x44\x4d\x41\x00\x00\x00\x00\x00\x20\x00\x00\x00\x10\x0f\xa2\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\xa2"
                  "\x00\x00" },
                { 44, 16, "\x01\x00\x00\x00\x00\x01\x00\x00\x25\x20\x15\x07\x30\x10\x20\x0a" },
                { 76, 2, "\x10\xa2" },
        };
        Fixture f = {};

        fixture_amd(&f, &fixture_d, 1);
        check(&f, 308, pieces, ELEMENTSOF(pieces), "D");
        fixture_done(&f);
}

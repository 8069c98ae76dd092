/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reports that are about a file and a CPU alone, without a machine: what is in the file for that CPU, and whether it would be taken. A row
 * begins with the number of its report (reports.py); beside the reported input stand neighbours of its kind. */

#include "core/ucode/choose.h"
#include "core/ucode/file.h"
#include "core/ucode/update.h"
#include "fixture.h"
#include "ucs-test.h"

typedef struct Row {
        unsigned report;
        const char *name;
        const FixtureIntel *intel[4]; /* updates, one behind the other */
        const FixtureAmd *amd;
        uint32_t signature, mask, running;
        UcsChooseFlags flags;
        UcsChoice expected;
        uint32_t revision; /* of the choice; 0: none */
} Row;

static const FixtureIntel tiger = { .signature = 0x806c1, .platform_mask = 0x80, .revision = 0x60 };
static const FixtureIntel haswell = { .signature = 0x306f2, .platform_mask = 0x6f, .revision = 0x2d };
static const FixtureIntel haswell_before = { .signature = 0x306f2, .platform_mask = 0x6f, .revision = 0x2b };
static const FixtureIntel alder = { .signature = 0x90672, .platform_mask = 0x7, .revision = 0x3d, .min_revision = 0x1f,
                                    .also = { { 0x90675, 0x7 } }, .n_also = 1 };
static const FixtureIntel sapphire_low = { .signature = 0x806f8, .platform_mask = 0x87, .revision = 0x2b000650, .also = { { 0x806f7, 0x87 } }, .n_also = 1 };
static const FixtureIntel sapphire_high = { .signature = 0x806f8, .platform_mask = 0x10, .revision = 0x2c000410 };

static const Row rows[] = {
        { 6, "older than what runs", { &tiger }, .signature = 0x806c1, .mask = 0x80, .running = 0x68, .expected = UCS_CHOICE_NOT_NEWER, .revision = 0x60 },
        { 6, "the same", { &tiger }, .signature = 0x806c1, .mask = 0x80, .running = 0x60, .expected = UCS_CHOICE_NOT_NEWER, .revision = 0x60 },
        { 6, "newer by one", { &tiger }, .signature = 0x806c1, .mask = 0x80, .running = 0x5f, .expected = UCS_CHOICE_NEWER, .revision = 0x60 },
        { 7, "the withdrawn one is gone", { &haswell_before }, .signature = 0x306f2, .mask = 0x1, .running = 0x2d, .expected = UCS_CHOICE_NOT_NEWER, .revision = 0x2b },
        { 7, "old and new in one file", { &haswell, &haswell_before }, .signature = 0x306f2, .mask = 0x1, .running = 0x2b, .expected = UCS_CHOICE_NEWER, .revision = 0x2d },
        { 7, "in the other order", { &haswell_before, &haswell }, .signature = 0x306f2, .mask = 0x1, .running = 0x2b, .expected = UCS_CHOICE_NEWER, .revision = 0x2d },
        { 11, "06-8f-07", { &fixture_c }, .signature = 0x806f7, .mask = 0x1, .running = 0x100, .expected = UCS_CHOICE_NEWER, .revision = 0x120 },
        { 11, "06-8f-07, another mask", { &fixture_c }, .signature = 0x806f7, .mask = 0x10, .running = 0x100, .expected = UCS_CHOICE_NONE },
        { 11, "06-97-05", { &alder }, .signature = 0x90675, .mask = 0x2, .running = 0x20, .expected = UCS_CHOICE_NEWER, .revision = 0x3d },
        { 11, "06-97-06", { &alder }, .signature = 0x90676, .mask = 0x2, .running = 0x20, .expected = UCS_CHOICE_NONE },
        { 11, "behind an update for another", { &tiger, &sapphire_high, &sapphire_low }, .signature = 0x806f7, .mask = 0x80, .running = 0x2b000603,
          .expected = UCS_CHOICE_NEWER, .revision = 0x2b000650 },
        { 37, "masks are spaces of their own, low", { &sapphire_low, &sapphire_high }, .signature = 0x806f8, .mask = 0x1, .running = 0x2b000590,
          .expected = UCS_CHOICE_NEWER, .revision = 0x2b000650 },
        { 37, "masks are spaces of their own, high", { &sapphire_low, &sapphire_high }, .signature = 0x806f8, .mask = 0x10, .running = 0x2c000390,
          .expected = UCS_CHOICE_NEWER, .revision = 0x2c000410 },
        { 16, "no minimum", { &fixture_a }, .signature = 0x906eb, .mask = 0x2, .running = 0xf0, .flags = UCS_CHOOSE_FORCE_MINREV, .expected = UCS_CHOICE_NONE },
        { 16, "no minimum, nobody insists", { &fixture_a }, .signature = 0x906eb, .mask = 0x2, .running = 0xf0, .expected = UCS_CHOICE_NEWER, .revision = 0x100 },
        { 16, "minimum not met", { &fixture_b }, .signature = 0x906eb, .mask = 0x2, .running = 0xff, .flags = UCS_CHOOSE_FORCE_MINREV, .expected = UCS_CHOICE_NONE },
        { 16, "minimum met", { &fixture_b }, .signature = 0x906eb, .mask = 0x2, .running = 0x100, .flags = UCS_CHOOSE_FORCE_MINREV, .expected = UCS_CHOICE_NEWER, .revision = 0x110 },
        { 16, "AMD never", .amd = &fixture_d, .signature = 0xa20f10, .running = 0x0a201000, .flags = UCS_CHOOSE_FORCE_MINREV, .expected = UCS_CHOICE_NONE },
        { 31, "another model", .amd = &fixture_d, .signature = 0xa50f00, .running = 0x0a50000b, .expected = UCS_CHOICE_NONE },
        { 31, "another stepping", .amd = &fixture_d, .signature = 0xa20f12, .running = 0x0a201200, .expected = UCS_CHOICE_NONE },
        { 31, "the one that it is for", .amd = &fixture_d, .signature = 0xa20f10, .running = 0x0a201016, .expected = UCS_CHOICE_NEWER, .revision = 0x0a201030 },
        { 31, "an Intel file on AMD", { &fixture_a }, .signature = 0xa20f10, .running = 1, .expected = UCS_CHOICE_NONE },
};

ucs_test(cases, choice) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                const Row *r = &rows[i];
                const UcsUpdate *u = NULL;
                Fixture f = {};
                UcsError e = {};

                for (size_t k = 0; k < ELEMENTSOF(r->intel) && r->intel[k]; k++)
                        fixture_intel(&f, r->intel[k]);
                if (r->amd)
                        fixture_amd(&f, r->amd, 1);
                cr_assert_eq(ucs_update_file_parse(f.data, f.size, &file, &e), 0, "%u %s: %s", r->report, r->name, e.text);
                cr_expect_eq(ucs_update_choose_with(file, r->signature, r->mask, r->running, r->flags, &u), r->expected, "%u %s", r->report, r->name);
                cr_expect_eq(u ? u->revision : 0, r->revision, "%u %s: 0x%x", r->report, r->name, u ? u->revision : 0);
                fixture_done(&f);
        }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Revisions that are taken back: one look at the files after the other, and what went back from each to the next. */

#include "core/policy/policy.h"
#include "ucs-test.h"

typedef struct Look {
        UcsFinding finding;
        uint32_t on_disk;
        bool wrong; /* a candidate that is kept although its file is bad now */
        uint32_t from; /* expected; 0: nothing went back */
        bool changed;
} Look;

typedef struct Row {
        const char *name;
        size_t n; /* looks */
        Look looks[5];
} Row;

static const Row rows[] = {
        { "newer, and newer still", 2, { { UCS_FOUND_NEWER, 0x60, .changed = true }, { UCS_FOUND_NEWER, 0x68, .changed = true } } },
        { "the same, run or not", 3, { { UCS_FOUND_NEWER, 0x68, .changed = true }, { UCS_FOUND_NOT_NEWER, 0x68 }, { UCS_FOUND_NEWER, 0x68 } } },
        { "older", 3, { { UCS_FOUND_NOT_NEWER, 0x68, .changed = true }, { UCS_FOUND_NOT_NEWER, 0x60, .from = 0x68, .changed = true }, { UCS_FOUND_NOT_NEWER, 0x60 } } },
        { "older, and yet newer than what runs", 2, { { UCS_FOUND_NEWER, 0x68, .changed = true }, { UCS_FOUND_NEWER, 0x60, .from = 0x68, .changed = true } } },
        { "older from the start on: the board is ahead", 1, { { UCS_FOUND_NOT_NEWER, 0x60, .changed = true } } },
        { "revisions are unsigned", 2, { { UCS_FOUND_NEWER, 0x80000001, .changed = true }, { UCS_FOUND_NEWER, 0x70, .from = 0x80000001, .changed = true } } },
        { "none for these CPUs", 3, { { UCS_FOUND_NEWER, 0x68, .changed = true }, { UCS_FOUND_NO_MATCH, 0, .from = 0x68, .changed = true }, { UCS_FOUND_NO_MATCH, 0 } } },
        { "no file", 3, { { UCS_FOUND_NEWER, 0x68, .changed = true }, { UCS_FOUND_NOTHING, 0, .from = 0x68, .changed = true }, { UCS_FOUND_NEWER, 0x60, .changed = true } } },
        { "never a file", 2, { { UCS_FOUND_NOTHING, 0 }, { UCS_FOUND_NOTHING, 0 } } },
        { "bad, and right again", 4, { { UCS_FOUND_NEWER, 0x68, .changed = true }, { UCS_FOUND_BAD, 0 }, { UCS_FOUND_NEWER, 0, .wrong = true }, { UCS_FOUND_NEWER, 0x68 } } },
        { "bad, and older", 3, { { UCS_FOUND_NEWER, 0x68, .changed = true }, { UCS_FOUND_BAD, 0 }, { UCS_FOUND_NEWER, 0x60, .from = 0x68, .changed = true } } },
};

ucs_test(downgrade, one_group) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                UcsState s = {};

                for (size_t k = 0; k < rows[i].n; k++) {
                        const Look *l = &rows[i].looks[k];
                        UcsCandidate c = { .finding = l->finding, .signature = 0x806c1, .platform_mask = 0x80, .on_disk = l->on_disk };
                        UcsDowngrade d[UCS_SEEN_MAX];
                        bool changed = !l->changed;

                        if (l->wrong)
                                c.error.code = -EBADMSG;
                        cr_expect_eq(ucs_state_note_disk(&s, &(UcsScan){ &c, 1 }, d, &changed), l->from != 0, "%s, look %zu", rows[i].name, k);
                        cr_expect_eq(changed, l->changed, "%s, look %zu", rows[i].name, k);
                        if (l->from)
                                cr_expect(d[0].from == l->from && d[0].now == &c, "%s, look %zu: 0x%x", rows[i].name, k, d[0].from);
                }
        }
}

/* Each group by itself, and never more of them than there is room for. */
ucs_test(downgrade, groups) {
        UcsCandidate c[UCS_SEEN_MAX + 8] = {};
        UcsDowngrade d[UCS_SEEN_MAX];
        UcsState s = {};
        bool changed;

        for (size_t i = 0; i < ELEMENTSOF(c); i++)
                c[i] = (UcsCandidate){ .finding = UCS_FOUND_NEWER, .signature = 0x806c1, .platform_mask = (uint32_t) i, .on_disk = 0x68 };
        cr_expect_eq(ucs_state_note_disk(&s, &(UcsScan){ c, 3 }, d, &changed), 0U);
        c[1].on_disk = 0x60;
        cr_assert_eq(ucs_state_note_disk(&s, &(UcsScan){ c, 3 }, d, &changed), 1U);
        cr_expect_eq(d[0].now, &c[1]);
        cr_expect_eq(ucs_state_note_disk(&s, &(UcsScan){ c, ELEMENTSOF(c) }, d, &changed), 0U);
        cr_expect_eq(s.n_on_disk, (size_t) UCS_SEEN_MAX);
        for (size_t i = 0; i < ELEMENTSOF(c); i++)
                c[i].on_disk = 0x50;
        cr_expect_eq(ucs_state_note_disk(&s, &(UcsScan){ c, ELEMENTSOF(c) }, d, &changed), (size_t) UCS_SEEN_MAX);
}

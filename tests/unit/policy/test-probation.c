/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When the log is read after a load, and what a start after a reset means; and both on disk. */

#include <string.h>

#include "base/timefmt.h"
#include "core/policy/policy.h"
#include "ucs-test.h"

#define T UINT64_C(1796126400000000)

static const struct {
        uint64_t length, read, expected; /* after the load */
} rows[] = {
        { USEC_PER_DAY, 0, USEC_PER_MINUTE },
        { USEC_PER_DAY, USEC_PER_MINUTE - 1, USEC_PER_MINUTE },
        { USEC_PER_DAY, USEC_PER_MINUTE, 10 * USEC_PER_MINUTE },
        { USEC_PER_DAY, 5 * USEC_PER_MINUTE, 10 * USEC_PER_MINUTE },
        { USEC_PER_DAY, 10 * USEC_PER_MINUTE, USEC_PER_HOUR },
        { USEC_PER_DAY, USEC_PER_HOUR, USEC_PER_DAY },
        { USEC_PER_DAY, 3 * USEC_PER_DAY, USEC_PER_DAY }, /* it is over: look at once */
        { 30 * USEC_PER_SEC, 0, 30 * USEC_PER_SEC },
        { 5 * USEC_PER_MINUTE, USEC_PER_MINUTE, 5 * USEC_PER_MINUTE },
};

ucs_test(probation, moments) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                UcsProbation p = { .since_usec = T, .until_usec = T + rows[i].length, .read_until_usec = T + rows[i].read };

                cr_expect_eq(ucs_probation_next(&p), T + rows[i].expected, "row %zu", i);
        }
        cr_expect_eq(ucs_probation_next(&(UcsProbation){}), 0U);
}

ucs_test(probation, resets) {
        UcsProbation p = { .since_usec = T, .until_usec = T + USEC_PER_DAY, .boot_id = "a" };

        cr_expect_not(ucs_probation_unclean(&p, "a"), "the daemon died, the machine did not");
        cr_expect(ucs_probation_unclean(&p, "b"));
        p.clean = true;
        cr_expect_not(ucs_probation_unclean(&p, "b"), "an orderly reboot");
        cr_expect_not(ucs_probation_unclean(&(UcsProbation){}, "b"));
}

ucs_test(probation, on_disk) {
        _cleanup_free_ char *text = NULL, *again = NULL;
        UcsState s = {}, back = {};
        UcsRejection x = { .result = UCS_RESULT_REGRESSED, .when_usec = T, .suspect = true, .digest = { 9 } };
        UcsError e = {};
        size_t size;

        s.probation = (UcsProbation){ .since_usec = T, .until_usec = T + 1, .read_until_usec = T, .digest = { 7 }, .boot_id = "b-1", .clean = true };
        s.seen[s.n_seen++] = (UcsSeen){ 0x50654, 1, 0x200003a };
        s.seen[s.n_seen++] = (UcsSeen){ 0x50654, 2, 0x2000040 };
        memcpy(s.seen_boot, "b-1", 4);
        ucs_state_reject(&s, &x);
        cr_assert_eq(ucs_state_format(&s, &text, &size), 0);
        cr_assert_eq(ucs_state_parse(text, size, &back, &e), 0, "%s", e.text);
        cr_assert_eq(ucs_state_format(&back, &again, NULL), 0);
        cr_expect_str_eq(again, text);
        cr_expect(back.rejections[0].suspect);
        cr_expect(back.probation.clean);
        cr_expect_str_eq(back.seen_boot, "b-1");
        cr_expect_eq(back.n_seen, 2U);
}

/* A file that is suspect blocks as suspect-crash, not as rejected, and no flag helps. */
ucs_test(probation, suspects_block) {
        UcsState s = {};
        UcsRejection x = { .result = UCS_RESULT_REGRESSED, .suspect = true, .digest = { 9 } };
        const uint8_t digest[UCS_DIGEST_SIZE] = { 9 };

        ucs_state_reject(&s, &x);
        cr_expect(ucs_state_rejection(&s, digest)->suspect);
        cr_expect_eq(ucs_blocker_set_override(ucs_blocker_bit(UCS_BLOCKER_SUSPECT_CRASH), _UCS_APPLY_ALL), ucs_blocker_bit(UCS_BLOCKER_SUSPECT_CRASH));
        cr_expect(ucs_state_acknowledge(&s, digest));
        cr_expect_null(ucs_state_rejection(&s, digest));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Results: the revisions decide, the errno explains. Rows follow the kernel's table of answers. */

#include <errno.h>
#include <stdio.h>

#include "core/policy/result.h"
#include "ucs-test.h"

#define OLD 0x100U
#define NEW 0x110U

static const struct {
        const char *name;
        int open_errno, write_errno;
        uint32_t before[4], after[4]; /* 0: the CPU is offline */
        bool digest, unreadable;
        UcsResult result;
        const char *laggards;
} rows[] = {
        { "all updated", 0, 0, { OLD, OLD, OLD, OLD }, { NEW, NEW, NEW, NEW }, .result = UCS_RESULT_SUCCESS, .laggards = "" },
        { "all updated, one was before", 0, 0, { OLD, NEW, OLD, OLD }, { NEW, NEW, NEW, NEW }, .result = UCS_RESULT_SUCCESS, .laggards = "" },
        { "all updated, but an error for an offline sibling", 0, EIO, { OLD, OLD, OLD, 0 }, { NEW, NEW, NEW, 0 }, .result = UCS_RESULT_SUCCESS, .laggards = "" },
        { "up to date, Intel", 0, ENOENT, { NEW, NEW, NEW, NEW }, { NEW, NEW, NEW, NEW }, .result = UCS_RESULT_NO_CHANGE, .laggards = "" },
        { "up to date, AMD", 0, 0, { NEW, NEW, NEW, NEW }, { NEW, NEW, NEW, NEW }, .result = UCS_RESULT_NO_CHANGE, .laggards = "" },
        { "refused", 0, ENOENT, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_REFUSED, .laggards = "0-3" },
        { "malformed", 0, EBADFD, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_MALFORMED, .laggards = "0-3" },
        { "offline primary", 0, EBUSY, { OLD, OLD, OLD, 0 }, { OLD, OLD, OLD, 0 }, .result = UCS_RESULT_BUSY, .laggards = "0-2" },
        { "offline CPU, old kernel", 0, EINVAL, { OLD, OLD, OLD, 0 }, { OLD, OLD, OLD, 0 }, .result = UCS_RESULT_BUSY, .laggards = "0-2" },
        { "all failed", 0, EIO, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_IO_ERROR, .laggards = "0-3" },
        { "all failed, old kernel", 0, EPERM, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_IO_ERROR, .laggards = "0-3" },
        { "some failed", 0, EIO, { OLD, OLD, OLD, OLD }, { NEW, NEW, OLD, NEW }, .result = UCS_RESULT_MIXED_REVISIONS, .laggards = "2" },
        { "some failed, and the kernel calls it success", 0, 0, { OLD, OLD, OLD, OLD }, { NEW, OLD, OLD, NEW }, .result = UCS_RESULT_MIXED_REVISIONS, .laggards = "1-2" },
        { "again after a partial failure, Intel", 0, ENOENT, { NEW, OLD, OLD, OLD }, { NEW, OLD, OLD, OLD }, .result = UCS_RESULT_MIXED_REVISIONS, .laggards = "1-3" },
        { "nothing done, AMD", 0, 0, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_NO_CHANGE, .laggards = "0-3" },
        { "digest unknown", 0, 0, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .digest = true, .result = UCS_RESULT_DIGEST_REJECTED, .laggards = "0-3" },
        { "digest unknown, and an error", 0, EIO, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .digest = true, .result = UCS_RESULT_DIGEST_REJECTED, .laggards = "0-3" },
        { "another revision arrived", 0, 0, { OLD, OLD, OLD, OLD }, { 0x120, 0x120, 0x120, 0x120 }, .result = UCS_RESULT_UNEXPECTED_REVISION, .laggards = "0-3" },
        { "another revision arrived on some", 0, 0, { OLD, OLD, OLD, OLD }, { 0x120, 0x120, OLD, OLD }, .result = UCS_RESULT_MIXED_REVISIONS, .laggards = "0-3" },
        { "read-only", EROFS, 0, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_NOT_PERMITTED, .laggards = "0-3" },
        { "not allowed", EACCES, 0, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_NOT_PERMITTED, .laggards = "0-3" },
        { "EPERM at open is another thing", EPERM, 0, { OLD, OLD, OLD, OLD }, { OLD, OLD, OLD, OLD }, .result = UCS_RESULT_NOT_PERMITTED, .laggards = "0-3" },
        { "nobody can tell", 0, 0, { OLD, OLD, OLD, OLD }, {}, .unreadable = true, .result = UCS_RESULT_IO_ERROR, .laggards = "" },
        { "nobody can tell, but the kernel spoke", 0, EBADFD, { OLD, OLD, OLD, OLD }, {}, .unreadable = true, .result = UCS_RESULT_MALFORMED, .laggards = "" },
};

static void fill(UcsMachine *m, UcsCpu *cpus, const uint32_t *revisions) {
        *m = (UcsMachine){ .vendor = UCS_VENDOR_INTEL, .support = UCS_SUPPORT_LATE_LOAD, .cpus = cpus };
        for (unsigned i = 0; i < 4; i++)
                if (revisions[i])
                        cpus[m->n_cpus++] = (UcsCpu){ .cpu = i, .signature = 0x906eb, .platform_mask = 2, .revision = revisions[i] };
}

ucs_test(result, table) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                UcsCpu cpus_before[5], cpus_after[5];
                _cleanup_free_ char *list = NULL;
                UcsMachine before, after;
                UcsCpuSet laggards;
                UcsResult r;

                fill(&before, cpus_before, rows[i].before);
                fill(&after, cpus_after, rows[i].after);
                /* a CPU of another group is no business of this attempt */
                cpus_after[after.n_cpus++] = (UcsCpu){ .cpu = 9, .signature = 0x906eb, .platform_mask = 4, .revision = 1 };
                r = ucs_result_judge(&(UcsAttempt){ rows[i].open_errno, rows[i].write_errno, 0x906eb, 2, NEW, rows[i].digest, &before,
                                                    rows[i].unreadable ? NULL : &after },
                                     &laggards);
                cr_expect_eq(r, rows[i].result, "%s: '%s', expected '%s'", rows[i].name, ucs_result_to_string(r), ucs_result_to_string(rows[i].result));
                cr_assert_eq(ucs_cpuset_format(&laggards, &list), 0);
                cr_expect_str_eq(list, rows[i].laggards, "%s: laggards '%s'", rows[i].name, list);
        }
}

ucs_test(result, what_is_not_tried_again) {
        for (UcsResult r = UCS_RESULT_SUCCESS; r < _UCS_RESULT_MAX; r++)
                cr_expect_eq(ucs_result_rejects(r), r != UCS_RESULT_SUCCESS && r != UCS_RESULT_CANCELLED && r != UCS_RESULT_EXTERNAL, "%s",
                             ucs_result_to_string(r));
}

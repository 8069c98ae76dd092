/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What became of a load. The write's errno proves nothing by itself (ENOENT is also "up to date", success on AMD is also
 * "nothing done"): the revisions of all CPUs decide, the errno only explains. */

#include "core/policy/machine.h"

typedef enum UcsResult {
        UCS_RESULT_NONE, /* "" : there was no load yet */
        UCS_RESULT_SUCCESS,
        UCS_RESULT_NO_CHANGE,
        UCS_RESULT_REFUSED,
        UCS_RESULT_MALFORMED,
        UCS_RESULT_BUSY,
        UCS_RESULT_IO_ERROR,
        UCS_RESULT_MIXED_REVISIONS,
        UCS_RESULT_DIGEST_REJECTED,
        UCS_RESULT_UNEXPECTED_REVISION,
        UCS_RESULT_NOT_PERMITTED,
        UCS_RESULT_TIMEOUT,
        UCS_RESULT_CANCELLED,
        UCS_RESULT_REGRESSED,
        UCS_RESULT_EXTERNAL,
        _UCS_RESULT_MAX,
        _UCS_RESULT_INVALID = -EINVAL,
} UcsResult;

const char *ucs_result_to_string(UcsResult r);
UcsResult ucs_result_from_string(const char *s);

/* The one sentence that an administrator needs next. `laggards`: the CPUs that kept an older revision, of mixed-revisions; NULL where they are
 * not known. What brings them up was seen on Linux 7.3.4, Intel and AMD (tests/vm/case_partial.py): the kernel judges a write by the revision of
 * CPU 0 and loads for all or for none, and it gives a CPU that comes online what the others have. */
const char *ucs_result_advice(UcsResult r, const UcsCpuSet *laggards);

/* May this file be tried again by itself? Only `busy` (when the CPUs are there, or at the next window). */
bool ucs_result_rejects(UcsResult r);

typedef struct UcsAttempt {
        int open_errno;  /* 0, or the errno of opening the reload file */
        int write_errno; /* 0, or the errno of the write */
        uint32_t signature, platform_mask; /* the group that the update was for */
        uint32_t target_revision;
        bool digest_rejected;         /* the kernel's log named a digest */
        const UcsMachine *before;     /* revisions before */
        const UcsMachine *after;      /* and after; NULL: could not be read */
} UcsAttempt;

/* Decide from the revisions. `ret_laggards` (may be NULL): the CPUs of the group that do not run the target. */
UcsResult ucs_result_judge(const UcsAttempt *a, UcsCpuSet *ret_laggards);

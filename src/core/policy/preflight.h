/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel would answer to a write of "1" now. The answer proves nothing by itself; that prediction and answer differ does:
 * both are kept in the history. Source: arch/x86/kernel/cpu/microcode/core.c, load_late_locked() and what it calls, 6.7 and later. */

#include "core/policy/candidate.h"

/* 0: success, also AMD's "nothing done"; else the positive errno of the write: ENOENT, EBADFD, EBUSY, EIO. `k` may be NULL: no file at all. */
int ucs_preflight(const UcsMachine *m, const UcsCandidate *k);

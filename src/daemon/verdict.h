/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "core/policy/result.h"
#include "daemon/apply.h"

/* Until a file is tried again that met a busy kernel with no CPU to wait for and no window to come. */
#define VERDICT_RETRY_USEC USEC_PER_HOUR

typedef struct Verdict {
        UcsResult result;
        uint32_t new_revision; /* the lowest of the group */
        UcsCpuSet laggards;
} Verdict;

/* The fields of all events about this load. */
LogFields verdict_fields(const Apply *a, const char *state, char hex[static UCS_DIGEST_HEX_MAX]);

void verdict_write_down(Manager *m, const Apply *a, const UcsReloadOutcome *o, const Verdict *v);

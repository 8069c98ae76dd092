/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel's log says about a load, and about a machine that does not take it well: lines of all kernel generations, told apart by a
 * table of patterns. Sources: arch/x86/kernel/cpu/microcode/{core,intel,amd}.c, kernel/watchdog.c, kernel/rcu/tree_stall.h,
 * arch/x86/kernel/{traps,tsc}.c, kernel/time/clocksource.c, arch/x86/kernel/cpu/mce/core.c. */

#include "base/macro.h"

typedef enum UcsSymptom {
        UCS_SYMPTOM_LOADED = 1U << 0,           /* the loader says that it loaded */
        UCS_SYMPTOM_LOAD_FAILED = 1U << 1,      /* and that it did not, on some CPU or on all */
        UCS_SYMPTOM_DIGEST = 1U << 2,           /* AMD: no, or another, SHA-256 digest is known */
        UCS_SYMPTOM_FEATURES = 1U << 3,         /* CPU features changed */
        UCS_SYMPTOM_UNSAFE = 1U << 4,           /* loaded without a minimum revision, or refused for it */
        UCS_SYMPTOM_BAD_FILE = 1U << 5,
        UCS_SYMPTOM_OFFLINE = 1U << 6,          /* a CPU that the load needs is not online */
        UCS_SYMPTOM_MACHINE_CHECK = 1U << 7,
        UCS_SYMPTOM_LOCKUP = 1U << 8,           /* soft or hard */
        UCS_SYMPTOM_RCU_STALL = 1U << 9,
        UCS_SYMPTOM_INVALID_OPCODE = 1U << 10,
        UCS_SYMPTOM_TSC_UNSTABLE = 1U << 11,
} UcsSymptom;

/* Those that end a probation badly. */
#define UCS_SYMPTOMS_OF_REGRESSION                                                                             \
        ((unsigned) (UCS_SYMPTOM_MACHINE_CHECK | UCS_SYMPTOM_LOCKUP | UCS_SYMPTOM_RCU_STALL | UCS_SYMPTOM_INVALID_OPCODE | UCS_SYMPTOM_TSC_UNSTABLE))

/* The symptoms of one line (bits); 0: it says nothing to us. */
unsigned ucs_symptoms_of_line(const char *line);

/* The symptoms of many, and the first line that has one of `wanted` (NULL: none). `lines` is NULL-terminated, or NULL. */
unsigned ucs_symptoms(char *const *lines, unsigned wanted, const char **ret_first);

/* One word a bit, for sentences; NULL for no or several bits. */
const char *ucs_symptom_describe(unsigned symptom);

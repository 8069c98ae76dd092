/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a load did to the machine beside the revision: features by raw CPUID, clocksource, taint, what the kernel wrote in its log. Marked right
 * before, looked at right after; sentences out. */

#include "core/record/features.h"
#include "daemon/manager.h"

typedef struct Aftermath {
        uint64_t since_usec;
        bool have_features;
        UcsCpuidLeaf features[UCS_FEATURE_LEAVES];
        char clocksource[32];
        uint64_t tainted; /* UCS_UNKNOWN */

        /* after aftermath_look() */
        unsigned symptoms;
        char *changed; /* features, "" none; owned */
        char *note;    /* sentences for the history, NULL: none; owned */
} Aftermath;

void aftermath_mark(Manager *m, Aftermath *a);
void aftermath_look(Manager *m, Aftermath *a);
void aftermath_note_enclaves(const Manager *m, Aftermath *a); /* something was loaded: add to the note what that does not change for them */
void aftermath_done(Aftermath *a);

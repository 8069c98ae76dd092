/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When to look again after a load; see probation.h. */

#include "base/str.h"
#include "base/timefmt.h"
#include "core/policy/probation.h"

uint64_t ucs_probation_next(const UcsProbation *p) {
        static const uint64_t steps[] = { USEC_PER_MINUTE, 10 * USEC_PER_MINUTE, USEC_PER_HOUR };

        if (p->since_usec == 0)
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                uint64_t t = p->since_usec + steps[i];

                if (t > p->read_until_usec && t < p->until_usec)
                        return t;
        }
        return p->until_usec;
}

bool ucs_probation_unclean(const UcsProbation *p, const char *boot_id) {
        return p->since_usec > 0 && !p->clean && !streq(p->boot_id, boot_id);
}

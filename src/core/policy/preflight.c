/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's answer, foretold in the kernel's own order: CPUs first, then the file; see preflight.h. */

#include <errno.h>

#include "core/policy/preflight.h"

int ucs_preflight(const UcsMachine *m, const UcsCandidate *k) {
        if (m->support != UCS_SUPPORT_LATE_LOAD)
                return ENOENT;
        if (ucs_cpuset_count(&m->offline_primaries) > 0)
                return EBUSY;
        if (!k)
                return ENOENT;
        if (k->error.code != 0)
                return EBADFD;

        switch (k->finding) {
        case UCS_FOUND_NOTHING:
                return ENOENT;
        case UCS_FOUND_BAD:
                return EBADFD;
        case UCS_FOUND_NO_MATCH:
        case UCS_FOUND_NOT_NEWER:
                return m->vendor == UCS_VENDOR_AMD ? 0 : ENOENT;
        case UCS_FOUND_NEWER:
                break;
        }

        /* AMD's offline siblings do not answer the NMI; Intel's are brought along by theirs */
        if (m->vendor == UCS_VENDOR_AMD && ucs_cpuset_count(&m->offline_siblings) > 0)
                return EIO;
        return 0;
}

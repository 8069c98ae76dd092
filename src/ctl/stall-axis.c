/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Round steps of time; see stall-axis.h. */

#include <stdio.h>

#include "ctl/stall-axis.h"

StallAxis stall_axis(uint64_t span_nsec, double most) {
        static const struct {
                const char *name;
                uint64_t nsec, from_nsec;
        } units[] = {
                { "s", NSEC_PER_SEC, 10 * NSEC_PER_SEC },
                { "ms", NSEC_PER_MSEC, NSEC_PER_MSEC + NSEC_PER_MSEC / 2 },
                { "us", NSEC_PER_USEC, NSEC_PER_USEC + NSEC_PER_USEC / 2 },
                { "ns", 1, 0 },
        };
        static const double rounds[] = { 1, 2, 5 };
        size_t u = 0;
        double span, power = 0.001;

        while (span_nsec < units[u].from_nsec)
                u++;
        span = (double) span_nsec / (double) units[u].nsec;
        for (;; power *= 10)
                for (size_t i = 0; i < ELEMENTSOF(rounds); i++)
                        if (span / (rounds[i] * power) <= most)
                                return (StallAxis){ units[u].name, (double) units[u].nsec, rounds[i] * power };
}

double stall_axis_nsec(const StallAxis *a, unsigned i) {
        return i * a->step * a->per_unit;
}

const char *stall_axis_label(char buf[static STALL_LABEL_MAX], const StallAxis *a, unsigned i) {
        (void) snprintf(buf, STALL_LABEL_MAX, "%.10g%s%s", i * a->step, i == 0 ? " " : "", i == 0 ? a->unit : "");
        return buf;
}

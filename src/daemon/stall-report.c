/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stall in the journal; see stall-report.h. */

#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "daemon/message-ids.h"
#include "daemon/stall-report.h"

const char *stall_format_forecast(char buf[static STALL_FORECAST_MAX], const UcsForecast *f) {
        char low[UCS_TIMESPAN_MAX], high[UCS_TIMESPAN_MAX];

        if (f->low_nsec == UCS_UNKNOWN || f->high_nsec == UCS_UNKNOWN)
                (void) snprintf(buf, STALL_FORECAST_MAX, "how long the machine will stand still is not known");
        else
                (void) snprintf(buf, STALL_FORECAST_MAX, "the machine is expected to stand still for %s to %s", ucs_format_stall(low, f->low_nsec),
                                ucs_format_stall(high, f->high_nsec));
        return buf;
}

void stall_say_witnesses(const UcsWitness *w, const UcsError *missing) {
        const UcsWitnessKind decides = ucs_witness_kind(w);
        _cleanup_text_ UcsText beside = {};

        for (UcsWitnessKind k = _UCS_WITNESS_MAX - 1; k > UCS_WITNESS_NONE; k--)
                if (k != decides && ucs_witness_on(w, k))
                        ucs_text_appendf(&beside, "%s%s", beside.length > 0 ? ", " : "; beside it ", ucs_witness_to_string(k));
        log_info("The stall is measured by '%s'%s%s%s", ucs_witness_to_string(decides), beside.data ?: "",
                 missing->code != 0 ? ". Not there is " : "", missing->code != 0 ? missing->text : "");
}

bool stall_over_budget(const Manager *m, const UcsStall *s) {
        return s->stall_nsec != UCS_UNKNOWN && s->stall_nsec > m->config->max_stall_nsec;
}

void stall_say_over_budget(const Manager *m, const UcsStall *s, const LogFields *f) {
        char span[UCS_TIMESPAN_MAX];

        if (stall_over_budget(m, s))
                log_event(LOG_WARNING, UCS_MESSAGE_STALL_OVER_BUDGET, f, "The machine stood still for %s, longer than MaxStallMSec= allows (%" PRIu64 " ms)",
                          ucs_format_stall(span, s->stall_nsec), m->config->max_stall_nsec / NSEC_PER_MSEC);
}

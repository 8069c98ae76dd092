/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's trace as text (tracefs, "trace" with trace_clock x86-tsc), for the one question that the kernel witness asks of it: how many
 * TSC ticks lie between the entry to and the return from stop_machine_cpuslocked() of one thread. */

#include "base/macro.h"

#define UCS_TRACE_EVENT_IN "stop_in"
#define UCS_TRACE_EVENT_OUT "stop_out"

/* The longest pair of the two events of thread `tid`, in the order of the text. 1: `*ret_ticks`; 0: there is no whole pair. Lines that are
 * none of the two are passed over. */
int ucs_trace_stop_ticks(const char *text, uint32_t tid, uint64_t *ret_ticks);

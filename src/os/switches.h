/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The context switches of one thread, out of a ring buffer of perf_event_open(2): PERF_RECORD_SWITCH records that carry nothing but their
 * time (attr.sample_id_all, sample_type PERF_SAMPLE_TIME). Bytes in, intervals out; os/perf-switch.h has the buffers. */

#include <stddef.h>

#include "base/macro.h"

typedef struct UcsSwitches {
        uint64_t entry_nsec, exit_nsec; /* of the longest run; UCS_UNKNOWN: none has ended */
        uint64_t runs;                  /* how often the thread was switched in */
        bool running;                   /* switched in, and not out again yet */
        uint64_t n_lost;                /* records that found no room */
} UcsSwitches;

/* `ring` has `size` bytes, a power of two; what lies between `tail` and `head` (counters that only grow) is read. -EBADMSG: that is no sequence
 * of whole records, `ret` untouched. Records of other types are passed over; a switch out without one in belongs to a run that began
 * before. */
int ucs_switches_read(const void *ring, size_t size, uint64_t tail, uint64_t head, UcsSwitches *ret);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decoding switch records; see switches.h. */

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "os/switches.h"

/* PERF_RECORD_LOST: id and count behind the header, the sample's id behind them. PERF_RECORD_SWITCH: only the latter, its time. */
#define RECORD_MAX 64U

/* Copy out of the ring, round its end. */
static void copy_out(const uint8_t *ring, size_t size, uint64_t from, void *to, size_t n) {
        const size_t at = (size_t) (from & (size - 1)), first = MIN(n, size - at);

        memcpy(to, ring + at, first);
        memcpy((uint8_t *) to + first, ring, n - first);
}

static void take_switch(UcsSwitches *s, bool out, uint64_t nsec, uint64_t *in_nsec) {
        if (!out) {
                s->runs++;
                s->running = true;
                *in_nsec = nsec;
                return;
        }
        if (!s->running)
                return;
        s->running = false;
        if (nsec < *in_nsec)
                return;
        if (s->entry_nsec == UCS_UNKNOWN || nsec - *in_nsec > s->exit_nsec - s->entry_nsec) {
                s->entry_nsec = *in_nsec;
                s->exit_nsec = nsec;
        }
}

int ucs_switches_read(const void *ring, size_t size, uint64_t tail, uint64_t head, UcsSwitches *ret) {
        UcsSwitches s = { .entry_nsec = UCS_UNKNOWN, .exit_nsec = UCS_UNKNOWN };
        uint64_t in_nsec = 0;

        if (size == 0 || (size & (size - 1)) != 0 || head < tail || head - tail > size)
                return -EBADMSG;

        while (tail < head) {
                struct perf_event_header h;
                uint64_t words[RECORD_MAX / sizeof(uint64_t)] = {};

                if (head - tail < sizeof(h))
                        return -EBADMSG;
                copy_out(ring, size, tail, &h, sizeof(h));
                if (h.size < sizeof(h) || h.size > head - tail)
                        return -EBADMSG;
                copy_out(ring, size, tail + sizeof(h), words, MIN(h.size - sizeof(h), sizeof(words)));

                if (h.type == PERF_RECORD_SWITCH) {
                        if (h.size != sizeof(h) + sizeof(uint64_t))
                                return -EBADMSG;
                        take_switch(&s, h.misc & PERF_RECORD_MISC_SWITCH_OUT, words[0], &in_nsec);
                } else if (h.type == PERF_RECORD_LOST) {
                        if (h.size < sizeof(h) + 2 * sizeof(uint64_t) ||
                            __builtin_add_overflow(s.n_lost, words[1], &s.n_lost))
                                return -EBADMSG;
                }
                tail += h.size;
        }
        *ret = s;
        return 0;
}

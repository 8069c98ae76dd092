/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Switch records of a ring buffer: sequences, the ring's end, and what no kernel writes. */

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "os/switches.h"
#include "ucs-test.h"

#define SIZE 256U

typedef struct Ring {
        uint8_t bytes[SIZE];
        uint64_t tail, head;
} Ring;

static void put_bytes(Ring *r, const void *data, size_t n) {
        for (size_t i = 0; i < n; i++)
                r->bytes[r->head++ % SIZE] = ((const uint8_t *) data)[i];
}

static void put_record(Ring *r, uint32_t type, uint16_t misc, const uint64_t *words, size_t n_words) {
        const struct perf_event_header h = { .type = type, .misc = misc, .size = (uint16_t) (sizeof(h) + n_words * 8) };

        put_bytes(r, &h, sizeof(h));
        put_bytes(r, words, n_words * 8);
}

static void put_switch(Ring *r, bool out, uint64_t nsec) {
        put_record(r, PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0, &nsec, 1);
}

/* "i" in, "o" out, "L" a loss of 3 records, "t" a record of another type; the n-th stands for the time 100 n. */
ucs_test(switches, sequences) {
        static const struct {
                const char *events;
                uint64_t entry, exit, runs;
                bool running;
                uint64_t lost;
        } table[] = {
                { "", UCS_UNKNOWN, UCS_UNKNOWN, 0, false, 0 },
                { "io", 100, 200, 1, false, 0 },
                { "i", UCS_UNKNOWN, UCS_UNKNOWN, 1, true, 0 },
                { "o", UCS_UNKNOWN, UCS_UNKNOWN, 0, false, 0 },
                { "oio", 200, 300, 1, false, 0 },
                { "ioio", 100, 200, 2, false, 0 },
                { "iotitto", 400, 700, 2, false, 0 },
                { "ioi", 100, 200, 2, true, 0 },
                { "itto", 100, 400, 1, false, 0 },
                { "Lio", 200, 300, 1, false, 3 },
                { "ioLL", 100, 200, 1, false, 6 },
                { "ii", UCS_UNKNOWN, UCS_UNKNOWN, 2, true, 0 },
        };

        /* from every place of the ring, so that records and their numbers lie across its end */
        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
                for (uint64_t start = 0; start < 2 * SIZE; start += 8) {
                        Ring r = { .tail = start, .head = start };
                        UcsSwitches s = {};
                        uint64_t nsec = 0;

                        for (const char *p = table[i].events; *p; p++) {
                                const uint64_t loss[] = { 1, 3, nsec += 100 };

                                switch (*p) {
                                case 'i':
                                case 'o':
                                        put_switch(&r, *p == 'o', nsec);
                                        break;
                                case 'L':
                                        put_record(&r, PERF_RECORD_LOST, 0, loss, 3);
                                        break;
                                case 't':
                                        put_record(&r, PERF_RECORD_THROTTLE, 0, loss, 3);
                                        break;
                                }
                        }
                        cr_assert_eq(ucs_switches_read(r.bytes, SIZE, r.tail, r.head, &s), 0, "%s at %ju", table[i].events, (uintmax_t) start);
                        cr_assert_eq(s.entry_nsec, table[i].entry, "%s at %ju", table[i].events, (uintmax_t) start);
                        cr_assert_eq(s.exit_nsec, table[i].exit, "%s at %ju", table[i].events, (uintmax_t) start);
                        cr_assert_eq(s.runs, table[i].runs, "%s at %ju", table[i].events, (uintmax_t) start);
                        cr_assert_eq(s.running, table[i].running, "%s", table[i].events);
                        cr_assert_eq(s.n_lost, table[i].lost, "%s", table[i].events);
                }
}

ucs_test(switches, refuses) {
        UcsSwitches s = { .runs = 42 };
        Ring r = {};

        put_switch(&r, false, 100);
        put_switch(&r, true, 200);
        for (uint64_t head = 1; head < r.head; head++)
                cr_expect_eq(ucs_switches_read(r.bytes, SIZE, 0, head, &s), head % 16 == 0 ? 0 : -EBADMSG, "%ju bytes", (uintmax_t) head);
        s.runs = 42;
        cr_expect_eq(ucs_switches_read(r.bytes, SIZE, 5, 4, &s), -EBADMSG);
        cr_expect_eq(ucs_switches_read(r.bytes, SIZE, 0, SIZE + 1, &s), -EBADMSG);
        cr_expect_eq(ucs_switches_read(r.bytes, 100, 0, 32, &s), -EBADMSG);
        cr_expect_eq(ucs_switches_read(r.bytes, 0, 0, 0, &s), -EBADMSG);
        memset(r.bytes, 0, SIZE); /* records of no length go nowhere */
        cr_expect_eq(ucs_switches_read(r.bytes, SIZE, 0, 32, &s), -EBADMSG);
        memset(r.bytes, 0xff, SIZE);
        cr_expect_eq(ucs_switches_read(r.bytes, SIZE, 0, SIZE, &s), -EBADMSG);
        cr_expect_eq(s.runs, 42, "untouched");
}

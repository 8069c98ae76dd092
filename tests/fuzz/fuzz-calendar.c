/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calendar expressions and windows. The first byte picks a zone and a length, eight more are a moment, the rest is the text. Holds: a
 * refusal says why, a normal form is its own normal form, next times increase and show on the clock what was asked for, and a
 * window that holds a moment is found from it. */

#include <errno.h>

#include "base/timefmt.h"
#include "core/schedule/window.h"
#include "fuzz.h"

#define HEAD 9
#define TEXT_MAX 1024

/* A zone with a rule and nothing else: version 2, no transition, one type, a footer. */
static UcsZone *make_zone(const char *footer) {
        static const uint8_t block[44] = { 'T', 'Z', 'i', 'f', '2', [39] = 1, [43] = 4 };
        uint8_t data[512], *p = data;
        UcsZone *z = NULL;

        for (unsigned i = 0; i < 2; i++) {
                memcpy(p, block, sizeof(block));
                memcpy(p + 44, "\0\0\0\0\0\0LMT", 10);
                p += 54;
        }
        p += snprintf((char *) p, 256, "\n%s\n", footer);
        fuzz_check(ucs_zone_new("Fuzz/Zone", data, (size_t) (p - data), &z, NULL) == 0);
        return z;
}

static int load_zone(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        fuzz_check(*name && *name != '/' && !strstr(name, "..") && !strstr(name, "//"));
        if (strlen(name) != 3)
                return ucs_error_set(e, -ENOENT, "there is no %s", name);
        *ret = make_zone("CET-1CEST,M3.5.0,M10.5.0/3");
        return 0;
}

static void check_window(const UcsCalendar *calendar, const char *text, uint64_t length_sec, const UcsZone *z, uint64_t at) {
        static const UcsZoneSource zones = { load_zone, NULL };
        UcsWindowList l = {};
        UcsInterval first, second;
        char s[TEXT_MAX + 64];
        UcsWindow *w = NULL;
        uint64_t start;

        (void) snprintf(s, sizeof(s), "%s for %lus", text, (unsigned long) length_sec);
        if (ucs_window_parse(s, &zones, &w, NULL) < 0)
                return; /* blanks at the ends and a "for" within are another text */
        fuzz_check(ucs_window_list_add(&l, w) == 0);
        if (ucs_window_list_next(&l, z, at, &first) >= 0) {
                fuzz_check(first.start_usec < first.end_usec && first.end_usec > at);
                /* nothing starts between the moment and an interval that comes later */
                fuzz_check(first.start_usec <= at ||
                           (ucs_calendar_next(calendar, z, at, &start) >= 0 && start == first.start_usec));
                /* the same interval is found from its start, and another one from its end */
                if (first.end_usec < UINT64_MAX && first.start_usec > 0 && first.end_usec - first.start_usec < USEC_PER_DAY) {
                        fuzz_check(ucs_window_list_next(&l, z, first.start_usec, &second) >= 0 &&
                                   second.start_usec == first.start_usec && second.end_usec == first.end_usec);
                        fuzz_check(ucs_window_list_next(&l, z, first.end_usec, &second) < 0 ||
                                   second.start_usec > first.end_usec);
                }
        }
        ucs_window_list_done(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const UcsZoneSource zones = { load_zone, NULL };
        static const char *const footers[] = {
                "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "AAA0BBB-24,M3.5.0/0,M10.5.0/24",
        };
        static const uint64_t lengths_sec[] = { 1, 60, 5400, 86400, 8 * 86400, 366 * 86400 };
        _cleanup_(ucs_calendar_freep) UcsCalendar *c = NULL, *again = NULL;
        _cleanup_free_ char *normal = NULL, *twice = NULL;
        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
        uint64_t after, t, last;
        char text[TEXT_MAX + 1];
        UcsError e = {};
        int r;

        if (size < HEAD || size - HEAD > TEXT_MAX)
                return 0;
        memcpy(&after, data + 1, sizeof(after));
        after %= UINT64_C(7300000000) * USEC_PER_SEC;
        memcpy(text, data + HEAD, size - HEAD);
        text[size - HEAD] = '\0';

        r = ucs_calendar_parse(text, &zones, &c, &e);
        if (r < 0) {
                fuzz_check((r == -EINVAL || r == -ENOENT) && e.code == r && strstr(e.text, "column "));
                return 0;
        }
        fuzz_check(ucs_calendar_format(c, &normal) == 0);
        fuzz_check(ucs_calendar_parse(normal, &zones, &again, NULL) == 0 && ucs_calendar_format(again, &twice) == 0);
        fuzz_check(strcmp(normal, twice) == 0);

        z = make_zone(footers[data[0] % 4]);
        t = last = after;
        for (unsigned i = 0; i < 16 && ucs_calendar_next(c, z, t, &t) >= 0; i++) {
                uint64_t other = 0;

                fuzz_check(t > last && t % USEC_PER_SEC == 0);
                fuzz_check(ucs_calendar_next(again, z, last, &other) == 0 && other == t);
                fuzz_check(ucs_calendar_next(c, z, t - 1, &other) == 0 && other == t);
                last = t;
        }
        check_window(c, text, lengths_sec[data[0] / 4 % 6], z, after);
        return 0;
}

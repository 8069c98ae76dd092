/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Windows: their text, their merging, from within and from far away, over clock changes, and the spread of hosts. */

#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/window.h"
#include "ucs-test.h"
#include "zones.h"

#define MAX_WINDOWS 3

static void list_of(UcsWindowList *l, const char *const *expressions) {
        *l = (UcsWindowList){};
        for (size_t i = 0; i < MAX_WINDOWS && expressions[i]; i++) {
                UcsWindow *w;
                UcsError e = {};

                cr_assert(ucs_window_parse(expressions[i], &installed_zones, &w, &e) == 0, "%s", e.text);
                cr_assert(ucs_window_list_add(l, w) == 0);
        }
}

ucs_test(window, parse) {
        static const struct {
                const char *s, *expression, *calendar;
                uint64_t length;
        } table[] = {
                { "*-*-* 02:00 for 2h", "*-*-* 02:00 for 2h", "*-*-* 02:00:00", 2 * USEC_PER_HOUR },
                { "  Sat,Sun 02:00   for   1h 30min ", "Sat,Sun 02:00   for   1h 30min", "Sat,Sun *-*-* 02:00:00", 90 * USEC_PER_MINUTE },
                { "Mon *-*-8..14 03:30 UTC for 45min", "Mon *-*-8..14 03:30 UTC for 45min", "Mon *-*-08..14 03:30:00 UTC",
                  45 * USEC_PER_MINUTE },
                { "daily\tfor\t90", "daily\tfor\t90", "*-*-* 00:00:00", 90 * USEC_PER_SEC },
                { "daily for 1us", "daily for 1us", "*-*-* 00:00:00", 1 },
                { "yearly for 366d", "yearly for 366d", "*-01-01 00:00:00", 366 * USEC_PER_DAY },
                { "daily for 8784h", "daily for 8784h", "*-*-* 00:00:00", 366 * USEC_PER_DAY },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_window_freep) UcsWindow *w = NULL;
                _cleanup_free_ char *calendar = NULL;
                UcsError e = {};

                cr_assert(ucs_window_parse(table[i].s, NULL, &w, &e) == 0, "%s", e.text);
                cr_assert(ucs_calendar_format(ucs_window_calendar(w), &calendar) == 0);
                cr_expect_str_eq(ucs_window_expression(w), table[i].expression);
                cr_expect_str_eq(calendar, table[i].calendar);
                cr_expect_eq(ucs_window_length_usec(w), table[i].length);
        }
}

ucs_test(window, refused) {
        static const struct {
                const char *s;
                int r;
                const char *says;
        } table[] = {
                { "", -EINVAL, "'' has no length, expected '<calendar expression> for <length>'" },
                { "daily", -EINVAL, "'daily' has no length" },
                { "daily/2h", -EINVAL, "'daily/2h' has no length" },
                { "dailyfor 2h", -EINVAL, "has no length" },
                { "daily fortnight", -EINVAL, "has no length" },
                { "for 2h", -EINVAL, "has no length" },
                { "daily for", -EINVAL, "'daily for' ends before the length" },
                { "daily for ", -EINVAL, "'daily for' ends before the length" },
                { "daily for 2h for", -EINVAL, "ends before the length" },
                { "daily for 0", -EINVAL, "a length of '0' is no time at all" },
                { "daily for 0.1us", -EINVAL, "a length of '0.1us' is no time at all" },
                { "daily for 367d", -EINVAL, "a length of '367d' is beyond 366 days" },
                { "daily for 99999999y", -EINVAL, "a length of '99999999y' is beyond 366 days" },
                { "daily for -2h", -EINVAL, "'-2h' is not a length" },
                { "daily for two hours", -EINVAL, "'two hours' is not a length, expected one such as '2h'" },
                { "daily for 2 hrs", -EINVAL, "'2 hrs' is not a length" },
                { "daily for 2h UTC", -EINVAL, "'2h UTC' is not a length" },
                { "daily for infinity", -EINVAL, "'infinity' is not a length" },
                { "25:00 for 2h", -EINVAL, "'25:00', column 1: 25 is outside the hours" },
                { "daily for 1h for 2h", -EINVAL, "'daily for 1h', column 1" },
                { "2:00 Nope/Zone for 2h", -ENOENT, "'2:00 Nope/Zone', column 6: there is no time zone 'Nope/Zone'" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsWindow *w = NULL;
                UcsError e = {};
                int r;

                r = ucs_window_parse(table[i].s, &installed_zones, &w, &e);
                cr_expect(r == table[i].r && !w && e.code == r, "'%s': %d", table[i].s, r);
                cr_expect(strstr(e.text, table[i].says), "'%s' says \"%s\"", table[i].s, e.text);
                cr_expect(ucs_window_parse(table[i].s, &installed_zones, &w, NULL) == table[i].r);
        }
}

#define EVER "2500-01-01T00:00:00Z" /* stands for "without end" */
#define LONG "1900-01-01T00:00:00Z" /* stands for "since longer than the horizon" */

static const struct {
        const char *name, *zone;
        const char *windows[MAX_WINDOWS];
        const char *at, *start, *end; /* start NULL: none any more */
} next_table[] = {
        { "no windows", "", {}, "2026-01-01T00:00:00Z", NULL, NULL },
        { "never", "", { "*-02-30 for 1h" }, "2026-01-01T00:00:00Z", NULL, NULL },
        { "over", "", { "2025-06-01 for 1h" }, "2025-06-01T01:00:00Z", NULL, NULL },
        { "the last microsecond's second", "", { "2025-06-01 for 1h" }, "2025-06-01T00:59:59Z", "2025-06-01T00:00:00Z", "2025-06-01T01:00:00Z" },

        { "before", "", { "02:00 for 2h" }, "2026-01-01T01:59:59Z", "2026-01-01T02:00:00Z", "2026-01-01T04:00:00Z" },
        { "at its start", "", { "02:00 for 2h" }, "2026-01-01T02:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T04:00:00Z" },
        { "within", "", { "02:00 for 2h" }, "2026-01-01T03:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T04:00:00Z" },
        { "at its end", "", { "02:00 for 2h" }, "2026-01-01T04:00:00Z", "2026-01-02T02:00:00Z", "2026-01-02T04:00:00Z" },

        { "across midnight", "", { "Sat 23:00 for 4h" }, "2026-01-04T01:00:00Z", "2026-01-03T23:00:00Z", "2026-01-04T03:00:00Z" },
        { "across the month", "", { "*-01-31 23:00 for 4h" }, "2026-02-01T01:00:00Z", "2026-01-31T23:00:00Z", "2026-02-01T03:00:00Z" },
        { "across the year", "", { "*-12-31 23:00 for 4h" }, "2027-01-01T01:00:00Z", "2026-12-31T23:00:00Z", "2027-01-01T03:00:00Z" },
        { "found from a year within", "", { "2026-01-01 for 366d" }, "2027-01-01T23:59:59Z", "2026-01-01T00:00:00Z", "2027-01-02T00:00:00Z" },

        { "touching", "", { "02:00 for 1h", "03:00 for 1h" }, "2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T04:00:00Z" },
        { "touching, from the second", "", { "02:00 for 1h", "03:00 for 1h" }, "2026-01-01T03:30:00Z", "2026-01-01T02:00:00Z", "2026-01-01T04:00:00Z" },
        { "a second apart", "", { "02:00 for 3599s", "03:00 for 1h" }, "2026-01-01T03:30:00Z", "2026-01-01T03:00:00Z", "2026-01-01T04:00:00Z" },
        { "one within the other", "", { "02:00 for 4h", "03:00 for 1h" }, "2026-01-01T03:30:00Z", "2026-01-01T02:00:00Z", "2026-01-01T06:00:00Z" },
        { "one within the other, from behind the inner", "", { "03:00 for 1h", "02:00 for 4h" }, "2026-01-01T05:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T06:00:00Z" },
        { "a chain of three", "", { "04:00 for 1h", "02:00 for 1h", "03:00 for 1h" }, "2026-01-01T04:30:00Z", "2026-01-01T02:00:00Z", "2026-01-01T05:00:00Z" },
        { "longer than its period", "", { "Mon..Fri 00:00 for 30h" }, "2026-01-07T12:00:00Z", "2026-01-05T00:00:00Z", "2026-01-10T06:00:00Z" },
        { "minutes on a weekend", "", { "Sat,Sun *:* for 1min" }, "2026-01-04T12:00:30Z", "2026-01-03T00:00:00Z", "2026-01-05T00:00:00Z" },
        { "every second of a month", "", { "2026-02-* *:*:* for 1s" }, "2026-02-14T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z" },
        { "every second of five years", "", { "2026..2030-*-* *:*:* for 1s" }, "2028-02-14T00:00:00Z", "2026-01-01T00:00:00Z", "2031-01-01T00:00:00Z" },
        { "minutes for a year", "", { "2026-02-* *:* for 366d" }, "2026-03-14T00:00:00Z", "2026-02-01T00:00:00Z", "2027-03-01T23:59:00Z" },

        { "always", "", { "hourly for 1h" }, "2026-01-01T00:00:00Z", LONG, EVER },
        { "always, by the second", "", { "*:*:* for 1s" }, "2026-01-01T00:00:00Z", LONG, EVER },
        { "always, by long windows", "", { "*-*-01 for 31d" }, "2026-01-10T00:00:00Z", LONG, EVER },
        { "always, by very long windows", "", { "yearly for 366d" }, "2026-01-10T00:00:00Z", LONG, EVER },
        { "always, by two halves", "", { "00:00 for 12h", "12:00 for 12h" }, "2026-01-10T00:00:00Z", LONG, EVER },
        { "always, by seven days", "Europe/Berlin", { "Mon,Wed,Fri,Sun for 25h", "Tue,Thu for 25h", "Sat for 25h" }, "2026-01-10T00:00:00Z", LONG, EVER },
        { "nearly always", "", { "hourly for 3599s" }, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:59:59Z" },
        { "only in long months", "", { "*-*-01 for 30d" }, "2026-01-10T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z" },

        /* the length is elapsed time */
        { "spring: a window over the gap", "Europe/Berlin", { "01:00 for 3h" }, "2026-03-29T00:30:00Z", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z" },
        { "spring: a start in the gap", "Europe/Berlin", { "02:30 for 2h" }, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z" },
        { "spring: found from within", "Europe/Berlin", { "02:30 for 2h" }, "2026-03-29T02:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z" },
        { "spring: starts that fall together", "Europe/Berlin", { "02:15 for 1h", "02:45 for 1h" }, "2026-03-29T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z" },
        { "autumn: a window over the overlap", "Europe/Berlin", { "01:00 for 3h" }, "2026-10-25T01:30:00Z", "2026-10-24T23:00:00Z", "2026-10-25T02:00:00Z" },
        { "autumn: a start in the overlap", "Europe/Berlin", { "02:30 for 30min" }, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z" },
        { "autumn: not a second time", "Europe/Berlin", { "02:30 for 30min" }, "2026-10-25T01:00:00Z", "2026-10-26T01:30:00Z", "2026-10-26T02:00:00Z" },
        { "autumn: the hole of an hour", "Europe/Berlin", { "hourly for 1h" }, "2026-06-01T00:00:00Z", "2025-10-26T02:00:00Z", "2026-10-25T01:00:00Z" },
        { "autumn: behind the hole", "Europe/Berlin", { "hourly for 1h" }, "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z", "2027-10-31T01:00:00Z" },
        { "autumn: no hole for a longer one", "Europe/Berlin", { "hourly for 2h" }, "2026-06-01T00:00:00Z", LONG, EVER },
        { "autumn: days of 25 hours", "Europe/Berlin", { "daily for 24h" }, "2026-10-25T12:00:00Z", "2025-10-26T23:00:00Z", "2026-10-25T22:00:00Z" },
        { "a day that does not exist", "Pacific/Apia", { "2011-12-30 for 3h" }, "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T13:00:00Z" },
        { "half an hour of overlap", "Australia/Lord_Howe", { "*:0/30 for 30min" }, "2026-04-04T14:00:00Z", "2025-04-05T15:30:00Z", "2026-04-04T15:00:00Z" },

        /* zones of their own */
        { "two zones", "Asia/Kolkata", { "02:00 UTC for 1h", "08:30 for 1h" }, "2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T04:00:00Z" },
        { "the list's zone", "Asia/Kolkata", { "02:00 for 1h" }, "2026-01-01T00:00:00Z", "2026-01-01T20:30:00Z", "2026-01-01T21:30:00Z" },

        { "far away", "", { "2060-01-01 for 1h", "2060-01-01 01:00 for 1h" }, "2026-01-01T00:00:00Z", "2060-01-01T00:00:00Z", "2060-01-01T02:00:00Z" },
        { "near the epoch", "", { "daily for 24h" }, "1970-01-01T12:00:00Z", "1970-01-02T00:00:00Z", EVER },
        { "the end of calendars", "", { "2199-12-25 for 1h" }, "2199-01-01T00:00:00Z", "2199-12-25T00:00:00Z", "2199-12-25T01:00:00Z" },
        { "long behind it", "", { "hourly for 1h" }, "2300-01-01T00:00:00Z", NULL, NULL },
};

ucs_test(window, next) {
        for (size_t i = 0; i < ELEMENTSOF(next_table); i++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip(next_table[i].zone);
                _cleanup_(ucs_window_list_done) UcsWindowList l = {};
                uint64_t at = (uint64_t) utc(next_table[i].at) * USEC_PER_SEC;
                UcsInterval got = { 1, 2 };
                int r;

                list_of(&l, next_table[i].windows);
                r = ucs_window_list_next(&l, z, at, &got);
                if (!next_table[i].start) {
                        cr_expect(r == -ENOENT && got.start_usec == 1 && got.end_usec == 2, "%s: %d", next_table[i].name, r);
                        continue;
                }
                cr_expect(r == 0, "%s: %d", next_table[i].name, r);
                cr_expect((streq(next_table[i].start, LONG) ?
                                   got.start_usec <= at - UCS_WINDOW_HORIZON_USEC :
                                   got.start_usec == (uint64_t) utc(next_table[i].start) * USEC_PER_SEC) &&
                                  got.end_usec == (streq(next_table[i].end, EVER) ? UINT64_MAX :
                                                                                    (uint64_t) utc(next_table[i].end) * USEC_PER_SEC),
                          "%s: %s to %s", next_table[i].name, iso((int64_t) (got.start_usec / USEC_PER_SEC)),
                          got.end_usec == UINT64_MAX ? "ever" : iso((int64_t) (got.end_usec / USEC_PER_SEC)));
        }
}

ucs_test(window, parts_of_a_second) {
        static const char *const expressions[MAX_WINDOWS] = { "1970-01-01 00:00:10 for 1500ms" };
        static const struct {
                uint64_t at;
                int r;
        } table[] = { { 9999999, 0 }, { 10000000, 0 }, { 11499999, 0 }, { 11500000, -ENOENT } };
        _cleanup_(ucs_window_list_done) UcsWindowList l = {};

        list_of(&l, expressions);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsInterval got;
                int r = ucs_window_list_next(&l, ucs_zone_utc(), table[i].at, &got);

                cr_expect_eq(r, table[i].r);
                cr_expect(r < 0 || (got.start_usec == 10000000 && got.end_usec == 11500000));
        }
}

/* Three windows that fill each other's gaps of a second: the work is bounded, and what is given is true and holds `at`. */
ucs_test(window, bounded_work) {
        static const char *const expressions[MAX_WINDOWS] = { "*:*:0/3 for 1s", "*:*:1/3 for 1s", "*:*:2/3 for 1s" };
        uint64_t at = (uint64_t) utc("2026-06-01T00:00:00Z") * USEC_PER_SEC + 500000, start = UINT64_MAX;
        _cleanup_(ucs_window_list_done) UcsWindowList l = {};

        list_of(&l, expressions);
        for (unsigned i = 0; i < 3; i++) {
                UcsInterval got;

                cr_assert(ucs_window_list_next(&l, ucs_zone_utc(), at, &got) == 0);
                cr_expect(ucs_interval_contains(&got, at));
                cr_expect(got.end_usec - at > USEC_PER_HOUR && at - got.start_usec > USEC_PER_HOUR);
                cr_expect(i == 0 || got.start_usec < start + 2 * USEC_PER_DAY);
                start = got.start_usec;
                at = got.end_usec; /* at the end it is asked again, and goes on */
        }
}

/* --- the same by plain means: all starts of some weeks, one by one --- */

#define REACH (45 * USEC_PER_DAY)
#define MAX_INTERVALS 300000

static int interval_compare(const void *a, const void *b) {
        const UcsInterval *x = a, *y = b;

        return (x->start_usec > y->start_usec) - (x->start_usec < y->start_usec);
}

/* Merged intervals around `at`. Returns how many. */
static size_t merge_plainly(const UcsWindowList *l, const UcsZone *z, uint64_t at, UcsInterval *ret) {
        size_t n = 0, merged = 0;

        for (size_t i = 0; i < l->n; i++) {
                uint64_t t = at - REACH;

                while (ucs_calendar_next(ucs_window_calendar(l->windows[i]), z, t, &t) >= 0 && t < at + REACH) {
                        cr_assert(n < MAX_INTERVALS);
                        ret[n++] = (UcsInterval){ t, t + ucs_window_length_usec(l->windows[i]) };
                }
        }
        qsort(ret, n, sizeof(*ret), interval_compare);
        for (size_t i = 0; i < n; i++)
                if (merged > 0 && ret[i].start_usec <= ret[merged - 1].end_usec)
                        ret[merged - 1].end_usec = MAX(ret[merged - 1].end_usec, ret[i].end_usec);
                else
                        ret[merged++] = ret[i];
        return merged;
}

static uint64_t random_state = 20260329;

static unsigned pick(unsigned n) {
        random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (unsigned) (random_state >> 33) % n;
}

ucs_test(window, same_as_plain, .timeout = 300) {
        static const char *const calendars[] = {
                "hourly", "*:0/5", "*:0/15", "*:7/13", "daily", "02:30", "23:50", "0..3:0/10", "Sat,Sun *:0/10", "Mon..Fri 0/2:0",
                "Mon..Fri 08:00", "weekly", "Sat 22:00", "*-*-1..7 *:30", "*-*~3/1 0/6:0", "*-*-1/3 00:00", "*-03,04,10,11-* 2:*",
                "*-*-* 1..2:0/20", "Sun 1,2,3:*", "Thu..Sun *:*",
        };
        static const char *const lengths[] = { "1min", "5min", "10min", "13min", "15min", "20min", "30min", "59min", "1h", "61min", "2h",
                                               "3h", "6h", "12h", "23h", "24h", "25h", "30h", "2d", "3d", "61h", "5d 1min", "8d" };
        static const char *const zones[] = { "", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo",
                                             "Pacific/Apia", "Africa/Casablanca" };
        UcsInterval *plain = new0(UcsInterval, MAX_INTERVALS);
        unsigned exact = 0, open = 0, rounds = 800;

        cr_assert(plain);
        for (unsigned round = 0; round < rounds; round++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = zone_or_skip(zones[pick(ELEMENTSOF(zones))]);
                _cleanup_(ucs_window_list_done) UcsWindowList l = {};
                char texts[MAX_WINDOWS][64];
                const char *expressions[MAX_WINDOWS] = {};
                UcsInterval got, *expected = NULL;
                uint64_t at;
                size_t n;
                int r;

                for (unsigned i = 0, k = 1 + pick(MAX_WINDOWS); i < k; i++) {
                        (void) snprintf(texts[i], sizeof(texts[i]), "%s for %s", calendars[pick(ELEMENTSOF(calendars))],
                                        lengths[pick(ELEMENTSOF(lengths))]);
                        expressions[i] = texts[i];
                }
                list_of(&l, expressions);

                /* mostly near a clock change: end of March, April, October, November, February, 29 December 2011 */
                at = (uint64_t) utc(pick(2) ? "2011-12-29T00:00:00Z" : "2018-11-03T00:00:00Z") * USEC_PER_SEC +
                     pick(3650) * USEC_PER_DAY * pick(2);
                if (pick(2)) {
                        UcsZoneSpan span;

                        ucs_zone_span(z, (int64_t) (at / USEC_PER_SEC), &span);
                        if (span.until_sec < INT64_MAX)
                                at = (uint64_t) span.until_sec * USEC_PER_SEC - 2 * USEC_PER_DAY;
                }
                at += pick(4 * 86400) * USEC_PER_SEC + pick(2) * 999999;

                n = merge_plainly(&l, z, at, plain);
                for (size_t i = 0; i < n && !expected; i++)
                        if (plain[i].end_usec > at)
                                expected = &plain[i];

                r = ucs_window_list_next(&l, z, at, &got);
                if (!expected) {
                        cr_expect(r == -ENOENT || got.start_usec >= at + REACH);
                        continue;
                }
                cr_assert(r == 0);

                /* at the edges of what was looked at the plain way may have missed what lies beyond */
                if (expected->start_usec > at - REACH + 9 * USEC_PER_DAY) {
                        exact++;
                        cr_expect(got.start_usec == expected->start_usec, "%s | %s | %s in %s at %s: starts %s instead of %s", expressions[0],
                                  expressions[1] ?: "", expressions[2] ?: "", ucs_zone_name(z), iso((int64_t) (at / USEC_PER_SEC)),
                                  iso((int64_t) (got.start_usec / USEC_PER_SEC)), iso((int64_t) (expected->start_usec / USEC_PER_SEC)));
                } else {
                        open++;
                        cr_expect(got.start_usec <= expected->start_usec);
                }
                if (expected->end_usec < at + REACH)
                        cr_expect(got.end_usec == expected->end_usec, "%s | %s | %s in %s at %s: ends %s instead of %s", expressions[0],
                                  expressions[1] ?: "", expressions[2] ?: "", ucs_zone_name(z), iso((int64_t) (at / USEC_PER_SEC)),
                                  iso((int64_t) (got.end_usec / USEC_PER_SEC)), iso((int64_t) (expected->end_usec / USEC_PER_SEC)));
                else
                        cr_expect(got.end_usec >= expected->end_usec);
        }
        cr_log_info("%u of %u starts compared exactly", exact, rounds);
        cr_expect(exact > rounds / 3 && open > 0, "%u exact, %u open", exact, open);
        free(plain);
}

ucs_test(window, spread_limits) {
        static const struct {
                uint64_t length, spread, below; /* below 1: always 0 */
        } table[] = {
                { 2 * USEC_PER_HOUR, UINT64_MAX, USEC_PER_HOUR },
                { 2 * USEC_PER_HOUR, 10 * USEC_PER_MINUTE, 10 * USEC_PER_MINUTE },
                { 2 * USEC_PER_HOUR, USEC_PER_DAY, USEC_PER_HOUR },
                { 2 * USEC_PER_HOUR, 0, 1 },
                { 0, UINT64_MAX, 1 },
                { 1, UINT64_MAX, 1 },
                { 3, UINT64_MAX, 1 },
                { UINT64_MAX, UINT64_MAX, 1 }, /* a window without end has no start */
                { UINT64_MAX - 5, USEC_PER_HOUR, 1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                for (uint64_t seed = 0; seed < 2000; seed++) {
                        uint64_t delay = ucs_window_spread(table[i].length, table[i].spread, seed);

                        cr_assert(delay < table[i].below, "%zu: %lu", i, (unsigned long) delay);
                        cr_assert_eq(delay, ucs_window_spread(table[i].length, table[i].spread, seed));
                }
}

/* Hosts with neighbouring seeds, and with seeds that differ in one high bit, fill the time evenly. */
ucs_test(window, spread_distribution) {
        enum { BUCKETS = 20, HOSTS = 20000 };
        static const unsigned shifts[] = { 0, 40 };

        for (size_t k = 0; k < ELEMENTSOF(shifts); k++) {
                unsigned count[BUCKETS] = {};

                for (uint64_t host = 0; host < HOSTS; host++)
                        count[ucs_window_spread(2 * USEC_PER_HOUR, UINT64_MAX, host << shifts[k]) * BUCKETS / USEC_PER_HOUR]++;
                for (size_t i = 0; i < BUCKETS; i++)
                        cr_expect(count[i] > HOSTS / BUCKETS * 85 / 100 && count[i] < HOSTS / BUCKETS * 115 / 100,
                                  "%u of %u hosts in bucket %zu", count[i], HOSTS, i);
        }
}

/* A host keeps its place over updates of this program. */
ucs_test(window, spread_is_stable) {
        static const struct {
                uint64_t seed, delay;
        } table[] = {
                { 0, 3179918909 },
                { 1, 2039621670 },
                { UINT64_C(0x123456789abcdef0), 310755752 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                cr_expect_eq(ucs_window_spread(2 * USEC_PER_HOUR, UINT64_MAX, table[i].seed), table[i].delay, "%lu",
                             (unsigned long) ucs_window_spread(2 * USEC_PER_HOUR, UINT64_MAX, table[i].seed));
}

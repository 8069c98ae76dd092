/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The history's text: what goes in comes out, whatever is in it, and nothing else is taken for it. */

#include <stdio.h>

#include "base/str.h"
#include "core/record/history.h"
#include "ucs-test.h"

static uint64_t seed;

static uint64_t any(void) { /* xorshift64* (Marsaglia, Vigna) */
        seed ^= seed >> 12;
        seed ^= seed << 25;
        seed ^= seed >> 27;
        return seed * UINT64_C(2685821657736338717);
}

static uint64_t any_figure(void) {
        switch (any() % 5) {
        case 0:
                return UCS_UNKNOWN;
        case 1:
                return 0;
        case 2:
                return UINT64_MAX - 1;
        default:
                return any() >> (any() % 64);
        }
}

static uint32_t any_number(void) {
        switch (any() % 5) {
        case 0:
                return UINT32_MAX;
        case 1:
                return 0;
        default:
                return (uint32_t) (any() >> (any() % 32));
        }
}

/* Any bytes but NUL, and those that mean something to the format more often than others. */
static char *any_string(size_t max) {
        static const char hostile[] = " =\\\n\r\t\x7fx\x01";
        static const char *const whole[] = { "", " ", "\\", "\\x20", "\nend 0\n", "a=b c=d", "entry when=0", "\\x", "\xff\xfe", "é" };
        size_t n;
        char *s;

        if (any() % 4 == 0)
                return NULL;
        if (any() % 4 == 0)
                return strdup(whole[any() % ELEMENTSOF(whole)]);
        n = any() % max;
        s = malloc(n + 1);
        for (size_t i = 0; i < n; i++)
                s[i] = any() % 2 ? hostile[any() % (sizeof(hostile) - 1)] : (char) (any() % 255 + 1);
        s[n] = '\0';
        return s;
}

static UcsHistoryEntry any_entry(size_t string_max) {
        UcsHistoryEntry e = {
                .when_usec = any_figure(),
                .id = any_number(),
                .result = (UcsResult) (any() % _UCS_RESULT_MAX),
                .signature = any_number(),
                .platform_mask = any_number(),
                .old_revision = any_number(),
                .target_revision = any_number(),
                .new_revision = any_number(),
                .path = any_string(string_max),
                .predicted_errno = (int) (any() % 4097) - 1,
                .write_errno = (int) (any() % 4097) - 1,
                .flags = any(),
                .uid = any_number(),
                .n_cpus = any_number(),
                .witness = (UcsWitnessKind) (any() % _UCS_WITNESS_MAX),
                .stall_nsec = any_figure(),
                .worst_nsec = any_figure(),
                .write_nsec = any_figure(),
                .worst_cpu = any_number(),
                .tsc_hz = any_figure(),
                .cpus = any_string(string_max),
                .note = any_string(string_max),
        };

        for (size_t i = 0; i < sizeof(e.digest); i++)
                e.digest[i] = (uint8_t) any();
        for (size_t i = 0; i < _UCS_WITNESS_MAX; i++)
                if (any() % 2)
                        e.witnessed[i] = (UcsWitnessed){ .on = true, .nsec = any_figure() };
        for (size_t i = 0, n = any() % sizeof(e.boot_id); i < n; i++)
                e.boot_id[i] = (char) (any() % 255 + 1);
        return e;
}

static bool same_string(const char *a, const char *b) {
        return a && b ? streq(a, b) : a == b;
}

static bool same_witnesses(const UcsHistoryEntry *a, const UcsHistoryEntry *b) {
        for (size_t i = 0; i < _UCS_WITNESS_MAX; i++)
                if (a->witnessed[i].on != b->witnessed[i].on || a->witnessed[i].nsec != b->witnessed[i].nsec)
                        return false;
        return true;
}

static bool same_entry(const UcsHistoryEntry *a, const UcsHistoryEntry *b) {
        return a->when_usec == b->when_usec && a->id == b->id && a->result == b->result && a->signature == b->signature &&
               a->platform_mask == b->platform_mask && a->old_revision == b->old_revision &&
               a->target_revision == b->target_revision && a->new_revision == b->new_revision &&
               same_string(a->path, b->path) && memcmp(a->digest, b->digest, sizeof(a->digest)) == 0 &&
               a->predicted_errno == b->predicted_errno && a->write_errno == b->write_errno && a->flags == b->flags &&
               a->uid == b->uid && a->n_cpus == b->n_cpus && a->witness == b->witness && a->stall_nsec == b->stall_nsec &&
               a->worst_nsec == b->worst_nsec && a->write_nsec == b->write_nsec && a->worst_cpu == b->worst_cpu &&
               a->tsc_hz == b->tsc_hz && same_string(a->cpus, b->cpus) && same_string(a->note, b->note) &&
               streq(a->boot_id, b->boot_id) && same_witnesses(a, b);
}

static void expect_same(const UcsHistory *a, const UcsHistory *b) {
        cr_assert_eq(a->n_entries, b->n_entries);
        for (size_t i = 0; i < a->n_entries; i++)
                cr_assert(same_entry(&a->entries[i], &b->entries[i]), "entry %zu", i);
        cr_assert_eq(memcmp(&a->totals, &b->totals, sizeof(a->totals)), 0);
        cr_assert_eq(a->applied_total, b->applied_total);
        cr_assert_eq(a->failed_total, b->failed_total);
}

static void add_any(UcsHistory *h, size_t n, size_t string_max) {
        for (size_t i = 0; i < n; i++) {
                UcsHistoryEntry e = any_entry(string_max);

                cr_assert_eq(ucs_history_add(h, &e, 100000000), 0);
                cr_assert_null(e.path);
        }
}

ucs_test(history, round_trip) {
        for (seed = 1; seed <= 300; seed++) {
                const uint64_t this = seed;
                _cleanup_(ucs_history_done) UcsHistory before = {}, after = {};
                _cleanup_free_ char *text = NULL;
                UcsError e = {};
                size_t size;

                add_any(&before, any() % 8, 64);
                cr_assert_eq(ucs_history_format(&before, &text, &size), 0);
                cr_assert_eq(strlen(text), size);
                for (size_t i = 0; i < size; i++)
                        cr_assert((text[i] == '\n' || (unsigned char) text[i] >= ' ') && text[i] != 0x7f, "byte 0x%02x", text[i]);
                cr_assert_eq(ucs_history_parse(text, size, &after, &e), 0, "seed %ju: %s", (uintmax_t) this, e.text);
                expect_same(&before, &after);
                seed = this;
        }
}

/* No part of it is taken for the whole. */
ucs_test(history, cut_anywhere) {
        _cleanup_(ucs_history_done) UcsHistory h = {};
        _cleanup_free_ char *text = NULL;
        size_t size;

        seed = 4711;
        add_any(&h, 5, 40);
        cr_assert_eq(ucs_history_format(&h, &text, &size), 0);
        for (size_t n = 0; n < size; n++) {
                UcsHistory part = { .applied_total = 42 };
                UcsError e = {};

                cr_assert_eq(ucs_history_parse(text, n, &part, &e), -EBADMSG, "%zu of %zu bytes", n, size);
                cr_assert_eq(part.applied_total, 42, "outputs are untouched");
                cr_assert_neq(e.code, 0);
        }
}

/* One byte changed anywhere: refused, or read as a history that is written just so again; never a crash or a leak. */
ucs_test(history, one_byte_changed) {
        _cleanup_(ucs_history_done) UcsHistory h = {};
        _cleanup_free_ char *text = NULL;
        size_t size, taken = 0;

        seed = 99;
        add_any(&h, 2, 24);
        cr_assert_eq(ucs_history_format(&h, &text, &size), 0);
        for (size_t i = 0; i < size; i++) {
                static const char others[] = { '\0', '\n', ' ', '=', '\\', '0', 'f', 'x', (char) 0xff };
                const char was = text[i];

                for (size_t k = 0; k < sizeof(others); k++) {
                        _cleanup_(ucs_history_done) UcsHistory changed = {}, again = {};
                        _cleanup_free_ char *second = NULL;
                        size_t second_size;

                        text[i] = others[k];
                        if (ucs_history_parse(text, size, &changed, NULL) < 0)
                                continue;
                        taken += others[k] != was;
                        cr_assert_eq(ucs_history_format(&changed, &second, &second_size), 0);
                        cr_assert_eq(ucs_history_parse(second, second_size, &again, NULL), 0);
                        expect_same(&changed, &again);
                }
                text[i] = was;
        }
        cr_expect(taken > 0, "a digit may well become another one");
}

#define TOTALS "totals applied=0 failed=0 stalls=0 total=0 max=0 over-budget=0 buckets=0,0,0,0,0,0,0,0,0,0,0,0\n"
#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define FIRST                                                                                                  \
        "entry when=1 id=2 result=success signature=0x00050654 mask=0x00000001 old=0x00000001 target=0x00000002 new=0x00000002 " \
        "digest=" DIGEST " predicted=0 errno=none flags=0 uid=none n-cpus=4 witness=schedstat stall=10 worst=unknown write=12 "
#define LAST "worst-cpu=none tsc=0"
#define ENTRY FIRST LAST "\n"
#define V1 "ucodesync-history 1\n"
#define V2 "ucodesync-history 2\n"

ucs_test(history, refuses) {
        static const struct {
                const char *name, *text;
                int r;
                const char *complaint; /* part of it */
        } table[] = {
                { "empty", "", -EBADMSG, "end is missing" },
                { "no version", TOTALS "end 0\n", -EBADMSG, "line 1" },
                { "version 0", "ucodesync-history 0\n" TOTALS "end 0\n", -EBADMSG, "line 1" },
                { "version 3", "ucodesync-history 3\nwhatever\n", -EPROTONOSUPPORT, "version 3" },
                { "another file", "ucodesync-state 1\nend\n", -EBADMSG, "line 1" },
                { "no totals", V1 "end 0\n", -EBADMSG, "line 2" },
                { "a total is missing", V1 "totals applied=0\nend 0\n", -EBADMSG, "line 2" },
                { "a total twice", V1 "totals applied=0 applied=0 failed=0 stalls=0 total=0 max=0 over-budget=0\nend 0\n", -EBADMSG, "line 2" },
                { "a bucket too few", V1 "totals applied=0 failed=0 stalls=0 total=0 max=0 over-budget=0 buckets=0,0\nend 0\n", -EBADMSG, "buckets" },
                { "a bucket too many", V1 "totals applied=0 failed=0 stalls=0 total=0 max=0 over-budget=0 buckets=0,0,0,0,0,0,0,0,0,0,0,0,0\nend 0\n", -EBADMSG, "buckets" },
                { "a negative total", V1 "totals applied=-1 failed=0 stalls=0 total=0 max=0 over-budget=0 buckets=0,0,0,0,0,0,0,0,0,0,0,0\nend 0\n", -EBADMSG, "applied" },
                { "no end", V1 TOTALS, -EBADMSG, "end is missing" },
                { "a wrong count", V1 TOTALS ENTRY "end 2\n", -EBADMSG, "end 1" },
                { "text behind the end", V1 TOTALS ENTRY "end 1\n\n", -EBADMSG, "line 5" },
                { "an empty line", V1 TOTALS "\nend 0\n", -EBADMSG, "line 3" },
                { "an unknown line", V1 TOTALS "remark x=1\nend 0\n", -EBADMSG, "line 3" },
                { "an unknown key", V1 TOTALS FIRST LAST " colour=red\nend 1\n", -EBADMSG, "colour" },
                { "a key twice", V1 TOTALS FIRST "id=3 " LAST "\nend 1\n", -EBADMSG, "second key 'id'" },
                { "a key is missing", V1 TOTALS FIRST "worst-cpu=none\nend 1\n", -EBADMSG, "'tsc' is missing" },
                { "two blanks", V1 TOTALS FIRST " " LAST "\nend 1\n", -EBADMSG, "key=value" },
                { "a blank at the end", V1 TOTALS FIRST LAST " \nend 1\n", -EBADMSG, "key=value" },
                { "a key without value", V1 TOTALS FIRST LAST " note\nend 1\n", -EBADMSG, "key=value" },
                { "an unknown escape", V1 TOTALS FIRST LAST " note=\\n\nend 1\n", -EBADMSG, "note" },
                { "an escape that needs none", V1 TOTALS FIRST LAST " note=\\x41\nend 1\n", -EBADMSG, "note" },
                { "an escaped NUL", V1 TOTALS FIRST LAST " note=\\x00\nend 1\n", -EBADMSG, "note" },
                { "half an escape", V1 TOTALS FIRST LAST " note=\\x2\nend 1\n", -EBADMSG, "note" },
                { "no witness", V2 TOTALS FIRST LAST " witnesses=\nend 1\n", -EBADMSG, "witnesses" },
                { "a witness without a figure", V2 TOTALS FIRST LAST " witnesses=perf\nend 1\n", -EBADMSG, "witnesses" },
                { "a witness with an empty figure", V2 TOTALS FIRST LAST " witnesses=perf=\nend 1\n", -EBADMSG, "witnesses" },
                { "a witness of which nobody knows", V2 TOTALS FIRST LAST " witnesses=oracle=12\nend 1\n", -EBADMSG, "witnesses" },
                { "a witness twice", V2 TOTALS FIRST LAST " witnesses=perf=1,perf=2\nend 1\n", -EBADMSG, "witnesses" },
                { "a comma too many", V2 TOTALS FIRST LAST " witnesses=perf=1,\nend 1\n", -EBADMSG, "witnesses" },
                { "a figure too large", V2 TOTALS FIRST LAST " witnesses=perf=18446744073709551615\nend 1\n", -EBADMSG, "witnesses" },
                { "the witnesses twice", V2 TOTALS FIRST LAST " witnesses=perf=1 witnesses=write=2\nend 1\n", -EBADMSG, "second key" },
                { "a boot id too long", V1 TOTALS FIRST LAST " boot=0123456789012345678901234567890123456789\nend 1\n", -EBADMSG, "boot" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsHistory h = {};
                UcsError e = {};

                cr_expect_eq(ucs_history_parse(table[i].text, strlen(table[i].text), &h, &e), table[i].r, "%s", table[i].name);
                cr_expect(strstr(e.text, table[i].complaint), "%s: '%s'", table[i].name, e.text);
                cr_expect_null(h.entries);
        }
}

ucs_test(history, takes) {
        static const char text[] = V1 TOTALS ENTRY "end 1\n";
        _cleanup_(ucs_history_done) UcsHistory h = {};
        UcsError e = {};

        cr_assert_eq(ucs_history_parse(text, sizeof(text) - 1, &h, &e), 0, "%s", e.text);
        cr_assert_eq(h.n_entries, 1);
        cr_expect_eq(h.entries[0].signature, 0x50654);
        cr_expect_eq(h.entries[0].write_errno, -1);
        cr_expect_eq(h.entries[0].worst_nsec, UCS_UNKNOWN);
        cr_expect_eq(h.entries[0].worst_cpu, UINT32_MAX);
        cr_expect_eq(h.entries[0].digest[1], 0x11);
        cr_expect_null(h.entries[0].path);
        for (size_t i = 0; i < _UCS_WITNESS_MAX; i++)
                cr_expect_not(h.entries[0].witnessed[i].on, "format 1 knows of none");

        /* a NUL byte in the middle is no end */
        cr_expect_eq(ucs_history_parse(text, sizeof(text), &h, &e), -EBADMSG);
}

/* Beside the one that decided, what the others saw. */
ucs_test(history, witnesses) {
        static const char text[] = V2 TOTALS FIRST LAST " witnesses=write=14,schedstat=10,perf=unknown\nend 1\n";
        _cleanup_(ucs_history_done) UcsHistory h = {};
        _cleanup_free_ char *again = NULL;
        UcsError e = {};
        size_t size;

        cr_assert_eq(ucs_history_parse(text, sizeof(text) - 1, &h, &e), 0, "%s", e.text);
        cr_expect(h.entries[0].witnessed[UCS_WITNESS_WRITE].on);
        cr_expect_eq(h.entries[0].witnessed[UCS_WITNESS_WRITE].nsec, 14);
        cr_expect_eq(h.entries[0].witnessed[UCS_WITNESS_SCHEDSTAT].nsec, 10);
        cr_expect(h.entries[0].witnessed[UCS_WITNESS_PERF].on);
        cr_expect_eq(h.entries[0].witnessed[UCS_WITNESS_PERF].nsec, UCS_UNKNOWN);
        cr_expect_not(h.entries[0].witnessed[UCS_WITNESS_KERNEL].on);
        cr_assert_eq(ucs_history_format(&h, &again, &size), 0);
        cr_expect(strstr(again, " witnesses=write=14,schedstat=10,perf=unknown\n"), "%s", again);
        cr_expect(strstr(again, "ucodesync-history 2\n"));
}

ucs_test(history, bounds) {
        _cleanup_(ucs_history_done) UcsHistory h = {}, back = {};
        _cleanup_free_ char *text = NULL;
        UcsError e = {};
        size_t size;

        for (uint32_t i = 0; i < UCS_HISTORY_MAX + 10; i++) {
                UcsHistoryEntry x = { .id = i, .stall_nsec = UCS_UNKNOWN, .note = malloc(2 * UCS_HISTORY_STRING_MAX) };

                memset(x.note, ' ', 2 * UCS_HISTORY_STRING_MAX - 1);
                x.note[2 * UCS_HISTORY_STRING_MAX - 1] = '\0';
                cr_assert_eq(ucs_history_add(&h, &x, UINT64_MAX), 0);
        }
        cr_assert_eq(h.n_entries, UCS_HISTORY_MAX);
        cr_expect_eq(h.entries[0].id, 10, "the oldest go first");
        cr_expect_eq(strlen(h.entries[0].note), UCS_HISTORY_STRING_MAX);

        cr_assert_eq(ucs_history_format(&h, &text, &size), 0);
        cr_expect(size <= UCS_HISTORY_TEXT_MAX + 1024, "%zu bytes", size);
        cr_assert_eq(ucs_history_parse(text, size, &back, &e), 0, "%s", e.text);
        cr_expect(back.n_entries > 10);
        cr_expect_eq(back.entries[back.n_entries - 1].id, UCS_HISTORY_MAX + 9, "the newest is kept");
}

ucs_test(history, too_many_entries) {
        _cleanup_text_ UcsText t = {};
        UcsHistory h = {};
        UcsError e = {};

        ucs_text_append(&t, V1 TOTALS);
        for (int i = 0; i <= UCS_HISTORY_MAX; i++)
                ucs_text_append(&t, ENTRY);
        ucs_text_appendf(&t, "end %d\n", UCS_HISTORY_MAX + 1);
        cr_expect_eq(ucs_history_parse(t.data, t.length, &h, &e), -EBADMSG);
        cr_expect(strstr(e.text, "more than 256"));
}

ucs_test(history, counts) {
        static const struct {
                UcsResult result;
                unsigned applied, failed;
        } table[] = {
                { UCS_RESULT_SUCCESS, 1, 0 },     { UCS_RESULT_NO_CHANGE, 0, 0 }, { UCS_RESULT_REFUSED, 0, 1 },
                { UCS_RESULT_MALFORMED, 0, 1 },   { UCS_RESULT_BUSY, 0, 1 },      { UCS_RESULT_IO_ERROR, 0, 1 },
                { UCS_RESULT_MIXED_REVISIONS, 0, 1 }, { UCS_RESULT_CANCELLED, 0, 0 }, { UCS_RESULT_EXTERNAL, 0, 0 },
                { UCS_RESULT_TIMEOUT, 0, 1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsHistoryEntry x = { .result = table[i].result, .stall_nsec = 12 };
                _cleanup_(ucs_history_done) UcsHistory h = {};

                cr_assert_eq(ucs_history_add(&h, &x, 10), 0);
                cr_expect_eq(h.applied_total, table[i].applied, "%s", ucs_result_to_string(table[i].result));
                cr_expect_eq(h.failed_total, table[i].failed, "%s", ucs_result_to_string(table[i].result));
                cr_expect_eq(h.totals.count, 1);
                cr_expect_eq(h.totals.over_budget, 1);
        }
}

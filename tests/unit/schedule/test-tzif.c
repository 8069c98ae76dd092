/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reader of TZif files: right files of each version, each way to be wrong, and every prefix and flipped byte. */

#include <errno.h>

#include "base/str.h"
#include "core/schedule/zone.h"
#include "tzif.h"
#include "ucs-test.h"
#include "zones.h"

ucs_test(tzif, versions) {
        static const struct {
                Tzif file;
                int32_t last; /* the offset long after the last transition, in July */
        } table[] = {
                { {}, 7200 },
                { { .version = '3' }, 7200 },
                { { .version = '4' }, 7200 },
                { { .version = '5' }, 7200 },
                { { .version_1 = true }, 7200 },
                { { .footer = "" }, 7200 },       /* the last type holds on */
                { { .footer = "CET-1" }, 3600 },  /* the footer holds from the last transition on */
                { { .n_ut = 2, .n_standard = 2 }, 7200 },
                { { .no_times = true, .footer = "" }, 3600 },
                { { .no_times = true, .footer = "XYZ-9" }, 32400 },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
                uint8_t buf[TZIF_MAX];
                UcsError e = {};
                int32_t offset;
                UcsCivil c;
                int r;

                r = ucs_zone_new("Test/Zone", buf, tzif_make(&table[i].file, buf), &z, &e);
                cr_assert(r == 0, "%zu: %s", i, e.text);
                cr_expect_str_eq(ucs_zone_name(z), "Test/Zone");
                ucs_zone_to_civil(z, utc("2050-07-01T00:00:00Z"), &c, &offset, NULL);
                cr_expect(offset == table[i].last, "%zu: offset %d", i, offset);
        }
}

ucs_test(tzif, transitions) {
        static const Tzif file = { .footer = "" };
        static const struct {
                int64_t sec, from, until;
                int32_t offset;
                const char *abbreviation;
        } table[] = {
                { INT64_MIN, INT64_MIN, 1000000, 3600, "CET" }, { 999999, INT64_MIN, 1000000, 3600, "CET" },
                { 1000000, 1000000, 2000000, 7200, "CEST" },    { 1999999, 1000000, 2000000, 7200, "CEST" },
                { 2000000, 2000000, 3000000, 3600, "CET" },     { 3000000, 3000000, INT64_MAX, 7200, "CEST" },
                { INT64_MAX, 3000000, INT64_MAX, 7200, "CEST" },
        };
        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
        uint8_t buf[TZIF_MAX];

        cr_assert(ucs_zone_new("z", buf, tzif_make(&file, buf), &z, NULL) == 0);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsZoneSpan span;

                ucs_zone_span(z, table[i].sec, &span);
                cr_expect(span.from_sec == table[i].from && span.until_sec == table[i].until &&
                                  span.offset_sec == table[i].offset && streq(span.abbreviation, table[i].abbreviation),
                          "%zu: %ld..%ld %d %s", i, (long) span.from_sec, (long) span.until_sec, span.offset_sec,
                          span.abbreviation);
        }
}

ucs_test(tzif, broken) {
        static const int64_t twice[] = { 1000000, 1000000, 3000000 }, backwards[] = { 3000000, 2000000, 1000000 };
        static const uint8_t no_such_type[] = { 1, 2, 0 };
        static const TzifType far_east[] = { { 3600, 0, 0 }, { 93600, 1, 4 } }, far_west[] = { { -90000, 0, 0 }, { 0, 1, 4 } };
        static const TzifType odd_dst[] = { { 3600, 0, 0 }, { 7200, 2, 4 } }, no_name[] = { { 3600, 0, 0 }, { 7200, 1, 9 } };
        static const struct {
                Tzif file;
                const char *says;
        } table[] = {
                { { .say_leap = SAY(27) }, "leap seconds (27 of them)" },
                { { .say_times = SAY(4097) }, "4097 transitions, expected at most 4096" },
                { { .say_times = UINT32_MAX }, "transitions, expected at most 4096" },
                { { .say_times = SAY(400) }, "inside the data" },
                { { .say_types = SAY(0) }, "0 local time types, expected 1 to 256" },
                { { .say_types = SAY(257) }, "257 local time types, expected 1 to 256" },
                { { .say_types = SAY(200) }, "inside the data" },
                { { .say_chars = SAY(0) }, "no abbreviations" },
                { { .say_chars = UINT32_MAX }, "inside the data" },
                { { .say_chars = SAY(6) }, "the last abbreviation has no end" },
                { { .say_ut = SAY(1) }, "0 standard and 1 UT indicators for 2 local time types" },
                { { .say_standard = SAY(3) }, "3 standard and 0 UT indicators for 2 local time types" },
                { { .times = twice }, "transition 1 (1000000) is not after the one before" },
                { { .times = backwards }, "transition 1 (2000000) is not after the one before" },
                { { .type_of = no_such_type }, "transition 1 has type 2, there are only 2" },
                { { .types = far_east }, "type 1 is 93600 s from UT" },
                { { .types = far_west }, "type 0 is -90000 s from UT" },
                { { .types = odd_dst }, "type 1 has summer time indicator 2" },
                { { .types = no_name }, "type 1 has its abbreviation at 9 of 9" },
                { { .version = '1' }, "unknown version 0x31 at byte 4" },
                { { .second_version = '1' }, "unknown version 0x31 at byte 58" },
                { { .no_footer = true }, "inside the footer" },
                { { .footer = "CET" }, "footer 'CET', column 4: expected an offset" },
                { { .footer = "CET-1CEST" }, "column 10: expected ',' and the day on which summer time begins" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint8_t buf[TZIF_MAX];
                UcsZone *z = NULL;
                UcsError e = {};
                int r;

                r = ucs_zone_new("Test/Zone", buf, tzif_make(&table[i].file, buf), &z, &e);
                cr_expect(r == -EBADMSG && !z, "%zu: %d", i, r);
                cr_expect(e.code == r && strstr(e.text, table[i].says) && str_startswith(e.text, "time zone 'Test/Zone': "),
                          "%zu: '%s' instead of '%s'", i, e.text, table[i].says);
        }
}

ucs_test(tzif, no_tzif) {
        static const struct {
                const char *data;
                size_t size;
                const char *says;
        } table[] = {
                { "", 0, "the file ends at byte 0, inside a header" },
                { "TZif2", 5, "the file ends at byte 5, inside a header" },
                { "This is no time zone, it is a sentence of text.", 47, "expected 'TZif' at byte 0" },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                UcsZone *z = NULL;
                UcsError e = {};

                cr_expect(ucs_zone_new("z", table[i].data, table[i].size, &z, &e) == -EBADMSG && !z);
                cr_expect(strstr(e.text, table[i].says), "%s", e.text);
        }
}

/* In memory of exactly its size, so that the sanitizer sees one byte too many. */
static int read_exact(const uint8_t *data, size_t size, UcsZone **ret) {
        _cleanup_free_ uint8_t *copy = malloc(size ?: 1);

        cr_assert(copy);
        memcpy(copy, data, size);
        return ucs_zone_new("z", copy, size, ret, NULL);
}

ucs_test(tzif, prefixes) {
        static const Tzif file = {};
        uint8_t buf[TZIF_MAX];
        size_t size;

        size = tzif_make(&file, buf);
        for (size_t n = 0; n < size; n++) {
                UcsZone *z = NULL;

                cr_expect(read_exact(buf, n, &z) == -EBADMSG && !z, "the first %zu of %zu bytes were taken", n, size);
        }
}

/* Whatever a flipped byte makes of the file: it is refused, or it is a zone that answers. */
ucs_test(tzif, flipped_bytes) {
        static const uint8_t flips[] = { 0x01, 0x80, 0xff };
        static const Tzif file = {};
        uint8_t buf[TZIF_MAX];
        unsigned taken = 0;
        size_t size;

        size = tzif_make(&file, buf);
        for (size_t i = 0; i < size; i++)
                for (size_t k = 0; k < ELEMENTSOF(flips); k++) {
                        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;

                        buf[i] ^= flips[k];
                        if (read_exact(buf, size, &z) >= 0) {
                                int64_t moment = 0;

                                taken++;
                                for (int64_t t = -5000000; t < 5000000; t += 777777) {
                                        UcsCivil c;

                                        ucs_zone_to_civil(z, t, &c, NULL, NULL);
                                        (void) ucs_zone_from_civil(z, &c, &moment);
                                        cr_expect(moment <= t, "byte %zu: the first pass is later than the second", i);
                                        cr_expect(ucs_zone_furthest_local(z, t) >= t + UCS_ZONE_WEST_MAX);
                                }
                        }
                        buf[i] ^= flips[k];
                }
        cr_expect(taken > 0);
}

ucs_test(tzif, references) {
        static const Tzif file = {};
        uint8_t buf[TZIF_MAX];
        UcsZone *z = NULL;

        cr_assert(ucs_zone_new("z", buf, tzif_make(&file, buf), &z, NULL) == 0);
        cr_expect(ucs_zone_ref(z) == z);
        cr_expect(!ucs_zone_unref(z));
        cr_expect_str_eq(ucs_zone_name(z), "z");
        cr_expect(!ucs_zone_unref(z));

        cr_expect(!ucs_zone_unref(NULL) && !ucs_zone_ref(NULL));
        for (unsigned i = 0; i < 3; i++)
                ucs_zone_unref(ucs_zone_utc());
        cr_expect(ucs_zone_ref(ucs_zone_utc()) == ucs_zone_utc());
        cr_expect_str_eq(ucs_zone_name(ucs_zone_utc()), "UTC");
}

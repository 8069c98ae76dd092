/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/firmware-scan: what is found for each group of CPUs, and what is said about files that are bad. */

#include "firmware-files.h"

static char updates[] = LIB "/updates", library[] = LIB;
static char *const dirs[] = { updates, library, NULL };

static void expect_scan(const UcsMachine *m, size_t i, UcsFinding finding, const char *path,
                        uint32_t revision, const char *error) {
        _cleanup_(ucs_scan_freep) UcsScan *s = NULL;
        static const UcsUpdate none;
        static const uint8_t zero[UCS_DIGEST_SIZE];
        const UcsCandidate *c;

        cr_assert_eq(ucs_firmware_scan(tmproot, dirs, m, NULL, &s), 0);
        cr_assert_eq(s->n_candidates, m->n_groups);
        c = &s->candidates[i];
        cr_expect_eq(c->finding, finding, "finding %d, %s", c->finding, c->error.text);
        cr_expect_eq(c->signature, m->groups[i].signature);
        cr_expect_eq(c->platform_mask, m->groups[i].platform_mask);
        if (path)
                cr_expect_str_eq(c->path, path);
        else
                cr_expect_null(c->path);
        cr_expect_eq(c->update.revision, revision);
        cr_expect_null(c->update.also);
        cr_expect_eq(c->on_disk, error ? 0 : revision, "on disk is 0x%x", c->on_disk);
        if (revision == 0)
                cr_expect_eq(memcmp(&c->update, &none, sizeof(none)), 0);
        expect_error(&c->error, error ?: "");
        cr_expect_eq(c->error.code == 0, error == NULL);
        cr_expect_eq(ucs_digest_equal(c->digest, zero), path == NULL);
        cr_expect_eq(c->changed_usec == 0, path == NULL);
}

ucs_test(firmware, scan_intel, IN_ROOT) {
        UcsGroup groups[] = { { .signature = 0x906eb,
                                .platform_mask = 2,
                                .lowest_revision = 0x100,
                                .highest_revision = 0x100 } };
        UcsMachine m = { .vendor = UCS_VENDOR_INTEL, .groups = groups, .n_groups = 1 };
        _cleanup_fixture_ Fixture bad = {};

        expect_scan(&m, 0, UCS_FOUND_NOTHING, NULL, 0, NULL);
        intel_put(LIB "/" NAME, &fixture_a);
        expect_scan(&m, 0, UCS_FOUND_NOT_NEWER, LIB "/" NAME, 0x100, NULL);
        intel_put(LIB "/" NAME, &fixture_b);
        expect_scan(&m, 0, UCS_FOUND_NEWER, LIB "/" NAME, 0x110, NULL);
        groups[0].lowest_revision = 0x110;
        expect_scan(&m, 0, UCS_FOUND_NOT_NEWER, LIB "/" NAME, 0x110, NULL);
        groups[0].lowest_revision = 0x100;
        groups[0].platform_mask = 1;
        expect_scan(&m, 0, UCS_FOUND_NO_MATCH, LIB "/" NAME, 0, NULL);
        groups[0].platform_mask = 2;

        /* a readable file that is bad hides the good one behind it, as in the kernel */
        fixture_intel(&bad, &fixture_b);
        bad.data[500] ^= 1;
        tmproot_write(LIB "/updates/" NAME, bad.data, bad.size);
        {
                _cleanup_(ucs_scan_freep) UcsScan *s = NULL;

                cr_assert_eq(ucs_firmware_scan(tmproot, dirs, &m, NULL, &s), 0);
                cr_expect_eq(s->candidates[0].finding, UCS_FOUND_BAD);
                cr_expect_str_eq(s->candidates[0].path, LIB "/updates/" NAME);
                cr_expect(str_startswith(s->candidates[0].error.text, LIB "/updates/" NAME ": "), "%s",
                          s->candidates[0].error.text);
        }
        tmproot_unlink(LIB "/updates/" NAME);

        /* one that cannot be read does not, and is told */
        tmproot_symlink("06-9e-0b", LIB "/updates/" NAME);
        {
                _cleanup_(ucs_scan_freep) UcsScan *s = NULL;

                cr_assert_eq(ucs_firmware_scan(tmproot, dirs, &m, NULL, &s), 0);
                cr_expect_eq(s->candidates[0].finding, UCS_FOUND_NEWER);
                cr_expect_eq(s->candidates[0].error.code, 0);
                expect_error(&s->candidates[0].skipped,
                             "cannot open " LIB "/updates/" NAME ": Too many levels of symbolic links");
        }
        tmproot_unlink(LIB "/" NAME);
        expect_scan(&m, 0, UCS_FOUND_BAD, NULL, 0,
                    "cannot open " LIB "/updates/" NAME ": Too many levels of symbolic links");

        m.vendor = UCS_VENDOR_UNKNOWN;
        expect_scan(&m, 0, UCS_FOUND_NOTHING, NULL, 0, NULL);
        m.n_groups = 0;
        {
                _cleanup_(ucs_scan_freep) UcsScan *s = NULL;

                cr_assert_eq(ucs_firmware_scan(tmproot, NULL, &m, NULL, &s), 0);
                cr_expect_eq(s->n_candidates, 0);
        }
}

/* A file of the other vendor under the right name: no kernel takes it. */
ucs_test(firmware, scan_other_vendor, IN_ROOT) {
        UcsGroup groups[] = { { .signature = 0xa20f10, .lowest_revision = 0x0a201016 } };
        UcsMachine m = { .vendor = UCS_VENDOR_AMD, .groups = groups, .n_groups = 1 };
        _cleanup_(ucs_scan_freep) UcsScan *s = NULL;

        intel_put(LIB "/amd-ucode/microcode_amd_fam19h.bin", &fixture_b);
        cr_assert_eq(ucs_firmware_scan(tmproot, dirs, &m, NULL, &s), 0);
        cr_expect_eq(s->candidates[0].finding, UCS_FOUND_BAD);
        expect_error(&s->candidates[0].error,
                     LIB "/amd-ucode/microcode_amd_fam19h.bin: this is a file of intel, expected one of amd");
}

/* A CPU that only the extended signature table names (06-8f-07). */
ucs_test(firmware, scan_extended_signature, IN_ROOT) {
        UcsGroup groups[] = { { .signature = 0x806f7, .platform_mask = 1, .lowest_revision = 0x100 } };
        UcsMachine m = { .vendor = UCS_VENDOR_INTEL, .groups = groups, .n_groups = 1 };

        intel_put(LIB "/intel-ucode/06-8f-07", &fixture_c);
        expect_scan(&m, 0, UCS_FOUND_NEWER, LIB "/intel-ucode/06-8f-07", 0x120, NULL);
}

/* Groups are judged each by itself, and a file that they share is opened once. */
ucs_test(firmware, scan_groups, IN_ROOT) {
        UcsGroup groups[] = {
                { .signature = 0x906eb, .platform_mask = 2, .lowest_revision = 0x110 },
                { .signature = 0x906eb, .platform_mask = 1, .lowest_revision = 0x90 },
                { .signature = 0x906ea, .platform_mask = 2, .lowest_revision = 0x90 },
                { .signature = 0x906eb, .platform_mask = 2, .lowest_revision = 0x100 },
        };
        UcsMachine m = { .vendor = UCS_VENDOR_INTEL, .groups = groups, .n_groups = ELEMENTSOF(groups) };

        intel_put(LIB "/" NAME, &fixture_b);
        expect_scan(&m, 0, UCS_FOUND_NOT_NEWER, LIB "/" NAME, 0x110, NULL);
        expect_scan(&m, 1, UCS_FOUND_NO_MATCH, LIB "/" NAME, 0, NULL);
        expect_scan(&m, 2, UCS_FOUND_NOTHING, NULL, 0, NULL);
        expect_scan(&m, 3, UCS_FOUND_NEWER, LIB "/" NAME, 0x110, NULL);
}

static void count_only(void) {}

ucs_test(firmware, shared_file_read_once, IN_ROOT) {
        UcsGroup groups[] = {
                { .signature = 0xa20f10, .lowest_revision = 0x0a201016 },
                { .signature = 0xa20f12, .lowest_revision = 0x0a201204 },
                { .signature = 0xa00f11, .lowest_revision = 0x0a0011d1 },
        };
        UcsMachine m = { .vendor = UCS_VENDOR_AMD, .groups = groups, .n_groups = ELEMENTSOF(groups) };
        _cleanup_(ucs_scan_freep) UcsScan *one = NULL, *three = NULL;
        _cleanup_fixture_ Fixture f = {};
        unsigned for_one;

        fixture_amd(&f, &fixture_d, 1);
        tmproot_write(LIB "/amd-ucode/microcode_amd_fam19h.bin", f.data, f.size);
        between_reads = count_only;
        m.n_groups = 1;
        cr_assert_eq(ucs_firmware_scan(tmproot, dirs, &m, NULL, &one), 0);
        for_one = n_reads;
        n_reads = 0;
        m.n_groups = 3;
        cr_assert_eq(ucs_firmware_scan(tmproot, dirs, &m, NULL, &three), 0);
        between_reads = NULL;
        cr_expect_eq(n_reads, for_one);

        cr_expect_eq(three->candidates[0].finding, UCS_FOUND_NEWER);
        cr_expect_eq(three->candidates[0].update.revision, 0x0a201030);
        cr_expect_eq(three->candidates[1].finding, UCS_FOUND_NO_MATCH);
        cr_expect_eq(three->candidates[2].finding, UCS_FOUND_NO_MATCH);
        for (size_t i = 0; i < 3; i++)
                cr_expect(ucs_digest_equal(three->candidates[i].digest, one->candidates[0].digest));
}

/* Every corruption of the fixtures, compressed and not: a finding that names the file. */
ucs_test(firmware, scan_corruptions, IN_ROOT) {
        UcsGroup groups[] = { { .signature = 0x906eb, .platform_mask = 2, .lowest_revision = 0x100 } };
        UcsMachine m = { .vendor = UCS_VENDOR_INTEL, .groups = groups, .n_groups = 1 };

        for (size_t i = 0; i < fixture_n_corruptions; i++)
                for (UcsCompression c = UCS_COMPRESSION_NONE; c < _UCS_COMPRESSION_MAX; c++) {
                        _cleanup_(ucs_scan_freep) UcsScan *s = NULL;
                        _cleanup_fixture_ Fixture f = {};
                        char path[64];

                        if (fixture_corruptions[i].vendor == UCS_VENDOR_AMD || !ucs_compression_available(c))
                                continue;
                        fixture_intel(&f, &fixture_b);
                        if (!fixture_corruptions[i].apply(&f))
                                continue;
                        (void) snprintf(path, sizeof(path), LIB "/" NAME "%s", ucs_compression_suffix(c));
                        if (c == UCS_COMPRESSION_ZSTD)
                                zstd_put(path, f.data, f.size);
                        else if (c == UCS_COMPRESSION_XZ)
                                xz_put(path, f.data, f.size, LZMA_CHECK_CRC32);
                        else
                                tmproot_write(path, f.data, f.size);
                        cr_assert_eq(ucs_firmware_scan(tmproot, dirs, &m, NULL, &s), 0);
                        cr_expect_eq(s->candidates[0].finding, UCS_FOUND_BAD, "%s%s",
                                     fixture_corruptions[i].name, ucs_compression_suffix(c));
                        cr_expect(strstr(s->candidates[0].error.text, path), "%s: %s",
                                  fixture_corruptions[i].name, s->candidates[0].error.text);
                        tmproot_unlink(path);
                }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that vendors published, against what their own tools list: iucode_tool (intel-expected.txt) and
 * amd_ucode_info (amd-expected.txt). The files are not part of the project: they are looked for in the
 * directory that UCODESYNC_FIRMWARE names, by default ../shared/firmware beside the source tree, and without
 * them the tests are skipped. */

#include <stdio.h>

#include "base/str.h"
#include "core/ucode/file.h"
#include "core/ucode/update.h"
#include "ucs-test.h"

#ifndef UCS_SOURCE_ROOT
#define UCS_SOURCE_ROOT "."
#endif

static int read_file(const char *name, char **ret, size_t *ret_size) {
        const char *dir = getenv("UCODESYNC_FIRMWARE");
        _cleanup_text_ UcsText text = {};
        char path[4096], buffer[65536];
        size_t n;
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/%s", dir ?: UCS_SOURCE_ROOT "/../shared/firmware", name);
        f = fopen(path, "re");
        if (!f)
                return -ENOENT;
        while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
                ucs_text_append_bytes(&text, buffer, n);
        (void) fclose(f);
        return ucs_text_take(&text, ret, ret_size);
}

static void list_intel(const UcsUpdateFile *file, UcsText *t) {
        for (size_t i = 0; i < file->n_updates; i++) {
                const UcsUpdate *u = &file->updates[i];
                char date[UCS_DATE_MAX];

                cr_assert(ucs_update_date(date, u->date));
                ucs_text_appendf(t, "001/%03zu: sig 0x%08x, pf_mask 0x%02x, %s, rev 0x%04x, size %u\n",
                                 i + 1, u->signature, u->platform_mask, date, u->revision, u->size);
                for (size_t k = 0; k < u->n_also; k++)
                        ucs_text_appendf(t, "sig 0x%08x, pf_mask 0x%02x, %s, rev 0x%04x\n",
                                         u->also[k].signature, u->also[k].platform_mask, date, u->revision);
        }
}

static void list_amd_cpu(UcsText *t, uint32_t signature, const UcsUpdate *u) {
        ucs_text_appendf(t, "  Family=0x%02x Model=0x%02x Stepping=0x%02x: Patch=0x%08x Length=%u bytes\n",
                         ucs_signature_family(signature), ucs_signature_model(signature),
                         ucs_signature_stepping(signature), u->revision, u->size);
}

static void list_amd(const UcsUpdateFile *file, UcsText *t) {
        for (size_t i = 0; i < file->n_updates; i++) {
                const UcsUpdate *u = &file->updates[i];

                list_amd_cpu(t, u->signature, u);
                for (size_t k = 0; k < u->n_also; k++)
                        list_amd_cpu(t, u->also[k].signature, u);
        }
}

/* The list of one file in the format of the expected text: "## NAME", then its lines. */
static void list(const char *directory, const char *name, UcsText *t) {
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        _cleanup_free_ char *data = NULL;
        char path[512];
        UcsError e = {};
        size_t size;

        (void) snprintf(path, sizeof(path), "%s/%s", directory, name);
        cr_assert_eq(read_file(path, &data, &size), 0, "%s is listed, but cannot be read", path);
        cr_assert_eq(ucs_update_file_parse(data, size, &file, &e), 0, "%s: %s", path, e.text);
        ucs_text_appendf(t, "## %s\n", name);
        if (file->vendor == UCS_VENDOR_INTEL)
                list_intel(file, t);
        else
                list_amd(file, t);
}

static void compare(const char *expected_name, const char *directory) {
        _cleanup_free_ char *expected = NULL, *ours = NULL, *relevant = NULL;
        _cleanup_text_ UcsText lines = {}, t = {};
        size_t n_files = 0;
        char *save = NULL;

        if (read_file(expected_name, &expected, NULL) < 0)
                cr_skip_test("no vendor files here: set UCODESYNC_FIRMWARE to a directory with %s and %s/",
                             expected_name, directory);

        for (char *line = strtok_r(expected, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                const char *name = str_startswith(line, "## ");

                if (str_startswith(line, "WARNING:"))
                        continue; /* amd_ucode_info on doubled rows */
                ucs_text_appendf(&lines, "%s\n", line);
                if (name) {
                        list(directory, name, &t);
                        n_files++;
                }
        }
        cr_assert_gt(n_files, 0);
        cr_assert_eq(ucs_text_take(&t, &ours, NULL), 0);
        cr_assert_eq(ucs_text_take(&lines, &relevant, NULL), 0);
        cr_expect_str_eq(ours, relevant);
}

ucs_test(real, intel) {
        compare("intel-expected.txt", "intel-ucode");
}

ucs_test(real, amd) {
        compare("amd-expected.txt", "amd-ucode");
}

/* Cut anywhere near a seam, or changed by a bit, a published file is refused as well. */
ucs_test(real, damaged) {
        static const char *const names[] = { "intel-ucode/06-8f-07", "intel-ucode/06-0f-0b",
                                             "intel-ucode/06-97-05" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
                _cleanup_free_ char *data = NULL;
                size_t size;

                if (read_file(names[i], &data, &size) < 0)
                        cr_skip_test("no vendor files here: set UCODESYNC_FIRMWARE");
                for (size_t cut = 1; cut < 100; cut++)
                        cr_assert_eq(ucs_update_file_parse(data, size - cut, &file, NULL), -EBADMSG);
                for (size_t at = 0; at < size; at += size / 50) {
                        data[at] ^= 0x20;
                        cr_assert_eq(ucs_update_file_parse(data, size, &file, NULL), -EBADMSG,
                                     "%s: byte %zu", names[i], at);
                        data[at] ^= 0x20;
                }
                cr_assert_eq(ucs_update_file_parse(data, size, &file, NULL), 0);
        }
}

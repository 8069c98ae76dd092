/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `ucodectl inspect` as its users see it: the program is run in a directory of fixtures, and every byte of
 * its JSON counts. */

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "fixture.h"
#include "ucs-test.h"

#define NO_UPDATES "\"updates\":[]}"
#define A_UPDATE                                                                                            \
        "{\"signature\":\"0x000906eb\",\"platform_mask\":\"0x00000002\",\"revision\":\"0x00000100\","       \
        "\"date\":\"2023-07-28\",\"min_revision\":null,\"size\":1024,\"also\":[]}"
#define B_UPDATE                                                                                            \
        "{\"signature\":\"0x000906eb\",\"platform_mask\":\"0x00000002\",\"revision\":\"0x00000110\","       \
        "\"date\":\"2024-01-15\",\"min_revision\":\"0x00000100\",\"size\":1024,\"also\":[]}"
#define C_UPDATE                                                                                            \
        "{\"signature\":\"0x000806f8\",\"platform_mask\":\"0x00000087\",\"revision\":\"0x00000120\","       \
        "\"date\":\"2024-01-15\",\"min_revision\":null,\"size\":1024,"                                      \
        "\"also\":[{\"signature\":\"0x000806f8\",\"platform_mask\":\"0x00000087\"},"                        \
        "{\"signature\":\"0x000806f7\",\"platform_mask\":\"0x00000087\"}]}"
#define D_UPDATE                                                                                            \
        "{\"signature\":\"0x00a20f10\",\"platform_mask\":null,\"revision\":\"0x0a201030\","                 \
        "\"date\":\"2025-07-15\",\"min_revision\":null,\"size\":256,\"also\":[]}"
#define OLD_UPDATE                                                                                          \
        "{\"signature\":\"0x00100f43\",\"platform_mask\":null,\"revision\":\"0x010000c8\",\"date\":null,"   \
        "\"min_revision\":null,\"size\":960,\"also\":[{\"signature\":\"0x00100f42\",\"platform_mask\":null}]}"

#define GOOD(file, vendor, updates)                                                                         \
        "{\"file\":\"" file "\",\"vendor\":\"" vendor                                                       \
        "\",\"valid\":true,\"error\":null,\"updates\":[" updates "]}"
#define BAD(file, vendor, error)                                                                            \
        "{\"file\":\"" file "\",\"vendor\":" vendor ",\"valid\":false,\"error\":\"" error "\"," NO_UPDATES
#define NOT_MICROCODE                                                                                           \
        "offset 0: not microcode, expected the header of an Intel update (01 00 00 00) or of an AMD container " \
        "(44 4d 41 00)"
#define TWO                                                                                                       \
        "{\"file\":\"d/sub/two\",\"vendor\":\"amd\",\"valid\":false,\"error\":\"offset 308: a second container, " \
        "expected a patch (the late loader reads one container)\",\"updates\":[" D_UPDATE "," D_UPDATE "]}"

static void write_file(const char *dir, const char *name, Fixture *f) {
        char path[256];
        FILE *file;

        (void) snprintf(path, sizeof(path), "%s/%s", dir, name);
        file = fopen(path, "we");
        cr_assert(file);
        cr_assert_eq(fwrite(f->data, 1, f->size, file), f->size);
        cr_assert_eq(fclose(file), 0);
        fixture_done(f);
}

static void make_intel(const char *dir, const char *name, const FixtureIntel *first,
                       const FixtureIntel *second, const char *corruption) {
        Fixture f = {};

        fixture_intel(&f, first);
        if (second)
                fixture_intel(&f, second);
        if (corruption)
                cr_assert(fixture_corruption_find(corruption)->apply(&f));
        write_file(dir, name, &f);
}

static void make_amd(const char *dir, const char *name, const FixtureAmd *patch, const char *corruption) {
        Fixture f = {};

        fixture_amd(&f, patch, 1);
        if (corruption)
                cr_assert(fixture_corruption_find(corruption)->apply(&f));
        write_file(dir, name, &f);
}

static void make_tree(char *dir) {
        static const FixtureAmd old = { .patch_id = 0x010000c8,
                                        .signature = 0x00100f43,
                                        .date = 0x13092011,
                                        .size = 960,
                                        .also = { { 0x00100f42, 0 } },
                                        .n_also = 1 };
        char path[256];

        cr_assert(mkdtemp(dir));
        (void) snprintf(path, sizeof(path), "%s/d", dir);
        cr_assert_eq(mkdir(path, 0755), 0);
        (void) snprintf(path, sizeof(path), "%s/d/sub", dir);
        cr_assert_eq(mkdir(path, 0755), 0);
        (void) snprintf(path, sizeof(path), "%s/d/sub/up", dir);
        cr_assert_eq(symlink("..", path), 0);
        (void) snprintf(path, sizeof(path), "%s/d/link", dir);
        cr_assert_eq(symlink("../a", path), 0);
        (void) snprintf(path, sizeof(path), "%s/none", dir);
        cr_assert_eq(mkdir(path, 0755), 0);

        make_intel(dir, "a", &fixture_a, NULL, NULL);
        make_intel(dir, "ab", &fixture_a, &fixture_b, NULL);
        make_intel(dir, "c", &fixture_c, NULL, NULL);
        make_intel(dir, "bad", &fixture_a, &fixture_b, "body-bit");
        make_intel(dir, "ifs", &fixture_a, NULL, "ifs");
        make_intel(dir, "README", &fixture_a, NULL, "readme");
        make_intel(dir, "plain.zst", &fixture_a, NULL, NULL);
        make_intel(dir, "d/sub-x", &fixture_a, NULL, NULL);
        make_intel(dir, "d/sub/b", &fixture_b, NULL, NULL);
        make_intel(dir, "d/empty", &fixture_a, NULL, "empty");
        make_amd(dir, "amd", &fixture_d, NULL);
        make_amd(dir, "old", &old, NULL);
        make_amd(dir, "d/sub/two", &fixture_d, "second-container");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        return remove(path);
}

static int run(const char *dir, const char *arguments, char **ret) {
        _cleanup_text_ UcsText text = {};
        char command[1024], buffer[4096];
        size_t n;
        FILE *f;
        int r;

        (void) snprintf(command, sizeof(command), "cd '%s' && LC_ALL=C.UTF-8 '%s' %s", dir, UCS_UCODECTL,
                        arguments);
        f = popen(command, "re");
        cr_assert(f);
        while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
                ucs_text_append_bytes(&text, buffer, n);
        r = pclose(f);
        cr_assert(WIFEXITED(r));
        cr_assert_eq(ucs_text_take(&text, ret, NULL), 0);
        return WEXITSTATUS(r);
}

ucs_test(inspect, json) {
        static const struct {
                const char *arguments;
                int exit;
                const char *output;
        } table[] = {
                { "a", 0, GOOD("a", "intel", A_UPDATE) },
                { "ab ./c", 0,
                  GOOD("ab", "intel", A_UPDATE "," B_UPDATE) "," GOOD("./c", "intel", C_UPDATE) },
                { "amd old", 0, GOOD("amd", "amd", D_UPDATE) "," GOOD("old", "amd", OLD_UPDATE) },
                { "bad", 1,
                  BAD("bad", "\"intel\"", "offset 1024: header and data sum to 0x00000010, expected 0") },
                { "ifs a", 1,
                  BAD("ifs", "\"intel\"",
                      "offset 0: header type 2, an In-Field Scan image, expected 1 (microcode)") "," GOOD("a",
                                                                                                          "intel",
                                                                                                          A_UPDATE) },
                { "README", 1, BAD("README", "null", NOT_MICROCODE) },
                { "missing", 1, BAD("missing", "null", "cannot be opened: No such file or directory") },
                { "plain.zst", 1, BAD("plain.zst", "null", "is not a zstd file") },
                { "none", 0, "" },
                /* below a directory by whole path; links to files, none to directories */
                { "d", 1,
                  BAD("d/empty", "null", "offset 0: the file is empty, expected microcode") "," GOOD(
                          "d/link", "intel", A_UPDATE) "," GOOD("d/sub-x", "intel",
                                                                A_UPDATE) "," GOOD("d/sub/b", "intel",
                                                                                   B_UPDATE) "," TWO },
                /* below a root, links stay in it */
                { "--root=d /link sub/b", 1,
                  BAD("/link", "null",
                      "cannot be opened: No such file or directory") "," GOOD("sub/b", "intel", B_UPDATE) },
        };
        char dir[] = "/tmp/ucs-inspect-XXXXXX";

        make_tree(dir);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *output = NULL, *expected = NULL;
                char arguments[256];

                (void) snprintf(arguments, sizeof(arguments), "inspect --json=short %s", table[i].arguments);
                cr_expect_eq(run(dir, arguments, &output), table[i].exit, "%s", table[i].arguments);
                cr_assert_gt(asprintf(&expected, "[%s]\n", table[i].output), 0);
                cr_expect_str_eq(output, expected, "%s:\n%s", table[i].arguments, output);
        }
        (void) nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

ucs_test(inspect, judgement) {
        static const struct {
                const char *arguments, *verdict, *revision, *met;
        } table[] = {
                { "--for=906eb/2/100 a", "not-newer", "\"0x00000100\"", "null" },
                { "--for=0x906eb/0x2/0xff ab", "newer", "\"0x00000110\"", "false" },
                { "--for=906eb/2/100 ab", "newer", "\"0x00000110\"", "true" },
                { "--for=906eb/2 ab", "for-it", "\"0x00000110\"", "null" },
                { "--for=906eb ab", "for-it", "\"0x00000110\"", "null" },
                { "--for=906eb/4/1 ab", "not-for-it", "null", "null" },
                { "--for=806f7/1/100 c", "newer", "\"0x00000120\"", "null" },
                { "--for=a20f10/0/a201016 amd", "newer", "\"0x0a201030\"", "null" },
                { "--for=906eb/2/1 bad", "not-for-it", "null", "null" },
                { "--for=a20f10/0/1 d/sub/two", "not-for-it", "null",
                  "null" }, /* the kernel takes nothing from it */
        };
        static const char *const wrong[] = { "''",      "0",        "x",           "906eb/",
                                             "906eb/x", "906eb/2/", "906eb/2/1/1", "100000000" };
        char dir[] = "/tmp/ucs-inspect-XXXXXX";

        make_tree(dir);
        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_free_ char *output = NULL, *expected = NULL;
                const char *judgement;
                char arguments[256];

                (void) snprintf(arguments, sizeof(arguments), "inspect --json=short %s", table[i].arguments);
                (void) run(dir, arguments, &output);
                judgement = strstr(output, "\"verdict\"");
                cr_assert(judgement, "%s: %s", table[i].arguments, output);
                cr_assert_gt(asprintf(&expected,
                                      "\"verdict\":\"%s\",\"revision\":%s,\"min_revision_met\":%s}}]\n",
                                      table[i].verdict, table[i].revision, table[i].met),
                             0);
                cr_expect_str_eq(judgement, expected, "%s", table[i].arguments);
        }
        for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                _cleanup_free_ char *output = NULL;
                char arguments[256];

                (void) snprintf(arguments, sizeof(arguments), "inspect --for=%s a 2>&1", wrong[i]);
                cr_expect_eq(run(dir, arguments, &output), 1, "%s", wrong[i]);
                cr_expect(strstr(output, "is not SIGNATURE[/MASK[/REVISION]]"), "%s: %s", wrong[i], output);
        }
        (void) nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* For people: what is valid in a table, one line on stderr for what is not. */
ucs_test(inspect, text) {
        static const char errors[] =
                "ucodectl: bad: offset 1024: header and data sum to 0x00000010, expected 0\n"
                "ucodectl: d/empty: offset 0: the file is empty, expected microcode\n";
        _cleanup_free_ char *output = NULL, *errors_only = NULL, *quiet = NULL;
        char dir[] = "/tmp/ucs-inspect-XXXXXX";

        make_tree(dir);
        cr_expect_eq(run(dir, "inspect --no-legend a ab c old", &output), 0);
        cr_expect(strstr(output, "0x000906eb"));
        cr_expect(strstr(output, "0x000806f7"));
        cr_expect(strstr(output, "0x00100f42"));
        cr_expect_null(strstr(output, "SIGNATURE"));
        cr_expect_eq(run(dir, "inspect a bad d/empty 2>&1 >/dev/null", &errors_only), 1);
        cr_expect_str_eq(errors_only, errors);
        cr_expect_eq(run(dir, "inspect -q bad a 2>/dev/null", &quiet), 1);
        cr_expect_str_empty(quiet);
        (void) nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

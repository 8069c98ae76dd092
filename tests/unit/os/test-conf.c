/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/conf: which files count, which lines are wrong and how that is said, and where zones come from. */

#include "os/conf.h"
#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done
#define MAIN    "/etc/ucodesync/ucodesyncd.conf"
#define ETC     "/etc/ucodesync/ucodesyncd.conf.d/"
#define RUN     "/run/ucodesync/ucodesyncd.conf.d/"
#define LIB     "/usr/lib/ucodesync/ucodesyncd.conf.d/"

/* "key=value @origin" lines of what was set. */
static char *dump(const UcsConfig *c) {
        const char *section, *key, *origin;
        UcsConfigIterator i = {};
        char *value, *text;
        UcsText t = {};

        while (ucs_config_next(c, &i, &section, &key, &value, &origin)) {
                if (!streq(origin, "default"))
                        ucs_text_appendf(&t, "%s=%s @%s\n", key, value, origin);
                free(value);
        }
        cr_assert_eq(ucs_text_take(&t, &text, NULL), 0);
        return text;
}

static void expect_conf(const char *expected, const char *warnings) {
        _cleanup_(ucs_config_freep) UcsConfig *c = NULL;
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ char **w = NULL;
        _cleanup_text_ UcsText t = {};
        UcsError e = {};

        cr_assert_eq(ucs_conf_load(tmproot, &c, &w, &e), 0, "%s", e.text);
        text = dump(c);
        cr_expect_str_eq(text, expected, "got:\n%s", text);
        for (char **s = w; s && *s; s++)
                ucs_text_appendf(&t, "%s\n", *s);
        cr_expect_str_eq(t.data ?: "", warnings, "got:\n%s", t.data);
}

static void expect_broken(int r, const char *error) {
        UcsConfig *c = NULL;
        char **w = NULL;
        UcsError e = {};

        cr_expect_eq(ucs_conf_load(tmproot, &c, &w, &e), r);
        expect_error(&e, error);
        cr_expect_eq(e.code, r);
        cr_expect_null(c);
        cr_expect_null(w);
}

ucs_test(conf, no_files, IN_ROOT) {
        expect_conf("", "");
        tmproot_mkdir(ETC);
        tmproot_mkdir(LIB);
        expect_conf("", "");
        tmproot_text(MAIN, "");
        expect_conf("", "");
        tmproot_text(MAIN, "# nothing\n; nothing either\n\n   \n\t\r\n  # indented\n[Apply]\n");
        expect_conf("", "");
}

/* The example of the manual, with its comments. */
ucs_test(conf, whole_file, IN_ROOT) {
        tmproot_text(MAIN, "\xef\xbb\xbf[Schedule]\n"
                           "Window=Sat 02:00 for 2h        ; systemd.time(7) calendar expression\n"
                           "Window = Sun 02:00 UTC for 90min\r\n"
                           "Blackout=                      ; none\n"
                           "TimeZone=UTC\n"
                           "[Load]  ; when is it quiet\n"
                           "Threshold=7.5%\n"
                           "[Apply]\n"
                           "Automatic=no\n"
                           "MaxStallMSec=50\n"
                           "[Schedule]\n"
                           "SettleSec=5s");
        expect_conf("Window=Sat 02:00 for 2h @" MAIN ":2\n"
                    "Window=Sun 02:00 UTC for 90min @" MAIN ":3\n"
                    "Blackout= @" MAIN ":4\n"
                    "TimeZone=UTC @" MAIN ":5\n"
                    "SettleSec=5s @" MAIN ":12\n"
                    "Threshold=7.5% @" MAIN ":7\n"
                    "Automatic=no @" MAIN ":9\n"
                    "MaxStallMSec=50 @" MAIN ":10\n",
                    "");
}

/* All names merged and sorted; the same name masks by directory; masks; other suffixes. */
ucs_test(conf, drop_ins, IN_ROOT) {
        tmproot_text(MAIN, "[Schedule]\nSettleSec=1s\nBootGraceSec=1s\nDeadlineSec=1s\n");
        tmproot_text(ETC "50-b.conf", "[Schedule]\nSettleSec=50\n");
        tmproot_text(RUN "40-a.conf", "[Schedule]\nSettleSec=40\nBootGraceSec=40\n");
        tmproot_text(LIB "60-c.conf", "[Schedule]\nDeadlineSec=60\n");
        expect_conf("DeadlineSec=1min @" LIB "60-c.conf:2\n"
                    "SettleSec=50s @" ETC "50-b.conf:2\n"
                    "BootGraceSec=40s @" RUN "40-a.conf:3\n",
                    "");

        /* the same name: /etc over /run over /usr/lib */
        tmproot_text(LIB "50-b.conf", "[Apply]\nAutomatic=no\n");
        tmproot_text(RUN "60-c.conf", "[Schedule]\nDeadlineSec=61\n");
        expect_conf("DeadlineSec=1min 1s @" RUN "60-c.conf:2\n"
                    "SettleSec=50s @" ETC "50-b.conf:2\n"
                    "BootGraceSec=40s @" RUN "40-a.conf:3\n",
                    "");

        /* a link to /dev/null, which is not there below this root, and an empty file */
        tmproot_symlink("/dev/null", ETC "60-c.conf");
        tmproot_text(ETC "40-a.conf", "");
        expect_conf("DeadlineSec=1s @" MAIN ":4\n"
                    "SettleSec=50s @" ETC "50-b.conf:2\n"
                    "BootGraceSec=1s @" MAIN ":3\n",
                    "");

        /* a link to another file is read; hidden files are nobody's; other names are told */
        tmproot_text("/srv/site.conf", "[Schedule]\nBootGraceSec=7\n");
        tmproot_symlink("/srv/site.conf", ETC "70-site.conf");
        tmproot_text(ETC ".70-hidden.conf", "garbage");
        tmproot_text(ETC "70-site.conf.rpmsave", "garbage");
        tmproot_text(RUN "notes", "garbage");
        tmproot_mkdir(LIB "directory");
        expect_conf("DeadlineSec=1s @" MAIN ":4\n"
                    "SettleSec=50s @" ETC "50-b.conf:2\n"
                    "BootGraceSec=7s @" ETC "70-site.conf:2\n",
                    ETC "70-site.conf.rpmsave is ignored: the name of a drop-in ends in .conf\n" RUN
                        "notes is ignored: the name of a drop-in ends in .conf\n" LIB
                        "directory is ignored: the name of a drop-in ends in .conf\n");

        /* the main file can be masked as well */
        tmproot_unlink(MAIN);
        tmproot_symlink("/dev/null", MAIN);
        expect_conf("SettleSec=50s @" ETC "50-b.conf:2\n"
                    "BootGraceSec=7s @" ETC "70-site.conf:2\n",
                    ETC "70-site.conf.rpmsave is ignored: the name of a drop-in ends in .conf\n" RUN
                        "notes is ignored: the name of a drop-in ends in .conf\n" LIB
                        "directory is ignored: the name of a drop-in ends in .conf\n");
}

/* Lists over several files: the first assignment replaces the default, later ones add, an empty one resets.
 */
ucs_test(conf, lists_over_files, IN_ROOT) {
        tmproot_text(MAIN, "[Schedule]\nWindow=Sat 02:00 for 1h\n[Firmware]\nPath=/a\n");
        tmproot_text(ETC "10.conf", "[Schedule]\nWindow=Sun 02:00 for 1h\n");
        tmproot_text(ETC "20.conf", "[Firmware]\nPath=\nPath=/b\nPath=/c\n");
        expect_conf("Window=Sat 02:00 for 1h @" MAIN ":2\n"
                    "Window=Sun 02:00 for 1h @" ETC "10.conf:2\n"
                    "Path=/b @" ETC "20.conf:3\n"
                    "Path=/c @" ETC "20.conf:4\n",
                    "");
}

#define LONG_VALUE "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

ucs_test(conf, wrong_lines, IN_ROOT) {
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "Automatic=no\n",
                  ":1: Automatic= stands outside of any section, expected a [Section] above it" },
                { "[Apply]\nAutomatic\n", ":2: 'Automatic' is no assignment, expected Key=value" },
                { "[Apply]\nAutomatic no\n", ":2: 'Automatic no' is no assignment, expected Key=value" },
                { "[Apply]\nAutomatic: no\n", ":2: 'Automatic: no' is no assignment, expected Key=value" },
                { "[Apply]\n=no\n", ":2: '=no' is no assignment, expected Key=value" },
                { "[Schedule]\nWindow 02:00=x\n",
                  ":2: 'Window 02:00=x' is no assignment, expected Key=value" },
                { "[Apply]\n\n\nAutomatic=perhaps\n", ":4: [Apply] Automatic=perhaps: expected yes or no" },
                { "[Apply]\nAutomatic=no\n  Trust=any\n",
                  ":3: the line begins with a blank, expected Key=value or [Section] at its start" },
                { "[Apply]\n\tAutomatic=no\n",
                  ":2: the line begins with a blank, expected Key=value or [Section] at its start" },
                { " [Apply]\n",
                  ":1: the line begins with a blank, expected Key=value or [Section] at its start" },
                { "[Apply\nAutomatic=no\n", ":1: '[Apply' has no end, expected [Section]" },
                { "[Apply]]\n",
                  ":1: there is something behind '[Apply]', expected nothing or a comment after ' ;'" },
                { "[Apply] Automatic=no\n",
                  ":1: there is something behind '[Apply]', expected nothing or a comment after ' ;'" },
                { "[Apply];comment\n",
                  ":1: there is something behind '[Apply]', expected nothing or a comment after ' ;'" },
                { "[Aply]\n",
                  ":1: there is no section [Aply], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
                { "[ Apply ]\n",
                  ":1: there is no section [ Apply ], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
                { "[]\n",
                  ":1: there is no section [], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
                { "[Apply]\nautomatic=no\n",
                  ":2: there is no key automatic= in [Apply], expected one of Automatic, Trust, MaxStallMSec, LatencyCritical, ProbationSec" },
                { "[Load]\nAutomatic=no\n",
                  ":2: there is no key Automatic= in [Load], expected it in [Apply]" },
                { "[Apply]\nAutomatic ; comment=no\n",
                  ":2: the line is not understood, expected Key=value or [Section]" },
                { "[Schedule]\nSettleSec=30s # soon\n",
                  ":2: [Schedule] SettleSec=30s # soon: expected a time span of 1s to 1d, such as 30s; '#' begins a comment only at the "
                  "start of a line" },
                { "[Schedule]\nTimeZone=Nope/Zone\n",
                  ":2: [Schedule] TimeZone=: there is no time zone 'Nope/Zone' in /usr/share/zoneinfo; expected the name of a time zone, "
                  "such as Europe/Berlin or UTC" },
                { "[Schedule]\nTimeZone=../../../etc/passwd\n",
                  ":2: [Schedule] TimeZone=: '../../../etc/passwd' is not the name of a time zone; expected the name of a time zone, "
                  "such as Europe/Berlin or UTC" },
                /* 199 bytes are a line, 200 are not */
                { "[Firmware]\nPath=/123" LONG_VALUE LONG_VALUE "1234567890123456789012\n[X]\n",
                  ":3: there is no section [X], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
                { "[Firmware]\nPath=/1234" LONG_VALUE LONG_VALUE "1234567890123456789012\n[X]\n",
                  ":2: the line has 200 bytes, expected at most 199" },
                { "# " LONG_VALUE LONG_VALUE LONG_VALUE "\n",
                  ":1: the line has 254 bytes, expected at most 199" },
                /* the first error is the one that is told */
                { "[Apply]\nAutomatic=1x\nAutomatic=2x\n Automatic=3x\n",
                  ":2: [Apply] Automatic=1x: expected yes or no" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char expected[512];

                tmproot_text(MAIN, cases[i].text);
                (void) snprintf(expected, sizeof(expected), MAIN "%s", cases[i].error);
                expect_broken(-EINVAL, expected);
        }
        tmproot_write(MAIN, "[Apply]\nAuto\0matic=no\n", 22);
        expect_broken(-EINVAL, MAIN ":2: there is a NUL byte in the line, expected text");
        tmproot_write(MAIN, "[Apply]\nAutomatic=no\n\0", 22);
        expect_broken(-EINVAL, MAIN ":3: there is a NUL byte in the line, expected text");
}

/* A wrong drop-in is named, and a right one behind it does not help. */
ucs_test(conf, wrong_drop_in, IN_ROOT) {
        tmproot_text(MAIN, "[Apply]\nAutomatic=no\n");
        tmproot_text(RUN "50-x.conf", "[Apply]\nTrust=all\n");
        tmproot_text(ETC "60-y.conf", "[Apply]\nTrust=any\n");
        expect_broken(-EINVAL, RUN "50-x.conf:2: [Apply] Trust=all: expected minrev, approved or any");
        tmproot_symlink("/dev/null", ETC "50-x.conf");
        expect_conf("Automatic=no @" MAIN ":2\nTrust=any @" ETC "60-y.conf:2\n", "");
}

ucs_test(conf, odd_files, IN_ROOT) {
        enum { LIMIT = 1024 * 1024 };
        _cleanup_free_ char *large = malloc(LIMIT + 1);

        tmproot_mkdir(MAIN);
        expect_broken(-EISDIR, MAIN " is a directory, expected a regular file");
        tmproot_rmdir(MAIN);
        cr_assert_eq(mkfifo(tmproot_at(MAIN), 0600), 0);
        expect_broken(-EINVAL, MAIN " is not a regular file");
        tmproot_unlink(MAIN);
        tmproot_symlink("ucodesyncd.conf", MAIN);
        expect_broken(-ELOOP, "cannot open " MAIN ": Too many levels of symbolic links");
        tmproot_unlink(MAIN);
        tmproot_symlink("/srv/none", MAIN);
        expect_broken(-ENOENT, "cannot open " MAIN ": No such file or directory");
        tmproot_unlink(MAIN);

        memset(large, '\n', LIMIT + 1);
        tmproot_write(MAIN, large, LIMIT);
        expect_conf("", "");
        tmproot_write(MAIN, large, LIMIT + 1);
        expect_broken(-EFBIG, MAIN " is larger than 1048576 bytes");
        tmproot_unlink(MAIN);

        tmproot_mkdir(ETC "50-x.conf");
        expect_broken(-EISDIR, ETC "50-x.conf is a directory, expected a regular file");
        tmproot_rmdir(ETC "50-x.conf");
        tmproot_rmdir(ETC);
        tmproot_text("/etc/ucodesync/ucodesyncd.conf.d", "");
        expect_broken(-ENOTDIR,
                      "cannot open the directory /etc/ucodesync/ucodesyncd.conf.d: Not a directory");
        tmproot_unlink("/etc/ucodesync/ucodesyncd.conf.d");
        tmproot_rmdir("/etc/ucodesync");
        tmproot_text("/etc/ucodesync", "");
        expect_broken(-ENOTDIR, "cannot open " MAIN ": Not a directory");
}

ucs_test(conf, permission_denied, IN_ROOT) {
        UcsConfig *c = NULL;
        UcsError e = {};
        int r;

        if (geteuid() != 0)
                tmproot_skip("needs root to become somebody else");
        tmproot_text(MAIN, "");
        cr_assert_eq(chmod(tmproot_at(MAIN), 0), 0);
        cr_assert_eq(chmod(tmproot_path, 0755), 0);
        cr_assert_eq(seteuid(65534), 0);
        r = ucs_conf_load(tmproot, &c, NULL, &e);
        cr_assert_eq(seteuid(0), 0);
        /* an empty file counts as masked only where it can be seen to be one: this one can */
        cr_expect_eq(r, 0, "%s", e.text);
        ucs_config_free(c);
        c = NULL;

        tmproot_text(MAIN, "[Apply]\n");
        cr_assert_eq(seteuid(65534), 0);
        r = ucs_conf_load(tmproot, &c, NULL, &e);
        cr_assert_eq(seteuid(0), 0);
        cr_expect_eq(r, -EACCES);
        expect_error(&e, "cannot open " MAIN ": Permission denied");
        cr_expect_null(c);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* os/zoneinfo: zones by name, the machine's own, and the names that are none. */

#include "os/conf.h"
#include "tmproot.h"

#define IN_ROOT .init = tmproot_init, .fini = tmproot_done
#define CONF    "/etc/ucodesync/ucodesyncd.conf"

/* The smallest TZif file (RFC 9636): version 2, one type, no transitions, and a footer. */
static void zone_put(const char *path, const char *footer) {
        static const char header[] =
                "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4";
        static const char block[] = "\0\0\0\0\0\0ABC";
        char data[256];
        size_t n = 0;

        for (unsigned i = 0; i < 2; i++) {
                memcpy(data + n, header, 44);
                memcpy(data + n + 44, block, 10);
                n += 54;
        }
        n += (size_t) snprintf(data + n, sizeof(data) - n, "\n%s\n", footer);
        tmproot_write(path, data, n);
}

/* `text`: the zone's name, or the error (its beginning, where the bytes are wrong: that is
 * core/schedule/zone's to say). */
static void expect_zone(const char *name, int r, const char *text, int32_t offset_sec) {
        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
        UcsError e = {};
        UcsCivil civil;
        int32_t offset;
        int q;

        q = ucs_conf_zone_load(&tmproot, name, &z, &e);
        cr_expect_eq(q, r, "'%s': %d %s", name, q, e.text);
        if (r < 0) {
                cr_expect_null(z);
                if (r == -EBADMSG)
                        cr_expect(str_startswith(e.text, text), "%s", e.text);
                else
                        expect_error(&e, text);
                return;
        }
        cr_expect_str_eq(ucs_zone_name(z), text);
        ucs_zone_to_civil(z, 1700000000, &civil, &offset, NULL);
        cr_expect_eq(offset, offset_sec, "%s: %d", text, offset);
}

ucs_test(zoneinfo, names, IN_ROOT) {
        /* without any file there is UTC, and nothing else */
        expect_zone("", 0, "UTC", 0);
        expect_zone("UTC", 0, "UTC", 0);
        expect_zone("Etc/UTC", 0, "UTC", 0);
        expect_zone("Europe/Berlin", -ENOENT, "there is no time zone 'Europe/Berlin' in /usr/share/zoneinfo",
                    0);

        zone_put("/usr/share/zoneinfo/Test/East", "<EAS>-3");
        zone_put("/usr/share/zoneinfo/Etc/GMT+5", "<-05>5");
        tmproot_text("/usr/share/zoneinfo/tzdata.zi", "# version 2024a\n");
        tmproot_text("/usr/share/zoneinfo/Garbage", "not a zone");
        zone_put("/etc/evil", "<EVL>-1");
        expect_zone("Test/East", 0, "Test/East", 3 * 3600);
        expect_zone("Etc/GMT+5", 0, "Etc/GMT+5", -5 * 3600);
        expect_zone("Test", -ENOENT, "there is no time zone 'Test' in /usr/share/zoneinfo", 0);
        expect_zone("Test/East/X", -ENOENT, "there is no time zone 'Test/East/X' in /usr/share/zoneinfo", 0);
        expect_zone("/usr/share/zoneinfo/Test/East", -EINVAL,
                    "'/usr/share/zoneinfo/Test/East' is not the name of a time zone", 0);
        expect_zone("Test/../Test/East", -EINVAL, "'Test/../Test/East' is not the name of a time zone", 0);
        expect_zone("../../../etc/evil", -EINVAL, "'../../../etc/evil' is not the name of a time zone", 0);
        expect_zone("Test//East", -EINVAL, "'Test//East' is not the name of a time zone", 0);
        expect_zone("Test/", -EINVAL, "'Test/' is not the name of a time zone", 0);
        expect_zone("Test East", -EINVAL, "'Test East' is not the name of a time zone", 0);
        expect_zone("tzdata.zi", -EINVAL, "'tzdata.zi' is not the name of a time zone", 0);
        expect_zone("Garbage", -EBADMSG, "/usr/share/zoneinfo/Garbage: ", 0);
}

ucs_test(zoneinfo, longest_name, IN_ROOT) {
        char name[300];

        memset(name, 'x', sizeof(name));
        for (size_t i = 64; i < sizeof(name); i += 65)
                name[i] = '/';
        name[255] = '\0';
        expect_zone(
                name, -ENOENT,
                "there is no time zone 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' in /usr/share/zoneinfo",
                0);
        name[255] = 'x';
        name[256] = '\0';
        expect_zone(
                name, -EINVAL,
                "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is not the name of a time zone",
                0);
}

ucs_test(zoneinfo, machine, IN_ROOT) {
        static const struct {
                const char *link; /* NULL: a file, a copy */
                int r;
                const char *text;
                int32_t offset_sec;
        } cases[] = {
                { "/usr/share/zoneinfo/Test/East", 0, "Test/East", 3 * 3600 },
                { "../usr/share/zoneinfo/Test/East", 0, "Test/East", 3 * 3600 },
                { NULL, 0, "localtime", 3 * 3600 },
                { "/srv/copy", 0, "localtime", 3 * 3600 },
                /* minimal systems have the link and no tzdata */
                { "/usr/share/zoneinfo/Etc/UTC", 0, "UTC", 0 },
                { "/usr/share/zoneinfo/UTC", 0, "UTC", 0 },
                { "/usr/share/zoneinfo/Test/Gone", -ENOENT,
                  "/etc/localtime leads to a time zone that is not there (Test/Gone), expected its file, or TimeZone= in the "
                  "configuration",
                  0 },
                { "/nowhere", -ENOENT,
                  "/etc/localtime leads to a time zone that is not there (of no name), expected its file, or TimeZone= in the "
                  "configuration",
                  0 },
                { "localtime", -ELOOP, "cannot open /etc/localtime: Too many levels of symbolic links", 0 },
                { "/srv", -EISDIR, "/etc/localtime is a directory, expected a regular file", 0 },
                { "/srv/garbage", -EBADMSG, "/etc/localtime: ", 0 },
        };

        zone_put("/usr/share/zoneinfo/Test/East", "<EAS>-3");
        zone_put("/srv/copy", "<EAS>-3");
        tmproot_text("/srv/garbage", "garbage");
        tmproot_mkdir("/etc");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                if (cases[i].link)
                        tmproot_symlink(cases[i].link, "/etc/localtime");
                else
                        zone_put("/etc/localtime", "<EAS>-3");
                expect_zone("", cases[i].r, cases[i].text, cases[i].offset_sec);
                tmproot_unlink("/etc/localtime");
        }
}

/* The zones of a configuration are those of the machine below the root. */
ucs_test(zoneinfo, configuration, IN_ROOT) {
        _cleanup_(ucs_config_freep) UcsConfig *named = NULL, *own = NULL, *none = NULL;
        UcsError e = {};

        zone_put("/usr/share/zoneinfo/Test/East", "<EAS>-3");
        zone_put("/usr/share/zoneinfo/Test/West", "<WES>7");
        tmproot_symlink("/usr/share/zoneinfo/Test/East", "/etc/localtime");
        cr_assert_eq(ucs_conf_load(tmproot, &own, NULL, NULL), 0);
        cr_expect_str_eq(ucs_zone_name(own->zone), "Test/East");

        tmproot_text(CONF, "[Schedule]\nTimeZone=Test/West\nWindow=Sat 02:00 Test/East for 1h\n");
        cr_assert_eq(ucs_conf_load(tmproot, &named, NULL, NULL), 0);
        cr_expect_str_eq(ucs_zone_name(named->zone), "Test/West");

        tmproot_unlink(CONF);
        tmproot_unlink("/etc/localtime");
        tmproot_symlink("/nowhere", "/etc/localtime");
        cr_expect_eq(ucs_conf_load(tmproot, &none, NULL, &e), -ENOENT);
        cr_expect_null(none);
        expect_error(
                &e,
                "/etc/localtime leads to a time zone that is not there (of no name), expected its file, or TimeZone= in "
                "the configuration");
}

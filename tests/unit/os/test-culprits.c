/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who else loads: each kind in each place, masked ones, and what only looks like one. */

#include "os/culprits.h"
#include "tmproot.h"

#define UNIT "usr/lib/systemd/system/microcode.service"
#define WANTS "usr/lib/systemd/system/basic.target.wants/microcode.service"
#define LINE "w /sys/devices/system/cpu/microcode/reload - - - - 1\n"

/* A file with this text; "-> TARGET" makes a link. */
typedef struct File {
        const char *path, *text;
} File;

static void furnish(const File *files, size_t n) {
        for (size_t i = 0; i < n && files[i].path; i++) {
                const char *target = str_startswith(files[i].text, "-> ");

                if (target)
                        tmproot_symlink(target, files[i].path);
                else
                        tmproot_text(files[i].path, files[i].text);
        }
}

static void clear(const File *files, size_t n) {
        for (size_t i = 0; i < n && files[i].path; i++)
                tmproot_unlink(files[i].path);
}

static const struct {
        const char *name;
        File files[3];
        const char *culprit; /* NULL: none */
        const char *mask;
} rows[] = {
        { "nothing", {}, NULL, NULL },
        { "the service, wanted by its package", { { UNIT, "[Service]\n" }, { WANTS, "-> ../microcode.service" } }, "microcode.service is enabled",
          "systemctl mask microcode.service" },
        { "the service, enabled", { { UNIT, "[Service]\n" }, { "etc/systemd/system/sysinit.target.wants/microcode.service", "-> /" UNIT } },
          "microcode.service is enabled", "systemctl mask microcode.service" },
        { "the service, required", { { UNIT, "[Service]\n" }, { "etc/systemd/system/multi-user.target.requires/microcode.service", "-> /" UNIT } },
          "microcode.service is enabled", "systemctl mask" },
        { "the service, of the administrator", { { "etc/systemd/system/microcode.service", "[Service]\n" },
                                                 { "etc/systemd/system/multi-user.target.wants/microcode.service", "-> ../microcode.service" } },
          "microcode.service is enabled", "systemctl mask" },
        { "the service, there and not enabled", { { UNIT, "[Service]\n" } }, NULL, NULL },
        { "the service, masked", { { UNIT, "[Service]\n" }, { WANTS, "-> ../microcode.service" }, { "etc/systemd/system/microcode.service", "-> /dev/null" } },
          NULL, NULL },
        { "the service, masked for this boot", { { UNIT, "[Service]\n" }, { WANTS, "-> ../microcode.service" }, { "run/systemd/system/microcode.service", "-> /dev/null" } },
          NULL, NULL },
        { "the service, masked by an empty file", { { UNIT, "[Service]\n" }, { WANTS, "-> ../microcode.service" }, { "etc/systemd/system/microcode.service", "" } },
          NULL, NULL },
        { "a link to a service that is gone", { { WANTS, "-> ../microcode.service" } }, NULL, NULL },
        { "another service", { { "usr/lib/systemd/system/microcode2.service", "" }, { "etc/systemd/system/x.wants/microcode2.service", "-> /" } }, NULL, NULL },

        { "Red Hat's script", { { "usr/libexec/microcode_ctl/reload_microcode", "#!/bin/bash\n" } }, "microcode_ctl has the kernel load in its %post",
          "exclude=microcode_ctl" },

        { "tmpfiles in /etc", { { "etc/tmpfiles.d/microcode.conf", LINE } }, "/etc/tmpfiles.d/microcode.conf has the kernel load at each boot", "remove it" },
        { "tmpfiles in /run", { { "run/tmpfiles.d/a.conf", LINE } }, "/run/tmpfiles.d/a.conf", "ln -s /dev/null /etc/tmpfiles.d/a.conf" },
        { "tmpfiles in /usr/lib", { { "usr/lib/tmpfiles.d/linux-firmware.conf", "# why\n\n" LINE } }, "/usr/lib/tmpfiles.d/linux-firmware.conf",
          "ln -s /dev/null /etc/tmpfiles.d/linux-firmware.conf" },
        { "tmpfiles in /usr/local", { { "usr/local/lib/tmpfiles.d/m.conf", LINE } }, "/usr/local/lib/tmpfiles.d/m.conf", "ln -s" },
        { "tmpfiles in a /lib of its own", { { "lib/tmpfiles.d/m.conf", LINE } }, "/lib/tmpfiles.d/m.conf", "ln -s" },
        { "w! at boot", { { "etc/tmpfiles.d/m.conf", "w! /sys/devices/system/cpu/microcode/reload - - - - 1" } }, "m.conf", "remove" },
        { "w+", { { "etc/tmpfiles.d/m.conf", "w+\t/sys/devices/system/cpu/microcode/reload\t-\t-\t-\t-\t1\n" } }, "m.conf", "remove" },
        { "F", { { "etc/tmpfiles.d/m.conf", "F /sys/devices/system/cpu/microcode/reload 0200 root root - 1\n" } }, "m.conf", "remove" },
        { "f+", { { "etc/tmpfiles.d/m.conf", "f+ /sys/devices/system/cpu/microcode/reload - - - - 1\n" } }, "m.conf", "remove" },
        { "a pattern", { { "etc/tmpfiles.d/m.conf", "w /sys/devices/system/cpu/*/reload - - - - 1\n" } }, "m.conf", "remove" },
        { "a quoted path", { { "etc/tmpfiles.d/m.conf", "w \"/sys/devices/system/cpu/microcode/reload\" - - - - \"1\"\n" } }, "m.conf", "remove" },
        { "hidden in /etc by /dev/null", { { "usr/lib/tmpfiles.d/m.conf", LINE }, { "etc/tmpfiles.d/m.conf", "-> /dev/null" } }, NULL, NULL },
        { "hidden in /run by an empty file", { { "usr/lib/tmpfiles.d/m.conf", LINE }, { "run/tmpfiles.d/m.conf", "" } }, NULL, NULL },
        { "replaced by another one", { { "usr/lib/tmpfiles.d/m.conf", LINE }, { "etc/tmpfiles.d/m.conf", "d /tmp/x\n" } }, NULL, NULL },
        { "hidden by a mask lower down: not", { { "run/tmpfiles.d/m.conf", LINE }, { "usr/lib/tmpfiles.d/m.conf", "-> /dev/null" } }, "/run/tmpfiles.d/m.conf", "ln -s" },
        { "a comment", { { "etc/tmpfiles.d/m.conf", "#" LINE "  # " LINE } }, NULL, NULL },
        { "another suffix", { { "etc/tmpfiles.d/m.conf.dpkg-old", LINE } }, NULL, NULL },
        { "another file", { { "etc/tmpfiles.d/m.conf", "w /sys/devices/system/cpu/cpufreq/boost - - - - 1\n" } }, NULL, NULL },
        { "another value", { { "etc/tmpfiles.d/m.conf", "w /sys/devices/system/cpu/microcode/reload - - - - 0\n" } }, NULL, NULL },
        { "no value", { { "etc/tmpfiles.d/m.conf", "w /sys/devices/system/cpu/microcode/reload\nw\n\nw \"/unclosed\n" } }, NULL, NULL },
        { "only if it is not there", { { "etc/tmpfiles.d/m.conf", "f /sys/devices/system/cpu/microcode/reload - - - - 1\n" } }, NULL, NULL },
        { "no text", { { "etc/tmpfiles.d/m.conf", "\x7f" "ELF\xff\xfe" } }, NULL, NULL },

        { "a postinst", { { "var/lib/dpkg/info/intel-microcode.postinst", "#!/bin/sh\nif x; then\n\techo 1 >/sys/devices/system/cpu/microcode/reload || :\nfi\n" } },
          "intel-microcode has the kernel load when it is installed", "apt-mark hold intel-microcode" },
        { "AMD's", { { "var/lib/dpkg/info/amd64-microcode.postinst", "echo 1 > /sys/devices/system/cpu/microcode/reload\n" } }, "amd64-microcode", "apt-mark hold" },
        { "a postinst that does not", { { "var/lib/dpkg/info/intel-microcode.postinst", "#!/bin/sh\n# not microcode/reload\nupdate-initramfs -u\n" } }, NULL, NULL },
};

ucs_test(culprits, each, .init = tmproot_init, .fini = tmproot_done) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_strv_ char **found = NULL;

                furnish(rows[i].files, ELEMENTSOF(rows[i].files));
                cr_assert_eq(ucs_culprits_read(tmproot, &found), 0);
                cr_expect_eq(strv_length(found), rows[i].culprit ? 1U : 0U, "%s: %zu, %s", rows[i].name, strv_length(found), found ? found[0] : "none");
                if (rows[i].culprit && found) {
                        cr_expect_not_null(strstr(found[0], rows[i].culprit), "%s: %s", rows[i].name, found[0]);
                        cr_expect_not_null(strstr(found[0], rows[i].mask), "%s: %s", rows[i].name, found[0]);
                        cr_expect_lt(strlen(found[0]), 384U, "it would be cut");
                }
                clear(rows[i].files, ELEMENTSOF(rows[i].files));
        }
}

/* All of them, each once, in one order; and a /lib that is a link into /usr is not a second place. */
ucs_test(culprits, all, .init = tmproot_init, .fini = tmproot_done) {
        static const File files[] = {
                { UNIT, "[Service]\n" },
                { WANTS, "-> ../microcode.service" },
                { "usr/libexec/microcode_ctl/reload_microcode", "#!/bin/bash\n" },
                { "etc/tmpfiles.d/b.conf", LINE LINE },
                { "etc/tmpfiles.d/a.conf", LINE },
                { "usr/lib/tmpfiles.d/c.conf", LINE },
                { "var/lib/dpkg/info/intel-microcode.postinst", "echo 1 >/sys/devices/system/cpu/microcode/reload\n" },
                { "lib", "-> usr/lib" },
        };
        static const char *const order[] = { "microcode.service", "microcode_ctl", "/etc/tmpfiles.d/a.conf", "/etc/tmpfiles.d/b.conf", "/usr/lib/tmpfiles.d/c.conf",
                                             "intel-microcode" };
        _cleanup_strv_ char **found = NULL;

        furnish(files, ELEMENTSOF(files));
        cr_assert_eq(ucs_culprits_read(tmproot, &found), 0);
        cr_assert_eq(strv_length(found), ELEMENTSOF(order));
        for (size_t i = 0; i < ELEMENTSOF(order); i++)
                cr_expect_not_null(strstr(found[i], order[i]), "%zu: %s", i, found[i]);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which kernel is next, by files below a root: each boot loader's, several that agree or do not, and files that cannot be read; then the images that follow from it. */

#include "fixture.h"
#include "os/boot-loader.h"
#include "os/early.h"
#include "tmproot.h"

#define loader_test(name) ucs_test(boot_loader, name, .init = tmproot_init, .fini = tmproot_done)
#define ENV "# GRUB Environment Block\n"
#define CFG "set default=\"${next_entry}\"\nset default=\"${saved_entry}\"\n"
#define CFG_ZERO "set default=\"${next_entry}\"\nset default=\"0\"\n"
#define ENTRY(release) "version " release "\nlinux /vmlinuz-" release "\ninitrd /initramfs-" release ".img $tuned_initrd\n"
#define VARIABLE "sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

static char one[] = "6.1.0-13-amd64", two[] = "6.12.1-amd64";
static char *const releases[] = { one, two, NULL };

static const struct {
        const char *name;
        struct {
                const char *path, *text;
        } files[6];
        const char *release; /* NULL: unknown */
        const char *why, *initrds;
} rows[] = {
        { "nothing", {}, NULL, "", "" },
        { "GRUB, nothing saved", { { "boot/grub/grubenv", ENV "###" }, { "boot/grub/grub.cfg", CFG } }, NULL, "", "" },
        { "GRUB, a name of its menu", { { "boot/grub/grubenv", ENV "saved_entry=gnulinux-advanced-5b>gnulinux-6.12.1-amd64-advanced-5b\n" }, { "boot/grub/grub.cfg", CFG } },
          "6.12.1-amd64", "saved_entry in /boot/grub/grubenv", "" },
        { "GRUB_DEFAULT=0", { { "boot/grub/grubenv", ENV "saved_entry=gnulinux-6.12.1-amd64-advanced-5b\n" }, { "boot/grub/grub.cfg", CFG_ZERO } }, NULL, "", "" },
        { "GRUB_DEFAULT=0, once", { { "boot/grub/grubenv", ENV "next_entry=gnulinux-6.12.1-amd64-advanced-5b\nsaved_entry=gnulinux-6.1.0-13-amd64-advanced-5b\n" },
                                    { "boot/grub/grub.cfg", CFG_ZERO } }, "6.12.1-amd64", "next_entry in /boot/grub/grubenv", "" },
        { "once, before what is saved", { { "boot/grub2/grubenv", ENV "saved_entry=a\nnext_entry=b\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") },
                                          { "boot/loader/entries/b.conf", ENTRY("5.15.0") } }, "5.15.0", "next_entry in /boot/grub2/grubenv", "/boot/initramfs-5.15.0.img" },
        { "an entry, with its suffix", { { "boot/grub2/grubenv", ENV "saved_entry=a.conf\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") } },
          "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/initramfs-5.14.0.img" },
        { "an entry that is gone", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/loader/entries/b.conf", ENTRY("5.14.0") } },
          NULL, "saved_entry in /boot/grub2/grubenv is the name of no kernel that is known", "" },
        { "an entry that goes up", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/loader/entries/a.conf", "version 5.14.0\ninitrd /../../etc/shadow\n" } },
          NULL, "saved_entry in /boot/grub2/grubenv is the name of no kernel that is known", "" },
        { "a name with slashes", { { "boot/grub2/grubenv", ENV "saved_entry=../../../etc/passwd\n" }, { "etc/passwd.conf", ENTRY("5.14.0") } },
          NULL, "saved_entry in /boot/grub2/grubenv is the name of no kernel that is known", "" },
        { "a number", { { "boot/grub2/grubenv", ENV "saved_entry=1>2\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") } },
          NULL, "saved_entry in /boot/grub2/grubenv is a place in GRUB's menu", "" },
        { "GRUB takes no entries from elsewhere", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/efi/loader/entries/a.conf", ENTRY("5.14.0") } },
          NULL, "saved_entry in /boot/grub2/grubenv is the name of no kernel that is known", "" },
        { "no block", { { "boot/grub2/grubenv", "saved_entry=a\n" } }, NULL, "/boot/grub2/grubenv: it does not begin with '# GRUB Environment Block'", "" },
        { "in the EFI partition", { { "boot/efi/EFI/redhat/grubenv", ENV "saved_entry=a\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") } },
          "5.14.0", "saved_entry in /boot/efi/EFI/redhat/grubenv", "/boot/initramfs-5.14.0.img" },
        { "a stump in the EFI partition", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/grub2/grub.cfg", CFG }, { "boot/efi/EFI/redhat/grubenv", ENV "saved_entry=b\n" },
                                            { "boot/efi/EFI/redhat/grub.cfg", "configfile $prefix/grub.cfg\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") },
                                            { "boot/loader/entries/b.conf", ENTRY("5.15.0") } }, "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/initramfs-5.14.0.img" },
        { "two that agree", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/efi/EFI/redhat/grubenv", ENV "next_entry=a\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") } },
          "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/initramfs-5.14.0.img" },
        { "two that differ", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/efi/EFI/redhat/grubenv", ENV "saved_entry=b\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") },
                               { "boot/loader/entries/b.conf", ENTRY("5.15.0") } },
          NULL, "saved_entry in /boot/grub2/grubenv and saved_entry in /boot/efi/EFI/redhat/grubenv differ", "" },
        { "two that differ, by the menu's names", { { "boot/grub/grubenv", ENV "saved_entry=gnulinux-6.12.1-amd64-advanced-5b\n" },
                                                     { "boot/efi/EFI/debian/grubenv", ENV "saved_entry=gnulinux-6.1.0-13-amd64-advanced-5b\n" } },
          NULL, "saved_entry in /boot/grub/grubenv and saved_entry in /boot/efi/EFI/debian/grubenv differ", "" },
        { "systemd-boot", { { "boot/loader/loader.conf", "timeout 3\ndefault ARCH*.conf\n" }, { "boot/loader/entries/arch.conf", "linux /vmlinuz-linux\ninitrd /intel-ucode.img\ninitrd /initramfs-linux.img\n" },
                            { "boot/loader/entries/other.conf", ENTRY("5.15.0") } }, "", "default in /boot/loader/loader.conf", "/boot/intel-ucode.img /boot/initramfs-linux.img" },
        { "systemd-boot, on two partitions", { { "efi/loader/loader.conf", "default b*\n" }, { "boot/loader/entries/b.conf", ENTRY("5.15.0") }, { "efi/loader/entries/a.conf", ENTRY("5.14.0") } },
          "5.15.0", "default in /efi/loader/loader.conf", "/boot/initramfs-5.15.0.img" },
        { "systemd-boot, what was chosen last", { { "efi/loader/loader.conf", "default @saved\n" }, { "efi/loader/entries/a.conf", ENTRY("5.14.0") } },
          NULL, "the default in /efi/loader/loader.conf is no single entry that is known", "" },
        { "systemd-boot, by the firmware", { { "efi/loader/loader.conf", "default a\n" }, { "efi/loader/entries/a.conf", ENTRY("5.14.0") }, { VARIABLE, "x" } },
          NULL, "the firmware has a default of its own (bootctl)", "" },
        { "systemd-boot, no default", { { "boot/loader/loader.conf", "timeout 3\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") } }, NULL, "", "" },
        { "two boot loaders that differ", { { "boot/grub/grubenv", ENV "saved_entry=a\n" }, { "boot/loader/entries/a.conf", ENTRY("5.14.0") }, { "efi/loader/loader.conf", "default b\n" },
                                            { "efi/loader/entries/b.conf", ENTRY("5.15.0") } },
          NULL, "saved_entry in /boot/grub/grubenv and default in /efi/loader/loader.conf differ", "" },
        { "/boot is no partition", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/loader/entries/a.conf", "version 5.14.0\ninitrd /boot/i.img\n" }, { "boot/i.img", "" } },
          "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/i.img" },
        { "/boot has a /boot", { { "boot/grub2/grubenv", ENV "saved_entry=a\n" }, { "boot/loader/entries/a.conf", "version 5.14.0\ninitrd /boot/i.img\n" }, { "boot/i.img", "" },
                                 { "boot/boot/i.img", "" } }, "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/boot/i.img" },
};

static void expect_next(const char *name, const char *release, const char *why, const char *initrds) {
        _cleanup_(ucs_boot_next_done) UcsBootNext next = {};
        _cleanup_text_ UcsText t = {};

        cr_assert_eq(ucs_boot_next_read(tmproot, releases, &next), 0);
        for (char **s = next.initrds; s && *s; s++)
                ucs_text_appendf(&t, "%s%s", t.length > 0 ? " " : "", *s);
        cr_expect_eq(next.known, release != NULL, "%s: %s", name, next.why);
        cr_expect_str_eq(next.release, release ?: "", "%s: %s", name, next.release);
        cr_expect_str_eq(next.why, why, "%s: %s", name, next.why);
        cr_expect_str_eq(t.data ?: "", initrds, "%s: %s", name, t.data);
}

loader_test(what_files_say) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                for (size_t k = 0; k < ELEMENTSOF(rows[i].files) && rows[i].files[k].path; k++)
                        tmproot_text(rows[i].files[k].path, rows[i].files[k].text);
                expect_next(rows[i].name, rows[i].release, rows[i].why, rows[i].initrds);
                for (size_t k = 0; k < ELEMENTSOF(rows[i].files) && rows[i].files[k].path; k++)
                        tmproot_unlink(rows[i].files[k].path);
        }
}

loader_test(files_that_cannot_be_read) {
        _cleanup_free_ char *large = calloc(1, 70000);

        cr_assert_not_null(large);
        memset(large, '#', 69999);
        memcpy(large, ENV "saved_entry=a\n", strlen(ENV "saved_entry=a\n"));
        tmproot_text("boot/loader/entries/a.conf", ENTRY("5.14.0"));
        tmproot_text("boot/grub2/grubenv", large);
        expect_next("too large", NULL, "/boot/grub2/grubenv: /boot/grub2/grubenv is larger than 65536 bytes", "");
        tmproot_write("boot/grub2/grubenv", ENV "saved_entry=a\n\0", strlen(ENV) + 15);
        expect_next("a NUL byte", NULL, "/boot/grub2/grubenv: it has a NUL byte", "");
        tmproot_unlink("boot/grub2/grubenv");
        tmproot_mkdir("boot/grub2/grubenv");
        expect_next("a directory", NULL, "/boot/grub2/grubenv: /boot/grub2/grubenv is a directory, expected a regular file", "");
        tmproot_rmdir("boot/grub2/grubenv");
        tmproot_symlink("/../../../../../../../../boot/grub/grubenv", "boot/grub2/grubenv");
        expect_next("a link that leads nowhere, and not out of here", NULL, "", "");
        tmproot_text("boot/grub/grubenv", ENV "saved_entry=a\n");
        expect_next("a link to the other", "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/initramfs-5.14.0.img");

        /* an entry that is too large, has a NUL byte or is no file is none, and the others stay */
        tmproot_text("boot/loader/entries/0.conf", large);
        tmproot_write("boot/loader/entries/1.conf", "initrd /\0a", 10);
        tmproot_mkdir("boot/loader/entries/2.conf");
        tmproot_symlink("nowhere", "boot/loader/entries/3.conf");
        expect_next("bad ones beside it", "5.14.0", "saved_entry in /boot/grub2/grubenv", "/boot/initramfs-5.14.0.img");
        tmproot_text("boot/loader/entries/a.conf", large);
        expect_next("a bad one", NULL, "saved_entry in /boot/grub2/grubenv is the name of no kernel that is known", "");
}

loader_test(entries_without_end) {
        unsigned n_known = 0;
        char path[64];

        for (unsigned i = 0; i < 300; i++) {
                (void) snprintf(path, sizeof(path), "boot/loader/entries/e%u.conf", i);
                tmproot_text(path, ENTRY("5.14.0"));
        }
        for (unsigned i = 0; i < 300; i++) {
                _cleanup_(ucs_boot_next_done) UcsBootNext next = {};

                (void) snprintf(path, sizeof(path), ENV "saved_entry=e%u\n", i);
                tmproot_text("boot/grub2/grubenv", path);
                cr_assert_eq(ucs_boot_next_read(tmproot, NULL, &next), 0);
                n_known += next.known;
        }
        cr_expect_eq(n_known, 128U, "%u of 300 entries were read", n_known);
}

/* Which of them are read is chance: of too many, good or bad, none is known to be the first. */
loader_test(a_default_among_too_many) {
        static const struct {
                const char *name, *text;
                unsigned n;
                const char *release, *why, *initrds;
        } tries[] = {
                { "as many as are read", ENTRY("5.14.0"), 127, "5.15.0", "default in /boot/loader/loader.conf", "/boot/initramfs-5.15.0.img" },
                { "too many", ENTRY("5.14.0"), 128, NULL, "there are more than 128 entries for the default in /boot/loader/loader.conf", "" },
                { "too many bad ones", "initrd x\n", 1000, NULL, "there are more than 128 entries for the default in /boot/loader/loader.conf", "" },
        };
        char path[64];

        tmproot_text("boot/loader/loader.conf", "default l*\n");
        tmproot_text("boot/loader/entries/last.conf", ENTRY("5.15.0"));
        tmproot_text("boot/loader/entries/README", "");
        for (size_t k = 0; k < ELEMENTSOF(tries); k++) {
                for (unsigned i = 0; i < tries[k].n; i++) {
                        (void) snprintf(path, sizeof(path), "boot/loader/entries/e%u.conf", i);
                        tmproot_text(path, tries[k].text);
                }
                expect_next(tries[k].name, tries[k].release, tries[k].why, tries[k].initrds);
        }
}

/* Whether it takes the variable is not known then. */
loader_test(grub_cfg_that_cannot_be_read) {
        _cleanup_free_ char *large = calloc(1, 4U * 1024U * 1024U + 2U);

        cr_assert_not_null(large);
        memset(large, '#', 4U * 1024U * 1024U + 1U);
        tmproot_text("boot/loader/entries/a.conf", ENTRY("5.14.0"));
        tmproot_text("boot/grub/grubenv", ENV "saved_entry=a\n");
        tmproot_write("boot/grub/grub.cfg", CFG "\0", strlen(CFG) + 1);
        expect_next("a NUL byte", NULL, "/boot/grub/grub.cfg has a NUL byte at offset 57, expected text", "");
        tmproot_text("boot/grub/grub.cfg", large);
        expect_next("too large", NULL, "/boot/grub/grub.cfg is larger than 4194304 bytes", "");
        tmproot_unlink("boot/grub/grub.cfg");
        tmproot_mkdir("boot/grub/grub.cfg");
        expect_next("a directory", NULL, "/boot/grub/grub.cfg is a directory, expected a regular file", "");
        tmproot_text("boot/grub/grubenv", ENV);
        expect_next("nothing is saved", NULL, "", "");
        tmproot_text("boot/grub/grubenv", ENV "saved_entry=a\n");
        tmproot_rmdir("boot/grub/grub.cfg");
        cr_assert_eq(mkfifo(tmproot_at("boot/grub/grub.cfg"), 0600), 0);
        expect_next("a FIFO", NULL, "/boot/grub/grub.cfg is not a regular file", "");
        tmproot_unlink("boot/grub/grub.cfg");
        tmproot_symlink("grub.cfg", "boot/grub/grub.cfg");
        expect_next("a link to itself", NULL, "cannot open /boot/grub/grub.cfg: Too many levels of symbolic links", "");
        tmproot_unlink("boot/grub/grub.cfg");
        tmproot_symlink("nowhere", "boot/grub/grub.cfg");
        expect_next("a link to nowhere", "5.14.0", "saved_entry in /boot/grub/grubenv", "/boot/initramfs-5.14.0.img");
}

/* --- the images that follow from it --- */

#define RUNS "5.15.0-1.el9uek.x86_64"
#define NEXT "5.14.0-3.el9.x86_64"
#define NEWEST "6.12.0-9.el9uek.x86_64"

static void image(const char *path, uint32_t revision) {
        Fixture file = {}, all = {};
        FixtureIntel u = fixture_a;

        u.signature = 0x50654;
        u.platform_mask = 1;
        u.revision = revision;
        fixture_intel(&file, &u);
        fixture_cpio(&all, "kernel/x86/microcode/GenuineIntel.bin", file.data, file.size, 512);
        tmproot_write(path, all.data, all.size);
        fixture_done(&file);
        fixture_done(&all);
}

static UcsEarly look(void) {
        _cleanup_(ucs_early_reader_freep) UcsEarlyReader *r = NULL;
        UcsGroup group = { .signature = 0x50654, .platform_mask = 1 };
        UcsMachine machine = { .vendor = UCS_VENDOR_INTEL, .n_groups = 1, .groups = &group };
        UcsEarly early;

        cr_assert_eq(ucs_early_reader_new(tmproot, &r), 0);
        cr_assert_eq(ucs_early_read(r, NULL, &machine, &early), 0);
        return early;
}

static void expect_early(const char *what, UcsNextKernel next, const char *running, const char *other, uint32_t leads) {
        UcsEarly e = look();

        cr_expect_eq(e.next, next, "%s: %d, %s", what, e.next, e.next_by);
        cr_expect_str_eq(e.running.path, running, "%s: %s", what, e.running.path);
        cr_expect_str_eq(e.other.path, other, "%s: %s", what, e.other.path);
        cr_expect_eq(ucs_early_revision(ucs_early_leading(&e), 0), leads, "%s: 0x%x", what, ucs_early_revision(ucs_early_leading(&e), 0));
}

loader_test(images) {
        tmproot_text("proc/sys/kernel/osrelease", RUNS "\n");
        image("boot/initramfs-" RUNS ".img", 0x110);
        image("boot/initramfs-" NEXT ".img", 0x120);
        image("boot/initramfs-" NEWEST ".img", 0x130);
        tmproot_text("boot/vmlinuz-" NEXT, "");
        tmproot_text("boot/vmlinuz-" NEWEST, "");
        tmproot_text("boot/loader/entries/m-" RUNS ".conf", ENTRY(RUNS));
        tmproot_text("boot/loader/entries/m-" NEXT ".conf", ENTRY(NEXT));

        expect_early("nobody says", UCS_NEXT_UNKNOWN, "/boot/initramfs-" RUNS ".img", "/boot/initramfs-" NEWEST ".img", 0x110);
        tmproot_text("boot/grub2/grubenv", ENV "saved_entry=m-" RUNS "\n");
        expect_early("the one that runs", UCS_NEXT_RUNNING, "/boot/initramfs-" RUNS ".img", "", 0x110);
        tmproot_text("boot/grub2/grubenv", ENV "saved_entry=m-" NEXT "\n");
        expect_early("another one, not the newest", UCS_NEXT_OTHER, "/boot/initramfs-" RUNS ".img", "/boot/initramfs-" NEXT ".img", 0x120);
        tmproot_text("boot/grub2/grubenv", ENV "saved_entry=m-" RUNS "\nnext_entry=x, with Linux " NEWEST "\n");
        expect_early("once another, by its name alone", UCS_NEXT_OTHER, "/boot/initramfs-" RUNS ".img", "/boot/initramfs-" NEWEST ".img", 0x130);
        tmproot_text("boot/grub2/grubenv", ENV "saved_entry=2\n");
        expect_early("a number", UCS_NEXT_UNKNOWN, "/boot/initramfs-" RUNS ".img", "/boot/initramfs-" NEWEST ".img", 0x110);

        /* several files of an entry stand one behind the other: the first one's microcode counts, and one that is missing is no guess */
        tmproot_text("boot/grub2/grubenv", ENV "saved_entry=two\n");
        tmproot_text("boot/loader/entries/two.conf", "version " NEXT "\ninitrd /intel-ucode.img\ninitrd /initramfs-" NEXT ".img\n");
        expect_early("its first file is missing", UCS_NEXT_OTHER, "/boot/initramfs-" RUNS ".img", "/boot/intel-ucode.img", 0);
        image("boot/intel-ucode.img", 0x140);
        expect_early("two files", UCS_NEXT_OTHER, "/boot/intel-ucode.img", "/boot/intel-ucode.img", 0x140);
        tmproot_text("boot/loader/entries/two.conf", "version " RUNS "\ninitrd /initramfs-" RUNS ".img /intel-ucode.img\n");
        expect_early("in the other order, for the one that runs", UCS_NEXT_RUNNING, "/boot/initramfs-" RUNS ".img", "", 0x110);
        tmproot_text("boot/loader/entries/two.conf", "version " NEXT "\nlinux /vmlinuz-" NEXT "\ninitrd $initrd\n");
        expect_early("a variable alone: by the names", UCS_NEXT_OTHER, "/boot/intel-ucode.img", "/boot/intel-ucode.img", 0x140);
        tmproot_unlink("boot/intel-ucode.img");
        tmproot_text("boot/loader/entries/two.conf", "version 9.9.9\n");
        expect_early("a kernel that has no image", UCS_NEXT_UNKNOWN, "/boot/initramfs-" RUNS ".img", "/boot/initramfs-" NEWEST ".img", 0x110);
        tmproot_text("boot/loader/entries/two.conf", "linux /vmlinuz\ninitrd /initramfs-" RUNS ".img\n");
        expect_early("no release, and the image of the one that runs", UCS_NEXT_RUNNING, "/boot/initramfs-" RUNS ".img", "", 0x110);
        tmproot_text("boot/loader/entries/two.conf", "linux /vmlinuz\ninitrd /initramfs-" NEXT ".img\n");
        expect_early("no release, and another image", UCS_NEXT_OTHER, "/boot/initramfs-" RUNS ".img", "/boot/initramfs-" NEXT ".img", 0x120);
}

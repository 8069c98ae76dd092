/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Early images in a /boot: which are found, in which order, what is at their heads, and that no more of them is read than that. */

#include <inttypes.h>
#include <sys/types.h>

#include "core/ucode/early.h"
#include "fixture.h"
#include "os/early.h"
#include "tmproot.h"

#define SIGNATURE 0x50654
#define RELEASE "6.1.0-13-amd64"
#define IMAGE "boot/initrd.img-" RELEASE
#define MIB (UINT64_C(1024) * 1024)

static UcsGroup groups[] = {
        { .signature = SIGNATURE, .platform_mask = 1, .n_cpus = 8, .lowest_revision = 0x100, .highest_revision = 0x100 },
        { .signature = 0x50657, .platform_mask = 1, .n_cpus = 8, .lowest_revision = 0x100, .highest_revision = 0x100 },
};
static UcsMachine machine = { .vendor = UCS_VENDOR_INTEL, .n_groups = 1, .groups = groups };

/* An update for SIGNATURE, at the end of `f`. */
static void update(Fixture *f, uint32_t signature, uint32_t revision) {
        FixtureIntel u = fixture_a;

        u.signature = signature;
        u.platform_mask = 1;
        u.revision = revision;
        fixture_intel(f, &u);
}

static void archive(Fixture *image, const Fixture *file) {
        fixture_cpio(image, "kernel/x86/microcode/GenuineIntel.bin", file->data, file->size, 512);
}

/* An image with this revision, and a compressed rest behind it. */
static void image_make(const char *path, uint32_t revision) {
        Fixture file = {}, image = {};

        update(&file, SIGNATURE, revision);
        archive(&image, &file);
        fixture_append(&image, "\x1f\x8b\x08 and so on", 14);
        tmproot_write(path, image.data, image.size);
        fixture_done(&file);
        fixture_done(&image);
}

static void release_is(const char *release) {
        char text[128];

        (void) snprintf(text, sizeof(text), "%s\n", release);
        tmproot_text("proc/sys/kernel/osrelease", text);
}

static UcsEarly look_with(UcsEarlyReader *r, char *const *configured) {
        UcsEarly early;

        cr_assert_eq(ucs_early_read(r, configured, &machine, &early), 0);
        return early;
}

static UcsEarly look(char *const *configured) {
        _cleanup_(ucs_early_reader_freep) UcsEarlyReader *r = NULL;

        cr_assert_eq(ucs_early_reader_new(tmproot, &r), 0);
        return look_with(r, configured);
}

/* --- which files --- */

static const struct {
        const char *name, *release;
        struct {
                const char *path;
                uint32_t revision; /* 0: an empty file */
        } files[6];
        const char *running, *other; /* paths; "": none */
        uint32_t has, other_has;
} name_rows[] = {
        { "nothing", RELEASE, {}, "", "", 0, 0 },
        { "Debian", RELEASE, { { IMAGE, 0x110 } }, "/" IMAGE, "", 0x110, 0 },
        { "dracut", "5.15.0-100.el9uek.x86_64",
          { { "boot/initramfs-5.15.0-100.el9uek.x86_64.img", 0x110 }, { "boot/initramfs-5.15.0-100.el9uek.x86_64kdump.img", 0x90 } },
          "/boot/initramfs-5.15.0-100.el9uek.x86_64.img", "", 0x110, 0 },
        { "openSUSE", "6.4.0-default", { { "boot/initrd-6.4.0-default", 0x110 } }, "/boot/initrd-6.4.0-default", "", 0x110, 0 },
        { "Arch, separate", "6.9.1-arch1-1", { { "boot/initramfs-linux.img", 0x100 }, { "boot/intel-ucode.img", 0x110 }, { "boot/amd-ucode.img", 0 } },
          "/boot/intel-ucode.img", "", 0x110, 0 },
        { "Arch, all in one", "6.9.1-arch1-1", { { "boot/initramfs-linux.img", 0x110 } }, "/boot/initramfs-linux.img", "", 0x110, 0 },
        { "without a release in its name", RELEASE, { { "boot/initrd.img", 0x110 } }, "/boot/initrd.img", "", 0x110, 0 },
        { "one with the release comes first", RELEASE, { { "boot/initrd.img", 0x90 }, { IMAGE, 0x110 } }, "/" IMAGE, "", 0x110, 0 },
        { "GRUB's own names", RELEASE, { { IMAGE, 0x100 }, { "boot/microcode.cpio", 0x110 } }, "/boot/microcode.cpio", "", 0x110, 0 },
        { "a newer kernel", RELEASE, { { IMAGE, 0x100 }, { "boot/initrd.img-6.1.0-9-amd64", 0x90 }, { "boot/vmlinuz-6.1.0-9-amd64", 0 },
                                       { "boot/initrd.img-6.1.0-100-amd64", 0x110 }, { "boot/vmlinuz-6.1.0-100-amd64", 0 } },
          "/" IMAGE, "/boot/initrd.img-6.1.0-100-amd64", 0x100, 0x110 },
        { "an older kernel only", RELEASE, { { IMAGE, 0x100 }, { "boot/initrd.img-6.1.0-9-amd64", 0x90 }, { "boot/vmlinuz-6.1.0-9-amd64", 0 } },
          "/" IMAGE, "/boot/initrd.img-6.1.0-9-amd64", 0x100, 0x90 },
        { "the running one has none", RELEASE, { { "boot/initrd.img-6.1.0-9-amd64", 0x90 }, { "boot/vmlinuz-6.1.0-9-amd64", 0 } },
          "", "/boot/initrd.img-6.1.0-9-amd64", 0, 0x90 },
        { "a backup, and a kernel that is gone", RELEASE, { { IMAGE, 0x100 }, { "boot/initrd.img-9.9.9.bak", 0x120 }, { "boot/initrd.img-8.8.8", 0x130 } },
          "/" IMAGE, "", 0x100, 0 },
        { "a rescue image", RELEASE, { { IMAGE, 0x100 }, { "boot/initramfs-9-rescue-0a1b.img", 0x90 }, { "boot/vmlinuz-9-rescue-0a1b", 0 } },
          "/" IMAGE, "", 0x100, 0 },
        { "the release is unknown", "", { { IMAGE, 0x100 }, { "boot/vmlinuz-" RELEASE, 0 } }, "", "/" IMAGE, 0, 0x100 },
        { "the release is no name", "../../etc", { { IMAGE, 0x100 } }, "", "", 0, 0 },
};

ucs_test(early, names, .init = tmproot_init, .fini = tmproot_done) {
        for (size_t i = 0; i < ELEMENTSOF(name_rows); i++) {
                UcsEarly e;

                release_is(name_rows[i].release);
                for (size_t k = 0; k < ELEMENTSOF(name_rows[i].files) && name_rows[i].files[k].path; k++)
                        if (name_rows[i].files[k].revision)
                                image_make(name_rows[i].files[k].path, name_rows[i].files[k].revision);
                        else
                                tmproot_text(name_rows[i].files[k].path, "");
                e = look(NULL);
                cr_expect_str_eq(e.running.path, name_rows[i].running, "%s: %s", name_rows[i].name, e.running.path);
                cr_expect_str_eq(e.other.path, name_rows[i].other, "%s: %s", name_rows[i].name, e.other.path);
                cr_expect_eq(ucs_early_revision(&e.running, 0), name_rows[i].has, "%s: 0x%x", name_rows[i].name, e.running.revisions[0]);
                cr_expect_eq(ucs_early_revision(&e.other, 0), name_rows[i].other_has, "%s: 0x%x", name_rows[i].name, e.other.revisions[0]);
                for (size_t k = 0; k < ELEMENTSOF(name_rows[i].files) && name_rows[i].files[k].path; k++)
                        tmproot_unlink(name_rows[i].files[k].path);
        }
}

/* Links stay below the root, and one that leads nowhere is no image to rely on. */
ucs_test(early, links, .init = tmproot_init, .fini = tmproot_done) {
        UcsEarly e;

        release_is("6.6.6");
        image_make("images/one", 0x110);
        tmproot_symlink("/images/one", "boot/initrd.img");
        e = look(NULL);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x110U);
        tmproot_unlink("images/one");
        e = look(NULL);
        cr_expect_eq(e.running.finding, UCS_EARLY_BAD);
        cr_expect_not_null(strstr(e.running.error.text, "cannot open /boot/initrd.img"), "%s", e.running.error.text);
}

ucs_test(early, configured, .init = tmproot_init, .fini = tmproot_done) {
        char *one[] = { (char *) "/efi/ucode.img", (char *) "/efi/%v/initrd", NULL }, *none[] = { NULL };
        UcsEarly e;

        release_is(RELEASE);
        image_make(IMAGE, 0x90);
        image_make("efi/" RELEASE "/initrd", 0x110);
        e = look(none);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x90U);
        e = look(one + 1);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x110U);
        cr_expect_str_eq(e.running.path, "/efi/" RELEASE "/initrd");
        cr_expect_str_eq(e.running.release, RELEASE);
        cr_expect_eq(e.other.finding, UCS_EARLY_NO_IMAGE);
        e = look(one);
        cr_expect_eq(e.running.finding, UCS_EARLY_BAD, "a file that someone names is there");
        image_make("efi/ucode.img", 0x120);
        e = look(one);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x120U);
}

/* --- what is at the head --- */

static void expect(const char *what, UcsEarlyFinding finding, uint32_t revision) {
        UcsEarly e = look(NULL);

        cr_expect_eq(e.running.finding, finding, "%s: %d, %s", what, e.running.finding, e.running.error.text);
        cr_expect_eq(ucs_early_revision(&e.running, 0), revision, "%s: 0x%x", what, e.running.revisions[0]);
}

/* Every shorter file: what is there is found, what is not is not, and nothing is read behind the end. */
ucs_test(early, truncation, .init = tmproot_init, .fini = tmproot_done) {
        Fixture file = {}, image = {};
        unsigned n_found = 0;

        release_is(RELEASE);
        update(&file, SIGNATURE, 0x110);
        archive(&image, &file);
        for (size_t n = 0; n <= image.size; n += 20) {
                UcsEarly e;

                tmproot_write(IMAGE, image.data, n);
                e = look(NULL);
                cr_expect(e.running.finding == UCS_EARLY_EMPTY || e.running.finding == UCS_EARLY_FOUND, "%zu of %zu bytes: %d", n, image.size,
                          e.running.finding);
                if (e.running.finding == UCS_EARLY_FOUND) {
                        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x110U);
                        cr_expect(n >= file.size);
                        n_found++;
                } else
                        cr_expect_eq(n_found, 0U, "lost at %zu bytes", n);
        }
        cr_expect_gt(n_found, 0U);
        fixture_done(&file);
        fixture_done(&image);
}

ucs_test(early, heads, .init = tmproot_init, .fini = tmproot_done) {
        Fixture good = {}, bad = {}, other = {}, image = {};

        release_is(RELEASE);
        update(&good, SIGNATURE, 0x110);
        update(&other, 0x906eb, 0x200);
        update(&bad, SIGNATURE, 0x120);
        bad.data[200] ^= 1;

        tmproot_text(IMAGE, "");
        expect("an empty file", UCS_EARLY_EMPTY, 0);
        tmproot_text(IMAGE, "\x1f\x8b\x08 compressed from the first byte on");
        expect("no archive", UCS_EARLY_EMPTY, 0);

        archive(&image, &other);
        tmproot_write(IMAGE, image.data, image.size);
        expect("nothing for this CPU", UCS_EARLY_FOUND, 0);

        /* another vendor's, then this one's: archives follow one another */
        fixture_done(&image);
        fixture_cpio(&image, "kernel/x86/microcode/AuthenticAMD.bin", good.data, good.size, 512);
        tmproot_write(IMAGE, image.data, image.size);
        expect("the other vendor's", UCS_EARLY_EMPTY, 0);
        fixture_append(&image, NULL, 8192);
        archive(&image, &good);
        tmproot_write(IMAGE, image.data, image.size);
        expect("behind the other vendor's", UCS_EARLY_FOUND, 0x110);

        /* the first one counts, even if it is bad */
        fixture_done(&image);
        archive(&image, &bad);
        tmproot_write(IMAGE, image.data, image.size);
        expect("a wrong checksum", UCS_EARLY_BAD, 0);
        archive(&image, &good);
        tmproot_write(IMAGE, image.data, image.size);
        expect("a good one behind a bad one", UCS_EARLY_BAD, 0);

        /* not behind what is compressed */
        fixture_done(&image);
        fixture_append(&image, "\x28\xb5\x2f\xfd", 4);
        archive(&image, &good);
        tmproot_write(IMAGE, image.data, image.size);
        expect("behind a compressed part", UCS_EARLY_EMPTY, 0);

        tmproot_unlink(IMAGE);
        tmproot_mkdir(IMAGE);
        expect("a directory", UCS_EARLY_BAD, 0);

        fixture_done(&good);
        fixture_done(&bad);
        fixture_done(&other);
        fixture_done(&image);
}

/* The boot loader puts the files one behind the other: where the first one is all archive, the next one counts; where it is not, no more. */
ucs_test(early, one_file_behind_the_other, .init = tmproot_init, .fini = tmproot_done) {
        Fixture file = {}, image = {};

        release_is(RELEASE);
        image_make(IMAGE, 0x110);
        update(&file, SIGNATURE, 0x90);
        fixture_cpio(&image, "kernel/x86/microcode/AuthenticAMD.bin", file.data, file.size, 512);
        tmproot_write("boot/amd-ucode.img", image.data, image.size);
        expect("behind an archive", UCS_EARLY_FOUND, 0x110);
        fixture_append(&image, "\x1f\x8b\x08 and more of it, longer than a header would be ..............................................................................", 120);
        tmproot_write("boot/amd-ucode.img", image.data, image.size);
        expect("behind something else", UCS_EARLY_EMPTY, 0);
        fixture_done(&file);
        fixture_done(&image);
}

ucs_test(early, groups_and_vendors, .init = tmproot_init, .fini = tmproot_done) {
        _cleanup_(ucs_early_reader_freep) UcsEarlyReader *r = NULL;
        Fixture file = {}, image = {};
        UcsEarly e;

        release_is(RELEASE);
        update(&file, SIGNATURE, 0x110);
        update(&file, 0x50657, 0x220);
        archive(&image, &file);
        tmproot_write(IMAGE, image.data, image.size);
        cr_assert_eq(ucs_early_reader_new(tmproot, &r), 0);
        e = look_with(r, NULL);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x110U);
        cr_expect_eq(ucs_early_revision(&e.running, 1), 0U);
        machine.n_groups = 2; /* what was remembered speaks of one */
        e = look_with(r, NULL);
        cr_expect_eq(ucs_early_revision(&e.running, 1), 0x220U);
        groups[0].platform_mask = 2;
        e = look_with(r, NULL);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0U);
        groups[0].platform_mask = 1;
        machine.vendor = UCS_VENDOR_AMD;
        e = look_with(r, NULL);
        cr_expect_eq(e.running.finding, UCS_EARLY_EMPTY);
        machine.vendor = UCS_VENDOR_UNKNOWN;
        e = look_with(r, NULL);
        cr_expect_eq(e.running.finding, UCS_EARLY_NO_IMAGE);
        machine.vendor = UCS_VENDOR_INTEL;
        machine.n_groups = 1;
        fixture_done(&file);
        fixture_done(&image);
}

/* --- how much is read --- */

static uint64_t bytes_read(void) {
        static const char key[] = "rchar: ";
        char text[512] = "", *at;
        FILE *f = fopen("/proc/self/io", "re");

        cr_assert_not_null(f);
        (void) !fread(text, 1, sizeof(text) - 1, f);
        (void) fclose(f);
        at = strstr(text, key);
        cr_assert_not_null(at);
        return strtoull(at + strlen(key), NULL, 10);
}

/* A sparse file of 8 GiB: of the rest, and of what is skipped in the archive, nothing is read. */
ucs_test(early, only_the_head, .init = tmproot_init, .fini = tmproot_done) {
        _cleanup_(ucs_early_reader_freep) UcsEarlyReader *r = NULL;
        Fixture file = {}, image = {}, large = {};
        uint64_t before, whole;
        UcsEarly e;

        release_is(RELEASE);
        update(&file, SIGNATURE, 0x110);
        fixture_append(&large, NULL, 4 * MIB);
        fixture_cpio(&image, "kernel/firmware/acpi/dsdt.aml", large.data, large.size, 512);
        archive(&image, &file);
        fixture_append(&image, "\x1f\x8b\x08", 4);
        tmproot_write(IMAGE, image.data, image.size);
        cr_assert_eq(truncate(tmproot_at(IMAGE), (off_t) (8192 * MIB)), 0);

        cr_assert_eq(ucs_early_reader_new(tmproot, &r), 0);
        before = bytes_read();
        e = look_with(r, NULL);
        whole = bytes_read() - before;
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x110U);
        cr_expect_lt(whole, file.size + 32 * UCS_EARLY_WINDOW, "%" PRIu64 " bytes were read", whole);

        /* and nothing again, as long as it has not changed */
        before = bytes_read();
        e = look_with(r, NULL);
        whole = bytes_read() - before;
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x110U);
        cr_expect_lt(whole, UINT64_C(2048), "%" PRIu64 " bytes were read again", whole);

        tmproot_unlink(IMAGE);
        image_make(IMAGE, 0x120);
        e = look_with(r, NULL);
        cr_expect_eq(ucs_early_revision(&e.running, 0), 0x120U, "a new file is read");
        fixture_done(&file);
        fixture_done(&image);
        fixture_done(&large);
}

/* Zeros without an end are given up, not followed to the end of the disk; so is an archive with no end. */
ucs_test(early, no_end_of_padding, .init = tmproot_init, .fini = tmproot_done) {
        uint64_t before;
        UcsEarly e;

        release_is(RELEASE);
        tmproot_text(IMAGE, "");
        cr_assert_eq(truncate(tmproot_at(IMAGE), (off_t) (8192 * MIB)), 0);
        before = bytes_read();
        e = look(NULL);
        cr_expect_eq(e.running.finding, UCS_EARLY_BAD);
        cr_expect_not_null(strstr(e.running.error.text, "pages of zeros"), "%s", e.running.error.text);
        cr_expect_leq(bytes_read() - before, 17 * MIB);
}

/* A member that claims more than we take. */
ucs_test(early, too_large_a_member, .init = tmproot_init, .fini = tmproot_done) {
        static const char name[] = "kernel/x86/microcode/GenuineIntel.bin";
        char header[256];
        UcsEarly e;

        release_is(RELEASE);
        (void) snprintf(header, sizeof(header), "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08zX%08X%s", 0U, 0100644U, 0U, 0U, 1U, 0U, 0x10000000U, 0U, 0U,
                        0U, 0U, sizeof(name), 0U, name);
        tmproot_text(IMAGE, header);
        cr_assert_eq(truncate(tmproot_at(IMAGE), (off_t) (1024 * MIB)), 0);
        e = look(NULL);
        cr_expect_eq(e.running.finding, UCS_EARLY_BAD);
        cr_expect_not_null(strstr(e.running.error.text, "268435456 bytes"), "%s", e.running.error.text);
}

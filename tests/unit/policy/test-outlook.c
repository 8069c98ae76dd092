/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The next boot: what takes a reboot, what a reboot would bring, what it would lose, and boots that came up older. */

#include "outlook-scene.h"

/* Advisory: for which reasons a reboot is any help, and whether the image is made already. */
ucs_test(outlook, advisory) {
        static const bool helps[_UCS_SUPPORT_REASON_MAX] = {
                [UCS_REASON_KERNEL_OPTION] = true,
                [UCS_REASON_DISABLED_BY_COMMAND_LINE] = true,
                [UCS_REASON_READ_ONLY] = true,
        };

        for (UcsSupportReason reason = UCS_REASON_NONE + 1; reason < _UCS_SUPPORT_REASON_MAX; reason++) {
                UcsOutlook o;
                Scene s;

                scene(&s, OLD, NEW, OLD, BEFORE);
                s.machine.support = UCS_SUPPORT_ADVISORY;
                s.machine.reason = reason;
                blocked(&s, UCS_BLOCKER_UNSUPPORTED, 0);
                ask(&s, &o);
                cr_expect_eq(o.reboot_required, helps[reason], "%s", ucs_support_reason_to_string(reason));
                cr_expect_not(o.reboot_helps, "the image lacks it");
                cr_expect_eq(says(&o, "before the initramfs is rebuilt (update-initramfs -u -k 6.1.0-13-amd64)"), helps[reason]);
                cr_expect_eq(o.early_revision, OLD);
                cr_expect_str_eq(o.early_path, IMAGE);

                s.early.running.revisions[0] = NEW;
                s.early.running.changed_usec = AFTER;
                ask(&s, &o);
                cr_expect_eq(o.reboot_required, helps[reason]);
                cr_expect_eq(o.reboot_helps, helps[reason]);
                cr_expect_eq(o.n_sentences, 0U, "%s", o.sentences[0]);

                /* nothing newer: nothing to say */
                scene(&s, NEW, NEW, NEW, BEFORE);
                s.machine.support = UCS_SUPPORT_ADVISORY;
                s.machine.reason = reason;
                ask(&s, &o);
                cr_expect_not(o.reboot_required || o.reboot_helps || o.n_sentences > 0);
        }
}

/* Loading late is possible. */
static const struct {
        const char *name;
        uint32_t disk, early;
        uint64_t changed;
        int blocker; /* -1: none */
        uint64_t clears;
        bool required, helps;
} late_rows[] = {
        { "nothing newer", OLD, OLD, BEFORE, -1, 0, false, false },
        { "on disk, and waiting", NEW, OLD, AFTER, UCS_BLOCKER_WINDOW, NOW + SECOND, false, false },
        { "in both, and waiting", NEW, NEW, AFTER, UCS_BLOCKER_WINDOW, NOW + SECOND, false, false },
        { "on disk, nothing blocks", NEW, 0, AFTER, -1, 0, false, false },
        { "in the image alone", 0, NEW, AFTER, -1, 0, true, true },
        { "in the image alone, from before the boot", 0, NEW, BEFORE, -1, 0, false, false },
        { "in the image something newer still", MID, NEW, AFTER, UCS_BLOCKER_WINDOW, NOW + SECOND, true, true },
        { "no minimum revision", NEW, OLD, AFTER, UCS_BLOCKER_MINREV, 0, true, false },
        { "no minimum revision, and in the image", NEW, NEW, AFTER, UCS_BLOCKER_MINREV, 0, true, true },
        { "no minimum revision, in an image that the boot did not take", NEW, NEW, BEFORE, UCS_BLOCKER_MINREV, 0, true, false },
        { "the kernel would refuse it", NEW, OLD, AFTER, UCS_BLOCKER_REFUSAL_PREDICTED, 0, true, false },
        { "rejected", NEW, OLD, AFTER, UCS_BLOCKER_REJECTED, 0, true, false },
        { "rejected until the next window", NEW, OLD, AFTER, UCS_BLOCKER_REJECTED, NOW + SECOND, false, false },
        { "denied", NEW, NEW, AFTER, UCS_BLOCKER_DENIED, 0, false, false },
        { "not approved", NEW, NEW, AFTER, UCS_BLOCKER_UNAPPROVED, 0, false, false },
        { "suspect", NEW, NEW, AFTER, UCS_BLOCKER_SUSPECT_CRASH, 0, false, false },
        { "the machine is unwell", NEW, NEW, AFTER, UCS_BLOCKER_UNHEALTHY, 0, false, false },
};

ucs_test(outlook, late_load) {
        for (size_t i = 0; i < ELEMENTSOF(late_rows); i++) {
                UcsOutlook o;
                Scene s;

                scene(&s, OLD, late_rows[i].disk, late_rows[i].early, late_rows[i].changed);
                if (late_rows[i].blocker >= 0)
                        blocked(&s, (UcsBlocker) late_rows[i].blocker, late_rows[i].clears);
                ask(&s, &o);
                cr_expect_eq(o.reboot_required, late_rows[i].required, "%s", late_rows[i].name);
                cr_expect_eq(o.reboot_helps, late_rows[i].helps, "%s", late_rows[i].name);
                if (o.reboot_required)
                        cr_expect(o.reboot_from == OLD && o.reboot_to == NEW, "%s", late_rows[i].name);
        }
}

/* A block of someone's stands beside a missing minimum revision: then a reboot is no way in either. */
ucs_test(outlook, forbidden_and_not_vouched_for) {
        UcsOutlook o;
        Scene s;

        scene(&s, OLD, NEW, NEW, AFTER);
        blocked(&s, UCS_BLOCKER_MINREV, 0);
        blocked(&s, UCS_BLOCKER_DENIED, 0);
        ask(&s, &o);
        cr_expect_not(o.reboot_required);
}

/* A file that is bad now, but held a candidate before. */
ucs_test(outlook, a_bad_file_is_nothing_on_disk) {
        UcsOutlook o;
        Scene s;

        scene(&s, OLD, NEW, OLD, BEFORE);
        s.machine.support = UCS_SUPPORT_ADVISORY;
        s.machine.reason = UCS_REASON_KERNEL_OPTION;
        s.candidates[0].error.code = -EBADMSG;
        ask(&s, &o);
        cr_expect_not(o.reboot_required);
}

/* What was loaded late, and is not in the image. */
static const struct {
        const char *name, *boot;
        uint32_t from, runs, early;
        UcsEarlyFinding finding;
        uint32_t fallback_to;
        const char *says;
} fallback_rows[] = {
        { "the image has the old one", "this-boot", OLD, NEW, OLD, UCS_EARLY_FOUND, OLD, IMAGE " has 0x100 only: the next boot falls back to 0x100" },
        { "the image has one between", "this-boot", OLD, NEW, MID, UCS_EARLY_FOUND, MID, "falls back to 0x108" },
        { "the board has more than the image", "this-boot", MID, NEW, OLD, UCS_EARLY_FOUND, MID, "falls back to 0x108" },
        { "the image has it", "this-boot", OLD, NEW, NEW, UCS_EARLY_FOUND, 0, NULL },
        { "the image has more", "this-boot", OLD, MID, NEW, UCS_EARLY_FOUND, 0, NULL },
        { "nothing for this CPU", "this-boot", OLD, NEW, 0, UCS_EARLY_FOUND, OLD, "has none for this CPU: the next boot falls back to 0x100; rebuild the initramfs" },
        { "no microcode in the image", "this-boot", OLD, NEW, 0, UCS_EARLY_EMPTY, OLD, "has none for this CPU" },
        { "a bad image", "this-boot", OLD, NEW, 0, UCS_EARLY_BAD, OLD, "takes nothing from " IMAGE ": the next boot" },
        { "no image", "this-boot", OLD, NEW, 0, UCS_EARLY_NO_IMAGE, 0, "cannot be told" },
        { "loaded in another boot", "another-boot", OLD, NEW, OLD, UCS_EARLY_FOUND, 0, NULL },
        { "a load that changed nothing", "this-boot", NEW, NEW, OLD, UCS_EARLY_FOUND, 0, NULL },
};

ucs_test(outlook, fallback) {
        for (size_t i = 0; i < ELEMENTSOF(fallback_rows); i++) {
                UcsOutlook o;
                Scene s;

                scene(&s, fallback_rows[i].runs, fallback_rows[i].runs, fallback_rows[i].early, AFTER);
                s.early.running.finding = fallback_rows[i].finding;
                loaded(&s, fallback_rows[i].boot, fallback_rows[i].from, fallback_rows[i].runs);
                ask(&s, &o);
                cr_expect_eq(o.fallback_to, fallback_rows[i].fallback_to, "%s: 0x%x", fallback_rows[i].name, o.fallback_to);
                cr_expect_eq(o.fallback_from, fallback_rows[i].fallback_to ? NEW : 0, "%s", fallback_rows[i].name);
                if (fallback_rows[i].says)
                        cr_expect(says(&o, fallback_rows[i].says), "%s: %s", fallback_rows[i].name, o.sentences[0]);
                else
                        cr_expect(!says(&o, "falls back"), "%s: %s", fallback_rows[i].name, o.sentences[0]);
                if (o.fallback_from)
                        cr_expect_not_null(strstr(o.sentences[o.fallback_sentence], "falls back"));
        }
}

/* What was loaded late in a boot before, and was not in the image of this one. */
static const struct {
        const char *name, *boot;
        uint32_t to, runs, disk, early;
        UcsEarlyFinding finding;
        bool said;
} lost_rows[] = {
        { "the image has the old one", "another-boot", NEW, OLD, NEW, OLD, UCS_EARLY_FOUND, true },
        { "nothing for this CPU", "another-boot", NEW, OLD, NEW, 0, UCS_EARLY_FOUND, true },
        { "a bad image", "another-boot", NEW, OLD, NEW, 0, UCS_EARLY_BAD, true },
        { "no image", "another-boot", NEW, OLD, NEW, 0, UCS_EARLY_NO_IMAGE, false },
        { "the image has it", "another-boot", NEW, OLD, NEW, NEW, UCS_EARLY_FOUND, false },
        { "the board has it", "another-boot", NEW, NEW, NEW, OLD, UCS_EARLY_FOUND, false },
        { "it was taken back", "another-boot", NEW, OLD, OLD, OLD, UCS_EARLY_FOUND, false },
        { "nothing is on disk", "another-boot", NEW, OLD, 0, OLD, UCS_EARLY_FOUND, false },
        { "it was never loaded", "another-boot", OLD, OLD, NEW, OLD, UCS_EARLY_FOUND, false },
        { "in this boot", "this-boot", NEW, OLD, NEW, OLD, UCS_EARLY_FOUND, false },
};

ucs_test(outlook, lost) {
        for (size_t i = 0; i < ELEMENTSOF(lost_rows); i++) {
                UcsOutlook o;
                Scene s;

                scene(&s, lost_rows[i].runs, lost_rows[i].disk, lost_rows[i].early, BEFORE);
                s.early.running.finding = lost_rows[i].finding;
                loaded(&s, lost_rows[i].boot, OLD, lost_rows[i].to);
                ask(&s, &o);
                cr_expect_eq(says(&o, "0x110 had been loaded late, and this boot fell back to 0x100"), lost_rows[i].said, "%s: %s", lost_rows[i].name,
                             o.sentences[0]);
                if (lost_rows[i].said)
                        cr_expect(says(&o, "rebuild the initramfs (update-initramfs -u -k 6.1.0-13-amd64)"), "%s: %s", lost_rows[i].name, o.sentences[0]);
        }
}

/* The image had more before the boot, which did not take it. */
ucs_test(outlook, early_loading_did_not_work) {
        UcsOutlook o;
        Scene s;

        scene(&s, OLD, OLD, NEW, BEFORE);
        ask(&s, &o);
        cr_expect(says(&o, "early loading does not work"));
        cr_expect_not(o.reboot_required);
        s.early.running.changed_usec = AFTER;
        ask(&s, &o);
        cr_expect_not(says(&o, "early loading does not work"));
        s.early.running.changed_usec = BEFORE;
        s.health.uptime_usec = 0; /* nobody knows when the boot began */
        ask(&s, &o);
        cr_expect_eq(o.n_sentences, 0U);
        cr_expect_not(o.reboot_helps);
}

/* Two kernels. */
static const struct {
        UcsEarlyFinding running, other;
        uint32_t has, other_has;
        uint32_t shown;
        const char *says; /* NULL: nothing */
} kernel_rows[] = {
        { UCS_EARLY_FOUND, UCS_EARLY_NO_IMAGE, OLD, 0, OLD, NULL },
        { UCS_EARLY_FOUND, UCS_EARLY_FOUND, OLD, OLD, OLD, NULL },
        { UCS_EARLY_FOUND, UCS_EARLY_FOUND, OLD, NEW, OLD, "Kernel 6.12.1, should the boot loader take it, brings 0x110" },
        { UCS_EARLY_FOUND, UCS_EARLY_EMPTY, OLD, 0, OLD, "nothing for this CPU is in /boot/other" },
        { UCS_EARLY_EMPTY, UCS_EARLY_FOUND, 0, NEW, 0, "brings 0x110" },
        { UCS_EARLY_NO_IMAGE, UCS_EARLY_FOUND, 0, NEW, NEW, NULL },
        { UCS_EARLY_NO_IMAGE, UCS_EARLY_NO_IMAGE, 0, 0, 0, NULL },
        { UCS_EARLY_BAD, UCS_EARLY_NO_IMAGE, 0, 0, 0, "takes nothing from " IMAGE ": broken" },
};

ucs_test(outlook, two_kernels) {
        for (size_t i = 0; i < ELEMENTSOF(kernel_rows); i++) {
                UcsOutlook o;
                Scene s;

                scene(&s, NEW, NEW, kernel_rows[i].has, AFTER);
                s.early.running.finding = kernel_rows[i].running;
                s.early.running.error = (UcsError){ -EBADMSG, "broken" };
                s.early.other = (UcsEarlyImage){ .finding = kernel_rows[i].other, .path = "/boot/other", .release = "6.12.1", .changed_usec = AFTER,
                                                 .revisions = { kernel_rows[i].other_has } };
                ask(&s, &o);
                cr_expect_eq(o.early_revision, kernel_rows[i].shown, "row %zu: 0x%x", i, o.early_revision);
                if (kernel_rows[i].says)
                        cr_expect(says(&o, kernel_rows[i].says), "row %zu: %s", i, o.sentences[0]);
                else
                        cr_expect_eq(o.n_sentences, 0U, "row %zu: %s", i, o.sentences[0]);
        }
}

static const struct {
        const char *path, *release, *expected;
} rebuild_rows[] = {
        { "/boot/initrd.img-6.1.0", "6.1.0", "update-initramfs -u -k 6.1.0" },
        { "/boot/initrd.img", "", "update-initramfs -u" },
        { "/boot/initramfs-5.15.0-100.el9uek.x86_64.img", "5.15.0-100.el9uek.x86_64", "dracut -f --kver 5.15.0-100.el9uek.x86_64" },
        { "/boot/initrd-6.4.0-150600-default", "6.4.0-150600-default", "dracut -f --kver 6.4.0-150600-default" },
        { "/boot/initramfs-linux.img", "", "mkinitcpio -P" },
        { "/boot/intel-ucode.img", "6.1.0", "it comes with the package of the microcode" },
        { "/boot/microcode.cpio", "", "it comes with the package of the microcode" },
        { "initrd", "", "dracut -f" },
};

ucs_test(outlook, how_to_rebuild) {
        for (size_t i = 0; i < ELEMENTSOF(rebuild_rows); i++) {
                char buf[UCS_REBUILD_MAX];
                UcsEarlyImage image = {};

                (void) snprintf(image.path, sizeof(image.path), "%s", rebuild_rows[i].path);
                (void) snprintf(image.release, sizeof(image.release), "%s", rebuild_rows[i].release);
                cr_expect_str_eq(ucs_early_rebuild(buf, &image), rebuild_rows[i].expected);
        }
}

/* Several groups: the one that is shown is not the one that needs it. */
ucs_test(outlook, groups) {
        UcsOutlook o;
        Scene s;

        scene(&s, NEW, NEW, NEW, AFTER);
        s.groups[1] = (UcsGroup){ .signature = 0x50657, .platform_mask = 1, .n_cpus = 8, .lowest_revision = OLD, .highest_revision = OLD };
        s.candidates[1] = (UcsCandidate){ .finding = UCS_FOUND_NEWER, .signature = 0x50657, .platform_mask = 1, .update.revision = MID };
        s.machine.n_groups = s.scan.n_candidates = 2;
        s.machine.support = UCS_SUPPORT_ADVISORY;
        s.machine.reason = UCS_REASON_KERNEL_OPTION;
        s.early.running.revisions[1] = MID;
        ask(&s, &o);
        cr_expect(o.reboot_required && o.reboot_helps && o.reboot_from == OLD && o.reboot_to == MID);
        cr_expect_eq(o.early_revision, NEW);
        cr_expect_eq(ucs_early_revision(&s.early.running, UCS_EARLY_GROUPS_MAX), 0U, "a group too many is unknown");
        s.groups[1].lowest_revision = 0; /* could not be read */
        ask(&s, &o);
        cr_expect_not(o.reboot_required);
}

/* --- boots in a row --- */

static const struct {
        const char *name;
        uint32_t last, came_up, early;
        uint64_t changed;
        uint32_t before, after;
} boot_rows[] = {
        { "never loaded late", 0, OLD, NEW, BEFORE, 1, 0 },
        { "came up with it", NEW, NEW, NEW, BEFORE, 1, 0 },
        { "came up with more", MID, NEW, NEW, BEFORE, 1, 0 },
        { "came up older, the image has it", NEW, OLD, NEW, BEFORE, 0, 1 },
        { "again", NEW, OLD, NEW, BEFORE, 1, 2 },
        { "came up older, the image has more", MID, OLD, NEW, BEFORE, 0, 1 },
        { "came up older, the image lacks it", NEW, OLD, OLD, BEFORE, 1, 0 },
        { "came up older, the image is of later: nobody knows", NEW, OLD, NEW, AFTER, 1, 1 },
        { "what it came up with cannot be read", NEW, 0, NEW, BEFORE, 1, 1 },
};

ucs_test(outlook, boots_in_a_row) {
        for (size_t i = 0; i < ELEMENTSOF(boot_rows); i++) {
                UcsState state = { .early_boots = { boot_rows[i].before, "last-boot" } };
                Scene s;

                scene(&s, boot_rows[i].came_up, 0, boot_rows[i].early, boot_rows[i].changed);
                if (boot_rows[i].last)
                        loaded(&s, "last-boot", OLD - 1, boot_rows[i].last);
                cr_expect(ucs_early_boots_judge(&state, &s.world, &s.history, &s.early, "this-boot"));
                cr_expect_eq(state.early_boots.broken, boot_rows[i].after, "%s: %u", boot_rows[i].name, state.early_boots.broken);

                /* once a boot, and not without one */
                cr_expect_not(ucs_early_boots_judge(&state, &s.world, &s.history, &s.early, "this-boot"));
                cr_expect_not(ucs_early_boots_judge(&state, &s.world, &s.history, &s.early, ""));
                cr_expect_eq(state.early_boots.broken, boot_rows[i].after, "%s, asked again", boot_rows[i].name);
        }
}

/* /boot was not there when the boot was judged: that says nothing of the boot. */
ucs_test(outlook, boots_without_an_image) {
        UcsState state = { .early_boots = { 2, "last-boot" } };
        Scene s;

        scene(&s, OLD, 0, 0, 0);
        s.early = (UcsEarly){};
        loaded(&s, "last-boot", OLD, NEW);
        cr_expect(ucs_early_boots_judge(&state, &s.world, &s.history, &s.early, "this-boot"));
        cr_expect_eq(state.early_boots.broken, 2U);
}

/* A load in this boot already, before the daemon looked: what counts is what the boot came up with. */
ucs_test(outlook, loaded_before_it_was_judged) {
        UcsState state = {};
        Scene s;

        scene(&s, NEW, 0, NEW, BEFORE);
        loaded(&s, "last-boot", OLD, NEW);
        loaded(&s, "this-boot", OLD, NEW);
        cr_expect(ucs_early_boots_judge(&state, &s.world, &s.history, &s.early, "this-boot"));
        cr_expect_eq(state.early_boots.broken, 1U);
}

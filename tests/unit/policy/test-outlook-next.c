/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The next boot, where the boot loader is told to take this kernel or that: which image is shown, and what is said. */

#include "outlook-scene.h"

/* --- what the boot loader is told --- */

static const struct {
        const char *name;
        UcsNextKernel next;
        const char *by;
        uint32_t running, other;
        const char *says, *says_not; /* NULL: nothing at all */
        uint32_t shown;
} next_rows[] = {
        { "nobody says, and they are equal", UCS_NEXT_UNKNOWN, "", OLD, OLD, NULL, NULL, OLD },
        { "nobody says", UCS_NEXT_UNKNOWN, "", OLD, NEW, "should the boot loader take it, brings 0x110 (/boot/other)", "cannot be known", OLD },
        { "it cannot be known", UCS_NEXT_UNKNOWN, "saved_entry is a number", OLD, NEW, "brings 0x110 (/boot/other); whether it does cannot be known: saved_entry is a number", NULL, OLD },
        { "it cannot be known, and there is nothing in it", UCS_NEXT_UNKNOWN, "saved_entry is a number", OLD, 0, "is in /boot/other; whether it does cannot be known: saved_entry is a number", NULL, OLD },
        { "it cannot be known, and does not matter", UCS_NEXT_UNKNOWN, "saved_entry is a number", OLD, OLD, NULL, NULL, OLD },
        { "the other one", UCS_NEXT_OTHER, "next_entry in X", OLD, NEW, "takes another kernel (next_entry in X), with 0x110 in /boot/other; that of the kernel that runs, " IMAGE ", has 0x100",
          "should the boot loader", NEW },
        { "the other one, without", UCS_NEXT_OTHER, "next_entry in X", OLD, 0, "with nothing for this CPU in /boot/other", NULL, 0 },
        { "the other one, with the same", UCS_NEXT_OTHER, "next_entry in X", OLD, OLD, NULL, NULL, OLD },
};

ucs_test(outlook, next_kernel) {
        for (size_t i = 0; i < ELEMENTSOF(next_rows); i++) {
                UcsOutlook o;
                Scene s;

                scene(&s, OLD, OLD, next_rows[i].running, BEFORE);
                s.early.other = (UcsEarlyImage){ .finding = UCS_EARLY_FOUND, .path = "/boot/other", .release = "6.12", .changed_usec = BEFORE, .revisions = { next_rows[i].other } };
                s.early.next = next_rows[i].next;
                (void) snprintf(s.early.next_by, sizeof(s.early.next_by), "%s", next_rows[i].by);
                ask(&s, &o);
                cr_expect_eq(o.early_revision, next_rows[i].shown, "%s: 0x%x", next_rows[i].name, o.early_revision);
                if (next_rows[i].says)
                        cr_expect(says(&o, next_rows[i].says) && !(next_rows[i].says_not && says(&o, next_rows[i].says_not)), "%s: %s", next_rows[i].name, o.sentences[0]);
                else
                        cr_expect_eq(o.n_sentences, 0U, "%s: %s", next_rows[i].name, o.sentences[0]);
        }
}

/* The next boot falls back by the image of the kernel that it takes; whether this boot took its own image is another question. */
ucs_test(outlook, next_kernel_and_this_boot) {
        UcsOutlook o;
        Scene s;

        scene(&s, NEW, NEW, NEW, BEFORE);
        loaded(&s, "this-boot", MID, NEW);
        s.early.other = (UcsEarlyImage){ .finding = UCS_EARLY_FOUND, .path = "/boot/other", .release = "6.12", .changed_usec = BEFORE, .revisions = { OLD } };
        ask(&s, &o);
        cr_expect_eq(o.fallback_from, 0U);
        cr_expect(says(&o, "This boot came up with 0x108, although " IMAGE " was there with 0x110"));
        s.early.next = UCS_NEXT_OTHER;
        ask(&s, &o);
        cr_expect_eq(o.fallback_from, NEW);
        cr_expect_eq(o.fallback_to, MID, "the board's own is above that of the image");
        cr_expect(says(&o, "/boot/other has 0x100 only"));
        cr_expect(says(&o, "This boot came up with 0x108, although " IMAGE " was there with 0x110"));
        s.early.running.revisions[0] = OLD;
        s.early.other.revisions[0] = NEW;
        ask(&s, &o);
        cr_expect_eq(o.fallback_from, 0U);
        cr_expect_not(says(&o, "This boot came up"), "the other kernel's image was not asked for");
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The next boot; see outlook.h. A revision of 0 is unknown throughout, and what is unknown is neither newer nor older than anything. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "core/policy/outlook.h"

const UcsEarlyImage *ucs_early_leading(const UcsEarly *e) {
        if (e->next == UCS_NEXT_OTHER)
                return &e->other;
        return e->running.finding != UCS_EARLY_NO_IMAGE ? &e->running : &e->other;
}

uint32_t ucs_early_revision(const UcsEarlyImage *i, size_t group) {
        return i->finding == UCS_EARLY_FOUND && group < UCS_EARLY_GROUPS_MAX ? i->revisions[group] : 0;
}

/* Names that distributions give to the images that their tools make. */
const char *ucs_early_rebuild(char buf[static UCS_REBUILD_MAX], const UcsEarlyImage *i) {
        const char *slash = strrchr(i->path, '/'), *name = slash ? slash + 1 : i->path;
        bool released = *i->release != '\0';

        if (str_endswith(name, "-ucode.img") || str_endswith(name, ".cpio"))
                (void) snprintf(buf, UCS_REBUILD_MAX, "it comes with the package of the microcode");
        else if (str_startswith(name, "initrd.img"))
                (void) snprintf(buf, UCS_REBUILD_MAX, "update-initramfs -u%s%s", released ? " -k " : "", i->release);
        else if (str_startswith(name, "initramfs-linux"))
                (void) snprintf(buf, UCS_REBUILD_MAX, "mkinitcpio -P");
        else
                (void) snprintf(buf, UCS_REBUILD_MAX, "dracut -f%s%s", released ? " --kver " : "", i->release);
        return buf;
}

/* --- what is known of a group --- */

typedef struct Look {
        const UcsWorld *world;
        const UcsHistory *history;
        const UcsEarlyImage *image;
        const char *boot_id;
        uint64_t boot_usec; /* when this boot began; 0: unknown */
} Look;

static bool is_about(const UcsHistoryEntry *h, const UcsGroup *g) {
        return h->signature == g->signature && h->platform_mask == g->platform_mask;
}

static uint64_t boot_began(const UcsWorld *w) {
        uint64_t up = w->health ? w->health->uptime_usec : 0;

        return up > 0 && up < w->realtime_usec ? w->realtime_usec - up : 0;
}

/* Written since this boot began, so that the boot could not have seen it. */
static bool is_fresh(const Look *l) {
        return l->boot_usec > 0 && l->image->changed_usec > l->boot_usec;
}

static bool is_from_before(const Look *l) {
        return l->boot_usec > 0 && l->image->changed_usec <= l->boot_usec;
}

/* What the group ran when this boot began: before the first load in it, by whomever. `ret_loaded`: there was one. */
static uint32_t came_up_with(const UcsHistory *h, const UcsGroup *g, const char *boot_id, bool *ret_loaded) {
        *ret_loaded = false;
        for (size_t i = 0; *boot_id && i < h->n_entries; i++) {
                const UcsHistoryEntry *e = &h->entries[i];

                if (!is_about(e, g) || !streq(e->boot_id, boot_id) || e->new_revision == e->old_revision || e->new_revision == 0)
                        continue;
                *ret_loaded = true;
                return e->old_revision;
        }
        return g->lowest_revision;
}

/* What the last late load before this boot left a group with; 0: there was none. */
static uint32_t loaded_before(const UcsHistory *h, const UcsGroup *g, const char *boot_id) {
        for (size_t i = h->n_entries; i > 0; i--) {
                const UcsHistoryEntry *e = &h->entries[i - 1];

                if (is_about(e, g) && !streq(e->boot_id, boot_id) && e->new_revision > e->old_revision)
                        return e->new_revision;
        }
        return 0;
}

/* The candidate of a group, if it is one: newer than what runs, and right. */
static uint32_t on_disk(const UcsScan *scan, const UcsGroup *g) {
        for (size_t i = 0; scan && i < scan->n_candidates; i++) {
                const UcsCandidate *k = &scan->candidates[i];

                if (k->signature == g->signature && k->platform_mask == g->platform_mask)
                        return k->finding == UCS_FOUND_NEWER && k->error.code == 0 ? k->update.revision : 0;
        }
        return 0;
}

/* --- is a reboot needed --- */

/* Whether this machine's own boot has a say in what its CPUs run. */
static bool reboot_can_help(const UcsMachine *m) {
        switch (m->reason) {
        case UCS_REASON_NONE:
        case UCS_REASON_KERNEL_OPTION:
        case UCS_REASON_DISABLED_BY_COMMAND_LINE:
        case UCS_REASON_READ_ONLY:
                return true;
        case UCS_REASON_ARCHITECTURE:
        case UCS_REASON_CONTAINER:
        case UCS_REASON_XEN:
        case UCS_REASON_VIRTUAL_MACHINE:
        case UCS_REASON_NO_CPU_DRIVER:
        case _UCS_SUPPORT_REASON_MAX:
        case _UCS_SUPPORT_REASON_INVALID:
                return false;
        }
        return false;
}

/* What is pending must not be loaded late, and no waiting changes that: the vendor does not vouch for it, the kernel would refuse it or has
 * refused it. Not so what someone forbids (denied, unapproved, suspect-crash): that is not to be brought in by a reboot either. */
static bool may_not_be_loaded(const UcsDecision *d) {
        const UcsBlockerSet set = ucs_blocker_bit(UCS_BLOCKER_MINREV) | ucs_blocker_bit(UCS_BLOCKER_REFUSAL_PREDICTED) | ucs_blocker_bit(UCS_BLOCKER_REJECTED);
        const UcsBlockerSet forbidden = ucs_blocker_bit(UCS_BLOCKER_DENIED) | ucs_blocker_bit(UCS_BLOCKER_UNAPPROVED) | ucs_blocker_bit(UCS_BLOCKER_SUSPECT_CRASH);

        if (d->blocked & forbidden)
                return false;
        for (size_t i = 0; i < d->n_reports; i++)
                if ((set & ucs_blocker_bit(d->reports[i].blocker)) && d->reports[i].clears_usec == 0)
                        return true;
        return false;
}

/* The newer revision that takes a reboot; 0: none. */
static uint32_t needs_reboot(const Look *l, const UcsDecision *d, size_t i) {
        const UcsMachine *m = l->world->machine;
        const UcsGroup *g = &m->groups[i];
        uint32_t disk = on_disk(l->world->scan, g), early = is_fresh(l) ? ucs_early_revision(l->image, i) : 0, newest;

        if (g->lowest_revision == 0 || !reboot_can_help(m))
                return 0;
        newest = MAX(disk, early);
        if (newest <= g->lowest_revision)
                return 0;
        if (m->support == UCS_SUPPORT_ADVISORY || early > disk)
                return newest;
        /* late loading is possible: only what it may not load, and of several groups the leading candidate is the one that was judged */
        if (d->candidate && d->candidate->signature == g->signature && d->candidate->platform_mask == g->platform_mask && may_not_be_loaded(d))
                return newest;
        return 0;
}

/* --- sentences --- */

_printf_(2, 3) static void say(UcsOutlook *o, const char *format, ...) {
        va_list ap;

        if (o->n_sentences == UCS_OUTLOOK_SENTENCES_MAX)
                return;
        va_start(ap, format);
        (void) vsnprintf(o->sentences[o->n_sentences++], UCS_OUTLOOK_SENTENCE_SIZE, format, ap);
        va_end(ap);
}

/* "/boot/initrd.img-6.1.0 has 0x2000065 only", or whatever else keeps it from bringing more. */
static const char *say_image(char *buf, size_t size, const UcsEarlyImage *i, uint32_t early) {
        if (i->finding == UCS_EARLY_BAD)
                (void) snprintf(buf, size, "the early loader takes nothing from %s", i->path);
        else if (early > 0)
                (void) snprintf(buf, size, "%s has 0x%" PRIx32 " only", i->path, early);
        else
                (void) snprintf(buf, size, "%s has none for this CPU", i->path);
        return buf;
}

static void look_at_fallback(const Look *l, size_t i, UcsOutlook *o) {
        const UcsGroup *g = &l->world->machine->groups[i];
        uint32_t early = ucs_early_revision(l->image, i), boot;
        char image[UCS_EARLY_PATH_MAX + 48], rebuild[UCS_REBUILD_MAX];
        bool loaded;

        boot = came_up_with(l->history, g, l->boot_id, &loaded);
        if (!loaded || o->fallback_from != 0 || g->lowest_revision == 0)
                return;
        if (l->image->finding == UCS_EARLY_NO_IMAGE) {
                say(o, "0x%" PRIx32 " was loaded late, and what the next boot runs cannot be told: no initramfs was found in /boot (ImagePath= names one)",
                    g->lowest_revision);
                return;
        }
        if (early >= g->lowest_revision)
                return;
        o->fallback_from = g->lowest_revision;
        o->fallback_sentence = MIN(o->n_sentences, UCS_OUTLOOK_SENTENCES_MAX - (size_t) 1);
        o->fallback_to = MAX(early, boot); /* above what the image has it came from the firmware of the board */
        say(o, "0x%" PRIx32 " was loaded late, and %s: the next boot falls back to 0x%" PRIx32 "; rebuild the initramfs (%s)", g->lowest_revision,
            say_image(image, sizeof(image), l->image, early), o->fallback_to, ucs_early_rebuild(rebuild, l->image));
}

/* A load of before is lost, for the image lacked it, and will be at the next boot, too. */
static void look_at_lost(const Look *l, const UcsDecision *d, size_t i, UcsOutlook *o) {
        const UcsGroup *g = &l->world->machine->groups[i];
        uint32_t early = ucs_early_revision(l->image, i), disk = on_disk(l->world->scan, g), last, boot;
        char image[UCS_EARLY_PATH_MAX + 48], rebuild[UCS_REBUILD_MAX];
        bool loaded;

        last = loaded_before(l->history, g, l->boot_id);
        boot = came_up_with(l->history, g, l->boot_id, &loaded);
        if (loaded || boot == 0 || boot >= last || early >= disk || l->image->finding == UCS_EARLY_NO_IMAGE || needs_reboot(l, d, i) != 0)
                return;
        say(o, "0x%" PRIx32 " had been loaded late, and this boot fell back to 0x%" PRIx32 ": %s; rebuild the initramfs (%s), or each boot does", last, boot,
            say_image(image, sizeof(image), l->image, early), ucs_early_rebuild(rebuild, l->image));
}

static void look_at_reboot(const Look *l, const UcsDecision *d, size_t i, UcsOutlook *o) {
        const UcsGroup *g = &l->world->machine->groups[i];
        uint32_t needed = needs_reboot(l, d, i), early = ucs_early_revision(l->image, i);
        char image[UCS_EARLY_PATH_MAX + 48], rebuild[UCS_REBUILD_MAX];

        if (needed == 0)
                return;
        o->reboot_helps = o->reboot_helps || (is_fresh(l) && early > g->lowest_revision);
        if (o->reboot_required)
                return;
        o->reboot_required = true;
        o->reboot_from = g->lowest_revision;
        o->reboot_to = needed;
        if (early < needed && l->image->finding != UCS_EARLY_NO_IMAGE)
                say(o, "0x%" PRIx32 " is on disk, and %s: a reboot does not bring it before the initramfs is rebuilt (%s)", needed,
                    say_image(image, sizeof(image), l->image, early), ucs_early_rebuild(rebuild, l->image));
}

/* The image was there before the boot, and has more than the boot came up with. */
static void look_at_boot(const Look *l, size_t i, UcsOutlook *o) {
        const UcsGroup *g = &l->world->machine->groups[i];
        uint32_t early = ucs_early_revision(l->image, i), boot;
        bool loaded;

        boot = came_up_with(l->history, g, l->boot_id, &loaded);
        if (boot == 0 || early <= boot || !is_from_before(l) || !reboot_can_help(l->world->machine))
                return;
        say(o, "This boot came up with 0x%" PRIx32 ", although %s was there with 0x%" PRIx32 ": early loading does not work; look for another initramfs, "
               "its order in the boot loader's entry, and 'microcode' in the kernel log of the boot", boot, l->image->path, early);
}

/* "0x110", or that there is nothing. */
static const char *say_revision(char buf[static 32], uint32_t revision) {
        if (revision > 0)
                (void) snprintf(buf, 32, "0x%" PRIx32, revision);
        else
                (void) snprintf(buf, 32, "nothing for this CPU");
        return buf;
}

static void look_at_images(const UcsEarly *early, const Look *l, size_t group, UcsOutlook *o) {
        const UcsEarlyImage *other = &early->other, *running = &early->running;
        uint32_t a = ucs_early_revision(running, group), b = ucs_early_revision(other, group);
        char has[32], unlike[32], why[UCS_EARLY_PATH_MAX] = "";

        if (l->image->finding == UCS_EARLY_BAD)
                say(o, "The early loader takes nothing from %.200s: %.120s", l->image->path, l->image->error.text);
        if (other->finding == UCS_EARLY_NO_IMAGE || running->finding == UCS_EARLY_NO_IMAGE || a == b)
                return;
        if (early->next == UCS_NEXT_OTHER) {
                say(o, "The next boot takes another kernel (%.100s), with %s in %.100s; that of the kernel that runs, %.80s, has %s", early->next_by,
                    say_revision(has, b), other->path, running->path, say_revision(unlike, a));
                return;
        }
        if (*early->next_by)
                (void) snprintf(why, sizeof(why), "; whether it does cannot be known: %s", early->next_by);
        if (other->finding == UCS_EARLY_BAD || b == 0)
                say(o, "Kernel %s, should the boot loader take it, would come up without the microcode of %.90s: nothing for this CPU is in %.90s%s",
                    other->release, l->image->path, other->path, why);
        else
                say(o, "Kernel %s, should the boot loader take it, brings 0x%" PRIx32 " (%.100s)%s", other->release, b, other->path, why);
}

void ucs_outlook(const UcsWorld *world, const UcsDecision *d, const UcsHistory *history, const UcsEarly *early, size_t group, const char *boot_id,
                 UcsOutlook *ret) {
        Look l = { world, history, ucs_early_leading(early), boot_id, boot_began(world) }, this_boot = l;

        if (early->next == UCS_NEXT_OTHER)
                this_boot.image = &early->running;
        *ret = (UcsOutlook){ .early_revision = ucs_early_revision(l.image, group) };
        (void) snprintf(ret->early_path, sizeof(ret->early_path), "%s", l.image->path);
        if (!reboot_can_help(world->machine))
                return;
        for (size_t i = 0; i < world->machine->n_groups; i++) {
                look_at_fallback(&l, i, ret);
                look_at_lost(&l, d, i, ret);
                look_at_reboot(&l, d, i, ret);
        }
        if (group < world->machine->n_groups)
                look_at_boot(&this_boot, group, ret);
        look_at_images(early, &l, group, ret);
}

/* --- boots in a row --- */

bool ucs_early_boots_judge(UcsState *state, const UcsWorld *world, const UcsHistory *history, const UcsEarly *early, const char *boot_id) {
        Look l = { world, history, &early->running, boot_id, boot_began(world) };
        UcsEarlyBoots *b = &state->early_boots;
        bool broken = false, unknown = false;

        if (!*boot_id || streq(b->boot_id, boot_id))
                return false;
        for (size_t i = 0; i < world->machine->n_groups; i++) {
                const UcsGroup *g = &world->machine->groups[i];
                uint32_t last = loaded_before(history, g, boot_id), boot;
                bool loaded;

                boot = came_up_with(history, g, boot_id, &loaded);
                if (last == 0 || boot >= last)
                        continue;
                if (boot == 0 || l.image->finding == UCS_EARLY_NO_IMAGE || !is_from_before(&l))
                        unknown = true;
                else if (ucs_early_revision(l.image, i) >= last)
                        broken = true;
        }
        if (broken)
                b->broken++;
        else if (!unknown)
                b->broken = 0;
        (void) snprintf(b->boot_id, sizeof(b->boot_id), "%s", boot_id);
        return true;
}

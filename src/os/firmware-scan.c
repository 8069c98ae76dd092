/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the firmware directories hold for each group of the machine's CPUs; see firmware.h. Nothing is
 * decided here but "newer or not", and that by core/ucode; a file that cannot be read or parsed becomes a
 * finding with a sentence that names it. */

#include "core/ucode/choose.h"
#include "core/ucode/entrysign.h"
#include "core/ucode/file.h"
#include "os/firmware.h"

/* A file name, looked for once. */
typedef struct Lookup {
        char name[UCS_FIRMWARE_NAME_MAX];
        UcsFirmware *firmware; /* NULL: `error`, or nothing when that is -ENOENT */
        UcsUpdateFile *file;   /* NULL: `error` */
        UcsError error;
} Lookup;

typedef struct Lookups {
        Lookup *items;
        size_t n;
} Lookups;

static void lookups_done(Lookups *l) {
        for (size_t i = 0; i < l->n; i++) {
                ucs_firmware_free(l->items[i].firmware);
                ucs_update_file_free(l->items[i].file);
        }
        free(l->items);
}

static int lookup_fill(Lookup *l, int root_fd, char *const *search_path) {
        int r;

        r = ucs_firmware_read(root_fd, search_path, l->name, &l->firmware, &l->error);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        r = ucs_update_file_parse(l->firmware->data, l->firmware->size, &l->file, &l->error);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                (void) ucs_error_prefix(&l->error, r, "%s", l->firmware->path);
        return 0;
}

/* The lookup of that name, from an earlier group or new. `items` has room for one a group. */
static int lookup_get(Lookups *all, const char *name, int root_fd, char *const *search_path, Lookup **ret) {
        Lookup *l;
        int r;

        for (size_t i = 0; i < all->n; i++)
                if (streq(all->items[i].name, name)) {
                        *ret = &all->items[i];
                        return 0;
                }
        l = &all->items[all->n++];
        memcpy(l->name, name, strlen(name) + 1);
        r = lookup_fill(l, root_fd, search_path);
        if (r < 0)
                return r;
        *ret = l;
        return 0;
}

/* What this kernel leaves out of account. Digests: kernels that check them have chosen by side for as long as containers hold a patch for each
 * side; which of them a kernel does is published nowhere, and a patch of the other side loads under neither. */
static UcsChooseFlags choose_flags(const UcsKernel *kernel, UcsVendor vendor, const UcsGroup *g) {
        UcsChooseFlags flags = 0;

        if (vendor == UCS_VENDOR_INTEL && kernel->force_minrev)
                flags |= UCS_CHOOSE_FORCE_MINREV;
        if (vendor == UCS_VENDOR_AMD && kernel->digest_check && ucs_entrysign_affected(g->signature))
                flags |= UCS_CHOOSE_ENTRYSIGN_SIDE;
        return flags;
}

/* The update that this kernel would take. Where it would take none, what a less particular kernel would: people are to learn that there is
 * something, and the preflight says why it cannot be had. */
static UcsChoice choose(const UcsUpdateFile *file, const UcsGroup *g, UcsChooseFlags flags, const UcsUpdate **ret) {
        if (flags != 0 && ucs_update_choose_with(file, g->signature, g->platform_mask, g->lowest_revision, flags, ret) == UCS_CHOICE_NEWER)
                return UCS_CHOICE_NEWER;
        return ucs_update_choose(file, g->signature, g->platform_mask, g->lowest_revision, ret);
}

static int judge(UcsCandidate *c, const Lookup *l, const UcsGroup *g, UcsVendor vendor, const UcsKernel *kernel) {
        const UcsUpdate *u = NULL;

        if (!l->firmware) {
                if (l->error.code == -ENOENT)
                        return 0;
                c->finding = UCS_FOUND_BAD;
                c->error = l->error;
                c->unreadable = l->error.code != -EFBIG; /* the kernel knows no such bound */
                return 0;
        }
        c->path = strdup(l->firmware->path);
        if (!c->path)
                return -ENOMEM;
        memcpy(c->digest, l->firmware->digest, sizeof(c->digest));
        c->changed_usec = l->firmware->changed_usec;
        c->skipped = l->firmware->skipped;
        if (!l->file) {
                c->finding = UCS_FOUND_BAD;
                c->error = l->error;
                return 0;
        }
        if (l->file->vendor != vendor) { /* each loader of the kernel knows its own vendor's files only */
                c->finding = UCS_FOUND_BAD;
                (void) ucs_error_set(&c->error, -EBADMSG, "%s: this is a file of %s, expected one of %s", l->firmware->path,
                                     ucs_vendor_to_string(l->file->vendor), ucs_vendor_to_string(vendor));
                return 0;
        }
        if (ucs_update_choose(l->file, g->signature, g->platform_mask, g->lowest_revision, &u) != UCS_CHOICE_NONE)
                c->on_disk = u->revision;
        switch (choose(l->file, g, choose_flags(kernel, vendor, g), &u)) {
        case UCS_CHOICE_NONE:
                c->finding = UCS_FOUND_NO_MATCH;
                break;
        case UCS_CHOICE_NOT_NEWER:
                c->finding = UCS_FOUND_NOT_NEWER;
                break;
        case UCS_CHOICE_NEWER:
                c->finding = UCS_FOUND_NEWER;
                break;
        }
        if (u) {
                c->update = *u;
                c->update.also = NULL;
                c->update.n_also = 0;
        }
        return 0;
}

int ucs_firmware_scan(int root_fd, char *const *search_path, const UcsMachine *m, const UcsKernel *kernel, UcsScan **ret) {
        _cleanup_(ucs_scan_freep) UcsScan *s = NULL;
        _cleanup_(lookups_done) Lookups all = {};

        s = new0(UcsScan, 1);
        if (!s)
                return -ENOMEM;
        s->candidates = new0(UcsCandidate, m->n_groups);
        all.items = new0(Lookup, m->n_groups);
        if (!s->candidates || !all.items)
                return -ENOMEM;
        s->n_candidates = m->n_groups;

        for (size_t i = 0; i < m->n_groups; i++) {
                const UcsGroup *g = &m->groups[i];
                UcsCandidate *c = &s->candidates[i];
                char name[UCS_FIRMWARE_NAME_MAX];
                Lookup *l;
                int r;

                c->finding = UCS_FOUND_NOTHING;
                c->signature = g->signature;
                c->platform_mask = g->platform_mask;
                if (!ucs_firmware_name(name, m->vendor, g->signature))
                        continue;
                r = lookup_get(&all, name, root_fd, search_path, &l);
                if (r >= 0)
                        r = judge(c, l, g, m->vendor, kernel ?: &ucs_kernel_unknown);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(s);
        return 0;
}

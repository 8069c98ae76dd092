/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl inspect: what is in microcode files, of either vendor, compressed or not, and whether it is for a
 * CPU. Needs no daemon and no CPU of that kind. A directory stands for every regular file below it.
 *
 * A file is judged as the kernel's late loader judges it. Nothing is hashed, and all files pass through one
 * buffer: a whole vendor release is scanned at about the speed of reading it. */

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "core/ucode/choose.h"
#include "core/ucode/entrysign.h"
#include "core/ucode/file.h"
#include "core/ucode/update.h"
#include "ctl/ctl-table.h"
#include "ctl/inspect-files.h"

/* The CPU of --for=SIGNATURE[/MASK[/REVISION]]. */
typedef struct Target {
        bool given, has_mask, has_running;
        uint32_t signature, mask, running;
} Target;

typedef struct Inspect {
        UcsCtl *ctl;
        Target target;
        CtlFiles files;
        json_object *array; /* with --json */
        CtlTable *table;    /* without */
        size_t n_bad;
} Inspect;

static void inspect_done(Inspect *i) {
        ctl_files_done(&i->files);
        json_object_put(i->array);
        ctl_table_free(i->table);
}

static int parse_target(UcsCtl *ctl, Target *ret) {
        const char *value = ctl_option(ctl, "for");
        _cleanup_free_ char *copy = NULL;
        Target t = { .given = true };
        char *rest, *word;
        bool ok;

        if (!value)
                return 0;
        rest = copy = strdup(value);
        if (!copy)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        word = strsep(&rest, "/");
        ok = ucs_parse_u32(word, 16, &t.signature) >= 0 && t.signature != 0;
        if (ok && (word = strsep(&rest, "/"))) {
                t.has_mask = true;
                ok = ucs_parse_u32(word, 16, &t.mask) >= 0;
        }
        if (ok && (word = strsep(&rest, "/"))) {
                t.has_running = true;
                ok = ucs_parse_u32(word, 16, &t.running) >= 0;
        }
        if (!ok || rest)
                return ctl_fail_named(
                        ctl, UCS_EXIT_FAILED, "InvalidArgument",
                        "--for: '%s' is not SIGNATURE[/MASK[/REVISION]] in hexadecimal, such as 50654/1/200003a",
                        value);
        *ret = t;
        return 0;
}

/* The target's CPU, or one of its signature when the platform is not known. */
static bool is_for(const Target *t, const UcsUpdate *u) {
        if (t->has_mask)
                return ucs_update_matches(u, t->signature, t->mask);
        return ucs_update_matches(u, t->signature, UINT32_MAX) || ucs_update_matches(u, t->signature, 0);
}

/* What the kernel would take for the target. Without a mask the highest of all platforms, whose revisions do
 * not compare. */
static const UcsUpdate *choose(const Target *t, const UcsUpdateFile *file) {
        const UcsUpdate *best = NULL;

        if (t->has_mask) {
                (void) ucs_update_choose(file, t->signature, t->mask, t->running, &best);
                return best;
        }
        for (size_t i = 0; i < file->n_updates; i++)
                if (is_for(t, &file->updates[i]) && (!best || file->updates[i].revision > best->revision))
                        best = &file->updates[i];
        return best;
}

static const char *verdict(const Target *t, const UcsUpdate *u) {
        if (!u || !is_for(t, u))
                return "not-for-it";
        if (!t->has_running)
                return "for-it";
        return u->revision > t->running ? "newer" : "not-newer";
}

/* The verdict on one update in words. */
static void cell_verdict(CtlTable *table, const Target *t, const UcsUpdate *u, const UcsUpdate *chosen) {
        const char *v = verdict(t, u);
        char minrev[64] = "no minimum revision";

        if (streq(v, "not-for-it"))
                ctl_table_cell(table, "not for it");
        else if (streq(v, "for-it"))
                ctl_table_cell(table, "for it");
        else if (streq(v, "not-newer"))
                ctl_table_cell(table, "not newer");
        else if (u->vendor == UCS_VENDOR_AMD && !ucs_entrysign_same_side(t->running, u->revision))
                ctl_table_cell(table, "newer, beyond the EntrySign cutoff 0x%08x",
                               ucs_entrysign_cutoff(t->running));
        else if (u->vendor == UCS_VENDOR_AMD && ucs_entrysign_needs_digest(t->signature, t->running))
                ctl_table_cell(table, "newer, if the kernel knows its digest");
        else {
                if (u->min_revision)
                        (void) snprintf(minrev, sizeof(minrev), "minimum revision %s",
                                        ucs_update_minrev_met(u, t->running) ? "met" : "not met");
                ctl_table_cell(table, "newer%s, %s", u == chosen || !t->has_mask ? "" : ", not the highest",
                               minrev);
        }
        ctl_table_color(table, u == chosen && streq(v, "newer") ? "green" : NULL);
}

static void cell_note(CtlTable *table, const UcsUpdate *u) {
        if (u->chipset_specific)
                ctl_table_cell(table, "chipset-specific");
        else if (u->container > 0)
                ctl_table_cell(table, "container %u", u->container + 1);
        else if (u->floor_revision)
                ctl_table_cell(table, "from 0x%08x on", u->floor_revision);
        else if (u->metadata_size)
                ctl_table_cell(table, "metadata, %u bytes", u->metadata_size);
        else
                ctl_table_cell(table, "%s", "");
}

static void cell_hex(CtlTable *table, bool known, uint32_t v) {
        if (known)
                ctl_table_cell(table, "0x%08x", v);
        else
                ctl_table_cell(table, "-");
}

static void show_update(Inspect *i, const char *path, const UcsUpdate *u, const UcsUpdate *chosen) {
        bool intel = u->vendor == UCS_VENDOR_INTEL;
        char date[UCS_DATE_MAX];

        ctl_table_row(i->table);
        ctl_table_cell(i->table, "%s", path);
        cell_hex(i->table, u->signature != 0, u->signature);
        cell_hex(i->table, intel, u->platform_mask);
        cell_hex(i->table, true, u->revision);
        ctl_table_cell(i->table, "%s", ucs_update_date(date, u->date) ?: "-");
        cell_hex(i->table, u->min_revision != 0, u->min_revision);
        ctl_table_cell(i->table, "%u", u->size);
        if (i->target.given)
                cell_verdict(i->table, &i->target, u, chosen);
        cell_note(i->table, u);

        for (size_t k = 0; k < u->n_also; k++) {
                const UcsSignature *s = &u->also[k];

                if (s->signature == u->signature && s->platform_mask == u->platform_mask)
                        continue; /* Intel's tables begin with the primary pair */
                ctl_table_row(i->table);
                ctl_table_cell(i->table, "%s", "");
                cell_hex(i->table, true, s->signature);
                cell_hex(i->table, intel, s->platform_mask);
        }
}

static void add(json_object *o, const char *key, json_object *value) {
        (void) json_object_object_add(o, key, value);
}

static json_object *json_hex(bool known, uint32_t v) {
        char text[11];

        (void) snprintf(text, sizeof(text), "0x%08x", v);
        return known ? json_object_new_string(text) : NULL;
}

static json_object *json_update(const UcsUpdate *u) {
        json_object *o = json_object_new_object(), *also = json_object_new_array();
        bool intel = u->vendor == UCS_VENDOR_INTEL;
        char buf[UCS_DATE_MAX];
        const char *date = ucs_update_date(buf, u->date);

        add(o, "signature", json_hex(true, u->signature));
        add(o, "platform_mask", json_hex(intel, u->platform_mask));
        add(o, "revision", json_hex(true, u->revision));
        add(o, "date", date ? json_object_new_string(date) : NULL);
        add(o, "min_revision", json_hex(u->min_revision != 0, u->min_revision));
        add(o, "size", json_object_new_int64(u->size));
        for (size_t k = 0; k < u->n_also; k++) {
                json_object *s = json_object_new_object();

                add(s, "signature", json_hex(true, u->also[k].signature));
                add(s, "platform_mask", json_hex(intel, u->also[k].platform_mask));
                (void) json_object_array_add(also, s);
        }
        add(o, "also", also);
        return o;
}

/* Only with --for. */
static json_object *json_judgement(const Target *t, const UcsUpdate *chosen) {
        json_object *o = json_object_new_object();

        add(o, "signature", json_hex(true, t->signature));
        add(o, "platform_mask", json_hex(t->has_mask, t->mask));
        add(o, "running", json_hex(t->has_running, t->running));
        add(o, "verdict", json_object_new_string(verdict(t, chosen)));
        add(o, "revision", json_hex(chosen, chosen ? chosen->revision : 0));
        add(o, "min_revision_met",
            chosen && t->has_running && chosen->min_revision
                    ? json_object_new_boolean(ucs_update_minrev_met(chosen, t->running))
                    : NULL);
        return o;
}

/* The outcome for one file. `e` with code 0: it is valid; `file` NULL: nothing could be read from it. */
static void show(Inspect *i, const char *path, UcsVendor vendor, const UcsUpdateFile *file,
                 const UcsError *e) {
        const UcsUpdate *chosen = file && i->target.given && e->code == 0 ? choose(&i->target, file) : NULL;
        json_object *o, *updates;

        i->n_bad += e->code < 0;
        if (i->table) {
                for (size_t k = 0; file && k < file->n_updates; k++)
                        show_update(i, path, &file->updates[k], chosen);
                if (e->code < 0)
                        (void) ctl_fail(i->ctl, UCS_EXIT_FAILED, "%s: %s", path, e->text);
                return;
        }
        o = json_object_new_object();
        updates = json_object_new_array();
        for (size_t k = 0; file && k < file->n_updates; k++)
                (void) json_object_array_add(updates, json_update(&file->updates[k]));
        add(o, "file", json_object_new_string(path));
        add(o, "vendor",
            vendor == UCS_VENDOR_UNKNOWN ? NULL : json_object_new_string(ucs_vendor_to_string(vendor)));
        add(o, "valid", json_object_new_boolean(e->code == 0));
        add(o, "error", e->code < 0 ? json_object_new_string(e->text) : NULL);
        add(o, "updates", updates);
        if (i->target.given)
                add(o, "judgement", json_judgement(&i->target, chosen));
        (void) json_object_array_add(i->array, o);
}

/* 0 or -ENOMEM: a bad file is an outcome. */
static int inspect_file(Inspect *i, const char *path) {
        _cleanup_(ucs_update_file_freep) UcsUpdateFile *file = NULL;
        UcsVendor vendor = UCS_VENDOR_UNKNOWN;
        const uint8_t *data;
        UcsError e = {};
        size_t size;
        int r;

        r = ctl_files_read(&i->files, path, &data, &size, &e);
        if (r >= 0) {
                vendor = ucs_update_vendor(data, size);
                r = ucs_update_file_list(data, size, &file, &e);
        }
        if (r == -ENOMEM)
                return r;
        show(i, path, vendor, file, file ? &file->refusal : &e);
        return 0;
}

static int inspect_operand(Inspect *i, const char *operand) {
        _cleanup_strv_ char **files = NULL;
        int r;

        r = ctl_files_list(&i->files, operand, &files);
        for (size_t k = 0; r >= 0 && files && files[k]; k++)
                r = inspect_file(i, files[k]);
        return r;
}

static int inspect_new_table(Inspect *i) {
        static const CtlColumn columns[] = {
                { "FILE", false, true },      { "SIGNATURE", false, false }, { "MASK", false, false },
                { "REVISION", false, false }, { "DATE", false, false },      { "MINIMUM", false, false },
                { "SIZE", true, false },      { "VERDICT", false, true },    { "NOTE", false, true },
        };
        CtlColumn without[ELEMENTSOF(columns)];
        size_t n = 0;

        for (size_t k = 0; k < ELEMENTSOF(columns); k++)
                if (i->target.given || !streq(columns[k].heading, "VERDICT"))
                        without[n++] = columns[k];
        return ctl_table_new(i->ctl, without, n, &i->table);
}

int verb_inspect(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_(inspect_done) Inspect i = { .ctl = ctl, .files.root_fd = -EBADF };
        UcsError e = {};
        int r;

        r = parse_target(ctl, &i.target);
        if (r != 0)
                return r;
        r = ctl_files_open(&i.files, ctl, &e);
        if (r < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "%s", e.text);
        if (ctl->json != UCS_JSON_OFF)
                i.array = json_object_new_array();
        else
                r = inspect_new_table(&i);

        for (int k = 1; r >= 0 && k < argc; k++)
                r = inspect_operand(&i, argv[k]);
        if (r < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");

        if (i.array)
                ctl_print_json(ctl, TAKE_PTR(i.array));
        else {
                r = ctl_table_print(i.table);
                if (r != 0)
                        return r;
        }
        return i.n_bad > 0 ? UCS_EXIT_FAILED : UCS_EXIT_DONE;
}

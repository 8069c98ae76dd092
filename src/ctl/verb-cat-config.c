/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl cat-config: every key with the value that is in force, and the file and line it came from. Reads
 * the files as the daemon does, and asks no daemon: what it prints is what the next start or ReloadConfig
 * would take. The output is itself a configuration: origins and warnings are comments. */

#include "ctl/ctl.h"
#include "os/conf.h"
#include "os/root.h"

typedef struct Setting {
        const char *section, *key, *origin;
        char *value;
} Setting;

/* The next one, or false at the end and without memory (then `*ret_r` is negative). */
static bool next(const UcsConfig *c, UcsConfigIterator *i, Setting *s, int *ret_r) {
        if (!ucs_config_next(c, i, &s->section, &s->key, &s->value, &s->origin))
                return false;
        if (!s->value)
                *ret_r = -ENOMEM;
        return s->value;
}

static int print_text(UcsCtl *ctl, const UcsConfig *c, char *const *warnings) {
        const char *section = NULL;
        UcsConfigIterator i = {};
        Setting s;
        int r = 0;

        for (char *const *w = warnings; w && *w; w++)
                ctl_say(ctl, "; %s", *w);
        while (next(c, &i, &s, &r)) {
                if (!section || !streq(section, s.section)) {
                        if (section || warnings)
                                ctl_say(ctl, "%s", "");
                        ctl_say(ctl, "[%s]", s.section);
                }
                ctl_say(ctl, "%s=%s  ; %s", s.key, s.value, s.origin);
                section = s.section;
                free(s.value);
        }
        return r;
}

static int print_json(UcsCtl *ctl, const UcsConfig *c, char *const *warnings) {
        json_object *o = json_object_new_object(), *settings = json_object_new_array(),
                    *told = json_object_new_array();
        UcsConfigIterator i = {};
        Setting s;
        int r = 0;

        while (next(c, &i, &s, &r)) {
                json_object *row = json_object_new_object();

                (void) json_object_object_add(row, "section", json_object_new_string(s.section));
                (void) json_object_object_add(row, "key", json_object_new_string(s.key));
                (void) json_object_object_add(row, "value", json_object_new_string(s.value));
                (void) json_object_object_add(row, "origin", json_object_new_string(s.origin));
                (void) json_object_array_add(settings, row);
                free(s.value);
        }
        for (char *const *w = warnings; w && *w; w++)
                (void) json_object_array_add(told, json_object_new_string(*w));
        (void) json_object_object_add(o, "settings", settings);
        (void) json_object_object_add(o, "warnings", told);
        if (r < 0)
                json_object_put(o);
        else
                ctl_print_json(ctl, o);
        return r;
}

int verb_cat_config(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_(ucs_config_freep) UcsConfig *c = NULL;
        _cleanup_strv_ char **warnings = NULL;
        _cleanup_fd_ int root_fd = -EBADF;
        UcsError e = {};
        int r;

        r = ucs_root_open(ctl->root ?: "/", &root_fd, &e);
        if (r >= 0)
                r = ucs_conf_load(root_fd, &c, &warnings, &e);
        if (r < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "%s", e.text);
        r = ctl->json == UCS_JSON_OFF ? print_text(ctl, c, warnings) : print_json(ctl, c, warnings);
        if (r < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "out of memory");
        return UCS_EXIT_DONE;
}

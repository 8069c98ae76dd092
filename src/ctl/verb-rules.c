/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ucodectl rules: every rule that counts, what it is about, and the file and line it came from. Reads the files as the daemon does, and asks no
 * daemon: what it prints is what the next start or ReloadConfig would take. */

#include "ctl/ctl-screen.h"
#include "os/root.h"
#include "os/rules.h"

static CtlStyle style_of(UcsRuleAction a) {
        switch (a) {
        case UCS_RULE_APPROVE:
                return CTL_GOOD;
        case UCS_RULE_BLOCK:
                return CTL_BAD;
        case UCS_RULE_ALLOW:
        case UCS_RULE_WARN:
        case UCS_RULE_REBOOT_RISK:
                return CTL_WARN;
        case _UCS_RULE_ACTION_MAX:
        case _UCS_RULE_ACTION_INVALID:
                break;
        }
        return CTL_NORMAL;
}

static void print_text(UcsCtl *ctl, const UcsRuleSet *rules, char *const *warnings) {
        UcsRuleMatch m;
        CtlScreen s;

        ctl_screen_begin(&s, ctl, strlen("reboot-risk"));
        for (size_t i = 0; ucs_rule_set_get(rules, i, &m); i++) {
                if (i > 0)
                        ctl_gap(&s);
                ctl_row(&s, ucs_rule_action_to_string(m.action));
                ctl_put(&s, style_of(m.action), "%s", m.name);
                ctl_row(&s, "");
                ctl_put(&s, CTL_NORMAL, "%s", *m.criteria ? m.criteria : "every update");
                if (m.reason || m.reference) {
                        ctl_row(&s, "");
                        ctl_put(&s, CTL_NORMAL, "%s%s%s%s", m.reason ?: "", m.reason && m.reference ? " (" : "", m.reference ?: "",
                                m.reason && m.reference ? ")" : "");
                }
                ctl_row(&s, "");
                ctl_put(&s, CTL_DIM, "%s", m.origin);
        }
        for (char *const *w = warnings; w && *w; w++) {
                ctl_gap(&s);
                ctl_row(&s, NULL);
                ctl_put(&s, CTL_WARN, "%s", *w);
        }
        ctl_screen_end(&s);
}

static json_object *string_or_null(const char *s) {
        return s ? json_object_new_string(s) : NULL;
}

static void print_json(UcsCtl *ctl, const UcsRuleSet *rules, char *const *warnings) {
        json_object *o = json_object_new_object(), *list = json_object_new_array(), *told = json_object_new_array();
        UcsRuleMatch m;

        for (size_t i = 0; ucs_rule_set_get(rules, i, &m); i++) {
                json_object *row = json_object_new_object();

                (void) json_object_object_add(row, "name", json_object_new_string(m.name));
                (void) json_object_object_add(row, "action", json_object_new_string(ucs_rule_action_to_string(m.action)));
                (void) json_object_object_add(row, "criteria", json_object_new_string(m.criteria));
                (void) json_object_object_add(row, "reason", string_or_null(m.reason));
                (void) json_object_object_add(row, "reference", string_or_null(m.reference));
                (void) json_object_object_add(row, "origin", json_object_new_string(m.origin));
                (void) json_object_object_add(row, "local", json_object_new_boolean(m.local));
                (void) json_object_array_add(list, row);
        }
        for (char *const *w = warnings; w && *w; w++)
                (void) json_object_array_add(told, json_object_new_string(*w));
        (void) json_object_object_add(o, "rules", list);
        (void) json_object_object_add(o, "warnings", told);
        ctl_print_json(ctl, o);
}

int verb_rules(UcsCtl *ctl, int argc, char **argv) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *rules = NULL;
        _cleanup_strv_ char **warnings = NULL;
        _cleanup_fd_ int root_fd = -EBADF;
        UcsRuleMatch first;
        UcsError e = {};
        int r;

        r = ucs_root_open(ctl->root ?: "/", &root_fd, &e);
        if (r >= 0)
                r = ucs_rules_load(root_fd, &rules, &warnings, &e);
        if (r < 0)
                return ctl_fail(ctl, UCS_EXIT_FAILED, "%s", e.text);
        if (ctl->json == UCS_JSON_OFF)
                print_text(ctl, rules, warnings);
        else
                print_json(ctl, rules, warnings);
        return ucs_rule_set_get(rules, 0, &first) ? UCS_EXIT_DONE : UCS_EXIT_NOTHING;
}

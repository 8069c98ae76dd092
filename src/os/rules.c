/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files of rules; see rules.h. What a key means is core/policy/rule-keys'. */

#include "base/str.h"
#include "os/conf-files.h"
#include "os/ini-lines.h"
#include "os/root.h"
#include "os/rules.h"

/* The highest priority first. None in /run: what vouches for an update outlives a boot. */
static const char *const directories[] = {
        "/etc/ucodesync/rules.d",
        "/usr/lib/ucodesync/rules.d",
        NULL,
};

typedef struct Target {
        UcsRuleSet *set;
        bool local;
} Target;

static int take_section(void *userdata, const char *section, const char *origin, UcsError *e) {
        Target *t = userdata;

        return ucs_rule_set_begin(t->set, section, origin, t->local, e);
}

static int take_assignment(void *userdata, const char *section, const char *key, const char *value, const char *origin, UcsError *e) {
        Target *t = userdata;

        return ucs_rule_set_assign(t->set, key, value, e);
}

int ucs_rules_parse(UcsRuleSet *s, const char *path, const char *text, size_t size, bool local, UcsError *e) {
        static const UcsIniHandler handler = { take_section, take_assignment };
        Target t = { s, local };
        int r;

        r = ucs_ini_parse(path, text, size, &handler, &t, e);
        return r < 0 ? r : ucs_rule_set_end(s, e);
}

static int load_file(int root_fd, const char *path, UcsRuleSet *s, UcsError *e) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = ucs_root_read_bytes(root_fd, path, UCS_INI_SIZE_MAX, &text, &size, e);
        if (r < 0)
                return r;
        return ucs_rules_parse(s, path, text, size, str_startswith(path, "/etc/"), e);
}

/* A stop for everything, or trust in everything, may be meant; it should not come as a surprise. */
static int warn_of_the_unlimited(const UcsRuleSet *s, char ***warnings) {
        UcsRuleMatch m;

        for (size_t i = 0; ucs_rule_set_get(s, i, &m); i++) {
                _cleanup_text_ UcsText t = {};

                if (*m.criteria)
                        continue;
                ucs_text_appendf(&t, "%s: rule [%s] names nothing: it is about every update (%s)", m.origin, m.name, ucs_rule_action_to_string(m.action));
                if (t.failed || strv_push(warnings, t.data) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int ucs_rules_load(int root_fd, UcsRuleSet **ret, char ***ret_warnings, UcsError *e) {
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *s = NULL;
        _cleanup_strv_ char **files = NULL, **warnings = NULL;
        int r;

        r = ucs_rule_set_new(&s);
        if (r < 0)
                return ucs_error_set(e, r, "no memory for the rules");
        r = ucs_conf_files(root_fd, NULL, directories, &files, &warnings, e);
        for (char **f = files; r >= 0 && f && *f; f++)
                r = load_file(root_fd, *f, s, e);
        if (r < 0)
                return r;
        if (warn_of_the_unlimited(s, &warnings) < 0)
                return ucs_error_set(e, -ENOMEM, "no memory for the rules");
        *ret = TAKE_PTR(s);
        if (ret_warnings)
                *ret_warnings = TAKE_PTR(warnings);
        return 0;
}

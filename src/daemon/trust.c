/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is to be known and does not block, told: warnings of rules and cautions about what is pending, files that the kernel passes over, overrides as
 * a load begins, and the risk of a reboot that it leaves behind. What a rule means is core/policy/trust's, cautions are core/policy/caution's;
 * nothing is decided here. */

#include "core/policy/caution.h"
#include "core/policy/trust.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "daemon/message-ids.h"

static bool loaded(const UcsHistoryEntry *h) {
        return h->result == UCS_RESULT_MIXED_REVISIONS || (h->new_revision != h->old_revision && h->new_revision != 0);
}

/* What is left of the last load of this boot. The history knows of it after a restart, too. */
static int advise_after(Manager *m, const UcsWorld *w, char ***ret) {
        for (size_t i = m->history.n_entries; i > 0; i--) {
                const UcsHistoryEntry *h = &m->history.entries[i - 1];
                UcsCandidate k = { .signature = h->signature, .platform_mask = h->platform_mask };

                if (!*m->boot_id || !streq(h->boot_id, m->boot_id))
                        break;
                if (!loaded(h))
                        continue;
                k.update.revision = h->result == UCS_RESULT_MIXED_REVISIONS ? h->target_revision : h->new_revision;
                memcpy(k.digest, h->digest, sizeof(k.digest));
                return ucs_trust_advise_after(w, &k, h->old_revision, ret);
        }
        return 0;
}

static bool contains(char *const *l, const char *s) {
        for (; l && *l; l++)
                if (streq(*l, s))
                        return true;
        return false;
}

/* Add to what is shown; with `prefix`, what was not shown before goes to the journal too. */
static int advise(Manager *m, char *const *before, const char *prefix, char *const *sentences) {
        for (; sentences && *sentences; sentences++) {
                int r = strv_push(&m->advice, *sentences);

                if (r < 0)
                        return r;
                if (prefix && !contains(before, *sentences))
                        log_warning("%s: %s", prefix, *sentences);
        }
        return 0;
}

void manager_advise(Manager *m) {
        _cleanup_strv_ char **before = NULL, **rules = NULL, **load = NULL, **files = NULL, **after = NULL;
        UcsWorld world;

        manager_world(m, NULL, &world);
        before = TAKE_PTR(m->advice);
        if (ucs_trust_advise(&world, &rules) < 0 || ucs_caution_load(&world, &load) < 0 || ucs_caution_files(&world, &files) < 0 ||
            advise_after(m, &world, &after) < 0 || advise(m, before, "About the update that is pending", rules) < 0 ||
            advise(m, before, "About the update that is pending", load) < 0 || advise(m, before, "Firmware", files) < 0 ||
            advise(m, before, NULL, after) < 0) /* said when it was loaded */
                log_error("Out of memory: what the rules warn of is not shown");
}

void manager_say_allowed(Manager *m, const LogFields *fields) {
        LogFields f = *fields;
        const UcsCandidate *k;
        UcsWorld world;
        size_t i = 0;

        manager_world(m, NULL, &world);
        f.blocked_by = ucs_blocker_to_string(UCS_BLOCKER_DENIED);
        while ((k = ucs_trust_next(&world, NULL, &i))) {
                UcsRuleMatch block, allow;

                if (ucs_trust_verdict(&world, k, &block, &allow) != UCS_VERDICT_ALLOWED)
                        continue;
                log_event(LOG_WARNING, UCS_MESSAGE_OVERRIDE_USED, &f, "Rule '%s' of %s allows 0x%x: %s; rule '%s' blocks it: %s%s%s%s", allow.name,
                          allow.origin, k->update.revision, allow.reason, block.name, block.reason, block.reference ? " (" : "", block.reference ?: "",
                          block.reference ? ")" : "");
        }
}

void manager_note_risks(Manager *m, const UcsCandidate *k, uint32_t from, char **note) {
        _cleanup_strv_ char **l = NULL;
        _cleanup_text_ UcsText t = {};
        UcsWorld world;
        char *text;

        manager_world(m, NULL, &world);
        if (ucs_trust_advise_after(&world, k, from, &l) < 0) {
                log_error("Out of memory: the rules about this load are not noted");
                return;
        }
        if (!l)
                return;
        ucs_text_append(&t, *note ?: "");
        for (char **s = l; *s; s++)
                ucs_text_appendf(&t, "%s%s", t.length > 0 ? "; " : "", *s);
        if (ucs_text_take(&t, &text, NULL) < 0)
                return;
        free(*note);
        *note = text;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PropertiesChanged, for exactly what changed since the last time; see published.h. Text with names of files in it is cleaned: one byte that is no UTF-8, and
 * sd-bus refuses the whole message, of all properties. */

#include <errno.h>
#include <stdio.h>

#include "daemon/published.h"

static uint32_t candidate_revision(const UcsScan *scan, const UcsGroup *g) {
        for (size_t i = 0; scan && i < scan->n_candidates; i++)
                if (scan->candidates[i].signature == g->signature && scan->candidates[i].platform_mask == g->platform_mask &&
                    scan->candidates[i].finding == UCS_FOUND_NEWER)
                        return scan->candidates[i].update.revision;
        return 0;
}

static void fill_groups(const Manager *m, Published *p) {
        const UcsGroup *g = manager_group(m);

        if (g) {
                p->signature = g->signature;
                p->platform_mask = g->platform_mask;
                p->running_revision = g->lowest_revision;
        }
        p->mixed = ucs_machine_mixed(m->machine);
        p->groups.n = MIN(m->machine->n_groups, (size_t) PUBLISHED_GROUPS_MAX);
        for (size_t i = 0; i < p->groups.n; i++) {
                g = &m->machine->groups[i];
                p->groups.groups[i] = (PublishedGroup){ g->signature, g->platform_mask, g->n_cpus, g->lowest_revision,
                                                        candidate_revision(m->scan, g) };
        }
}

static void fill_candidate(const UcsDecision *d, Published *p) {
        const UcsCandidate *k = d->candidate;

        if (!k || k->finding != UCS_FOUND_NEWER)
                return;
        p->candidate_revision = k->update.revision;
        p->candidate_min_revision = k->update.min_revision;
        str_clean(p->candidate_path, sizeof(p->candidate_path), k->path);
        ucs_update_date(p->candidate_date, k->update.date);
        ucs_digest_format(p->candidate_digest, k->digest);
}

static void fill_advice(char *const *sentences, Published *p) {
        for (; sentences && *sentences && p->advice.n < PUBLISHED_ADVICE_MAX; sentences++)
                str_clean(p->advice.sentences[p->advice.n++], UCS_ADVICE_MAX, *sentences);
}

static void fill_outlook(const Outlook *o, Published *p) {
        p->early_revision = o->shown.early_revision;
        str_clean(p->early_path, sizeof(p->early_path), o->shown.early_path);
        p->reboot_required = o->shown.reboot_required;
        for (size_t i = 0; i < o->shown.n_sentences && p->advice.n < PUBLISHED_ADVICE_MAX; i++)
                str_clean(p->advice.sentences[p->advice.n++], UCS_ADVICE_MAX, o->shown.sentences[i]);
        fill_advice(o->culprits, p);
}

static void fill_last(const Manager *m, Published *p) {
        const UcsHistoryEntry *h;

        p->last_result = ucs_result_to_string(UCS_RESULT_NONE);
        p->applied_total = m->history.applied_total;
        p->failed_total = m->history.failed_total;
        if (m->history.n_entries == 0)
                return;
        h = &m->history.entries[m->history.n_entries - 1];
        p->last_apply_usec = h->when_usec;
        p->last_result = ucs_result_to_string(h->result);
        p->last_old_revision = h->old_revision;
        p->last_new_revision = h->new_revision;

        /* the kernel's and KVM's mitigations stay as they were at boot: any load of this boot, ours or not, leaves them behind */
        for (size_t i = 0; i < m->history.n_entries && *m->boot_id; i++) {
                h = &m->history.entries[i];
                p->mitigations_need_reboot = p->mitigations_need_reboot || (streq(h->boot_id, m->boot_id) && h->new_revision != h->old_revision);
        }
}

void published_fill(Manager *m, const UcsDecision *d, Published *ret) {
        memset(ret, 0, sizeof(*ret)); /* compared byte by byte: no padding may differ */
        ret->support = ucs_support_to_string(m->machine->support);
        ret->support_reason = ucs_support_reason_to_string(m->machine->reason);
        ret->state = ucs_life_to_string(m->apply ? UCS_LIFE_APPLYING : d->life);
        ret->blockers.n = d->n_reports;
        for (size_t i = 0; i < d->n_reports; i++) {
                ret->blockers.reports[i].blocker = d->reports[i].blocker;
                ret->blockers.reports[i].clears_usec = d->reports[i].clears_usec;
                (void) strncpy(ret->blockers.reports[i].sentence, d->reports[i].sentence, sizeof(d->reports[i].sentence) - 1);
        }
        fill_groups(m, ret);
        fill_candidate(d, ret);
        fill_advice(m->advice, ret);
        fill_outlook(m->outlook, ret);
        fill_last(m, ret);
        ret->overdue = m->state.overdue;
        ret->probation_until_usec = m->state.probation.until_usec;
        ret->pending_since_usec = m->state.pending_since_usec;
        ret->in_window = d->in_window;
        ret->load_quiet = d->load_quiet;
        ret->next_window_start_usec = d->window.start_usec;
        ret->next_window_end_usec = d->window.start_usec > 0 ? d->window.end_usec : 0;
        ret->earliest_apply_usec = d->earliest_usec;
        ret->forecast_nsec = m->forecast.high_nsec;
}

/* Byte by byte: strings of tables are equal when their pointers are. */
static bool changed(const ManagerProperty *property, const Published *before, const Published *now, bool pending) {
        if (property->size == 0 || (property->computed && !pending))
                return false;
        if (!before)
                return true;
        return memcmp((const char *) before + property->offset, (const char *) now + property->offset, property->size) != 0;
}

int manager_publish(Manager *m) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *signal = NULL;
        _cleanup_free_ Published *now = NULL;
        bool pending = m->decision.life == UCS_LIFE_PENDING || m->decision.life == UCS_LIFE_APPLYING;
        size_t n = 0;
        int r;

        now = new0(Published, 1);
        if (!now)
                return -ENOMEM;
        published_fill(m, &m->decision, now);

        r = sd_bus_message_new_signal(m->bus, &signal, UCS_BUS_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged");
        if (r < 0)
                return r;
        r = sd_bus_message_append(signal, "s", UCS_MANAGER_INTERFACE);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(signal, 'a', "{sv}");
        if (r < 0)
                return r;
        for (size_t i = 0; i < n_manager_properties; i++) {
                const ManagerProperty *property = &manager_properties[i];

                if (!changed(property, m->published, now, pending))
                        continue;
                r = sd_bus_message_open_container(signal, 'e', "sv");
                if (r < 0)
                        return r;
                r = sd_bus_message_append(signal, "s", property->name);
                if (r < 0)
                        return r;
                r = sd_bus_message_open_container(signal, 'v', property->signature);
                if (r < 0)
                        return r;
                r = manager_property_append(signal, property, now);
                if (r < 0)
                        return r;
                r = sd_bus_message_close_container(signal);
                if (r < 0)
                        return r;
                r = sd_bus_message_close_container(signal);
                if (r < 0)
                        return r;
                n++;
        }
        r = sd_bus_message_close_container(signal);
        if (r < 0)
                return r;
        r = sd_bus_message_append(signal, "as", 0);
        if (r < 0)
                return r;

        free(m->published);
        m->published = TAKE_PTR(now);
        return n > 0 ? sd_bus_send(m->bus, signal, NULL) : 0;
}

Published *published_free(Published *p) {
        free(p);
        return NULL;
}

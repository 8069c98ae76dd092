/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a start finds of a life before: an intent that was not closed, and revisions that changed while nobody of us loaded. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "base/timefmt.h"
#include "core/record/intent.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "daemon/message-ids.h"
#include "daemon/outlook.h"
#include "os/clock.h"
#include "os/root.h"
#include "os/state.h"

/* The group's CPUs against the two revisions. */
static UcsResult look_at_cpus(const UcsMachine *m, const UcsIntent *i, UcsCpuSet *ret_laggards, uint32_t *ret_lowest) {
        unsigned n = 0, n_to = 0, n_from = 0;
        uint32_t lowest = UINT32_MAX;

        *ret_laggards = (UcsCpuSet){};
        for (size_t k = 0; k < m->n_cpus; k++) {
                const UcsCpu *c = &m->cpus[k];

                if (c->signature != i->signature || c->platform_mask != i->platform_mask || c->revision == 0)
                        continue;
                n++;
                lowest = MIN(lowest, c->revision);
                n_to += c->revision == i->to;
                n_from += c->revision == i->from;
                if (c->revision != i->to)
                        ucs_cpuset_add(ret_laggards, c->cpu);
        }
        *ret_lowest = n > 0 ? lowest : 0;
        if (n == 0)
                return UCS_RESULT_IO_ERROR;
        if (n_to == n)
                return UCS_RESULT_SUCCESS;
        if (n_from == n)
                return UCS_RESULT_CANCELLED;
        return n_to > 0 || n_from > 0 ? UCS_RESULT_MIXED_REVISIONS : UCS_RESULT_UNEXPECTED_REVISION;
}

/* What the kernel saved of its last words (Documentation/ABI/testing/pstore), by name. */
static char *pstore_records(int root_fd) {
        _cleanup_text_ UcsText t = {};
        char *list = NULL;
        struct dirent *d;
        DIR *dir;
        int fd;

        fd = ucs_root_openat(root_fd, "sys/fs/pstore", O_RDONLY | O_DIRECTORY);
        if (fd < 0)
                return NULL;
        dir = fdopendir(fd);
        if (!dir) {
                fd_close(fd);
                return NULL;
        }
        while ((d = readdir(dir)))
                if (d->d_name[0] != '.' && t.length < 256)
                        ucs_text_appendf(&t, "%s%s", t.length > 0 ? " " : "", d->d_name);
        closedir(dir);
        return t.length > 0 && ucs_text_take(&t, &list, NULL) >= 0 ? list : NULL;
}

static void add_history(Manager *m, const UcsIntent *i, UcsResult result, uint32_t new_revision, const UcsCpuSet *laggards, const char *note) {
        UcsHistoryEntry h = { .when_usec = i->when_usec, .id = i->id, .uid = i->uid, .result = result, .signature = i->signature,
                              .platform_mask = i->platform_mask, .old_revision = i->from, .target_revision = i->to, .new_revision = new_revision,
                              .predicted_errno = -1, .write_errno = -1, .n_cpus = (uint32_t) m->machine->n_cpus, .witness = UCS_WITNESS_NONE,
                              .stall_nsec = UCS_UNKNOWN, .worst_nsec = UCS_UNKNOWN, .write_nsec = UCS_UNKNOWN, .worst_cpu = UINT32_MAX };

        memcpy(h.digest, i->digest, sizeof(h.digest));
        memcpy(h.boot_id, i->boot_id, sizeof(h.boot_id));
        h.path = strdup(i->path);
        h.note = strdup(note);
        if (result == UCS_RESULT_MIXED_REVISIONS)
                (void) ucs_cpuset_format(laggards, &h.cpus);
        if (!h.path || !h.note || ucs_history_add(&m->history, &h, m->config->max_stall_nsec) < 0) {
                log_error("Out of memory: a load that was interrupted is not in the history");
                ucs_history_entry_done(&h);
        }
}

/* The daemon died in this boot: the CPUs tell what became of the load. */
static void same_boot(Manager *m, const UcsIntent *i) {
        UcsRejection x = { .when_usec = i->when_usec };
        char hex[UCS_DIGEST_HEX_MAX];
        UcsCpuSet laggards;
        uint32_t lowest;
        LogFields f;

        x.result = look_at_cpus(m->machine, i, &laggards, &lowest);
        add_history(m, i, x.result, lowest, &laggards, "the daemon ended during the load; judged by the CPUs at its next start");
        f = (LogFields){ LOG_FIELDS_NONE, .state = "current", .old_revision = i->from, .new_revision = lowest, .path = i->path,
                         .digest = ucs_digest_format(hex, i->digest), .result = ucs_result_to_string(x.result) };
        if (x.result == UCS_RESULT_SUCCESS) {
                log_event(LOG_NOTICE, UCS_MESSAGE_APPLIED, &f, "A load that this daemon did not see the end of: microcode 0x%x -> 0x%x on all CPUs", i->from, lowest);
                probation_begin(m, i->digest, i->when_usec);
                return;
        }
        memcpy(x.digest, i->digest, sizeof(x.digest));
        if (ucs_result_rejects(x.result))
                ucs_state_reject(&m->state, &x);
        f.state = "failed";
        log_event(x.result == UCS_RESULT_CANCELLED ? LOG_NOTICE : LOG_ERR, UCS_MESSAGE_APPLY_FAILED, &f,
                  "A load that this daemon did not see the end of: 0x%x was meant, the CPUs say '%s': %s", i->to, ucs_result_to_string(x.result),
                  ucs_result_advice(x.result, &laggards));
}

/* The machine went down with this very file. */
static void other_boot(Manager *m, const UcsIntent *i) {
        _cleanup_free_ char *pstore = pstore_records(m->root_fd);
        UcsRejection x = { .result = UCS_RESULT_REGRESSED, .when_usec = i->when_usec, .suspect = true };
        char hex[UCS_DIGEST_HEX_MAX], when[UCS_TIMESTAMP_MAX];
        UcsCpuSet laggards;
        uint32_t lowest;
        LogFields f;

        (void) look_at_cpus(m->machine, i, &laggards, &lowest);
        memcpy(x.digest, i->digest, sizeof(x.digest));
        ucs_state_reject(&m->state, &x);
        add_history(m, i, UCS_RESULT_REGRESSED, lowest, &laggards, "the machine went down before the load had ended");
        f = (LogFields){ LOG_FIELDS_NONE, .state = "failed", .old_revision = i->from, .new_revision = lowest, .path = i->path,
                         .digest = ucs_digest_format(hex, i->digest), .result = ucs_result_to_string(UCS_RESULT_REGRESSED) };
        log_event(LOG_CRIT, UCS_MESSAGE_REGRESSED, &f, "The machine went down during a load of 0x%x from %s (%s); this file is not tried again until it is acknowledged. %s%s",
                  i->to, i->path, ucs_format_utc(when, i->when_usec), pstore ? "The kernel's last words are in /sys/fs/pstore: " : "No record of a crash is in /sys/fs/pstore",
                  pstore ?: "");
}

/* The history has the load; the state may lack what follows from it, when only one of the two could be saved. */
static bool written_down(Manager *m, const UcsIntent *i) {
        const UcsHistory *h = &m->history;

        for (size_t k = h->n_entries; k > 0; k--) {
                const UcsHistoryEntry *e = &h->entries[k - 1];
                UcsRejection x = { .result = e->result, .when_usec = e->when_usec, .suspect = e->result == UCS_RESULT_REGRESSED };

                if (e->when_usec != i->when_usec || !ucs_digest_equal(e->digest, i->digest))
                        continue;
                log_info("The last load was written down before this daemon ended");
                memcpy(x.digest, e->digest, sizeof(x.digest));
                if (ucs_result_rejects(e->result) && e->result != UCS_RESULT_BUSY && !ucs_state_rejection(&m->state, e->digest))
                        ucs_state_reject(&m->state, &x);
                if (e->result == UCS_RESULT_SUCCESS && m->state.probation.since_usec == 0) {
                        probation_begin(m, e->digest, e->when_usec);
                        memcpy(m->state.probation.boot_id, i->boot_id, sizeof(i->boot_id)); /* another one: the machine went down since */
                }
                return true;
        }
        return false;
}

bool recover_intent(Manager *m) {
        _cleanup_free_ char *text = NULL, *aside = NULL;
        _cleanup_(ucs_intent_done) UcsIntent i = {};
        UcsError e = {};
        size_t size;
        bool ours;
        int r;

        r = ucs_state_read(m->root_fd, UCS_STATE_DIRECTORY, UCS_INTENT_NAME, &text, &size, &e);
        if (r == -ENOENT)
                return false;
        if (r >= 0)
                r = ucs_intent_parse(text, size, &i, &e);
        if (r < 0) {
                (void) ucs_state_set_aside(m->root_fd, UCS_STATE_DIRECTORY, UCS_INTENT_NAME, &aside, NULL);
                log_error("/%s/%s: %s; whether a load was interrupted cannot be told%s%s", UCS_STATE_DIRECTORY, UCS_INTENT_NAME, e.text,
                          aside ? ", it is kept as " : "", aside ?: "");
                return false;
        }

        if (!written_down(m, &i)) {
                if (streq(i.boot_id, m->boot_id))
                        same_boot(m, &i);
                else
                        other_boot(m, &i);
        }

        ours = streq(i.boot_id, m->boot_id);
        recover_seen(m, ours); /* before the intent is closed: without it, what the CPUs run now would be somebody else's load */
        manager_save_state(m); /* before the history, see apply_end() */
        manager_save_history(m);
        manager_close_intent(m);
        return ours;
}

static uint32_t seen_revision(const UcsState *s, const UcsGroup *g) {
        for (size_t i = 0; i < s->n_seen; i++)
                if (s->seen[i].signature == g->signature && s->seen[i].platform_mask == g->platform_mask)
                        return s->seen[i].revision;
        return 0;
}

static void say_external(Manager *m, const UcsGroup *g, uint32_t before) {
        UcsHistoryEntry h = { .when_usec = ucs_clock_realtime_usec(), .uid = UINT32_MAX, .result = UCS_RESULT_EXTERNAL, .signature = g->signature,
                              .platform_mask = g->platform_mask, .old_revision = before, .target_revision = g->lowest_revision,
                              .new_revision = g->lowest_revision, .predicted_errno = -1, .write_errno = -1,
                              .n_cpus = (uint32_t) m->machine->n_cpus, .witness = UCS_WITNESS_NONE, .stall_nsec = UCS_UNKNOWN,
                              .worst_nsec = UCS_UNKNOWN, .write_nsec = UCS_UNKNOWN, .worst_cpu = UINT32_MAX };
        _cleanup_free_ char *culprits = outlook_culprits(m);

        log_event(LOG_WARNING, UCS_MESSAGE_EXTERNAL_LOAD,
                  &(LogFields){ LOG_FIELDS_NONE, .state = ucs_life_to_string(m->decision.life), .old_revision = before,
                                .new_revision = g->lowest_revision, .result = ucs_result_to_string(UCS_RESULT_EXTERNAL) },
                  "Somebody else had the kernel load: 0x%x -> 0x%x within this boot. %s%s", before, g->lowest_revision, ucs_result_advice(UCS_RESULT_EXTERNAL, NULL),
                  culprits ?: "");
        memcpy(h.boot_id, m->boot_id, sizeof(h.boot_id));
        h.path = strdup("");
        if (!h.path || ucs_history_add(&m->history, &h, m->config->max_stall_nsec) < 0)
                ucs_history_entry_done(&h);
        manager_save_history(m);
}

void recover_seen(Manager *m, bool ours) {
        UcsState *s = &m->state;
        bool same_boot = streq(s->seen_boot, m->boot_id), changed = !same_boot || s->n_seen != MIN(m->machine->n_groups, (size_t) UCS_SEEN_MAX);

        for (size_t i = 0; i < m->machine->n_groups && i < UCS_SEEN_MAX; i++) {
                const UcsGroup *g = &m->machine->groups[i];
                uint32_t before = seen_revision(s, g);

                if (g->lowest_revision == 0 || before == g->lowest_revision)
                        continue;
                changed = true;
                if (same_boot && before != 0 && !ours)
                        say_external(m, g, before);
        }
        if (!changed)
                return;
        s->n_seen = 0;
        for (size_t i = 0; i < m->machine->n_groups && i < UCS_SEEN_MAX; i++)
                s->seen[s->n_seen++] = (UcsSeen){ m->machine->groups[i].signature, m->machine->groups[i].platform_mask, m->machine->groups[i].lowest_revision };
        memcpy(s->seen_boot, m->boot_id, sizeof(s->seen_boot));
        manager_save_state(m);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* State and history on disk. A file that cannot be understood is set aside, never overwritten; a directory that cannot be written is said
 * once, and the daemon goes on with what it has in memory. */

#include <errno.h>

#include "daemon/log.h"
#include "daemon/manager.h"
#include "os/state.h"

#define STATE_NAME "state"
#define HISTORY_NAME "history"

/* Read a file and hand its text to `parse`. */
static void load_file(Manager *m, const char *name, int (*parse)(Manager *m, const char *text, size_t size, UcsError *e)) {
        _cleanup_free_ char *text = NULL, *aside = NULL;
        UcsError e = {};
        size_t size;
        int r;

        r = ucs_state_read(m->root_fd, UCS_STATE_DIRECTORY, name, &text, &size, &e);
        if (r == -ENOENT)
                return;
        if (r >= 0) {
                r = parse(m, text, size, &e);
                if (r >= 0)
                        return;
                ucs_error_prefix(&e, r, "/%s/%s", UCS_STATE_DIRECTORY, name);
        }
        if (ucs_state_set_aside(m->root_fd, UCS_STATE_DIRECTORY, name, &aside, NULL) >= 0)
                log_error("%s; it is kept as %s, and this daemon starts without it", e.text, aside);
        else
                log_error("%s; this daemon starts without it", e.text);
}

static int parse_state(Manager *m, const char *text, size_t size, UcsError *e) {
        return ucs_state_parse(text, size, &m->state, e);
}

static int parse_history(Manager *m, const char *text, size_t size, UcsError *e) {
        return ucs_history_parse(text, size, &m->history, e);
}

void manager_load_state(Manager *m) {
        load_file(m, STATE_NAME, parse_state);
        load_file(m, HISTORY_NAME, parse_history);
        for (size_t i = 0; i < m->history.n_entries; i++)
                m->last_id = MAX(m->last_id, m->history.entries[i].id);
}

static void save_file(Manager *m, const char *name, bool *unwritable, int r, const char *text, size_t size) {
        UcsError e = {};

        if (r < 0)
                (void) ucs_error_set(&e, r, "/%s/%s cannot be put together: %s", UCS_STATE_DIRECTORY, name, strerror(-r));
        else
                r = ucs_state_write(m->root_fd, UCS_STATE_DIRECTORY, name, text, size, &e);
        if (r >= 0) {
                if (!*unwritable)
                        return;
                log_info("/%s/%s can be written again", UCS_STATE_DIRECTORY, name);
                *unwritable = false;
                if (!m->apply) /* the intent of an earlier load */
                        manager_close_intent(m);
                return;
        }
        if (!*unwritable)
                log_error("%s; what is known now would be lost at a restart", e.text);
        *unwritable = true;
}

void manager_save_state(Manager *m) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        r = ucs_state_format(&m->state, &text, &size);
        save_file(m, STATE_NAME, &m->state_unwritable, r, text, size);
}

void manager_save_history(Manager *m) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        r = ucs_history_format(&m->history, &text, &size);
        save_file(m, HISTORY_NAME, &m->history_unwritable, r, text, size);
}

void manager_close_intent(Manager *m) {
        if (!m->state_unwritable && !m->history_unwritable)
                (void) ucs_state_remove(m->root_fd, UCS_STATE_DIRECTORY, UCS_INTENT_NAME);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Journal or console; see log.h. systemd names the journal's stream in $JOURNAL_STREAM as "device:inode" of stderr: only then do entries go to
 * the journal, with their fields; otherwise they are lines on stderr, with the fields that apply in brackets. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "base/str.h"
#include "daemon/log.h"

#define FIELDS_MAX 20
#define MESSAGE_MAX 1024

static int max_level = LOG_INFO;
static LogTarget target = LOG_TARGET_CONSOLE;

void log_init(void) {
        const char *stream = getenv("JOURNAL_STREAM");
        char own[64];
        struct stat st;

        if (!stream || fstat(STDERR_FILENO, &st) < 0)
                return;
        (void) snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
        if (streq(own, stream))
                target = LOG_TARGET_JOURNAL;
}

void log_set_max_level(int level) {
        max_level = level;
}
int log_max_level(void) {
        return max_level;
}
void log_set_target(LogTarget t) {
        target = t;
}
LogTarget log_target(void) {
        return target;
}

typedef struct Entry {
        char *fields[FIELDS_MAX];
        size_t n;
} Entry;

static void entry_done(Entry *e) {
        for (size_t i = 0; i < e->n; i++)
                free(e->fields[i]);
}

_printf_(2, 3) static void entry_add(Entry *e, const char *format, ...) {
        va_list ap;

        if (e->n == FIELDS_MAX)
                return;
        va_start(ap, format);
        if (vasprintf(&e->fields[e->n], format, ap) >= 0)
                e->n++;
        va_end(ap);
}

static void entry_add_string(Entry *e, const char *name, const char *value) {
        entry_add(e, "UCODESYNC_%s=%s", name, value && *value ? value : "-");
}

static void entry_add_u64(Entry *e, const char *name, uint64_t value, uint64_t none) {
        if (value == none)
                entry_add_string(e, name, NULL);
        else
                entry_add(e, "UCODESYNC_%s=%" PRIu64, name, value);
}

static void entry_add_revision(Entry *e, const char *name, uint32_t value) {
        if (value == 0)
                entry_add_string(e, name, NULL);
        else
                entry_add(e, "UCODESYNC_%s=0x%x", name, value);
}

/* A message is one line. In the journal a field may be any bytes, so that PATH is the file's name as it is. */
static void entry_send(int priority, const char *text, const char *message_id, Entry *e) {
        char message[MESSAGE_MAX];

        str_clean(message, sizeof(message), text);
        if (target == LOG_TARGET_JOURNAL) {
                struct iovec iov[FIELDS_MAX];

                entry_add(e, "MESSAGE=%s", message);
                entry_add(e, "PRIORITY=%d", priority);
                entry_add(e, "SYSLOG_IDENTIFIER=ucodesyncd");
                if (message_id)
                        entry_add(e, "MESSAGE_ID=%s", message_id);
                for (size_t i = 0; i < e->n; i++)
                        iov[i] = (struct iovec){ e->fields[i], strlen(e->fields[i]) };
                (void) sd_journal_sendv(iov, (int) e->n);
                return;
        }

        flockfile(stderr);
        (void) fprintf(stderr, "ucodesyncd: %s", message);
        for (size_t i = 0, shown = 0; i < e->n; i++)
                if (!str_endswith(e->fields[i], "=-")) {
                        char field[MESSAGE_MAX];

                        str_clean(field, sizeof(field), e->fields[i]);
                        (void) fprintf(stderr, "%s%s", shown++ == 0 ? " [" : " ", field);
                }
        (void) fprintf(stderr, "%s\n", e->n > 0 ? "]" : "");
        funlockfile(stderr);
}

void log_event(int priority, const char *message_id, const LogFields *f, const char *format, ...) {
        _cleanup_(entry_done) Entry e = {};
        char message[MESSAGE_MAX];
        va_list ap;

        if (priority > max_level)
                return;

        va_start(ap, format);
        (void) vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);

        entry_add_string(&e, "STATE", f->state);
        entry_add_string(&e, "BLOCKED_BY", f->blocked_by);
        entry_add_revision(&e, "OLD_REVISION", f->old_revision);
        entry_add_revision(&e, "NEW_REVISION", f->new_revision);
        entry_add_string(&e, "PATH", f->path);
        entry_add_string(&e, "DIGEST", f->digest);
        entry_add_u64(&e, "STALL_NSEC", f->stall_nsec, UCS_UNKNOWN);
        entry_add_u64(&e, "STALL_TICKS", f->stall_ticks, UCS_UNKNOWN);
        entry_add_u64(&e, "WORST_CPU", f->worst_cpu, UINT32_MAX);
        entry_add_u64(&e, "WRITE_NSEC", f->write_nsec, UCS_UNKNOWN);
        entry_add_string(&e, "WITNESS", f->witness);
        entry_add_string(&e, "RESULT", f->result);
        entry_add_string(&e, "PREDICTED", f->predicted);
        entry_add_string(&e, "WINDOW", f->window);
        entry_add_u64(&e, "UID", f->uid, UINT32_MAX);
        entry_send(priority, message, message_id, &e);
}

void log_line(int priority, const char *format, ...) {
        _cleanup_(entry_done) Entry e = {};
        char message[MESSAGE_MAX];
        va_list ap;

        if (priority > max_level)
                return;
        va_start(ap, format);
        (void) vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);
        entry_send(priority, message, NULL, &e);
}

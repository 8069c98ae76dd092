/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* dev/kmsg: one record a read (Documentation/ABI/testing/dev-kmsg), "priority,sequence,usec,-;text".
 *
 * A mounted file has an offset that grows with what is read, and a device is told only that. A read that
 * goes on where the last one ended gets the next record; any other one comes after a seek: to 0, where the
 * first record is, or to the size of the file, which therefore names the record that will be written next.
 */

#include <errno.h>
#include <inttypes.h>

#include "handle.h"

#define END_BASE      (UINT64_C(1) << 40)
#define FACILITY_USER (1U << 3)

uint64_t sim_kmsg_size(const SimMachine *m) {
        return END_BASE + m->n_log;
}

bool sim_kmsg_readable(const SimHandle *h) {
        return h->next_record < h->machine->n_log;
}

/* What cannot be printed is escaped as \xHH, and so is the backslash. */
static void append_escaped(UcsText *t, const char *s) {
        for (; *s; s++)
                if ((unsigned char) *s < ' ' || (unsigned char) *s >= 127 || *s == '\\')
                        ucs_text_appendf(t, "\\x%02x", (unsigned char) *s);
                else
                        ucs_text_append_bytes(t, s, 1);
}

ssize_t sim_kmsg_read(SimHandle *h, char *buf, size_t size, uint64_t offset) {
        const SimMachine *m = h->machine;
        _cleanup_text_ UcsText t = {};
        const SimRecord *r;

        if (offset != h->expected || offset == 0) {
                h->next_record = offset >= END_BASE ? offset - END_BASE : 0;
                h->expected = offset;
        }
        if (h->next_record > m->n_log) /* the machine booted since */
                h->next_record = 0;
        if (!sim_kmsg_readable(h))
                return -EAGAIN;
        r = &m->log[h->next_record];
        ucs_text_appendf(&t, "%u,%zu,%" PRIu64 ",-;", r->priority, h->next_record, r->usec);
        append_escaped(&t, r->text);
        ucs_text_append(&t, "\n");
        if (t.failed)
                return -ENOMEM;
        if (t.length > size)
                return -EINVAL;
        memcpy(buf, t.data, t.length);
        h->next_record++;
        h->expected = offset + t.length;
        return (ssize_t) t.length;
}

/* "<13>text"; without a priority, and with the kernel's facility, it becomes a user's line. */
int sim_kmsg_write(SimHandle *h, const char *data, size_t size, uint64_t offset) {
        unsigned priority = FACILITY_USER | 5, v;
        char text[1024];
        const char *p = text;
        int used = 0;

        if (size >= sizeof(text))
                return -EINVAL;
        memcpy(text, data, size);
        text[size] = '\0';
        text[strcspn(text, "\n")] = '\0';
        if (sscanf(text, "<%4u>%n", &v, &used) == 1 && used > 0) {
                priority = v >> 3 ? v : FACILITY_USER | (v & 7);
                p += used;
        }
        (void) pthread_mutex_lock(&h->lock);
        if (offset == h->expected) /* a write moves the offset, but not what is read next */
                h->expected += size;
        (void) pthread_mutex_unlock(&h->lock);
        (void) pthread_mutex_lock(&h->machine->lock);
        sim_log(h->machine, priority, "%s", p);
        (void) pthread_mutex_unlock(&h->machine->lock);
        return 0;
}

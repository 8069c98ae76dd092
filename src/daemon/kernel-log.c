/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's log; see kernel-log.h. The journal is opened for each reading: between them the daemon holds nothing that others could wake. */

#include <errno.h>
#include <systemd/sd-journal.h>

#include "daemon/kernel-log.h"
#include "os/kmsg.h"
#include "os/root.h"

#define LINES_MAX 4096U

struct KernelLog {
        bool journal;
        UcsKmsg *kmsg; /* NULL: neither */
};

int kernel_log_new(int root_fd, KernelLog **ret) {
        _cleanup_(kernel_log_freep) KernelLog *k = NULL;

        k = new0(KernelLog, 1);
        if (!k)
                return -ENOMEM;
        k->journal = ucs_root_is_host(root_fd);
        if (!k->journal)
                (void) ucs_kmsg_open(root_fd, &k->kmsg, NULL);
        *ret = TAKE_PTR(k);
        return 0;
}

KernelLog *kernel_log_free(KernelLog *k) {
        if (k)
                ucs_kmsg_close(k->kmsg);
        free(k);
        return NULL;
}

static void journal_closep(sd_journal **j) {
        if (*j)
                sd_journal_close(*j);
}

static int read_journal(uint64_t since_usec, char ***ret) {
        _cleanup_(journal_closep) sd_journal *j = NULL;
        _cleanup_strv_ char **lines = NULL;
        size_t n = 0;
        int r;

        r = sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
        if (r < 0)
                return r;
        r = sd_journal_add_match(j, "_TRANSPORT=kernel", 0);
        if (r < 0)
                return r;
        r = sd_journal_seek_realtime_usec(j, since_usec);
        if (r < 0)
                return r;
        while (n < LINES_MAX && (r = sd_journal_next(j)) > 0) {
                _cleanup_free_ char *line = NULL;
                const char *value;
                const void *data;
                size_t size;

                if (sd_journal_get_data(j, "MESSAGE", &data, &size) < 0)
                        continue;
                line = strndup(data, size);
                if (!line)
                        return -ENOMEM;
                value = str_startswith(line, "MESSAGE=");
                if (!value)
                        continue;
                r = strv_push(&lines, value);
                if (r < 0)
                        return r;
                n++;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(lines);
        return 0;
}

int kernel_log_since(KernelLog *k, uint64_t since_usec, char ***ret) {
        int r;

        if (k->journal)
                return read_journal(since_usec, ret);
        if (!k->kmsg)
                return -ENOENT;
        r = ucs_kmsg_read(k->kmsg, ret, NULL);
        return r < 0 ? r : 0;
}

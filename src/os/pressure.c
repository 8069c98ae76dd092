/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Load counters of procfs; see pressure.h. One pread(2) a file and reading; the texts are parsed by core/schedule/load. */

#include <fcntl.h>
#include <string.h>

#include "base/parse.h"
#include "base/timefmt.h"
#include "os/clock.h"
#include "os/kept.h"
#include "os/pressure.h"
#include "os/root.h"

/* The first line of /proc/stat is at most 4 + 10 * 21 bytes; the rest of the file, a line a CPU, is not wanted. */
#define TEXT_MAX 1024U

typedef enum Source {
        SOURCE_PRESSURE,
        SOURCE_STAT,
        SOURCE_LOADAVG,
        _SOURCE_MAX,
} Source;

static const char *const source_paths[_SOURCE_MAX] = {
        [SOURCE_PRESSURE] = "proc/pressure/cpu",
        [SOURCE_STAT] = "proc/stat",
        [SOURCE_LOADAVG] = "proc/loadavg",
};

struct UcsPressure {
        int root_fd;
        UcsKeptPool pool;
        UcsKept files[_SOURCE_MAX];
};

int ucs_pressure_new(int root_fd, UcsPressure **ret) {
        _cleanup_(ucs_pressure_freep) UcsPressure *p = NULL;

        p = new0(UcsPressure, 1);
        if (!p)
                return -ENOMEM;
        for (size_t i = 0; i < _SOURCE_MAX; i++)
                p->files[i] = (UcsKept) UCS_KEPT_INIT;
        p->pool.spare_fd = -EBADF;
        p->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (p->root_fd < 0)
                return -errno;
        ucs_kept_pool_init(&p->pool, p->root_fd);
        *ret = TAKE_PTR(p);
        return 0;
}

UcsPressure *ucs_pressure_free(UcsPressure *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < _SOURCE_MAX; i++)
                ucs_kept_close(&p->pool, &p->files[i]);
        ucs_kept_pool_done(&p->pool);
        fd_close(p->root_fd);
        free(p);
        return NULL;
}

/* 1: the text is in `buf`; 0: not to be had here; -errno with a sentence. */
static int read_source(UcsPressure *p, Source s, char buf[static TEXT_MAX], UcsError *e) {
        int n;

        n = ucs_kept_read(&p->pool, &p->files[s], source_paths[s], buf, TEXT_MAX);
        /* no PSI in this kernel, or psi=0: the file is there since 4.20, and cannot be read */
        if (s == SOURCE_PRESSURE && (n == -ENOENT || n == -ENOTDIR || n == -EOPNOTSUPP))
                return 0;
        if (n < 0) {
                errno = -n;
                return ucs_error_set(e, n, "cannot read /%s: %m", source_paths[s]);
        }
        if (n == 0 || strlen(buf) != (size_t) n)
                return ucs_error_set(e, -EBADMSG, "/%s is %s, expected text", source_paths[s], n == 0 ? "empty" : "not text");
        /* of a text that is longer only whole lines; of /proc/stat one is enough */
        if (n == (int) TEXT_MAX - 1 || s == SOURCE_STAT) {
                char *newline = s == SOURCE_STAT ? strchr(buf, '\n') : strrchr(buf, '\n');

                if (!newline)
                        return ucs_error_set(e, -EBADMSG, "/%s has a line of more than %u bytes", source_paths[s], TEXT_MAX);
                newline[1] = '\0';
        }
        return 1;
}

static int parse_source(Source s, const char *text, unsigned n_online, UcsLoadReading *r, UcsError *e) {
        switch (s) {
        case SOURCE_PRESSURE:
                return ucs_load_parse_pressure(text, r, e);
        case SOURCE_STAT:
                return ucs_load_parse_stat(text, r, e);
        case SOURCE_LOADAVG:
                return ucs_load_parse_loadavg(text, n_online, r, e);
        case _SOURCE_MAX:
                break;
        }
        return -EINVAL;
}

int ucs_pressure_read(UcsPressure *p, unsigned n_online, UcsLoadReading *ret, UcsError *e) {
        UcsLoadReading reading = { .boottime_usec = ucs_clock_boottime_usec() };
        UcsError first = {};

        for (Source s = 0; s < _SOURCE_MAX; s++) {
                char buf[TEXT_MAX];
                UcsError x = {};
                int r;

                r = read_source(p, s, buf, &x);
                if (r > 0) {
                        r = parse_source(s, buf, n_online, &reading, &x);
                        if (r < 0)
                                (void) ucs_error_prefix(&x, r, "/%s", source_paths[s]);
                }
                if (r < 0 && first.code == 0)
                        first = x;
        }
        if (!reading.have_pressure && !reading.have_stat && !reading.have_loadavg) {
                if (first.code != 0)
                        return ucs_error_set(e, -ENODATA, "%s", first.text);
                return ucs_error_set(e, -ENODATA, "no load counters below /proc");
        }
        if (e && first.code != 0)
                *e = first;
        *ret = reading;
        return 0;
}

uint64_t ucs_pressure_steal_nsec(UcsPressure *p) {
        const long ticks_per_sec = sysconf(_SC_CLK_TCK);
        char buf[TEXT_MAX], *save = NULL, *word;
        uint64_t ticks, nsec;

        if (ticks_per_sec <= 0 || read_source(p, SOURCE_STAT, buf, NULL) <= 0)
                return UCS_UNKNOWN;

        /* cpu user nice system idle iowait irq softirq steal (proc(5)) */
        word = strtok_r(buf, " \n", &save);
        if (!word || !streq(word, "cpu"))
                return UCS_UNKNOWN;
        for (int i = 0; i < 8 && word; i++)
                word = strtok_r(NULL, " \n", &save);
        if (!word || ucs_parse_u64(word, 10, &ticks) < 0 ||
            __builtin_mul_overflow(ticks, NSEC_PER_SEC / (uint64_t) ticks_per_sec, &nsec))
                return UCS_UNKNOWN;
        return nsec;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading /proc/cpuinfo in steps; see cpuinfo-file.h. A record that does not fit into the parser's largest one ends the reading, so no
 * file makes this grow. */

#include <fcntl.h>
#include <string.h>

#include "os/cpuinfo-file.h"
#include "os/root.h"

#define STEP_FIRST 256U                             /* less than one record */
#define STEP_ALL UCS_CPUINFO_RECORD_MAX             /* some twenty records */
#define BUFFER_MAX (UCS_CPUINFO_RECORD_MAX + STEP_ALL)
#define RECORDS_MAX (2U * UCS_CPU_MAX) /* a file without an end is none of the kernel's */

struct UcsCpuinfoFile {
        int root_fd, fd;
        size_t start, size; /* what is read and not yet taken: text[start..start+size) */
        char text[BUFFER_MAX];
};

int ucs_cpuinfo_file_new(int root_fd, UcsCpuinfoFile **ret) {
        UcsCpuinfoFile *f;

        f = new0(UcsCpuinfoFile, 1);
        if (!f)
                return -ENOMEM;
        f->fd = -EBADF;
        f->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (f->root_fd < 0) {
                int r = -errno;

                free(f);
                return r;
        }
        *ret = f;
        return 0;
}

UcsCpuinfoFile *ucs_cpuinfo_file_free(UcsCpuinfoFile *f) {
        if (!f)
                return NULL;
        fd_close(f->fd);
        fd_close(f->root_fd);
        free(f);
        return NULL;
}

static int file_rewind(UcsCpuinfoFile *f, UcsError *e) {
        f->start = f->size = 0;
        if (f->fd >= 0 && lseek(f->fd, 0, SEEK_SET) == 0)
                return 0;
        f->fd = fd_close(f->fd);
        return ucs_root_open_file(f->root_fd, "/proc/cpuinfo", &f->fd, NULL, e);
}

/* Append at most `step` bytes. 1; 0 at the end of the file; -errno. */
static int file_more(UcsCpuinfoFile *f, size_t step, UcsError *e) {
        ssize_t n;

        memmove(f->text, f->text + f->start, f->size);
        f->start = 0;
        do
                n = read(f->fd, f->text + f->size, MIN(step, BUFFER_MAX - f->size));
        while (n < 0 && errno == EINTR);
        if (n < 0) {
                int r = -errno;

                f->fd = fd_close(f->fd);
                errno = -r;
                return ucs_error_set(e, r, "cannot read /proc/cpuinfo: %m");
        }
        f->size += (size_t) n;
        return n > 0;
}

int ucs_cpuinfo_file_first(UcsCpuinfoFile *f, UcsCpuinfo *ret, UcsError *e) {
        UcsError x = {};
        size_t consumed;
        int r, more;

        r = file_rewind(f, e);
        if (r < 0)
                return r;
        do {
                more = file_more(f, STEP_FIRST, e);
                if (more < 0)
                        return more;
                r = ucs_cpuinfo_parse(f->text + f->start, f->size, more == 0, ret, &consumed, &x);
        } while (r == 0 && more > 0);
        if (r == 0)
                return ucs_error_set(e, -ENODATA, "/proc/cpuinfo is empty");
        if (x.code != 0) {
                (void) ucs_error_prefix(&x, x.code, "/proc/cpuinfo, first record");
                if (e)
                        *e = x;
        }
        return r < 0 ? r : x.code != 0;
}

int ucs_cpuinfo_file_walk(UcsCpuinfoFile *f, int (*found)(const UcsCpuinfo *info, void *userdata), void *userdata, UcsError *e) {
        unsigned n_records = 0;
        bool complaint = false;
        int r, more = 1;

        r = file_rewind(f, e);
        if (r < 0)
                return r;
        for (;;) {
                UcsCpuinfo info;
                UcsError x = {};
                size_t consumed;

                r = ucs_cpuinfo_parse(f->text + f->start, f->size, more == 0, &info, &consumed, &x);
                if (r == 0) {
                        if (more == 0)
                                break;
                        more = file_more(f, STEP_ALL, e);
                        if (more < 0)
                                return more;
                        continue;
                }
                n_records++;
                if (x.code != 0 && (r < 0 || !complaint)) {
                        (void) ucs_error_prefix(&x, x.code, "/proc/cpuinfo, record %u", n_records);
                        if (e)
                                *e = x;
                        complaint = true;
                }
                if (r < 0)
                        return r;
                if (n_records > RECORDS_MAX)
                        return ucs_error_set(e, -EBADMSG, "/proc/cpuinfo has more than %u records", RECORDS_MAX);
                r = found(&info, userdata);
                if (r < 0)
                        return r;
                f->start += consumed;
                f->size -= consumed;
        }
        if (n_records == 0)
                return ucs_error_set(e, -ENODATA, "/proc/cpuinfo is empty");
        return complaint;
}

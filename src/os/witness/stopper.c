/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finding migration/N; see stopper.h. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/str.h"
#include "os/kept.h"
#include "os/root.h"
#include "os/witness/stopper.h"

#define PF_KTHREAD 0x00200000U /* include/linux/sched.h */
#define COMM_MAX 80U
#define STAT_MAX 1024U

static UcsStopper *find_cpu(UcsStopper *stoppers, size_t n, uint32_t cpu) {
        size_t low = 0, high = n;

        while (low < high) {
                const size_t mid = low + (high - low) / 2;

                if (stoppers[mid].cpu == cpu)
                        return &stoppers[mid];
                if (stoppers[mid].cpu < cpu)
                        low = mid + 1;
                else
                        high = mid;
        }
        return NULL;
}

static int read_once(UcsKeptPool *pool, uint32_t tid, const char *name, char *buf, size_t size) {
        UcsKept file = UCS_KEPT_INIT;
        char path[32];

        (void) snprintf(path, sizeof(path), "%u/%s", tid, name);
        return ucs_kept_read(pool, &file, path, buf, size);
}

/* The ninth field of proc/TID/stat (proc(5)), counted from behind the name, which may hold anything, brackets too. */
static bool is_kernel_thread(const char *stat) {
        const char *p = strrchr(stat, ')');
        char state;
        unsigned flags;

        return p && sscanf(p + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 && (flags & PF_KTHREAD);
}

int ucs_stopper_find(int proc_fd, UcsStopper *stoppers, size_t n) {
        UcsKeptPool once = { .dir_fd = proc_fd, .spare_fd = -EBADF }; /* keeps none */
        struct dirent *d;
        size_t found = 0;
        DIR *dir;
        int fd;

        for (size_t i = 0; i < n; i++)
                stoppers[i].tid = 0;

        fd = ucs_root_openat(proc_fd, ".", O_RDONLY | O_DIRECTORY);
        if (fd < 0)
                return fd;
        dir = fdopendir(fd);
        if (!dir) {
                fd_close(fd);
                return -errno;
        }
        while (found < n && (d = readdir(dir))) {
                char buf[STAT_MAX];
                const char *number;
                UcsStopper *s;
                uint32_t tid, cpu;

                if (ucs_parse_u32(d->d_name, 10, &tid) < 0 || tid == 0 || read_once(&once, tid, "comm", buf, COMM_MAX) <= 0)
                        continue;
                buf[strcspn(buf, "\n")] = '\0';
                number = str_startswith(buf, "migration/");
                if (!number || ucs_parse_u32(number, 10, &cpu) < 0)
                        continue;
                s = find_cpu(stoppers, n, cpu);
                if (!s || s->tid != 0 || read_once(&once, tid, "stat", buf, sizeof(buf)) <= 0 || !is_kernel_thread(buf))
                        continue;
                s->tid = tid;
                found++;
        }
        (void) closedir(dir);
        return (int) found;
}

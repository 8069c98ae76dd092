/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's own p0 and p1 as witness: kprobe events at entry to and return from stop_machine_cpuslocked(), stamped with the TSC, in a
 * tracefs instance of our own. What they bracket is what the patch of 2019 printed: the stall, the waking of the stoppers before it and of
 * the writer after it. Only when asked for (witness-kernel.conf): it patches the running kernel's text. It sees no single CPU.
 *
 * Names are fixed, so that what a daemon left that was killed is taken away by the next. */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/record/trace.h"
#include "os/clock.h"
#include "os/root.h"
#include "os/witness/kinds.h"

#define TRACING "/sys/kernel/tracing"
#define GROUP "ucodesync"
#define INSTANCE "instances/" GROUP
#define SYMBOL "stop_machine_cpuslocked"
#define TRACE_MAX (1024U * 1024U)

typedef struct Kprobe {
        int root_fd, tracing_fd;
        uint32_t cpu; /* for the TSC's rate */
        uint32_t tid; /* of the writer */
        bool placed;
} Kprobe;

/* 0 or -errno; `path` is below tracefs. */
static int put(int tracing_fd, const char *path, int flags, const char *text) {
        _cleanup_fd_ int fd = -EBADF;

        fd = ucs_root_openat(tracing_fd, path, O_WRONLY | flags);
        if (fd < 0)
                return fd;
        return write(fd, text, strlen(text)) == (ssize_t) strlen(text) ? 0 : -errno;
}

/* What may be left of another run, or ours. An event is removed only when no instance has it enabled. */
static void take_away(int tracing_fd) {
        _cleanup_fd_ int instances_fd = -EBADF;

        (void) put(tracing_fd, INSTANCE "/events/" GROUP "/enable", 0, "0\n");
        (void) put(tracing_fd, "kprobe_events", O_APPEND, "-:" GROUP "/" UCS_TRACE_EVENT_IN "\n");
        (void) put(tracing_fd, "kprobe_events", O_APPEND, "-:" GROUP "/" UCS_TRACE_EVENT_OUT "\n");
        instances_fd = ucs_root_openat(tracing_fd, "instances", O_PATH | O_DIRECTORY);
        if (instances_fd >= 0)
                (void) unlinkat(instances_fd, GROUP, AT_REMOVEDIR);
}

static int make_instance(int tracing_fd) {
        _cleanup_fd_ int instances_fd = -EBADF;

        instances_fd = ucs_root_openat(tracing_fd, "instances", O_PATH | O_DIRECTORY);
        if (instances_fd < 0)
                return instances_fd;
        return mkdirat(instances_fd, GROUP, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int place(int tracing_fd, UcsError *e) {
        static const struct {
                const char *path;
                int flags;
                const char *text; /* NULL: the instance is made here */
        } steps[] = {
                { "kprobe_events", O_APPEND, "p:" GROUP "/" UCS_TRACE_EVENT_IN " " SYMBOL "\n" },
                { "kprobe_events", O_APPEND, "r:" GROUP "/" UCS_TRACE_EVENT_OUT " " SYMBOL "\n" },
                { INSTANCE, 0, NULL },
                { INSTANCE "/trace_clock", 0, "x86-tsc\n" },
                { INSTANCE "/events/" GROUP "/enable", 0, "1\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                int r;

                r = steps[i].text ? put(tracing_fd, steps[i].path, steps[i].flags, steps[i].text) : make_instance(tracing_fd);
                if (r < 0) {
                        errno = -r;
                        return ucs_error_set(e, r, "cannot %s " TRACING "/%s: %m", steps[i].text ? "write to" : "make", steps[i].path);
                }
        }
        return 0;
}

static void kernel_close(void *state) {
        Kprobe *k = state;

        if (!k)
                return;
        if (k->placed)
                take_away(k->tracing_fd);
        fd_close(k->tracing_fd);
        fd_close(k->root_fd);
        free(k);
}

static void kernel_closep(Kprobe **k) {
        kernel_close(*k);
}

static int kernel_open(int root_fd, const UcsMachine *m, void **ret, UcsError *e) {
        _cleanup_(kernel_closep) Kprobe *k = NULL;
        int r;

        k = new0(Kprobe, 1);
        if (!k)
                return -ENOMEM;
        k->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        k->tracing_fd = ucs_root_openat(root_fd, TRACING, O_PATH | O_DIRECTORY);
        if (k->tracing_fd < 0) {
                errno = -k->tracing_fd;
                return ucs_error_set(e, k->tracing_fd, "cannot open " TRACING ": %m");
        }
        if (k->root_fd < 0)
                return ucs_error_set(e, -EMFILE, "no file descriptor left");
        k->cpu = m->n_cpus > 0 ? m->cpus[0].cpu : 0;
        if (ucs_clock_tsc_hz(k->root_fd, k->cpu) == 0)
                return ucs_error_set(e, -EOPNOTSUPP, "the clocksource is not the TSC, or its rate is not known");

        take_away(k->tracing_fd);
        k->placed = true;
        r = place(k->tracing_fd, e);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(k);
        return 0;
}

static int kernel_arm(void *state) {
        Kprobe *k = state;

        k->tid = (uint32_t) syscall(SYS_gettid);
        return put(k->tracing_fd, INSTANCE "/trace", O_TRUNC, "\n"); /* to open it so is to empty the buffer */
}

static int kernel_collect(void *state, UcsStall *s) {
        _cleanup_free_ char *text = NULL;
        Kprobe *k = state;
        uint64_t ticks, hz;

        if (ucs_root_read(k->tracing_fd, INSTANCE "/trace", TRACE_MAX, &text, NULL, NULL) < 0 ||
            ucs_trace_stop_ticks(text, k->tid, &ticks) == 0)
                return 0;
        hz = ucs_clock_tsc_hz(k->root_fd, k->cpu);
        if (hz == 0)
                return 0;
        s->tsc_hz = hz; /* the ticks were counted, the time follows from them */
        s->stall_nsec = ticks / hz * NSEC_PER_SEC + ticks % hz * NSEC_PER_SEC / hz;
        return 0;
}

const UcsWitnessOps witness_kernel = {
        .kind = UCS_WITNESS_KERNEL,
        .automatic = false,
        .open = kernel_open,
        .arm = kernel_arm,
        .collect = kernel_collect,
        .close = kernel_close,
};

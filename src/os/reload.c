/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One write, in a thread of its own; see reload.h. Everything that the thread needs is there before it starts, so that after the write
 * nothing can fail that would lose its outcome. It takes no signal, no lock, and nothing of the caller's. */

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "os/clock.h"
#include "os/pressure.h"
#include "os/reload.h"
#include "os/root.h"

#define RELOAD "/sys/devices/system/cpu/microcode/reload"

struct UcsReload {
        int root_fd, event_fd;
        UcsWitness *witness;
        UcsPressure *pressure;
        pthread_t thread;
        UcsReloadOutcome outcome; /* the thread's, until it is joined */
};

static UcsReload *reload_free(UcsReload *r) {
        if (!r)
                return NULL;
        ucs_witness_close(r->witness);
        ucs_pressure_free(r->pressure);
        ucs_stall_done(&r->outcome.stall);
        fd_close(r->event_fd);
        fd_close(r->root_fd);
        free(r);
        return NULL;
}
DEFINE_CLEANUP(UcsReload *, reload_free);

/* Positive errno of writing "1"; the kernel takes all of it or nothing. */
static int write_one(int fd) {
        ssize_t n;

        n = write(fd, "1", 1);
        if (n < 0)
                return errno;
        return n == 1 ? 0 : EIO;
}

static void load(UcsReload *r) {
        UcsReloadOutcome *o = &r->outcome;
        uint64_t steal_nsec, begin_nsec, end_nsec;
        _cleanup_fd_ int fd = -EBADF;

        fd = ucs_root_openat(r->root_fd, RELOAD, O_WRONLY | O_NOCTTY);
        if (fd < 0) {
                o->open_errno = -fd;
                return;
        }
        steal_nsec = ucs_pressure_steal_nsec(r->pressure);
        o->stall.when_usec = ucs_clock_realtime_usec();

        (void) ucs_witness_arm(r->witness);
        begin_nsec = ucs_clock_monotonic_raw_nsec();
        o->write_errno = write_one(fd);
        end_nsec = ucs_clock_monotonic_raw_nsec();

        (void) ucs_witness_collect(r->witness, &o->stall);
        o->stall.write_nsec = end_nsec - begin_nsec;
        if (steal_nsec != UCS_UNKNOWN) {
                const uint64_t after_nsec = ucs_pressure_steal_nsec(r->pressure);

                if (after_nsec != UCS_UNKNOWN && after_nsec >= steal_nsec)
                        o->stall.steal_nsec = after_nsec - steal_nsec;
        }
        if (o->stall.tsc_hz == 0)
                o->stall.tsc_hz = ucs_clock_tsc_hz(r->root_fd, o->stall.n_cpus > 0 ? o->stall.cpus[0].cpu : 0);
        (void) ucs_stall_summarize(&o->stall);
        ucs_stall_forget_idle(&o->stall, o->write_errno);
}

static void *thread_main(void *userdata) {
        UcsReload *r = userdata;
        const uint64_t one = 1;
        _unused_ ssize_t n;

        load(r);
        n = write(r->event_fd, &one, sizeof(one));
        assert(n == sizeof(one)); /* a counter of 0 takes a 1 */
        return NULL;
}

/* The new thread inherits a mask with everything blocked: a signal to the process never lands where the write is. */
static int start_thread(UcsReload *r) {
        sigset_t all, before;
        int k;

        (void) sigfillset(&all);
        k = pthread_sigmask(SIG_SETMASK, &all, &before);
        if (k != 0)
                return -k;
        k = pthread_create(&r->thread, NULL, thread_main, r);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (k != 0)
                return -k;
        (void) pthread_setname_np(r->thread, "ucodesync-load");
        return 0;
}

int ucs_reload_start(int root_fd, UcsWitness *w, UcsReload **ret) {
        _cleanup_(reload_freep) UcsReload *r = NULL;
        int k;

        r = new0(UcsReload, 1);
        if (!r)
                return -ENOMEM;
        ucs_stall_init(&r->outcome.stall);
        r->root_fd = r->event_fd = -EBADF;

        r->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (r->root_fd < 0)
                return -errno;
        r->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (r->event_fd < 0)
                return -errno;
        k = ucs_pressure_new(r->root_fd, &r->pressure);
        if (k < 0)
                return k;
        r->witness = w;
        k = start_thread(r);
        if (k < 0) {
                r->witness = NULL; /* still the caller's */
                return k;
        }
        *ret = TAKE_PTR(r);
        return 0;
}

int ucs_reload_fd(const UcsReload *r) {
        return r->event_fd;
}

void ucs_reload_finish(UcsReload *r, UcsReloadOutcome *ret) {
        (void) pthread_join(r->thread, NULL);
        *ret = r->outcome;
        ucs_stall_init(&r->outcome.stall); /* the receiver's now */
        reload_free(r);
}

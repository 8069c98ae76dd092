/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When to look again. Timers exist only while something is pending or a changed directory settles; an idle daemon has none. A timer is a
 * reason to look, never a permission. */

#include <errno.h>
#include <sys/timerfd.h>

#include "daemon/log.h"
#include "daemon/manager.h"
#include "os/clock.h"
#include "os/fd.h"

/* A missing CPU comes back without an event that reaches the sandbox. */
#define CPU_POLL_USEC (5 * USEC_PER_SEC)

static int on_wake(sd_event_source *source, uint64_t usec, void *userdata) {
        manager_evaluate(userdata, NULL);
        return 0;
}

static int on_load(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        UcsLoadReading now = {};
        UcsLoadSample sample = {};
        UcsError e = {};

        if (!m->pressure || ucs_pressure_read(m->pressure, (unsigned) m->machine->n_cpus, &now, &e) < 0)
                log_debug("The load cannot be read, it counts as not quiet: %s", e.text);
        else if (m->gate_reading.boottime_usec > 0)
                sample = ucs_load_sample(m->config->metric, &m->gate_reading, &now);
        m->gate_reading = now;
        manager_evaluate(m, &sample);
        return 0;
}

/* The wall clock was set: every edge of a window may have moved. */
static int on_clock_set(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Manager *m = userdata;
        uint64_t expirations;

        if (read(fd, &expirations, sizeof(expirations)) < 0 && errno != ECANCELED && errno != EAGAIN)
                log_warning("Changes of the clock cannot be followed: %m");
        log_debug("The clock was set, windows are looked at again");
        m->clock_source = sd_event_source_disable_unref(m->clock_source); /* armed anew by the evaluation */
        manager_evaluate(m, NULL);
        return 0;
}

static int arm_clock(Manager *m, bool wanted) {
        static const struct itimerspec far = { .it_value.tv_sec = INT64_C(7258118400) }; /* the year 2200 */
        _cleanup_fd_ int fd = -EBADF;
        int r;

        if (!wanted) {
                m->clock_source = sd_event_source_disable_unref(m->clock_source);
                return 0;
        }
        if (m->clock_source)
                return 0;
        fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (fd < 0)
                return -errno;
        if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) < 0)
                return -errno;
        r = sd_event_add_io(m->event, &m->clock_source, fd, EPOLLIN, on_clock_set, m);
        if (r < 0)
                return r;
        r = sd_event_source_set_io_fd_own(m->clock_source, true);
        if (r < 0)
                return r;
        TAKE_FD(fd);
        return 0;
}

/* One shot at `usec` of `clock`; 0: none. */
static int arm_at(Manager *m, sd_event_source **source, clockid_t clock, uint64_t usec, sd_event_time_handler_t handler) {
        int r;

        if (usec == 0) {
                *source = sd_event_source_disable_unref(*source);
                return 0;
        }
        if (!*source)
                return sd_event_add_time(m->event, source, clock, usec, 100 * USEC_PER_MSEC, handler, m);
        r = sd_event_source_set_time(*source, usec);
        if (r < 0)
                return r;
        return sd_event_source_set_enabled(*source, SD_EVENT_ONESHOT);
}

int manager_arm_timers(Manager *m) {
        const UcsDecision *d = &m->decision;
        uint64_t now = ucs_clock_boottime_usec();
        int r;

        r = arm_at(m, &m->wake_realtime, CLOCK_REALTIME, d->wake_realtime_usec, on_wake);
        if (r < 0)
                return r;
        r = arm_at(m, &m->wake_boottime, CLOCK_BOOTTIME, d->wake_boottime_usec, on_wake);
        if (r < 0)
                return r;
        r = arm_at(m, &m->cpu_timer, CLOCK_BOOTTIME, d->want_cpu_poll ? now + CPU_POLL_USEC : 0, on_wake);
        if (r < 0)
                return r;
        if (!d->want_load_samples)
                m->gate_reading = (UcsLoadReading){};
        r = arm_at(m, &m->load_timer, CLOCK_BOOTTIME,
                   d->want_load_samples ? (m->gate_reading.boottime_usec == 0 ? now : now + UCS_LOAD_SAMPLE_USEC) : 0, on_load);
        if (r < 0)
                return r;
        return arm_clock(m, d->wake_realtime_usec > 0);
}

void manager_disarm_timers(Manager *m) {
        m->wake_realtime = sd_event_source_disable_unref(m->wake_realtime);
        m->wake_boottime = sd_event_source_disable_unref(m->wake_boottime);
        m->load_timer = sd_event_source_disable_unref(m->load_timer);
        m->cpu_timer = sd_event_source_disable_unref(m->cpu_timer);
        m->clock_source = sd_event_source_disable_unref(m->clock_source);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The adapters, put together into the world that the policy sees. Nothing is decided here; what cannot be read is said once and leaves the
 * last good picture in place. */

#include <errno.h>

#include "daemon/log.h"
#include "daemon/manager.h"
#include "daemon/message-ids.h"
#include "os/clock.h"

/* A machine of which nothing could be read: no CPU, nothing can be loaded. */
static int machine_unknown(UcsMachine **ret) {
        UcsMachine *m = new0(UcsMachine, 1);

        if (!m)
                return -ENOMEM;
        m->support = UCS_SUPPORT_ADVISORY;
        m->reason = UCS_REASON_NO_CPU_DRIVER;
        *ret = m;
        return 0;
}

/* What a scan's findings depend on: the groups and what they run. */
static bool same_groups(const UcsGroup *a, size_t n_a, const UcsGroup *b, size_t n_b) {
        if (n_a != n_b)
                return false;
        for (size_t i = 0; i < n_a; i++)
                if (a[i].signature != b[i].signature || a[i].platform_mask != b[i].platform_mask ||
                    a[i].lowest_revision != b[i].lowest_revision)
                        return false;
        return true;
}

static void say_support(Manager *m, UcsSupport support, UcsSupportReason reason) {
        if (support == m->machine->support && reason == m->machine->reason)
                return;
        log_event(LOG_NOTICE, UCS_MESSAGE_SUPPORT_CHANGED,
                  &(LogFields){ LOG_FIELDS_NONE, .state = ucs_life_to_string(m->decision.life) },
                  "Late loading on this machine is now '%s'%s%s", ucs_support_to_string(m->machine->support),
                  m->machine->support == UCS_SUPPORT_LATE_LOAD ? "" : ": ",
                  m->machine->support == UCS_SUPPORT_LATE_LOAD ? "" : ucs_support_reason_describe(m->machine->reason));
}

static void observe_details(Manager *m, UcsMachine *machine) {
        UcsError e = {};
        int r;

        r = ucs_cpu_read_details(m->reader, machine, &e);
        if (r < 0)
                log_warning("Signatures of single CPUs cannot be read, that of the first stands for all: %s", e.text);
        else if (r > 0)
                log_line(e.code == -ESTALE ? LOG_NOTICE : LOG_DEBUG, "CPUs were read in detail: %s", e.text);
}

/* A whole new picture of the machine. */
static int observe_afresh(Manager *m, Depth depth) {
        _cleanup_(ucs_machine_freep) UcsMachine *fresh = NULL;
        UcsError e = {};
        int r;

        r = ucs_cpu_read_machine(m->reader, &fresh, &e);
        if (r < 0) {
                if (m->machine) {
                        log_warning("CPUs cannot be read now, the last picture stays: %s", e.text);
                        return 0;
                }
                log_error("CPUs cannot be read, nothing can be loaded: %s", e.text);
                r = machine_unknown(&fresh);
                if (r < 0)
                        return r;
        } else if (r > 0)
                log_debug("CPUs were read with a gap: %s", e.text);

        /* AMD's version files are not to be believed on a machine of mixed revisions */
        if ((depth == DEPTH_DETAILS || fresh->vendor == UCS_VENDOR_AMD) && fresh->n_cpus > 0)
                observe_details(m, fresh);
        ucs_machine_free(m->machine);
        m->machine = TAKE_PTR(fresh);
        return 0;
}

int manager_observe_cpus(Manager *m, Depth depth) {
        _cleanup_free_ UcsGroup *groups = NULL;
        UcsSupport support = UCS_SUPPORT_ADVISORY;
        UcsSupportReason reason = UCS_REASON_NONE;
        bool known = m->machine != NULL, changed;
        size_t n_groups = 0;
        UcsError e = {};
        int r;

        if (known) {
                n_groups = m->machine->n_groups;
                groups = new0(UcsGroup, n_groups);
                if (!groups)
                        return -ENOMEM;
                if (n_groups > 0)
                        memcpy(groups, m->machine->groups, n_groups * sizeof(*groups));
                support = m->machine->support;
                reason = m->machine->reason;
        }

        if (known && depth == DEPTH_REFRESH && m->machine->n_cpus > 0) {
                r = ucs_cpu_refresh(m->reader, m->machine, &e);
                if (r < 0)
                        log_warning("Revisions cannot be read now, the last picture stays: %s", e.text);
                else if (m->machine->vendor == UCS_VENDOR_AMD && !same_groups(groups, n_groups, m->machine->groups, m->machine->n_groups))
                        observe_details(m, m->machine);
        } else {
                r = observe_afresh(m, depth);
                if (r < 0)
                        return r;
        }

        if (known)
                say_support(m, support, reason);
        changed = manager_observe_host(m, depth);
        ucs_forecast(m->machine, &m->kernel, &m->history, &m->forecast);
        return !known || changed || !same_groups(groups, n_groups, m->machine->groups, m->machine->n_groups);
}

/* Somebody may have written to sys/module/firmware_class/parameters/path: the kernel goes by it at once, and so do we. */
static int follow_search_path(Manager *m) {
        _cleanup_strv_ char **now = NULL;
        int r;

        r = ucs_firmware_search_path(m->root_fd, m->config->firmware_path, &now);
        if (r < 0)
                return r;
        if (!m->search_path || strv_equal(now, m->search_path))
                return 0;
        log_info("The kernel looks for firmware elsewhere now, in %s first", now[0] ?: "no directory");
        return manager_watch(m);
}

int manager_scan(Manager *m) {
        _cleanup_(ucs_scan_freep) UcsScan *scan = NULL;
        int r;

        r = follow_search_path(m);
        if (r < 0)
                return r;
        r = ucs_firmware_scan(m->root_fd, m->search_path, m->machine, &m->kernel, &scan);
        if (r < 0)
                return r;
        r = ucs_scan_carry_over(scan, m->scan);
        if (r < 0)
                return r;
        ucs_scan_free(m->scan);
        m->scan = TAKE_PTR(scan);
        m->decision.candidate = NULL; /* pointed into the old one */
        return 0;
}

static int on_watch(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Manager *m = userdata;
        int r;

        r = ucs_watch_dispatch(m->watch);
        if (r < 0)
                log_warning("Watching the firmware directories: %s; they are scanned again", strerror(-r));
        if (r != 0) {
                m->firmware_changed_boottime_usec = ucs_clock_boottime_usec();
                manager_evaluate(m, NULL);
        }
        return 0;
}

int manager_watch(Manager *m) {
        _cleanup_(ucs_watch_freep) UcsWatch *watch = NULL;
        UcsError e = {};
        int r;

        m->watch_source = sd_event_source_disable_unref(m->watch_source);
        m->watch = ucs_watch_free(m->watch);
        m->search_path = strv_free(m->search_path);

        r = ucs_firmware_search_path(m->root_fd, m->config->firmware_path, &m->search_path);
        if (r < 0)
                return r;
        if (m->machine->vendor != UCS_VENDOR_INTEL && m->machine->vendor != UCS_VENDOR_AMD)
                return 0; /* no firmware could be for this machine */

        r = ucs_watch_new(m->root_fd, m->search_path, m->machine->vendor == UCS_VENDOR_INTEL ? "intel-ucode" : "amd-ucode", &watch, &e);
        if (r < 0) {
                log_error("The firmware directories cannot be watched, new files are found by 'ucodectl check' only: %s", e.text);
                return 0;
        }
        r = sd_event_add_io(m->event, &m->watch_source, ucs_watch_fd(watch), EPOLLIN, on_watch, m);
        if (r < 0)
                return r;
        (void) sd_event_source_set_description(m->watch_source, "firmware-watch");
        m->watch = TAKE_PTR(watch);
        for (char *const *d = ucs_watch_directories(m->watch); d && *d; d++)
                log_debug("Watching %s", *d);
        return 0;
}

const UcsLoadSample *manager_shown_load(Manager *m) {
        UcsLoadReading now = {};

        /* one reading serves all properties that are read together */
        if (m->shown_sample.valid && ucs_clock_boottime_usec() < m->shown_sample.boottime_usec + USEC_PER_SEC)
                return &m->shown_sample;
        if (!m->pressure || ucs_pressure_read(m->pressure, (unsigned) m->machine->n_cpus, &now, NULL) < 0) {
                m->shown_sample = (UcsLoadSample){};
                return &m->shown_sample;
        }
        m->shown_sample = ucs_load_sample(m->config->metric, &m->shown_reading, &now);
        m->shown_reading = now;
        return &m->shown_sample;
}

void manager_world(Manager *m, const UcsLoadSample *load, UcsWorld *ret) {
        *ret = (UcsWorld){
                .realtime_usec = ucs_clock_realtime_usec(),
                .boottime_usec = ucs_clock_boottime_usec(),
                .machine = m->machine,
                .scan = m->scan,
                .firmware_changed_boottime_usec = m->firmware_changed_boottime_usec,
                .load = load,
                .request = m->request,
                .spread_seed = m->spread_seed,
                .forecast = m->forecast,
                .config_error = m->config_error,
                .kernel = &m->kernel,
                .health = &m->health,
                .rules = m->rules,
                .host = &m->host,
                .applying = m->apply != NULL,
        };
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager's life, and the one loop of observing, deciding and carrying out; see manager.h. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>

#include "base/timefmt.h"
#include "daemon/kernel-log.h"
#include "daemon/log.h"
#include "daemon/logind.h"
#include "daemon/manager.h"
#include "daemon/message-ids.h"
#include "daemon/outlook.h"
#include "os/clock.h"
#include "os/conf.h"
#include "os/host.h"
#include "os/root.h"
#include "os/rules.h"

/* Scanning may change what is to be decided, and carrying out may too; a step that is still not at rest after this many is a defect. */
#define ROUNDS_MAX 4

int manager_new(sd_event *event, int root_fd, Manager **ret) {
        _cleanup_(manager_freep) Manager *m = NULL;
        int r;

        m = new0(Manager, 1);
        if (!m)
                return -ENOMEM;
        m->root_fd = root_fd;
        m->event = sd_event_ref(event);
        m->stall = (UcsStall){ .stall_nsec = UCS_UNKNOWN, .worst_nsec = UCS_UNKNOWN, .worst_cpu = UINT32_MAX, .median_nsec = UCS_UNKNOWN,
                               .p99_nsec = UCS_UNKNOWN, .entry_spread_nsec = UCS_UNKNOWN, .exit_spread_nsec = UCS_UNKNOWN,
                               .write_nsec = UCS_UNKNOWN, .steal_nsec = UCS_UNKNOWN, .stall_ticks = UCS_UNKNOWN, .worst_ticks = UCS_UNKNOWN };
        r = ucs_cpu_reader_new(root_fd, &m->reader);
        if (r < 0)
                return r;
        r = ucs_pressure_new(root_fd, &m->pressure);
        if (r < 0)
                return r;
        r = kernel_log_new(root_fd, &m->kernel_log);
        if (r < 0)
                return r;
        r = outlook_new(root_fd, &m->outlook);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

Manager *manager_free(Manager *m) {
        if (!m)
                return NULL;
        manager_disarm_timers(m);
        apply_free(m->apply);
        sd_event_source_disable_unref(m->watch_source);
        ucs_watch_free(m->watch);
        ucs_cpu_reader_free(m->reader);
        ucs_machine_free(m->machine);
        ucs_scan_free(m->scan);
        ucs_pressure_free(m->pressure);
        kernel_log_free(m->kernel_log);
        outlook_free(m->outlook);
        sd_event_source_disable_unref(m->probation_timer);
        ucs_config_free(m->config);
        ucs_rule_set_free(m->rules);
        ucs_host_done(&m->host);
        strv_free(m->advice);
        free(m->config_error);
        strv_free(m->search_path);
        ucs_history_done(&m->history);
        ucs_stall_done(&m->stall);
        published_free(m->published);
        logind_free(m->logind);
        free(m->status);
        sd_bus_flush_close_unref(m->bus);
        sd_event_unref(m->event);
        free(m);
        return NULL;
}

/* The same host, the same place in the window, every time; another program's spread says nothing about ours. */
static uint64_t read_spread_seed(int root_fd) {
        static const sd_id128_t app = SD_ID128_MAKE(8d, 0b, 56, 2c, 9f, 3e, 4a, 71, b7, 90, 1f, 66, e5, 2a, c4, 37);
        _cleanup_free_ char *text = NULL;
        sd_id128_t id;

        if (ucs_root_is_host(root_fd) && sd_id128_get_machine_app_specific(app, &id) >= 0)
                return id.qwords[0] ^ id.qwords[1];
        if (ucs_root_read(root_fd, "etc/machine-id", 64, &text, NULL, NULL) >= 0 && sd_id128_from_string(str_strip(text), &id) >= 0)
                return (id.qwords[0] ^ app.qwords[0]) ^ (id.qwords[1] ^ app.qwords[1]);
        return 0;
}

/* Configuration and rules, both or neither: what is in force is what the files say, at one time. Only when nothing is in force yet, a right
 * configuration is taken beside wrong rules. */
static int load_config(Manager *m, UcsError *e) {
        _cleanup_(ucs_config_freep) UcsConfig *config = NULL;
        _cleanup_(ucs_rule_set_freep) UcsRuleSet *rules = NULL;
        _cleanup_strv_ char **warnings = NULL, **about_rules = NULL;
        int r;

        r = ucs_conf_load(m->root_fd, &config, &warnings, e);
        for (char **w = warnings; w && *w; w++)
                log_warning("%s", *w);
        if (r < 0)
                return r;
        r = ucs_rules_load(m->root_fd, &rules, &about_rules, e);
        for (char **w = about_rules; w && *w; w++)
                log_warning("%s", *w);
        if (r < 0) {
                if (!m->config)
                        m->config = TAKE_PTR(config);
                return r;
        }
        ucs_config_free(m->config);
        m->config = TAKE_PTR(config);
        ucs_rule_set_free(m->rules);
        m->rules = TAKE_PTR(rules);
        (void) str_replace(&m->config_error, NULL);
        return 0;
}

static void say_config_invalid(Manager *m, const UcsError *e, const char *consequence) {
        log_event(LOG_ERR, UCS_MESSAGE_CONFIG_INVALID, &(LogFields){ LOG_FIELDS_NONE, .state = ucs_life_to_string(m->decision.life) },
                  "Configuration: %s; %s", e->text, consequence);
}

int manager_reload_config(Manager *m, UcsError *e) {
        int r;

        r = load_config(m, e);
        if (r < 0) {
                say_config_invalid(m, e, m->config_error ? "still nothing is applied" : "the last good configuration stays");
                if (m->config_error)
                        (void) str_replace(&m->config_error, e->text);
                return r;
        }
        r = manager_watch(m);
        if (r < 0)
                return ucs_error_set(e, r, "cannot watch the firmware directories: %s", strerror(-r));
        log_info("Configuration reloaded");
        m->firmware_changed_boottime_usec = 0;
        m->state.scanned_boottime_usec = 0;
        r = manager_scan(m);
        if (r < 0)
                return ucs_error_set(e, r, "cannot scan the firmware directories: %s", strerror(-r));
        outlook_observe(m);
        manager_evaluate(m, NULL);
        return 0;
}

static int start_config(Manager *m) {
        UcsError e = {};
        int r;

        r = load_config(m, &e);
        if (r >= 0)
                return 0;

        /* the defaults keep the daemon able to answer; config-invalid keeps it from applying anything */
        if (!m->config) {
                r = ucs_config_new(&m->config);
                if (r < 0)
                        return r;
                r = ucs_config_finish(m->config, &(UcsZoneSource){ ucs_conf_zone_load, &m->root_fd }, NULL);
                if (r < 0)
                        return r;
        }
        r = str_replace(&m->config_error, e.text);
        if (r < 0)
                return r;
        say_config_invalid(m, &e, "nothing is applied until it is right");
        return 0;
}

int manager_start(Manager *m) {
        _cleanup_free_ char *boot = NULL;
        bool ours;
        int r;

        if (ucs_root_read(m->root_fd, "proc/sys/kernel/random/boot_id", 64, &boot, NULL, NULL) >= 0)
                (void) snprintf(m->boot_id, sizeof(m->boot_id), "%s", str_strip(boot));
        m->spread_seed = read_spread_seed(m->root_fd);
        r = start_config(m);
        if (r < 0)
                return r;
        r = ucs_host_read(m->root_fd, &m->host);
        if (r < 0)
                return r;
        manager_load_state(m);
        r = manager_observe_cpus(m, DEPTH_WHOLE);
        if (r < 0)
                return r;
        (void) ucs_pressure_read(m->pressure, (unsigned) m->machine->n_cpus, &m->shown_reading, NULL);
        r = manager_watch(m);
        if (r < 0)
                return r;
        r = manager_bus_setup(m);
        if (r < 0)
                return r;
        r = logind_new(m, &m->logind);
        if (r < 0)
                return r;
        outlook_observe(m);
        ours = recover_intent(m);
        probation_start(m);
        recover_seen(m, ours);
        outlook_start(m);
        manager_evaluate(m, NULL);

        log_event(LOG_INFO, UCS_MESSAGE_STARTED,
                  &(LogFields){ LOG_FIELDS_NONE, .state = ucs_life_to_string(m->decision.life),
                                .old_revision = manager_group(m) ? manager_group(m)->lowest_revision : 0 },
                  "ucodesyncd %s started: %s, %zu CPUs online, %s%s%s", UCS_VERSION, ucs_vendor_to_string(m->machine->vendor),
                  m->machine->n_cpus, ucs_support_to_string(m->machine->support),
                  m->machine->support == UCS_SUPPORT_LATE_LOAD ? "" : ": ",
                  m->machine->support == UCS_SUPPORT_LATE_LOAD ? "" : ucs_support_reason_describe(m->machine->reason));
        return 0;
}

const UcsGroup *manager_group(const Manager *m) {
        const UcsCandidate *k = m->decision.candidate;

        for (size_t i = 0; k && i < m->machine->n_groups; i++)
                if (m->machine->groups[i].signature == k->signature && m->machine->groups[i].platform_mask == k->platform_mask)
                        return &m->machine->groups[i];
        for (size_t i = 0; i < m->machine->n_groups; i++)
                if (m->machine->groups[i].lowest_revision != m->machine->groups[i].highest_revision)
                        return &m->machine->groups[i];
        return m->machine->n_groups > 0 ? &m->machine->groups[0] : NULL;
}

/* STATUS= for `systemctl status`, when it changed. */
static void notify_status(Manager *m) {
        const UcsDecision *d = &m->decision;
        const UcsGroup *g = manager_group(m);
        _cleanup_free_ char *status = NULL;
        char until[UCS_TIMESTAMP_MAX];
        int r;

        if (d->life == UCS_LIFE_CURRENT && g)
                r = asprintf(&status, "Current: 0x%x on %zu CPUs", g->lowest_revision, m->machine->n_cpus);
        else if (d->candidate && d->life != UCS_LIFE_UNSUPPORTED && g)
                r = asprintf(&status, "%s: 0x%x -> 0x%x%s%s%s%s", d->life == UCS_LIFE_APPLYING ? "Applying" : d->life == UCS_LIFE_FAILED ? "Failed" : "Pending",
                             g->lowest_revision, d->candidate->update.revision, d->n_reports > 0 && d->life != UCS_LIFE_APPLYING ? ", " : "",
                             d->n_reports > 0 && d->life != UCS_LIFE_APPLYING ? d->reports[0].sentence : "",
                             d->earliest_usec > 0 && d->life == UCS_LIFE_PENDING ? "; not before " : "",
                             d->earliest_usec > 0 && d->life == UCS_LIFE_PENDING ? ucs_format_utc(until, d->earliest_usec) : "");
        else
                r = asprintf(&status, "%s", d->n_reports > 0 ? d->reports[0].sentence : ucs_life_to_string(d->life));
        if (r < 0 || (m->status && streq(m->status, status)))
                return;
        (void) sd_notifyf(false, "STATUS=%s", status);
        free(m->status);
        m->status = TAKE_PTR(status);
}

void manager_evaluate(Manager *m, const UcsLoadSample *load) {
        int r;

        if (m->evaluating) /* what carries an effect out does not decide */
                return;
        m->evaluating = true;

        /* while a load is under way the CPUs belong to it */
        if (!m->apply && m->scan && manager_observe_cpus(m, DEPTH_REFRESH) > 0) {
                recover_seen(m, false);
                if (manager_scan(m) < 0)
                        log_error("Out of memory while scanning the firmware directories");
        }

        for (unsigned round = 0; round < ROUNDS_MAX; round++) {
                UcsDecision d;
                UcsWorld world;

                manager_world(m, load, &world);
                ucs_policy_step(m->config, &m->state, &world, &d);
                load = NULL;
                m->decision = d;
                if (d.effects == 0)
                        break;
                manager_carry_out(m, &d);
                /* only these change the world at once; the rest is done with */
                if (!(d.effects & (UCS_EFFECT_SCAN | UCS_EFFECT_APPLY | UCS_EFFECT_SETTLE_REQUEST)))
                        break;
        }

        manager_advise(m);
        outlook_follow(m);
        logind_follow(m);
        log_debug("Looked at everything: %s, %zu blockers, next look by the clock at %" PRIu64, ucs_life_to_string(m->decision.life),
                  m->decision.n_reports, m->decision.wake_realtime_usec);
        r = manager_arm_timers(m);
        if (r < 0)
                log_error("Timers cannot be set: %s", strerror(-r));
        r = manager_publish(m);
        if (r < 0)
                log_warning("Changes cannot be signalled on the bus: %s", strerror(-r));
        notify_status(m);
        m->evaluating = false;
}

void manager_exit(Manager *m, int status) {
        m->exit_requested = true;
        m->exit_status = m->exit_status ?: status;
        if (m->apply) {
                log_info("A load is under way; leaving when it has ended");
                return;
        }
        probation_stop(m);
        (void) sd_event_exit(m->event, m->exit_status);
}

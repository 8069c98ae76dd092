/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gates of the machine's condition: is this a bad moment to stop it, would a crash go unseen, is there somebody who cannot bear it? What
 * is unknown holds nothing back. All but `shutdown` and `sleep` give way to ignore-health. */

#include <inttypes.h>

#include "base/timefmt.h"
#include "core/policy/gate.h"

/* One such boot can be somebody's choice in the boot menu; two in a row are the image. */
#define EARLY_BROKEN_BOOTS 2

static const UcsHealth *health_of(const UcsCase *c) {
        static const UcsHealth unknown = { .machine_checks = UCS_UNKNOWN };

        return c->world->health ?: &unknown;
}

/* The bits of the kernel's taint after which its memory or its locks cannot be relied on, as `cat /proc/sys/kernel/tainted` and the first line of
 * an oops name them. Late loading itself sets S, which is none of them. */
static const struct {
        uint64_t bit;
        char letter;
        const char *meaning;
} bad_taints[] = {
        { UCS_TAINT_MACHINE_CHECK, 'M', "a machine check was seen" },
        { UCS_TAINT_DIE, 'D', "the kernel has died in part (oops)" },
        { UCS_TAINT_SOFTLOCKUP, 'L', "a CPU was locked up" },
};

static bool say_mixed(const UcsMachine *m, UcsBlockerReport *r) {
        for (size_t i = 0; i < m->n_groups; i++) {
                const UcsGroup *g = &m->groups[i];
                _cleanup_free_ char *list = NULL;
                UcsCpuSet laggards;

                if (g->lowest_revision == g->highest_revision)
                        continue;
                ucs_machine_laggards(m, g, &laggards);
                (void) ucs_cpuset_format(&laggards, &list);
                return ucs_gate_say(r, 0, "Revisions are mixed: CPUs %.100s lag behind the 0x%x of others of their kind; %s", list ?: "of one kind",
                                    g->highest_revision, ucs_cpuset_has(&laggards, 0) ? "the kernel goes by CPU 0, so that another load reaches them" :
                                                         "offline and online again brings up what a load left behind");
        }
        return false;
}

bool ucs_gate_unhealthy(const UcsCase *c, UcsBlockerReport *r) {
        const UcsHealth *h = health_of(c);

        for (size_t i = 0; h->tainted_known && i < ELEMENTSOF(bad_taints); i++)
                if (h->tainted & bad_taints[i].bit)
                        return ucs_gate_say(r, 0, "The kernel is tainted (%c): %s in this boot", bad_taints[i].letter, bad_taints[i].meaning);
        if (h->machine_checks != UCS_UNKNOWN && h->machine_checks > 0)
                return ucs_gate_say(r, 0, "There were %" PRIu64 " machine checks in this boot", h->machine_checks);
        return say_mixed(c->world->machine, r);
}

/* stop_machine() asks nobody: isolation from the scheduler is none from it. */
bool ucs_gate_latency_critical(const UcsCase *c, UcsBlockerReport *r) {
        const UcsMachine *m = c->world->machine;
        const struct {
                const char *what;
                const UcsCpuSet *cpus;
        } sets[] = {
                { "isolated from the scheduler", &m->isolated },
                { "free of timer ticks (nohz_full)", &m->nohz_full },
        };

        if (c->config->latency_critical == UCS_LATENCY_CRITICAL_ALLOW)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(sets); i++) {
                _cleanup_free_ char *list = NULL;

                if (ucs_cpuset_count(sets[i].cpus) == 0)
                        continue;
                (void) ucs_cpuset_format(sets[i].cpus, &list);
                return ucs_gate_say(r, 0, "CPUs %.100s are %s, and a load stops them like all others (LatencyCritical=block)", list ?: "here",
                                    sets[i].what);
        }
        if (health_of(c)->realtime_kernel)
                return ucs_gate_say(r, 0, "This is a real-time kernel, and a load breaks its promises (LatencyCritical=block)");
        return false;
}

bool ucs_gate_just_booted(const UcsCase *c, UcsBlockerReport *r) {
        uint64_t up = health_of(c)->uptime_usec, grace = c->config->boot_grace_usec;
        char span[UCS_TIMESPAN_MAX];

        if (up == 0 || up >= grace)
                return false;
        return ucs_gate_say(r, c->world->realtime_usec + (grace - up), "The machine is up for %s only (BootGraceSec=)", ucs_format_timespan(span, up));
}

bool ucs_gate_shutdown(const UcsCase *c, UcsBlockerReport *r) {
        const UcsHealth *h = health_of(c);
        char when[UCS_TIMESTAMP_MAX];

        if (!h->shutting_down && !h->shutdown_begun)
                return false;
        if (h->shutdown_begun || h->shutdown_usec <= c->world->realtime_usec)
                return ucs_gate_say(r, 0, "The machine is about to reboot or to power off");
        return ucs_gate_say(r, 0, "A reboot or power-off is scheduled for %s", ucs_format_utc(when, h->shutdown_usec));
}

bool ucs_gate_sleep(const UcsCase *c, UcsBlockerReport *r) {
        return health_of(c)->going_to_sleep &&
               ucs_gate_say(r, 0, "The machine is about to go to sleep");
}

bool ucs_gate_state_volatile(const UcsCase *c, UcsBlockerReport *r) {
        const UcsHealth *h = health_of(c);

        if (!h->state_volatile)
                return false;
        return ucs_gate_say(r, 0, "What is written down before a load would not outlive a crash (%s), so that a crash would repeat itself at each boot",
                            h->state_filesystem[0] ? h->state_filesystem : "the state directory is volatile");
}

bool ucs_gate_budget(const UcsCase *c, UcsBlockerReport *r) {
        const UcsForecast *f = &c->world->forecast;

        if (f->high_nsec == UCS_UNKNOWN || f->high_nsec <= c->config->max_stall_nsec)
                return false;
        return ucs_gate_say(r, 0, "The load may stop the machine for %" PRIu64 " ms, more than MaxStallMSec=%" PRIu64,
                            (f->high_nsec + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, c->config->max_stall_nsec / NSEC_PER_MSEC);
}

bool ucs_gate_early_loading_broken(const UcsCase *c, UcsBlockerReport *r) {
        uint32_t n = health_of(c)->early_broken_boots;

        if (n < EARLY_BROKEN_BOOTS)
                return false;
        return ucs_gate_say(r, 0, "The last %" PRIu32 " boots came up older than what had been loaded, although the early image has it: find out why "
                                  "early loading does not work", n);
}

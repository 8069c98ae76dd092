/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What both generations of the loader share: the write itself, the load of one CPU, the hang, and the
 * aftermath; see loader.h. */

#include <errno.h>
#include <stdlib.h>

#include "loader.h"
#include "stall.h"

/* AMD: the patch is not one that the kernel has a digest of, so no CPU gets it. */
static bool digest_refused(SimMachine *m, const SimPatch *patch) {
        if (m->settings.vendor != SIM_AMD || m->settings.log_digest == SIM_DIGEST_OFF)
                return false;
        sim_log(m, SIM_ERR, "microcode: No sha256 digest for patch ID: 0x%x found", patch->revision);
        return true;
}

/* The engine that takes an Intel update is the core's, an AMD patch is the thread's. */
static void take(SimMachine *m, uint32_t cpu, uint32_t revision) {
        m->cpus[cpu].revision = revision;
        if (m->settings.vendor != SIM_INTEL)
                return;
        for (uint32_t thread = 0; thread < m->settings.topology.threads; thread++) {
                uint32_t sibling = sim_machine_sibling(m, cpu, thread);

                if (sibling != cpu && !ucs_cpuset_has(&m->settings.fail_cpus, sibling))
                        m->cpus[sibling].revision = revision;
        }
}

SimOutcome sim_apply(SimMachine *m, uint32_t cpu, const SimPatch *patch) {
        const SimSettings *s = &m->settings;
        SimCpu *c = &m->cpus[cpu];

        /* An AMD patch is applied again at equal revision since 6.2: each thread has a state of its own. */
        if (c->revision > patch->revision ||
            (c->revision == patch->revision && (s->vendor == SIM_INTEL || !sim_kernel_is_modern(s))))
                return SIM_OUTCOME_SAME;
        if (s->log_digest == SIM_DIGEST_SILENT && digest_refused(m, patch))
                return SIM_OUTCOME_SAME;
        if (digest_refused(m, patch) || ucs_cpuset_has(&s->fail_cpus, cpu)) {
                if (s->vendor == SIM_AMD)
                        sim_log(m, SIM_ERR, "microcode: CPU%u: update failed for patch_level=0x%08x", cpu,
                                patch->revision);
                else if (!sim_kernel_is_modern(s))
                        sim_log(m, SIM_ERR, "microcode: CPU%u update to revision 0x%x failed", cpu,
                                patch->revision);
                return SIM_OUTCOME_FAILED;
        }
        take(m, cpu, s->arrive_revision > 0 ? s->arrive_revision : patch->revision);
        return SIM_OUTCOME_UPDATED;
}

uint32_t sim_cores_to_load(const SimMachine *m, const SimPatch *patch) {
        uint32_t n = 0;

        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                const SimCpu *c = &m->cpus[cpu];

                if (c->first == cpu && c->revision < patch->revision)
                        n++;
        }
        return n;
}

void sim_stop_for(SimMachine *m, const SimPatch *patch) {
        while (m->settings.hang && !m->stopping)
                (void) pthread_cond_wait(&m->wake, &m->lock);
        sim_stall_stop(m, sim_stall_model(m, sim_cores_to_load(m, patch)));
}

void sim_after_load(SimMachine *m) {
        if (m->settings.features_change && !m->features_changed) {
                m->features_changed = true;
                sim_log(m, SIM_WARNING,
                        "x86/CPU: CPU features have changed after loading microcode, but might not take effect.");
                sim_log(m, SIM_WARNING,
                        "x86/CPU: Please consider either early loading through initrd/built-in or a potential BIOS update.");
        }
        if (m->settings.clocksource_flip && m->settings.clocksource &&
            streq(m->settings.clocksource, "tsc") && str_replace(&m->settings.clocksource, "hpet") == 0) {
                sim_log(m, SIM_WARNING,
                        "clocksource: timekeeping watchdog on CPU%u: Marking clocksource 'tsc' as unstable "
                        "because the skew is too large:",
                        sim_machine_first_online(m));
                sim_log(m, SIM_WARNING, "tsc: Marking TSC unstable due to clocksource watchdog");
                sim_log(m, SIM_INFO, "clocksource: Switched to clocksource hpet");
        }
}

/* kstrtoul(), base 0, one newline at the end allowed. */
static int parse_value(const char *text, unsigned long *ret) {
        unsigned long v;
        char *end;

        if (*text == '+')
                text++;
        if (*text < '0' || *text > '9')
                return -EINVAL;
        errno = 0;
        v = strtoul(text, &end, 0);
        if (errno == ERANGE)
                return -ERANGE;
        if (*end == '\n')
                end++;
        if (*end)
                return -EINVAL;
        *ret = v;
        return 0;
}

static int write_value(SimMachine *m, const char *text) {
        bool modern = sim_kernel_is_modern(&m->settings);
        unsigned long value;
        int r;

        r = parse_value(text, &value);
        if (r < 0)
                return modern ? -EINVAL : r;
        if (value != 1)
                return modern ? -EINVAL : 0;
        if (m->settings.answer > 0)
                return -m->settings.answer;
        return modern ? sim_loader_modern(m) : sim_loader_old(m);
}

int sim_loader_write(SimMachine *m, const char *text) {
        uint64_t begin = sim_now_nsec();
        int r;

        (void) pthread_mutex_lock(&m->hotplug);
        (void) pthread_mutex_lock(&m->lock);
        r = write_value(m, text);
        (void) sim_machine_answered(m, -r, sim_now_nsec() - begin);
        sim_trace(m, "reload: %s", r < 0 ? strerrorname_np(-r) : "success");
        (void) pthread_mutex_unlock(&m->lock);
        (void) pthread_mutex_unlock(&m->hotplug);
        return r;
}

int sim_loader_external(SimMachine *m, uint32_t revision) {
        SimPatch patch = { .revision = revision };
        uint32_t old;

        (void) pthread_mutex_lock(&m->hotplug);
        (void) pthread_mutex_lock(&m->lock);
        old = m->cpus[0].revision;
        sim_stall_stop(m, sim_stall_model(m, sim_cores_to_load(m, &patch)));
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                m->cpus[cpu].revision = revision;
        m->cached_revision = revision;
        if (sim_kernel_is_modern(&m->settings)) {
                uint32_t primaries = 0;

                for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                        primaries += m->cpus[cpu].online && m->cpus[cpu].first == cpu;
                sim_log(m, SIM_INFO, "microcode: load: updated on %u primary CPUs with %u siblings",
                        primaries, sim_machine_n_online(m) - primaries);
                sim_log(m, SIM_INFO, "microcode: revision: 0x%x -> 0x%x", old, revision);
        } else
                sim_log(m, SIM_INFO, "microcode: Reload succeeded, microcode revision: 0x%x -> 0x%x", old,
                        revision);
        (void) pthread_mutex_unlock(&m->lock);
        (void) pthread_mutex_unlock(&m->hotplug);
        return 0;
}

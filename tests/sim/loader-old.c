/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loader up to 6.6, with the differences of 5.10: it answers success to nearly everything, and only a
 * load that began and failed is an error, EPERM, because stop_machine() hands on the -1 of its callback.
 *
 * The thread that leads a core decides; what becomes of its siblings is not looked at. */

#include <errno.h>

#include "base/timefmt.h"
#include "loader.h"
#include "stall.h"

static bool primaries_online(SimMachine *m) {
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                if (m->cpus[cpu].first == cpu && !m->cpus[cpu].online) {
                        sim_log(m, SIM_ERR, "microcode: Not all CPUs online, aborting microcode update.");
                        return false;
                }
        return true;
}

static uint32_t absent(const SimMachine *m) {
        uint32_t n = 0;

        FOREACH_CPU (cpu, &m->settings.timeout_cpus)
                n += sim_machine_cpu_online(m, cpu);
        return n;
}

static void log_applied(SimMachine *m, uint32_t cpu, const SimPatch *patch) {
        uint32_t d = patch->date, revision = m->cpus[cpu].revision;

        if (m->settings.vendor == SIM_AMD)
                sim_log(m, SIM_INFO, "microcode: CPU%u: new patch_level=0x%08x", cpu, revision);
        else if (cpu == 0)
                sim_log(m, SIM_INFO, "microcode: updated to revision 0x%x, date = %04x-%02x-%02x", revision,
                        d & 0xffff, d >> 24, d >> 16 & 0xff);
}

/* All of __reload_late(): 0 or the -1 that becomes EPERM. */
static int load_stopped(SimMachine *m, const SimPatch *patch) {
        uint32_t n_absent = absent(m);
        int r = 0;

        if (n_absent > 0) {
                sim_stall_stop(m, NSEC_PER_SEC);
                sim_log(m, SIM_ERR, "microcode: Timeout while waiting for CPUs rendezvous, remaining: %u",
                        n_absent);
                return -EPERM;
        }
        sim_stop_for(m, patch);
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                SimOutcome o;

                if (m->cpus[cpu].first != cpu)
                        continue;
                o = sim_apply(m, cpu, patch);
                if (o == SIM_OUTCOME_FAILED) {
                        sim_log(m, SIM_WARNING, "microcode: Error reloading microcode on CPU %u", cpu);
                        r = -EPERM;
                } else if (o == SIM_OUTCOME_UPDATED)
                        log_applied(m, cpu, patch);
        }
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                if (m->cpus[cpu].first != cpu && m->cpus[cpu].online)
                        (void) sim_apply(m, cpu, patch);
        return r;
}

static int load(SimMachine *m, const SimPatch *patch) {
        bool older = m->settings.kernel == SIM_KERNEL_5_10;
        uint32_t old = m->cpus[0].revision;
        int r;

        if (!older) {
                sim_log(m, SIM_ERR,
                        "microcode: Attempting late microcode loading - it is dangerous and taints the kernel.");
                sim_log(m, SIM_ERR, "microcode: You should switch to early loading, if possible.");
        }
        r = load_stopped(m, patch);
        m->cached_revision = m->settings.arrive_revision > 0 ? m->settings.arrive_revision : patch->revision;
        if (older)
                sim_log(m, SIM_INFO, "microcode: Reload completed, microcode revision: 0x%x",
                        m->cpus[0].revision);
        else if (r == 0)
                sim_log(m, SIM_INFO, "microcode: Reload succeeded, microcode revision: 0x%x -> 0x%x", old,
                        m->cpus[0].revision);
        else
                sim_log(m, SIM_INFO, "microcode: Reload failed, current microcode revision: 0x%x",
                        m->cpus[0].revision);
        if (r == 0)
                sim_after_load(m);
        return r;
}

int sim_loader_old(SimMachine *m) {
        SimPatch patch = {};
        SimVerdict verdict;
        int r = 0;

        if (!primaries_online(m))
                r = -EINVAL;
        else {
                verdict = sim_request(m, &patch);
                if (verdict == SIM_VERDICT_NEW || verdict == SIM_VERDICT_NEW_SAFE)
                        r = load(m, &patch);
        }
        if (m->settings.kernel == SIM_KERNEL_6_1) /* after every written 1, whatever came of it */
                m->settings.tainted |= SIM_TAINT_CPU;
        return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loader from 6.7 on (facts of arch/x86/kernel/cpu/microcode/core.c): an errno for everything, and a
 * rendezvous in which the first thread of each core leads and the others follow.
 *
 * Order: CPUs that must be online, then the file, then the stop, then the count. Only CPU 0 is asked whether
 * the file is news, so a machine whose CPU 0 is up to date stays mixed. */

#include <errno.h>

#include "base/timefmt.h"
#include "loader.h"
#include "stall.h"

typedef struct Count {
        uint32_t updated, siblings, failed, timed_out, offline;
} Count;

/* Offline siblings are tolerated (they are called by NMI), an offline primary thread is not. */
static bool primaries_online(SimMachine *m, uint32_t *ret_offline) {
        uint32_t n = 0;

        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                const SimCpu *c = &m->cpus[cpu];

                if (c->online)
                        continue;
                if (c->first == cpu) {
                        sim_log(m, SIM_ERR, "microcode: CPU %u not online, loading aborted", cpu);
                        return false;
                }
                n++;
        }
        *ret_offline = n;
        return true;
}

static uint32_t absent(const SimMachine *m) {
        uint32_t n = 0;

        FOREACH_CPU (cpu, &m->settings.timeout_cpus)
                n += sim_machine_cpu_online(m, cpu);
        return n;
}

/* Nobody loads when somebody is missing: all who came time out after a second. */
static Count rendezvous_failed(SimMachine *m, uint32_t n_missing, bool leader_missing) {
        uint32_t online = sim_machine_n_online(m);

        sim_stall_stop(m, NSEC_PER_SEC);
        sim_log(m, SIM_ERR, "microcode: load: %u CPUs timed out", n_missing);
        return (Count){
                .failed = leader_missing ? 1 : 0, /* the leader never reported */
                .timed_out = online - (leader_missing ? 1 : 0),
        };
}

static void count(Count *c, SimOutcome o) {
        switch (o) {
        case SIM_OUTCOME_UPDATED:
                c->updated++;
                break;
        case SIM_OUTCOME_SAME:
                c->siblings++;
                break;
        case SIM_OUTCOME_TIMEOUT:
                c->timed_out++;
                break;
        case SIM_OUTCOME_OFFLINE:
                c->offline++;
                break;
        case SIM_OUTCOME_NONE:
        case SIM_OUTCOME_FAILED:
                c->failed++;
                break;
        }
}

static Count load_stopped(SimMachine *m, const SimPatch *patch) {
        _cleanup_free_ SimOutcome *outcomes = NULL;
        Count c = {};

        sim_stop_for(m, patch);
        outcomes = new0(SimOutcome, m->n_cpus);
        if (!outcomes) {
                c.failed = sim_machine_n_online(m);
                return c;
        }
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                if (!m->cpus[cpu].online)
                        outcomes[cpu] = SIM_OUTCOME_OFFLINE;
                else if (m->cpus[cpu].first == cpu)
                        outcomes[cpu] = sim_apply(m, cpu, patch);
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                uint32_t lead = m->cpus[cpu].first; /* online, or nothing would have begun */

                if (!m->cpus[cpu].online || lead == cpu)
                        continue;
                /* A sibling follows its leader's success, and copies its failure. */
                outcomes[cpu] =
                        outcomes[lead] == SIM_OUTCOME_FAILED ? SIM_OUTCOME_FAILED : sim_apply(m, cpu, patch);
        }
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                count(&c, outcomes[cpu]);
        return c;
}

static void count_nmis(SimMachine *m) {
        if (m->settings.vendor != SIM_INTEL) /* AMD's handler is called directly */
                return;
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                m->cpus[cpu].nmis++;
}

static int load(SimMachine *m, const SimPatch *patch, bool is_safe, uint32_t n_offline) {
        bool silent_siblings = m->settings.vendor == SIM_AMD && n_offline > 0;
        uint32_t old = m->cpus[0].revision, online = sim_machine_n_online(m);
        Count c;

        if (!is_safe) {
                sim_log(m, SIM_ERR, "microcode: Late microcode loading without minimal revision check.");
                sim_log(m, SIM_ERR, "microcode: You should switch to early loading, if possible.");
        }

        count_nmis(m);
        if (silent_siblings) /* CPU 0 waits in vain for their answer and then stays away itself */
                c = rendezvous_failed(m, 1, true);
        else if (absent(m) > 0)
                c = rendezvous_failed(m, absent(m), false);
        else
                c = load_stopped(m, patch);

        if (c.updated == 0) {
                if (c.failed == 0 && c.timed_out == 0)
                        return 0;
                if (silent_siblings)
                        sim_log(m, SIM_WARNING, "microcode: %u offline siblings did not respond.",
                                n_offline);
                else
                        sim_log(m, SIM_ERR, "microcode: update failed: %u CPUs failed %u CPUs timed out",
                                c.failed, c.timed_out);
                return -EIO;
        }

        m->cached_revision = m->settings.arrive_revision > 0 ? m->settings.arrive_revision : patch->revision;
        if (!is_safe || c.failed > 0 || c.timed_out > 0)
                m->settings.tainted |= SIM_TAINT_CPU;
        sim_log(m, SIM_INFO, "microcode: load: updated on %u primary CPUs with %u siblings", c.updated,
                c.siblings);
        if (c.failed > 0 || c.timed_out > 0)
                sim_log(m, SIM_ERR, "microcode: load incomplete. %u CPUs timed out or failed",
                        online - (c.updated + c.siblings));
        sim_log(m, SIM_INFO, "microcode: revision: 0x%x -> 0x%x", old, m->cpus[0].revision);
        sim_after_load(m);
        return c.updated + c.siblings == online ? 0 : -EIO;
}

int sim_loader_modern(SimMachine *m) {
        SimPatch patch = {};
        uint32_t n_offline;

        if (!primaries_online(m, &n_offline))
                return -EBUSY;
        switch (sim_request(m, &patch)) {
        case SIM_VERDICT_NEW:
                return load(m, &patch, false, n_offline);
        case SIM_VERDICT_NEW_SAFE:
                return load(m, &patch, true, n_offline);
        case SIM_VERDICT_NOT_FOUND:
                return -ENOENT;
        case SIM_VERDICT_NOTHING:
                return 0;
        case SIM_VERDICT_BAD:
                break;
        }
        return -EBADFD;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stop of the machine and the accounts that it leaves; see stall.h.
 *
 * The scheduler counts a run when a thread is switched in and charges its time when it is switched out, so
 * the two figures of one reading need not belong together: account-delay-usec stretches that moment. The
 * stop without real_stall is charged exactly as it was modelled, plus a skew of each CPU that is always the
 * same; the CPU that came last has none, so the smallest account is the machine-wide stall. */

#include <errno.h>
#include <inttypes.h>

#include "base/timefmt.h"
#include "stall.h"

uint64_t sim_stall_model(const SimMachine *m, uint32_t n_cores) {
        const SimSettings *s = &m->settings;
        uint64_t cost = s->cost_usec > 0 ? s->cost_usec * NSEC_PER_USEC : SIM_COST_NSEC;
        uint64_t rendezvous = sim_machine_n_online(m) * SIM_JOIN_NSEC;

        if (n_cores == 0)
                return rendezvous;
        return rendezvous + cost * (s->load == SIM_LOAD_SERIAL ? n_cores : 1);
}

static void account_settle(SimAccount *a, uint64_t now) {
        if (a->late_nsec > 0 && now >= a->late_due_nsec) {
                a->nsec += a->late_nsec;
                a->late_nsec = 0;
        }
}

void sim_account_read(const SimAccount *a, uint64_t *ret_nsec, uint64_t *ret_runs) {
        SimAccount now = *a;

        account_settle(&now, sim_now_nsec());
        *ret_nsec = now.nsec;
        *ret_runs = now.runs;
}

void sim_account_add(SimAccount *a, uint64_t nsec, uint64_t runs) {
        account_settle(a, sim_now_nsec());
        a->nsec += nsec;
        a->runs += runs;
}

static uint64_t skew_nsec(const SimMachine *m, uint32_t cpu, uint32_t last) {
        if (cpu == last || m->settings.skew_usec == 0)
                return 0;
        return (cpu * UINT32_C(2654435761) >> 7) % (m->settings.skew_usec * NSEC_PER_USEC) + 1;
}

/* Wait without the lock, or not at all when the simulator ends. */
static void wait_until(SimMachine *m, uint64_t until_nsec) {
        struct timespec ts = {
                .tv_sec = (time_t) (until_nsec / NSEC_PER_SEC),
                .tv_nsec = (long) (until_nsec % NSEC_PER_SEC),
        };

        while (!m->stopping && sim_now_nsec() < until_nsec)
                (void) pthread_cond_timedwait(&m->wake, &m->lock, &ts);
}

static void runs_begin(SimMachine *m) {
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                SimCpu *c = &m->cpus[cpu];

                if (!c->online)
                        continue;
                account_settle(&c->account, sim_now_nsec());
                c->account.runs += ucs_cpuset_has(&m->settings.account_mixed, cpu) ? 2 : 1;
        }
}

static void runs_end(SimMachine *m, uint64_t nsec) {
        uint64_t now = sim_now_nsec();
        uint32_t last = 0;

        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
                if (m->cpus[cpu].online)
                        last = cpu;
        for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
                SimCpu *c = &m->cpus[cpu];

                if (!c->online)
                        continue;
                c->account.late_nsec = nsec + skew_nsec(m, cpu, last);
                if (ucs_cpuset_has(&m->settings.account_mixed, cpu))
                        c->account.late_nsec += 400 * NSEC_PER_USEC;
                if (ucs_cpuset_has(&m->settings.account_missing, cpu))
                        c->account.late_due_nsec = UINT64_MAX;
                else
                        c->account.late_due_nsec = now + m->settings.account_delay_usec * NSEC_PER_USEC;
        }
        m->steal_nsec += m->settings.steal_usec * NSEC_PER_USEC;
}

void sim_stall_stop(SimMachine *m, uint64_t nsec) {
        uint64_t took = nsec;
        int r;

        runs_begin(m);
        if (m->settings.real_stall) {
                (void) pthread_mutex_unlock(&m->lock);
                r = sim_real_stall(MIN(nsec, SIM_REAL_STALL_MAX_NSEC), &took);
                (void) pthread_mutex_lock(&m->lock);
                if (r < 0) {
                        sim_trace(m, "the host's CPUs could not be held: %s", strerror(-r));
                        took = nsec;
                        wait_until(m, sim_now_nsec() + nsec);
                }
        } else
                wait_until(m, sim_now_nsec() + nsec);
        runs_end(m, took);
        m->modelled_nsec = nsec;
        m->stalled_nsec = took;
        sim_trace(m, "stop_machine: %" PRIu64 " ns modelled, %" PRIu64 " ns charged", nsec, took);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the machine is beyond its CPUs: the kernel's kind and the condition it is in, observed for the world that the policy sees, and what is said of
 * both when a load begins. Nothing is decided here. */

#include "core/policy/preflight.h"
#include "daemon/log.h"
#include "daemon/logind.h"
#include "daemon/manager.h"
#include "os/clock.h"
#include "os/health.h"
#include "os/kernel.h"

/* The kernel needs milliseconds to print proc/interrupts on a large machine: not at every look while the load is watched. */
#define MACHINE_CHECKS_USEC (30 * USEC_PER_SEC)

bool manager_observe_host(Manager *m, Depth depth) {
        uint64_t now = ucs_clock_boottime_usec();
        UcsKernel before = m->kernel;

        ucs_kernel_read(m->root_fd, m->machine, &m->kernel);
        m->kernel.all_cpus = m->kernel.all_cpus || m->all_cpus_demanded;
        if (m->kernel.generation != before.generation)
                log_debug("The kernel's loader is of the generation '%s'", ucs_kernel_generation_to_string(m->kernel.generation));
        ucs_health_read(m->root_fd, UCS_STATE_DIRECTORY, &m->health);
        if (depth == DEPTH_DETAILS && !m->apply && m->decision.candidate)
                logind_ask(m); /* a load is about to begin */
        if (depth != DEPTH_REFRESH || now - m->machine_checks_boottime_usec >= MACHINE_CHECKS_USEC) {
                m->health.machine_checks = ucs_health_read_machine_checks(m->root_fd);
                m->machine_checks_boottime_usec = now;
        }
        return m->kernel.force_minrev != before.force_minrev || m->kernel.digest_check != before.digest_check;
}

void manager_preflight(Manager *m, UcsPreflight *ret) {
        ucs_preflight(m->machine, &m->kernel, m->scan, ret);
}

void manager_say_before_load(Manager *m) {
        if (!m->health.crash_kernel && !m->health.panic_reboots)
                log_warning("No crash kernel is loaded and kernel.panic is 0: should the machine hang in this load, it would stay hung until somebody resets it");
}

void manager_say_answer(const UcsPreflight *foretold, int answer) {
        const char *foretold_name = foretold->error == 0 ? "success" : strerrorname_np(foretold->error);

        if (foretold->error != answer)
                log_warning("The kernel's answer was not the one foretold: %s instead of %s%s%s", answer == 0 ? "success" : strerrorname_np(answer), foretold_name,
                            foretold->sentence[0] ? ", for: " : "", foretold->sentence);
}

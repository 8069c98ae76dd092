/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gates of the machine and its configuration: config-invalid, unsupported, cpus-offline. */

#include <stdio.h>

#include "core/policy/gate.h"
#include "core/policy/preflight.h"

bool ucs_gate_config_invalid(const UcsCase *c, UcsBlockerReport *r) {
        if (!c->world->config_error)
                return false;
        return ucs_gate_say(r, 0, "The configuration is not right: %s", c->world->config_error);
}

bool ucs_gate_unsupported(const UcsCase *c, UcsBlockerReport *r) {
        const UcsMachine *m = c->world->machine;

        if (m->support == UCS_SUPPORT_LATE_LOAD)
                return false;
        return ucs_gate_say(r, 0, "%s", ucs_support_reason_describe(m->reason));
}

/* Who is wanted depends on the kernel: see preflight.h. */
bool ucs_gate_cpus_offline(const UcsCase *c, UcsBlockerReport *r) {
        const UcsMachine *m = c->world->machine;
        _cleanup_free_ char *list = NULL;
        UcsCpuSet missing;

        ucs_preflight_missing_cpus(m, c->world->kernel, &missing);
        if (ucs_cpuset_count(&missing) == 0)
                return false;
        if (ucs_cpuset_format(&missing, &list) < 0)
                return ucs_gate_say(r, 0, "CPUs that this kernel needs for a load are offline");
        return ucs_gate_say(r, 0, "CPUs that this kernel needs for a load are offline: %.160s", list);
}

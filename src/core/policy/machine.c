/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Groups of equal CPUs, and the words for what a kernel can do; see machine.h. A revision of 0 is unknown (a version file that could
 * not be read): such a CPU belongs to its group, but says nothing about what the group runs. */

#include "base/enum.h"
#include "core/policy/machine.h"

static const char *const support_table[_UCS_SUPPORT_MAX] = {
        [UCS_SUPPORT_ADVISORY] = "advisory",
        [UCS_SUPPORT_LATE_LOAD] = "late-load",
};

DEFINE_ENUM_STRINGS(ucs_support, UcsSupport, support_table);

static const char *const reason_table[_UCS_SUPPORT_REASON_MAX] = {
        [UCS_REASON_NONE] = "",
        [UCS_REASON_ARCHITECTURE] = "architecture",
        [UCS_REASON_CONTAINER] = "container",
        [UCS_REASON_XEN] = "xen",
        [UCS_REASON_KERNEL_OPTION] = "kernel-option",
        [UCS_REASON_DISABLED_BY_COMMAND_LINE] = "disabled-by-command-line",
        [UCS_REASON_VIRTUAL_MACHINE] = "virtual-machine",
        [UCS_REASON_NO_CPU_DRIVER] = "no-cpu-driver",
        [UCS_REASON_READ_ONLY] = "read-only",
};

DEFINE_ENUM_STRINGS(ucs_support_reason, UcsSupportReason, reason_table);

static const char *const reason_sentences[_UCS_SUPPORT_REASON_MAX] = {
        [UCS_REASON_NONE] = "this kernel can load microcode late",
        [UCS_REASON_ARCHITECTURE] = "this is not an x86 machine; there is no microcode that its kernel could load",
        [UCS_REASON_CONTAINER] = "this is a container; the host that it runs on has to load the microcode",
        [UCS_REASON_XEN] = "Xen owns the CPUs, not this kernel; load it in the control domain with xen-ucode, or at the next "
                           "boot with ucode=scan on Xen's command line",
        [UCS_REASON_KERNEL_OPTION] = "this kernel was built without CONFIG_MICROCODE_LATE_LOADING; the update takes effect at "
                                     "the next boot through the initramfs, or late under a kernel with that option",
        [UCS_REASON_DISABLED_BY_COMMAND_LINE] = "the microcode loader is switched off by dis_ucode_ldr on the kernel command "
                                                "line; remove it and reboot",
        [UCS_REASON_VIRTUAL_MACHINE] = "this is a virtual machine, whose kernel leaves microcode to the hypervisor; update its host",
        [UCS_REASON_NO_CPU_DRIVER] = "this kernel has no microcode loader for this CPU; it takes a kernel with CONFIG_MICROCODE, and "
                                     "an Intel or AMD CPU whose microcode can still be updated",
        [UCS_REASON_READ_ONLY] = "the kernel's reload file cannot be written from here; make "
                                 "/sys/devices/system/cpu/microcode writable for the service (ReadWritePaths=)",
};

const char *ucs_support_reason_describe(UcsSupportReason r) {
        return (int) r >= 0 && r < _UCS_SUPPORT_REASON_MAX ? reason_sentences[r] : NULL;
}

UcsMachine *ucs_machine_free(UcsMachine *m) {
        if (!m)
                return NULL;
        free(m->cpus);
        free(m->groups);
        free(m);
        return NULL;
}

static bool group_holds(const UcsGroup *g, const UcsCpu *c) {
        return g->signature == c->signature && g->platform_mask == c->platform_mask;
}

int ucs_machine_regroup(UcsMachine *m) {
        UcsGroup *groups = NULL;
        size_t n = 0;

        for (size_t i = 0; i < m->n_cpus; i++) {
                const UcsCpu *c = &m->cpus[i];
                UcsGroup *g = groups;

                while (g < groups + n && !group_holds(g, c))
                        g++;
                if (g == groups + n) {
                        UcsGroup *p = reallocarray(groups, n + 1, sizeof(*groups));

                        if (!p) {
                                free(groups);
                                return -ENOMEM;
                        }
                        groups = p;
                        g = &groups[n++];
                        *g = (UcsGroup){ .signature = c->signature, .platform_mask = c->platform_mask };
                }
                g->n_cpus++;
                if (c->revision == 0)
                        continue;
                if (g->lowest_revision == 0 || c->revision < g->lowest_revision)
                        g->lowest_revision = c->revision;
                if (c->revision > g->highest_revision)
                        g->highest_revision = c->revision;
        }
        free(m->groups);
        m->groups = groups;
        m->n_groups = n;
        return 0;
}

bool ucs_machine_mixed(const UcsMachine *m) {
        for (size_t i = 0; i < m->n_groups; i++)
                if (m->groups[i].lowest_revision != m->groups[i].highest_revision)
                        return true;
        return false;
}

void ucs_machine_laggards(const UcsMachine *m, const UcsGroup *g, UcsCpuSet *ret) {
        UcsCpuSet set = {};

        for (size_t i = 0; i < m->n_cpus; i++) {
                const UcsCpu *c = &m->cpus[i];

                if (group_holds(g, c) && c->revision != 0 && c->revision != g->highest_revision)
                        ucs_cpuset_add(&set, c->cpu);
        }
        *ret = set;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The machine as one value: its CPUs, what they run, and whether this kernel can load late at all. os/cpu and os/support
 * fill it from sysfs and procfs; everything that decides reads it from here. */

#include "base/cpuset.h"
#include "core/ucode/update.h"

typedef enum UcsSupport {
        UCS_SUPPORT_ADVISORY,  /* "advisory" */
        UCS_SUPPORT_LATE_LOAD, /* "late-load" */
        _UCS_SUPPORT_MAX,
        _UCS_SUPPORT_INVALID = -EINVAL,
} UcsSupport;

typedef enum UcsSupportReason {
        UCS_REASON_NONE,                     /* "" with late-load */
        UCS_REASON_ARCHITECTURE,             /* "architecture": not x86 */
        UCS_REASON_CONTAINER,                /* "container" */
        UCS_REASON_XEN,                      /* "xen": the hypervisor loads, not this kernel */
        UCS_REASON_KERNEL_OPTION,            /* "kernel-option": per-CPU files but no reload file */
        UCS_REASON_DISABLED_BY_COMMAND_LINE, /* "disabled-by-command-line" */
        UCS_REASON_VIRTUAL_MACHINE,          /* "virtual-machine" */
        UCS_REASON_NO_CPU_DRIVER,            /* "no-cpu-driver" */
        UCS_REASON_READ_ONLY,                /* "read-only": the reload file cannot be written from here */
        _UCS_SUPPORT_REASON_MAX,
        _UCS_SUPPORT_REASON_INVALID = -EINVAL,
} UcsSupportReason;

const char *ucs_support_to_string(UcsSupport s);
UcsSupport ucs_support_from_string(const char *s);
const char *ucs_support_reason_to_string(UcsSupportReason r);
UcsSupportReason ucs_support_reason_from_string(const char *s);

/* One sentence for people: why nothing can be loaded late, and what would change that. */
const char *ucs_support_reason_describe(UcsSupportReason r);

#define UCS_ID_UNKNOWN UINT32_MAX

typedef struct UcsCpu {
        uint32_t cpu;
        uint32_t signature;
        uint32_t platform_mask; /* Intel: one bit; AMD: 0 */
        uint32_t revision;      /* 0: could not be read */
        uint32_t package, core; /* UCS_ID_UNKNOWN where the kernel names none */
        uint32_t apic_id;
} UcsCpu;

/* CPUs of equal signature and platform mask: one revision space, judged by the lowest running revision. */
typedef struct UcsGroup {
        uint32_t signature, platform_mask;
        uint32_t n_cpus;
        uint32_t lowest_revision, highest_revision;
} UcsGroup;

typedef struct UcsMachine {
        UcsVendor vendor;
        UcsSupport support;
        UcsSupportReason reason;
        bool hypervisor; /* CPUID.1:ECX[31] by the flags of /proc/cpuinfo */

        UcsCpu *cpus; /* the online ones, by number; owned */
        size_t n_cpus;
        UcsGroup *groups; /* in the order of their first CPU; owned */
        size_t n_groups;

        UcsCpuSet present, online;
        UcsCpuSet offline_primaries; /* present, offline, and no online CPU of lower number shares the core (or unknown) */
        UcsCpuSet offline_siblings;
        UcsCpuSet isolated, nohz_full;
} UcsMachine;

UcsMachine *ucs_machine_free(UcsMachine *m);
DEFINE_CLEANUP(UcsMachine *, ucs_machine_free);

/* Sort `cpus` into `groups`, replacing what was there. 0 or -ENOMEM. */
int ucs_machine_regroup(UcsMachine *m);

/* More than one revision within a group. */
bool ucs_machine_mixed(const UcsMachine *m);

/* CPUs of a group that do not run its highest revision. */
void ucs_machine_laggards(const UcsMachine *m, const UcsGroup *g, UcsCpuSet *ret);

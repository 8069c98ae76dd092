/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The condition that the machine is in, apart from its CPUs: what makes this a bad moment to stop it. os/health fills it; what cannot be read
 * is unknown and blocks nothing, unless a gate says otherwise. */

#include "base/macro.h"

/* Bits of /proc/sys/kernel/tainted (Documentation/admin-guide/tainted-kernels.rst). */
#define UCS_TAINT_CPU_OUT_OF_SPEC (UINT64_C(1) << 2)
#define UCS_TAINT_MACHINE_CHECK (UINT64_C(1) << 4)
#define UCS_TAINT_DIE (UINT64_C(1) << 7)
#define UCS_TAINT_SOFTLOCKUP (UINT64_C(1) << 14)

typedef struct UcsHealth {
        bool tainted_known;
        uint64_t tainted;
        uint64_t uptime_usec; /* 0: unknown */
        uint64_t machine_checks; /* exceptions in this boot, all CPUs (MCE of /proc/interrupts); UCS_UNKNOWN */
        bool realtime_kernel;
        bool shutting_down;       /* a reboot or power-off is scheduled, by the file that systemd-logind leaves for it */
        uint64_t shutdown_usec;   /* when, CLOCK_REALTIME; 0: unknown or now */
        bool shutdown_begun;      /* systemd-logind prepares for a reboot or power-off (its PreparingForShutdown) */
        bool going_to_sleep;      /* and for a suspend or hibernation (PreparingForSleep) */
        bool state_volatile;      /* the state directory would not survive a crash */
        char state_filesystem[32]; /* its type, for the sentence */
        char clocksource[32];
        bool crash_kernel;   /* a crash kernel is loaded */
        bool panic_reboots;  /* kernel.panic is not 0 */
        bool sgx;            /* enclaves exist on this machine */
        uint32_t early_broken_boots; /* boots in a row that came up older than the last late load although the early image had the revision */
} UcsHealth;

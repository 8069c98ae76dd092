/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The simulated machine as one value: its CPUs, its clock, its kernel log and what was done to it.
 *
 * One lock guards all of it and is held only for moments; whoever must wait (a load, the hotplug of a CPU)
 * waits without it. A second one, `hotplug`, is the kernel's cpus_read_lock() and microcode_mutex in one: it
 * is held through a whole load. Functions expect the caller to hold `lock` unless they say otherwise; where
 * both are taken, hotplug comes first. */

#include <pthread.h>

#include "settings.h"

/* Run time of one migration/N, as schedstat shows it. */
typedef struct SimAccount {
        uint64_t nsec, runs;
        uint64_t late_nsec;     /* ran, but not charged yet */
        uint64_t late_due_nsec; /* CLOCK_MONOTONIC at which it is; UINT64_MAX: never */
} SimAccount;

typedef struct SimCpu {
        uint32_t apic_id, package, core, thread;
        uint32_t first; /* the lowest CPU number of the core, its primary thread */
        uint32_t revision;
        bool online;
        uint32_t incarnation; /* grows as it comes and goes: descriptors of an earlier one are dead */
        SimAccount account;
        uint64_t nmis;
} SimCpu;

typedef struct SimRecord {
        unsigned priority; /* facility << 3 | level */
        uint64_t usec;     /* since boot */
        char *text;
} SimRecord;

/* What a write to reload was answered. */
typedef struct SimAnswer {
        uint64_t realtime_usec;
        int error;           /* positive errno, 0: success */
        uint64_t write_nsec; /* how long it took */
} SimAnswer;

typedef struct SimMachine {
        pthread_mutex_t lock, hotplug;
        pthread_cond_t
                wake;  /* CLOCK_MONOTONIC; broadcast when anything that somebody may wait for has changed */
        bool stopping; /* nothing waits any more */
        bool verbose;

        SimSettings settings;
        SimCpu *cpus;
        uint32_t n_cpus;

        uint64_t booted_nsec; /* CLOCK_MONOTONIC */
        char boot_id[37];
        uint32_t cached_revision; /* of the update that the kernel keeps for CPUs that come later; 0: none */
        bool features_changed;    /* raw CPUID differs from what the kernel knew at boot */
        uint64_t machine_checks;

        SimRecord *log;
        size_t n_log;

        /* Folded counters up to folded_nsec, of one CPU. */
        uint64_t folded_nsec, busy_nsec, guest_nsec, steal_nsec, pressure_nsec;

        SimAnswer *answers;
        size_t n_answers;
        uint64_t modelled_nsec, stalled_nsec; /* the last load: as modelled, as it came */
} SimMachine;

/* Build the machine that the settings describe and boot it. Takes over `*settings`. 0 or -errno with a
 * sentence. */
int sim_machine_new(SimSettings *settings, SimMachine **ret, UcsError *e);
SimMachine *sim_machine_free(SimMachine *m);
DEFINE_CLEANUP(SimMachine *, sim_machine_free);

/* APIC ids as hardware gives them: each level padded to a power of two. Fills cpus[]. */
void sim_topology_build(const SimSettings *s, SimCpu *cpus);
/* Bits of the APIC id below the core, and below the package. */
void sim_topology_shifts(const SimTopology *t, uint32_t *ret_core, uint32_t *ret_package);

/* A reset: boot id, revisions (`revision`, 0: the one of the settings), log, taint, counters. */
void sim_machine_boot(SimMachine *m, uint32_t revision);

/* Take a CPU offline or bring it back; it then gets the update that the kernel keeps. Waits for a load to
 * end: call without lock. 0, -EINVAL (no such CPU), -EBUSY (the last one). */
int sim_machine_plug(SimMachine *m, uint32_t cpu, bool online);

bool sim_machine_cpu_online(const SimMachine *m, uint32_t cpu);
uint32_t sim_machine_n_online(const SimMachine *m);
uint32_t sim_machine_first_online(const SimMachine *m);
void sim_machine_online_set(const SimMachine *m, UcsCpuSet *ret);

/* The CPU number of a thread of the core that `cpu` is in. */
uint32_t sim_machine_sibling(const SimMachine *m, uint32_t cpu, uint32_t thread);

uint64_t sim_now_nsec(void); /* CLOCK_MONOTONIC */
uint64_t sim_machine_uptime_nsec(const SimMachine *m);

/* Bring the counters of load up to now; before any change of the settings that they follow. */
void sim_machine_fold(SimMachine *m);

/* A line of the kernel's log ("microcode: …"), with the kernel's own levels. */
#define SIM_ERR     3
#define SIM_WARNING 4
#define SIM_INFO    6
void sim_log(SimMachine *m, unsigned priority, const char *format, ...) _printf_(3, 4);

/* TAINT_MACHINE_CHECK, TAINT_CPU_OUT_OF_SPEC (Documentation/admin-guide/tainted-kernels.rst) */
#define SIM_TAINT_CPU           (UINT64_C(1) << 2)
#define SIM_TAINT_MACHINE_CHECK (UINT64_C(1) << 4)

/* What the simulator itself does, on standard error with --verbose. */
void sim_trace(const SimMachine *m, const char *format, ...) _printf_(2, 3);

int sim_machine_answered(SimMachine *m, int error, uint64_t write_nsec);

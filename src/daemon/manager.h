/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The manager owns everything that lives as long as the daemon, observes, asks the policy, and carries out what it answers. One entry for all
 * that happens: manager_evaluate(). */

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "core/policy/forecast.h"
#include "core/policy/policy.h"
#include "core/policy/preflight.h"
#include "core/record/history.h"
#include "os/cpu.h"
#include "os/firmware.h"
#include "os/pressure.h"
#include "os/watch.h"

#define UCS_BUS_NAME "org.ucodesync1"
#define UCS_BUS_PATH "/org/ucodesync1"
#define UCS_MANAGER_INTERFACE "org.ucodesync1.Manager"
#define UCS_STALL_INTERFACE "org.ucodesync1.Stall"
#define UCS_STATE_DIRECTORY "var/lib/ucodesync"
#define UCS_INTENT_NAME "intent"

typedef struct Apply Apply;

/* The kernel's log (kernel-log.h). */
typedef struct KernelLog KernelLog;

/* The next boot, and who else has the kernel load (outlook.h). */
typedef struct Outlook Outlook;

/* What systemd-logind knows (logind.h). */
typedef struct Logind Logind;

/* What was last published on the bus, so that only what changed is signalled (bus-publish.c). */
typedef struct Published Published;

typedef struct Manager {
        sd_event *event;
        sd_bus *bus;
        int root_fd;

        UcsConfig *config;
        UcsRuleSet *rules; /* NULL: they were wrong when the daemon started */
        UcsHost host;
        char **advice; /* what rules and cautions say beside blocking; NULL: nothing */
        char *config_error; /* the configuration on disk was wrong when the daemon started; NULL: it is right */
        char **search_path;
        uint64_t spread_seed;
        char boot_id[40];

        UcsCpuReader *reader;
        UcsMachine *machine; /* never NULL after manager_start() */
        UcsKernel kernel;
        bool all_cpus_demanded; /* it was busy without CPUs that it was foretold to do without */
        UcsHealth health;
        uint64_t machine_checks_boottime_usec; /* when proc/interrupts was read last */
        UcsWatch *watch;
        UcsScan *scan; /* NULL: not scanned yet */
        uint64_t firmware_changed_boottime_usec;

        UcsPressure *pressure;
        UcsLoadReading gate_reading;  /* the last one that was fed to the policy; boottime 0: none */
        UcsLoadReading shown_reading; /* the last one that somebody asked for on the bus */
        UcsLoadSample shown_sample;

        UcsState state;
        UcsHistory history;
        UcsForecast forecast;
        UcsDecision decision; /* of the last step; `candidate` points into `scan` */
        UcsRequest request;
        uint32_t last_id;
        Apply *apply; /* the load that is under way */
        UcsStall stall; /* the last one */
        KernelLog *kernel_log;
        Outlook *outlook;
        Logind *logind; /* NULL: the bus is not there yet */
        Published *published;
        char *status; /* the last STATUS= */
        int exit_status; /* of the process, with `exit_requested` */

        sd_event_source *watch_source, *wake_realtime, *wake_boottime, *load_timer, *cpu_timer, *clock_source, *probation_timer;
        bool evaluating, exit_requested, state_unwritable, history_unwritable;
} Manager;

int manager_new(sd_event *event, int root_fd, Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager *, manager_free);

/* Read configuration, state, machine and firmware, and evaluate for the first time. Only what makes a daemon impossible is an error. */
int manager_start(Manager *m);

/* Observe, decide, carry out, publish. `load`: a new sample for the policy, or NULL. */
void manager_evaluate(Manager *m, const UcsLoadSample *load);

/* Read the configuration again. On failure `e` says why and the last good one stays. */
int manager_reload_config(Manager *m, UcsError *e);

/* Leave as soon as no load is under way. */
void manager_exit(Manager *m, int status); /* when the load has ended; the first status that is not 0 counts */

/* The group that is worst off: that of the candidate, else the first with mixed revisions, else the first. NULL without any CPU. */
const UcsGroup *manager_group(const Manager *m);

/* manager-effects.c: what the policy's effects mean. */
void manager_carry_out(Manager *m, const UcsDecision *d);
void manager_end_request(Manager *m, UcsResult result, uint32_t old_revision, uint32_t new_revision, uint64_t stall_nsec);

/* manager-timers.c: when to look again. */
int manager_arm_timers(Manager *m);
void manager_disarm_timers(Manager *m);

/* observe.c: the adapters, as one value. */
void manager_world(Manager *m, const UcsLoadSample *load, UcsWorld *ret);
typedef enum Depth {
        DEPTH_REFRESH, /* revisions and the online mask: what changes in an idle hour */
        DEPTH_WHOLE,   /* topology and support too */
        DEPTH_DETAILS, /* and the whole of /proc/cpuinfo */
} Depth;
int manager_observe_cpus(Manager *m, Depth depth); /* 1: something that a scan depends on changed */
int manager_scan(Manager *m);

/* host.c: kernel and health; part of manager_observe_cpus(). True: something that a scan depends on changed. */
bool manager_observe_host(Manager *m, Depth depth);
void manager_preflight(Manager *m, UcsPreflight *ret);
void manager_say_before_load(Manager *m);
void manager_say_answer(const UcsPreflight *foretold, int answer); /* when it is another one */
int manager_watch(Manager *m);
const UcsLoadSample *manager_shown_load(Manager *m);

/* persist.c: state and history on disk. */
void manager_load_state(Manager *m);
void manager_save_state(Manager *m);
void manager_save_history(Manager *m);
void manager_close_intent(Manager *m); /* unless something could not be saved: then it is all that the next start will know */

/* recover.c: what a start finds of a life before. */
bool recover_intent(Manager *m); /* true: the revisions of this boot may be ours, from a load that was not seen to its end */
void recover_seen(Manager *m, bool ours); /* has a revision changed within this boot, and was it us? */

/* probation.c: after a load. */
void probation_begin(Manager *m, const uint8_t digest[static UCS_DIGEST_SIZE], uint64_t when_usec);
void probation_start(Manager *m); /* the daemon starts */
void probation_stop(Manager *m);  /* and is stopped in order */
void probation_arm(Manager *m);

/* apply.c: one load, from the decision to its end. */
int apply_begin(Manager *m, const UcsDecision *d);
Apply *apply_free(Apply *a);

/* trust.c: what rules and cautions say beside blocking. */
struct LogFields;
void manager_advise(Manager *m); /* what is shown, and in the journal what is new of it */
void manager_say_allowed(Manager *m, const struct LogFields *fields); /* a load begins: the blocks that an allow of the administrator puts aside */
void manager_note_risks(Manager *m, const UcsCandidate *k, uint32_t from, char **note); /* a load ended: add to its note what it leaves behind */

/* bus.c and its rooms. */
int manager_bus_setup(Manager *m);
int manager_publish(Manager *m); /* signal what changed */
void manager_publish_stall(Manager *m);
Published *published_free(Published *p);

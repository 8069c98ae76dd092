/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What may happen now. ucs_policy_step() takes everything that is known and gives back the new state and, as data, what is to
 * be done. It has one caller (daemon/manager), keeps nothing, asks nothing and does nothing: its tests are tables.
 *
 * Level-triggered: the answer depends on the present alone. A timer that fires is never itself a permission; the caller
 * looks at the world afresh and steps again. */

#include "core/policy/blocker.h"
#include "core/policy/candidate.h"
#include "core/policy/config.h"
#include "core/policy/health.h"
#include "core/policy/kernel.h"
#include "core/policy/probation.h"
#include "core/policy/result.h"
#include "core/policy/rules.h"

/* D-Bus: State. */
typedef enum UcsLife {
        UCS_LIFE_CURRENT,     /* "current": nothing newer than what runs */
        UCS_LIFE_PENDING,     /* "pending": something newer, waiting */
        UCS_LIFE_APPLYING,    /* "applying" */
        UCS_LIFE_FAILED,      /* "failed": it was tried, and will not be again by itself */
        UCS_LIFE_UNSUPPORTED, /* "unsupported": nothing can be loaded late here */
        _UCS_LIFE_MAX,
        _UCS_LIFE_INVALID = -EINVAL,
} UcsLife;

const char *ucs_life_to_string(UcsLife l);
UcsLife ucs_life_from_string(const char *s);

/* Someone's wish, from Apply() to its signal. */
typedef struct UcsRequest {
        uint32_t id; /* 0: there is none */
        uint64_t flags;
        uint32_t uid;
} UcsRequest;

/* A file that was refused or failed here, by its bytes. */
typedef struct UcsRejection {
        uint8_t digest[UCS_DIGEST_SIZE];
        UcsResult result;
        uint64_t when_usec;
        uint64_t until_usec; /* `busy`: when to try again; 0: until acknowledged */
        bool suspect;        /* the machine went down, or misbehaved, with this file: suspect-crash instead of rejected */
} UcsRejection;

#define UCS_REJECTIONS_MAX 64

typedef struct UcsForecast {
        uint64_t low_nsec, high_nsec; /* UCS_UNKNOWN: no forecast */
} UcsForecast;

/* The present, observed at one moment. */
typedef struct UcsWorld {
        uint64_t realtime_usec; /* CLOCK_REALTIME: windows, deadlines */
        uint64_t boottime_usec; /* CLOCK_BOOTTIME: settle time, quiet time */
        const UcsMachine *machine;
        const UcsScan *scan;                     /* NULL: not scanned yet */
        uint64_t firmware_changed_boottime_usec; /* the last event in the firmware directories; 0: none */
        const UcsLoadSample *load;               /* a new sample, NULL: none this time */
        UcsRequest request;
        uint64_t spread_seed;
        UcsForecast forecast;
        const char *config_error; /* NULL: the configuration is right */
        const UcsKernel *kernel;  /* these four may be NULL: nothing is known */
        const UcsHealth *health;
        const UcsRuleSet *rules;
        const UcsHost *host;
        bool applying;            /* a load is under way */
} UcsWorld;

/* A group as it was last seen, so that a load by somebody else is noticed. */
typedef struct UcsSeen {
        uint32_t signature, platform_mask, revision;
} UcsSeen;

#define UCS_SEEN_MAX 32

/* The newest revision that the files had for a group at the last look: the vendor takes one back by shipping less. */
typedef struct UcsOnDisk {
        uint32_t signature, platform_mask, revision; /* revision 0: nothing was there */
} UcsOnDisk;

/* Boots in a row that came up older than the last late load, although the early image had the revision (outlook.h). */
typedef struct UcsEarlyBoots {
        uint32_t broken;
        char boot_id[40]; /* the boot that was judged last */
} UcsEarlyBoots;

/* What is remembered from step to step. What was pending since when, the rejections, the probation and what was
 * last seen, in the CPUs and on disk, are kept on disk; the rest belongs to this run of
 * the daemon. Start with all zero. */
typedef struct UcsState {
        uint64_t pending_since_usec; /* 0: nothing is pending */
        uint8_t pending_digest[UCS_DIGEST_SIZE];
        uint32_t pending_revision;
        bool overdue;
        char bad_text[384];             /* the complaint about a file that was reported last, so that it is reported once */
        uint64_t scanned_boottime_usec; /* the change in the directories that the last scan saw */
        UcsBlockerSet blocked;          /* as last reported */
        UcsLoadTracker load;
        UcsRejection rejections[UCS_REJECTIONS_MAX];
        size_t n_rejections;
        UcsProbation probation;
        UcsSeen seen[UCS_SEEN_MAX];
        size_t n_seen;
        char seen_boot[40]; /* the boot in which that was */
        UcsOnDisk on_disk[UCS_SEEN_MAX];
        size_t n_on_disk;
        UcsEarlyBoots early_boots;
} UcsState;

/* Why, for one blocker. */
typedef struct UcsBlockerReport {
        UcsBlocker blocker;
        char sentence[384];
        uint64_t clears_usec; /* CLOCK_REALTIME at which it can clear; 0: unknown */
} UcsBlockerReport;

/* A revision that was on disk and is not any more: the file has an older one, none for these CPUs, or is gone. */
typedef struct UcsDowngrade {
        const UcsCandidate *now; /* in the world's scan; `on_disk` is what there is now */
        uint32_t from;
} UcsDowngrade;

/* What the caller is to do, each bit once a step. */
typedef enum UcsEffects {
        UCS_EFFECT_SCAN = 1U << 0,               /* the directories have settled: read the firmware and step again */
        UCS_EFFECT_CANDIDATE_FOUND = 1U << 1,    /* journal, signal */
        UCS_EFFECT_CANDIDATE_REJECTED = 1U << 2, /* journal: a bad file, once a file */
        UCS_EFFECT_DEFERRED = 1U << 3,           /* journal: the set of blockers changed */
        UCS_EFFECT_OVERDUE = 1U << 4,            /* journal: the deadline has passed */
        UCS_EFFECT_APPLY = 1U << 5,              /* begin the load */
        UCS_EFFECT_SETTLE_REQUEST = 1U << 6,     /* a request can end without a load: nothing is pending any more */
        UCS_EFFECT_SAVE = 1U << 7,               /* the state that is kept on disk changed */
        UCS_EFFECT_PACKAGE_DOWNGRADED = 1U << 8, /* journal: `downgrades` */
} UcsEffects;

typedef struct UcsDecision {
        UcsLife life;
        unsigned effects; /* UcsEffects */
        UcsBlockerSet blocked;    /* the whole set, as published */
        UcsBlockerSet holding;    /* less what the request overrides: empty means go */
        UcsBlockerReport reports[_UCS_BLOCKER_MAX];
        size_t n_reports;
        UcsDowngrade downgrades[UCS_SEEN_MAX]; /* one a group, with UCS_EFFECT_PACKAGE_DOWNGRADED */
        size_t n_downgrades;
        const UcsCandidate *candidate; /* in the world's scan; NULL: nothing to load */
        bool in_window, load_quiet;
        UcsInterval window;     /* the one that is open or comes next, after spread; start 0: none */
        uint64_t earliest_usec; /* the latest of the known clearing times; 0: unknown */

        /* When to look again; 0: not by the clock. */
        uint64_t wake_realtime_usec, wake_boottime_usec;
        bool want_load_samples; /* read the load every UCS_LOAD_SAMPLE_USEC */
        bool want_cpu_poll;     /* look every few seconds whether a CPU came online, or a shutdown was cancelled */
} UcsDecision;

/* The only place where it is decided what happens. `state` is replaced by the new one. */
void ucs_policy_step(const UcsConfig *config, UcsState *state, const UcsWorld *world, UcsDecision *ret);

/* The same judgement without consequence: what would hold a request with these flags back. For CanApply and Explain. */
void ucs_policy_explain(const UcsConfig *config, const UcsState *state, const UcsWorld *world, uint64_t flags,
                        UcsDecision *ret);

/* The same for the load that is about to begin, with the world as it has just been observed again. */
void ucs_policy_confirm(const UcsConfig *config, const UcsState *state, const UcsWorld *world, UcsDecision *ret);

/* The interval in which this host may begin (after spread and margin) that holds `at_usec` or comes next; `ret_blackout`: its beginning lies
 * in a blackout. -ENOENT: none. */
int ucs_policy_next_window(const UcsConfig *config, const UcsWorld *world, uint64_t at_usec, UcsInterval *ret, bool *ret_blackout);

/* A new scan found a file bad that held a candidate before: keep the candidate, with the complaint in its `error`, so that what is pending stays
 * pending (and cannot be loaded: refusal-predicted) until the file is right again or gone. 0 or -ENOMEM. */
int ucs_scan_carry_over(UcsScan *scan, const UcsScan *before);

/* Compare what the files have with what they had, and remember it: whatever went back is in `ret` (room for UCS_SEEN_MAX), their number is
 * returned. A file that is bad says nothing. `*ret_changed`: `state` did. */
size_t ucs_state_note_disk(UcsState *state, const UcsScan *scan, UcsDowngrade *ret, bool *ret_changed);

/* Remember that a file was refused or failed; the oldest entry makes room. */
void ucs_state_reject(UcsState *state, const UcsRejection *r);
const UcsRejection *ucs_state_rejection(const UcsState *state, const uint8_t digest[static UCS_DIGEST_SIZE]);
bool ucs_state_acknowledge(UcsState *state, const uint8_t digest[static UCS_DIGEST_SIZE]); /* false: not among them */

/* Text for the disk, with a format version; see record/history.h for the errors. */
int ucs_state_format(const UcsState *state, char **ret, size_t *ret_size);
int ucs_state_parse(const char *text, size_t size, UcsState *ret, UcsError *e);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The decision as a table: a world in, a set of blockers, a life and effects out. The world of a row is Tuesday, 2026-12-01 12:00:00 UTC, an
 * Intel machine of 4 CPUs that runs 0x100, and a file with 0x110, minimum revision 0x100, found a day ago; a row says what differs. */

#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "core/policy/policy.h"
#include "ucs-test.h"

#define NOON UINT64_C(1796126400000000)
#define BOOT (10 * USEC_PER_DAY)

typedef struct Row {
        const char *name;
        const char *windows[3], *blackout;
        UcsRequire require;
        bool manual, advisory, config_wrong, no_file, not_newer, bad_file, applying;
        UcsTrust trust;
        uint32_t min_revision, running, highest;
        const char *offline;
        UcsVendor vendor;
        uint64_t changed_ago_usec; /* by inotify */
        uint64_t quiet_for_usec;   /* 0: loud */
        uint64_t request_flags;
        bool request;
        UcsResult rejected;
        uint64_t rejected_for_usec, rejected_ahead_usec; /* until when, and by a clock that was so far ahead */
        uint64_t pending_for_usec;
        uint64_t forecast_nsec;
        const char *budget;    /* MaxStallMSec= */
        UcsHealth health;
        const char *isolated, *nohz_full;
        bool latency_allowed, force_minrev;
        UcsKernelGeneration kernel;
        /* expected */
        const char *blocked;
        UcsLife life;
        unsigned effects, not_effects;
        uint64_t earliest_usec;
        bool want_load, want_cpu;
} Row;

static int no_zone(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        if (*name)
                return ucs_error_set(e, -ENOENT, "no zone '%s'", name);
        *ret = ucs_zone_utc();
        return 0;
}

typedef struct Setting {
        UcsConfig *config;
        UcsMachine machine;
        UcsKernel kernel;
        UcsHealth health;
        UcsCpu cpus[4];
        UcsGroup groups[2];
        UcsScan scan;
        UcsCandidate candidates[2];
        UcsState state;
        UcsWorld world;
} Setting;

static void assign(UcsConfig *c, const char *section, const char *key, const char *value) {
        UcsZoneSource zones = { no_zone, NULL };
        UcsError e = {};

        cr_assert(ucs_config_assign(c, section, key, value, "test:1", &zones, &e) == 0, "%s=%s: %s", key, value, e.text);
}

static void setting_done(Setting *s) {
        ucs_config_free(s->config);
}

static void setting_make(Setting *s, const Row *r) {
        UcsZoneSource zones = { no_zone, NULL };
        UcsError e = {};

        *s = (Setting){};
        cr_assert_eq(ucs_config_new(&s->config), 0);
        assign(s->config, "Schedule", "Window", "");
        for (size_t i = 0; i < ELEMENTSOF(r->windows) && r->windows[i]; i++)
                assign(s->config, "Schedule", "Window", r->windows[i]);
        if (r->blackout)
                assign(s->config, "Schedule", "Blackout", r->blackout);
        assign(s->config, "Schedule", "SpreadSec", "0");
        assign(s->config, "Schedule", "SettleSec", "30s");
        assign(s->config, "Schedule", "DeadlineSec", "14d");
        assign(s->config, "Schedule", "Require", r->require == UCS_REQUIRE_ANY ? "any" : "all");
        assign(s->config, "Apply", "Automatic", r->manual ? "no" : "yes");
        assign(s->config, "Apply", "Trust", ucs_trust_to_string(r->trust));
        if (r->budget)
                assign(s->config, "Apply", "MaxStallMSec", r->budget);
        if (r->latency_allowed)
                assign(s->config, "Apply", "LatencyCritical", "allow");
        cr_assert_eq(ucs_config_finish(s->config, &zones, &e), 0, "%s", e.text);

        for (unsigned i = 0; i < 4; i++)
                s->cpus[i] = (UcsCpu){ .cpu = i, .signature = 0x906eb, .platform_mask = 2, .revision = r->running ?: 0x100, .package = 0, .core = i };
        s->groups[0] = (UcsGroup){ 0x906eb, 2, 4, r->running ?: 0x100, r->highest ?: (r->running ?: 0x100) };
        s->machine = (UcsMachine){ .vendor = r->vendor ?: UCS_VENDOR_INTEL, .support = r->advisory ? UCS_SUPPORT_ADVISORY : UCS_SUPPORT_LATE_LOAD,
                                   .reason = r->advisory ? UCS_REASON_KERNEL_OPTION : UCS_REASON_NONE, .cpus = s->cpus, .n_cpus = 4,
                                   .groups = s->groups, .n_groups = 1 };
        if (r->offline) {
                UcsCpuSet *set = *r->offline == 's' ? &s->machine.offline_siblings : &s->machine.offline_primaries;

                cr_assert_eq(ucs_cpuset_parse(r->offline + (*r->offline == 's'), set, NULL), 0);
        }

        cr_assert_eq(ucs_cpuset_parse(r->isolated ?: "", &s->machine.isolated, NULL), 0);
        cr_assert_eq(ucs_cpuset_parse(r->nohz_full ?: "", &s->machine.nohz_full, NULL), 0);
        s->kernel = (UcsKernel){ .generation = r->kernel, .force_minrev = r->force_minrev };
        s->health = r->health;

        s->candidates[0] = (UcsCandidate){ .finding = r->no_file ? UCS_FOUND_NOTHING : r->not_newer ? UCS_FOUND_NOT_NEWER : r->bad_file ? UCS_FOUND_BAD : UCS_FOUND_NEWER,
                                           .signature = 0x906eb, .platform_mask = 2, .path = r->no_file ? NULL : (char *) "/lib/firmware/intel-ucode/06-9e-0b",
                                           .digest = { 1, 2, 3 }, .changed_usec = NOON - USEC_PER_DAY };
        if (!r->no_file && !r->bad_file)
                s->candidates[0].update = (UcsUpdate){ .vendor = UCS_VENDOR_INTEL, .signature = 0x906eb, .platform_mask = 2, .revision = 0x110,
                                                       .min_revision = r->min_revision == 1 ? 0 : r->min_revision ?: 0x100 };
        if (r->bad_file)
                (void) ucs_error_set(&s->candidates[0].error, -EBADMSG, "checksum is wrong");
        s->scan = (UcsScan){ s->candidates, 1 };

        if (r->quiet_for_usec > 0) {
                s->state.load.quiet_since_boottime_usec = BOOT - r->quiet_for_usec;
                s->state.load.last = (UcsLoadSample){ .valid = true, .metric = UCS_LOAD_PRESSURE, .value_ppm = 1000, .boottime_usec = BOOT };
        }
        if (r->rejected != UCS_RESULT_NONE)
                ucs_state_reject(&s->state, &(UcsRejection){ .digest = { 1, 2, 3 }, .result = r->rejected, .when_usec = NOON - 1 + r->rejected_ahead_usec,
                                                             .until_usec = r->rejected_for_usec ? NOON + r->rejected_ahead_usec + r->rejected_for_usec : 0 });
        if (r->pending_for_usec > 0) {
                s->state.pending_since_usec = NOON - r->pending_for_usec;
                memcpy(s->state.pending_digest, s->candidates[0].digest, UCS_DIGEST_SIZE);
                s->state.pending_revision = 0x110;
        }
        s->world = (UcsWorld){ .realtime_usec = NOON, .boottime_usec = BOOT, .machine = &s->machine, .scan = &s->scan,
                               .firmware_changed_boottime_usec = r->changed_ago_usec ? BOOT - r->changed_ago_usec : 0,
                               .request = { .id = r->request ? 7 : 0, .flags = r->request_flags },
                               .forecast = { r->forecast_nsec, r->forecast_nsec }, .config_error = r->config_wrong ? "x.conf:3: no" : NULL,
                               .kernel = &s->kernel, .health = &s->health, .applying = r->applying };
        s->state.scanned_boottime_usec = s->world.firmware_changed_boottime_usec;
}

static void names(const UcsDecision *d, UcsBlockerSet set, char *buf, size_t size) {
        buf[0] = '\0';
        for (size_t i = 0; i < d->n_reports; i++)
                if (set & ucs_blocker_bit(d->reports[i].blocker))
                        (void) snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", *buf ? " " : "", ucs_blocker_to_string(d->reports[i].blocker));
}

#define OPEN "*-*-* 11:00 for 3h"
#define SHUT "*-*-* 02:00 for 2h"
#define QUIET .quiet_for_usec = 2 * USEC_PER_MINUTE
#define NIGHT (NOON + 14 * USEC_PER_HOUR) /* 02:00 of the next day */

static const Row rows[] = {
        { "all is open", { OPEN }, QUIET, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY | UCS_EFFECT_CANDIDATE_FOUND | UCS_EFFECT_SAVE, .earliest_usec = NOON },
        { "nothing newer", { OPEN }, QUIET, .not_newer = true, .blocked = "", .life = UCS_LIFE_CURRENT, .not_effects = ~0U },
        { "no file at all", { OPEN }, QUIET, .no_file = true, .blocked = "", .life = UCS_LIFE_CURRENT, .not_effects = ~0U },
        { "outside the window", { SHUT }, QUIET, .blocked = "window load", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_DEFERRED, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NIGHT },
        { "no window at all", { NULL }, QUIET, .blocked = "window load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = 0 },
        { "the second window is open", { SHUT, OPEN }, QUIET, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "loud in the window", { OPEN }, .blocked = "load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON, .want_load = true },
        { "loud outside: the load is not watched", { SHUT }, .blocked = "window load", .life = UCS_LIFE_PENDING, .earliest_usec = NIGHT },
        { "quiet, but not for long enough", { OPEN }, .quiet_for_usec = 10 * USEC_PER_SEC, .blocked = "load", .life = UCS_LIFE_PENDING, .earliest_usec = NOON + 50 * USEC_PER_SEC, .want_load = true },
        { "any: the window is enough", { OPEN }, .require = UCS_REQUIRE_ANY, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "any: quiet is enough", { SHUT }, .require = UCS_REQUIRE_ANY, QUIET, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "any: neither, and the load is watched", { SHUT }, .require = UCS_REQUIRE_ANY, .blocked = "window load", .life = UCS_LIFE_PENDING, .earliest_usec = NIGHT, .want_load = true },
        { "any: a blackout never is", { OPEN }, "*-*-* 10:00 for 3h", .require = UCS_REQUIRE_ANY, QUIET, .blocked = "blackout", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + USEC_PER_HOUR },
        { "a blackout in an open window", { OPEN }, "*-*-* 10:00 for 3h", QUIET, .blocked = "blackout load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + USEC_PER_HOUR },
        { "the blackout outlasts the window", { OPEN }, "2026-12-01 10:00 for 10h", QUIET, .blocked = "blackout load", .life = UCS_LIFE_PENDING, .earliest_usec = NOON + 23 * USEC_PER_HOUR },
        { "too late in the window for the forecast", { "*-*-* 11:00 for 1h 1min" }, QUIET, .forecast_nsec = 58 * NSEC_PER_SEC, .budget = "60000", .blocked = "window load", .life = UCS_LIFE_PENDING, .earliest_usec = NOON + 23 * USEC_PER_HOUR },
        { "the window ends in half a minute", { "*-*-* 11:00 for 3620s" }, QUIET, .blocked = "window load", .life = UCS_LIFE_PENDING, .earliest_usec = NOON + 23 * USEC_PER_HOUR },
        { "manual", { OPEN }, QUIET, .manual = true, .blocked = "manual load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = 0 },
        { "manual, and someone asked", { OPEN }, QUIET, .manual = true, .request = true, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "a request waits for the window", { SHUT }, QUIET, .request = true, .blocked = "window load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY | UCS_EFFECT_SETTLE_REQUEST, .earliest_usec = NIGHT },
        { "now: schedule and load put aside", { SHUT }, .request = true, .request_flags = 3, .blocked = "window load", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "schedule alone put aside", { SHUT }, .request = true, .request_flags = 1, .blocked = "window load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON, .want_load = true },
        { "any: putting one aside is enough", { SHUT }, .require = UCS_REQUIRE_ANY, .request = true, .request_flags = 2, .blocked = "window load", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + 14 * USEC_PER_HOUR * 0 },
        { "changed a moment ago", { OPEN }, QUIET, .changed_ago_usec = 10 * USEC_PER_SEC, .blocked = "settle load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + 20 * USEC_PER_SEC },
        { "settled", { OPEN }, QUIET, .changed_ago_usec = 31 * USEC_PER_SEC, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "no minimum revision", { OPEN }, QUIET, .min_revision = 1, .blocked = "minrev load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = 0 },
        { "minimum revision not met", { OPEN }, QUIET, .running = 0xff, .blocked = "minrev load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = 0 },
        { "the lowest CPU decides", { OPEN }, QUIET, .running = 0xff, .highest = 0x100, .blocked = "minrev unhealthy load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "any trust", { OPEN }, QUIET, .min_revision = 1, .trust = UCS_TRUST_ANY, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "nobody approves", { OPEN }, QUIET, .trust = UCS_TRUST_APPROVED, .blocked = "unapproved load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "trust put aside", { OPEN }, QUIET, .min_revision = 1, .request = true, .request_flags = 16, .blocked = "minrev", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "a request that nothing will help", { OPEN }, QUIET, .min_revision = 1, .request = true, .blocked = "minrev load", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_SETTLE_REQUEST, .not_effects = UCS_EFFECT_APPLY },
        { "a request with nothing to do", { OPEN }, QUIET, .not_newer = true, .request = true, .blocked = "", .life = UCS_LIFE_CURRENT, .effects = UCS_EFFECT_SETTLE_REQUEST, .not_effects = UCS_EFFECT_APPLY },
        { "an offline primary", { OPEN }, QUIET, .offline = "3", .blocked = "cpus-offline load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .want_cpu = true },
        { "an offline sibling on Intel", { OPEN }, QUIET, .offline = "s3", .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "an offline sibling on AMD", { OPEN }, QUIET, .offline = "s3", .vendor = UCS_VENDOR_AMD, .blocked = "cpus-offline load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .want_cpu = true },
        { "offline, and outside the window: nobody polls... yet the CPU may come", { SHUT }, QUIET, .offline = "3", .blocked = "cpus-offline window load", .life = UCS_LIFE_PENDING, .want_cpu = true },
        { "no force brings a CPU online", { OPEN }, QUIET, .offline = "3", .request = true, .request_flags = 255 & ~32, .blocked = "cpus-offline load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .want_cpu = true },
        { "advisory", { OPEN }, QUIET, .advisory = true, .blocked = "unsupported load", .life = UCS_LIFE_UNSUPPORTED, .not_effects = UCS_EFFECT_APPLY },
        { "advisory without a file", { OPEN }, QUIET, .advisory = true, .no_file = true, .blocked = "unsupported", .life = UCS_LIFE_UNSUPPORTED, .not_effects = UCS_EFFECT_APPLY },
        { "configuration wrong at start", { OPEN }, QUIET, .config_wrong = true, .request = true, .request_flags = 255 & ~32, .blocked = "config-invalid load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "refused before", { OPEN }, QUIET, .rejected = UCS_RESULT_REFUSED, .blocked = "rejected load", .life = UCS_LIFE_FAILED, .not_effects = UCS_EFFECT_APPLY },
        { "io-error before, and all force", { OPEN }, QUIET, .rejected = UCS_RESULT_IO_ERROR, .request = true, .request_flags = 255 & ~32, .blocked = "rejected load", .life = UCS_LIFE_FAILED, .effects = UCS_EFFECT_SETTLE_REQUEST, .not_effects = UCS_EFFECT_APPLY },
        { "busy before, until tonight", { OPEN }, QUIET, .rejected = UCS_RESULT_BUSY, .rejected_for_usec = USEC_PER_HOUR, .blocked = "rejected load", .life = UCS_LIFE_FAILED, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + USEC_PER_HOUR },
        { "busy before, by a clock a minute ahead", { OPEN }, QUIET, .rejected = UCS_RESULT_BUSY, .rejected_for_usec = USEC_PER_HOUR, .rejected_ahead_usec = USEC_PER_MINUTE, .blocked = "rejected load", .life = UCS_LIFE_FAILED, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + USEC_PER_HOUR + USEC_PER_MINUTE },
        { "busy before, by a clock years ahead", { OPEN }, QUIET, .rejected = UCS_RESULT_BUSY, .rejected_for_usec = USEC_PER_HOUR, .rejected_ahead_usec = 3000 * USEC_PER_DAY, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "refused before, by a clock years ahead", { OPEN }, QUIET, .rejected = UCS_RESULT_REFUSED, .rejected_ahead_usec = 3000 * USEC_PER_DAY, .blocked = "rejected load", .life = UCS_LIFE_FAILED, .not_effects = UCS_EFFECT_APPLY },
        { "a bad file", { OPEN }, QUIET, .bad_file = true, .blocked = "", .life = UCS_LIFE_CURRENT, .effects = UCS_EFFECT_CANDIDATE_REJECTED, .not_effects = UCS_EFFECT_APPLY },
        { "a bad file, the kernel's own answer wanted", { OPEN }, QUIET, .bad_file = true, .request = true, .request_flags = UCS_APPLY_DESPITE_PREDICTION | UCS_APPLY_IGNORE_TRUST, .blocked = "refusal-predicted", .life = UCS_LIFE_CURRENT, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "the same file, the kernel's own answer wanted", { OPEN }, QUIET, .not_newer = true, .request = true, .request_flags = UCS_APPLY_DESPITE_PREDICTION, .blocked = "refusal-predicted", .life = UCS_LIFE_CURRENT, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "overdue: an alert, no gate falls", { SHUT }, .pending_for_usec = 15 * USEC_PER_DAY, .blocked = "window load", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_OVERDUE | UCS_EFFECT_SAVE, .not_effects = UCS_EFFECT_APPLY | UCS_EFFECT_CANDIDATE_FOUND, .earliest_usec = NIGHT },
        { "a taint by a machine check", { OPEN }, QUIET, .health = { .tainted_known = true, .tainted = 1 << 4 }, .blocked = "unhealthy load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "a taint by an oops, among others", { OPEN }, QUIET, .health = { .tainted_known = true, .tainted = 1 << 7 | 1 << 0 | 1 << 12 }, .blocked = "unhealthy load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "a taint by a lockup", { OPEN }, QUIET, .health = { .tainted_known = true, .tainted = 1 << 14 }, .blocked = "unhealthy load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "taints that do not matter, and that of an earlier load", { OPEN }, QUIET, .health = { .tainted_known = true, .tainted = (1 << 18 | 0x7fff) & ~(1 << 4 | 1 << 7 | 1 << 14) }, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "a machine check that left no taint", { OPEN }, QUIET, .health = { .machine_checks = 1 }, .blocked = "unhealthy load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "nobody counts machine checks", { OPEN }, QUIET, .health = { .machine_checks = UCS_UNKNOWN }, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "mixed revisions", { OPEN }, QUIET, .running = 0x100, .highest = 0x108, .blocked = "unhealthy load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "isolated CPUs", { OPEN }, QUIET, .isolated = "2-3", .blocked = "latency-critical load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "CPUs without ticks", { OPEN }, QUIET, .nohz_full = "1", .blocked = "latency-critical load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "a real-time kernel", { OPEN }, QUIET, .health = { .realtime_kernel = true }, .blocked = "latency-critical load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "all of that, allowed", { OPEN }, QUIET, .isolated = "2-3", .nohz_full = "1", .health = { .realtime_kernel = true }, .latency_allowed = true, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "booted ten minutes ago", { OPEN }, QUIET, .health = { .uptime_usec = 10 * USEC_PER_MINUTE }, .blocked = "just-booted load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON + 20 * USEC_PER_MINUTE },
        { "booted half an hour ago", { OPEN }, QUIET, .health = { .uptime_usec = 30 * USEC_PER_MINUTE }, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "a reboot in an hour", { OPEN }, QUIET, .health = { .shutting_down = true, .shutdown_usec = NOON + USEC_PER_HOUR }, .blocked = "shutdown load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .want_cpu = true },
        { "no force loads into a reboot", { OPEN }, QUIET, .health = { .shutting_down = true }, .request = true, .request_flags = 255 & ~32, .blocked = "shutdown load", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_SETTLE_REQUEST, .not_effects = UCS_EFFECT_APPLY, .want_cpu = true },
        { "a reboot has begun", { OPEN }, QUIET, .health = { .shutdown_begun = true }, .blocked = "shutdown load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY, .want_cpu = true },
        { "nobody polls for the end of a sleep", { OPEN }, QUIET, .health = { .going_to_sleep = true }, .blocked = "sleep load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "a request waits until it is over", { OPEN }, QUIET, .health = { .going_to_sleep = true }, .request = true, .request_flags = 255 & ~32, .blocked = "sleep load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY | UCS_EFFECT_SETTLE_REQUEST },
        { "the state is volatile", { OPEN }, QUIET, .health = { .state_volatile = true, .state_filesystem = "tmpfs" }, .blocked = "state-volatile load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "just within the budget", { OPEN }, QUIET, .forecast_nsec = 100 * NSEC_PER_MSEC, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "over the budget", { OPEN }, QUIET, .forecast_nsec = 100 * NSEC_PER_MSEC + 1, .blocked = "budget load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "within a larger one", { OPEN }, QUIET, .forecast_nsec = 360 * NSEC_PER_MSEC, .budget = "500", .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "no forecast", { OPEN }, QUIET, .forecast_nsec = UCS_UNKNOWN, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "one boot without the early image", { OPEN }, QUIET, .health = { .early_broken_boots = 1 }, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "two in a row", { OPEN }, QUIET, .health = { .early_broken_boots = 2 }, .blocked = "early-loading-broken load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "health put aside", { OPEN }, QUIET, .isolated = "2", .forecast_nsec = NSEC_PER_SEC, .health = { .tainted_known = true, .tainted = 1 << 4, .machine_checks = 3, .uptime_usec = 1, .state_volatile = true, .early_broken_boots = 2 }, .request = true, .request_flags = UCS_APPLY_IGNORE_HEALTH,
          .blocked = "unhealthy state-volatile early-loading-broken latency-critical budget just-booted", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "the kernel insists on a minimum revision that is not met", { OPEN }, QUIET, .kernel = UCS_KERNEL_MODERN, .force_minrev = true, .min_revision = 0x101, .trust = UCS_TRUST_ANY, .blocked = "refusal-predicted load", .life = UCS_LIFE_PENDING, .not_effects = UCS_EFFECT_APPLY },
        { "and somebody wants to hear it", { OPEN }, QUIET, .kernel = UCS_KERNEL_MODERN, .force_minrev = true, .min_revision = 0x101, .trust = UCS_TRUST_ANY, .request = true, .request_flags = UCS_APPLY_DESPITE_PREDICTION, .blocked = "refusal-predicted", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "an old kernel knows none", { OPEN }, QUIET, .kernel = UCS_KERNEL_OLD, .force_minrev = true, .min_revision = 0x101, .trust = UCS_TRUST_ANY, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "an old kernel loads AMD without siblings", { OPEN }, QUIET, .kernel = UCS_KERNEL_OLD, .offline = "s3", .vendor = UCS_VENDOR_AMD, .blocked = "", .life = UCS_LIFE_PENDING, .effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
        { "a load is under way", { OPEN }, QUIET, .applying = true, .blocked = "", .life = UCS_LIFE_APPLYING, .not_effects = UCS_EFFECT_APPLY, .earliest_usec = NOON },
};

ucs_test(policy, table) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                const Row *r = &rows[i];
                char blocked[256];
                UcsDecision d;
                Setting s;

                setting_make(&s, r);
                ucs_policy_step(s.config, &s.state, &s.world, &d);
                names(&d, d.blocked, blocked, sizeof(blocked));
                cr_expect_str_eq(blocked, r->blocked, "%s: blocked by '%s', expected '%s'", r->name, blocked, r->blocked);
                cr_expect_eq(d.life, r->life, "%s: '%s', expected '%s'", r->name, ucs_life_to_string(d.life), ucs_life_to_string(r->life));
                cr_expect_eq(d.effects & r->effects, r->effects, "%s: effects 0x%x, expected 0x%x", r->name, d.effects, r->effects);
                cr_expect_eq(d.effects & r->not_effects, 0, "%s: effects 0x%x, none of 0x%x expected", r->name, d.effects, r->not_effects);
                cr_expect_eq(d.want_load_samples, r->want_load, "%s: the load is %swatched", r->name, d.want_load_samples ? "" : "not ");
                cr_expect_eq(d.want_cpu_poll, r->want_cpu, "%s: CPUs are %spolled", r->name, d.want_cpu_poll ? "" : "not ");
                if (d.candidate && !r->advisory && !r->config_wrong)
                        cr_expect_eq(d.earliest_usec, r->earliest_usec, "%s: earliest %lu, expected %lu", r->name, d.earliest_usec, r->earliest_usec);
                for (size_t k = 0; k < d.n_reports; k++)
                        cr_expect_neq(d.reports[k].sentence[0], '\0', "%s: no sentence for %s", r->name, ucs_blocker_to_string(d.reports[k].blocker));
                setting_done(&s);
        }
}

/* Level-triggered: the same world a second time says nothing new, and an idle machine wants no wake-up. */
ucs_test(policy, second_step_is_silent) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                UcsDecision d;
                Setting s;

                setting_make(&s, &rows[i]);
                ucs_policy_step(s.config, &s.state, &s.world, &d);
                ucs_policy_step(s.config, &s.state, &s.world, &d);
                cr_expect_eq(d.effects & ~(unsigned) (UCS_EFFECT_APPLY | UCS_EFFECT_SETTLE_REQUEST), 0, "%s: effects 0x%x again", rows[i].name, d.effects);
                if (!d.candidate) {
                        cr_expect_eq(d.wake_realtime_usec, 0, "%s: an idle daemon is woken", rows[i].name);
                        cr_expect_eq(d.wake_boottime_usec, 0, "%s: an idle daemon is woken", rows[i].name);
                        cr_expect_not(d.want_load_samples || d.want_cpu_poll, "%s: an idle daemon polls", rows[i].name);
                } else
                        cr_expect(d.wake_realtime_usec == 0 || d.wake_realtime_usec > NOON, "%s: woken in the past", rows[i].name);
                setting_done(&s);
        }
}

/* explain() leaves no trace, and says what a step with such a request does. */
ucs_test(policy, explain_changes_nothing) {
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                UcsDecision d;
                UcsState before;
                Setting s;

                setting_make(&s, &rows[i]);
                memcpy(&before, &s.state, sizeof(before)); /* with its padding */
                ucs_policy_explain(s.config, &s.state, &s.world, rows[i].request_flags, &d);
                cr_expect_eq(memcmp(&before, &s.state, sizeof(before)), 0, "%s", rows[i].name);
                cr_expect_eq(d.effects, 0, "%s", rows[i].name);
                cr_expect_eq(d.blocked & ucs_blocker_bit(UCS_BLOCKER_MANUAL), 0, "%s: a request is never 'manual'", rows[i].name);
                setting_done(&s);
        }
}

/* The first scan at once, later ones when the directories have been quiet. */
ucs_test(policy, scans) {
        Row r = { "scan", { SHUT }, .not_newer = true };
        UcsDecision d;
        Setting s;

        setting_make(&s, &r);
        s.world.scan = NULL;
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.effects, UCS_EFFECT_SCAN);

        s.world.scan = &s.scan;
        s.world.firmware_changed_boottime_usec = BOOT;
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.effects, 0);
        cr_expect_eq(d.wake_boottime_usec, BOOT + 30 * USEC_PER_SEC, "woken when it has settled");

        s.world.boottime_usec = BOOT + 20 * USEC_PER_SEC; /* another event: the quiet time starts again */
        s.world.firmware_changed_boottime_usec = BOOT + 20 * USEC_PER_SEC;
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.wake_boottime_usec, BOOT + 50 * USEC_PER_SEC);

        s.world.boottime_usec = BOOT + 50 * USEC_PER_SEC;
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.effects, UCS_EFFECT_SCAN);
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.effects, 0, "scanned once");
        setting_done(&s);
}

/* A file that goes bad keeps what was pending, blocked; right again, it goes on. */
ucs_test(policy, bad_file_keeps_the_candidate) {
        Row r = { "carry", { OPEN }, QUIET, .pending_for_usec = USEC_PER_HOUR };
        UcsCandidate bad = { .finding = UCS_FOUND_BAD, .signature = 0x906eb, .platform_mask = 2 };
        UcsScan now = { &bad, 1 };
        UcsDecision d;
        Setting s;

        setting_make(&s, &r);
        bad.path = strdup("/lib/firmware/intel-ucode/06-9e-0b");
        (void) ucs_error_set(&bad.error, -EBADMSG, "/lib/firmware/intel-ucode/06-9e-0b: truncated");
        cr_assert_eq(ucs_scan_carry_over(&now, &s.scan), 0);
        cr_expect_eq(bad.finding, UCS_FOUND_NEWER);
        cr_expect_eq(bad.update.revision, 0x110U);

        s.world.scan = &now;
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.life, UCS_LIFE_PENDING, "what was pending stays so");
        cr_expect(d.blocked & ucs_blocker_bit(UCS_BLOCKER_REFUSAL_PREDICTED));
        cr_expect(d.effects & UCS_EFFECT_CANDIDATE_REJECTED);
        cr_expect_not(d.effects & UCS_EFFECT_APPLY);

        s.world.scan = &s.scan;
        ucs_policy_step(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.holding, ucs_blocker_bit(UCS_BLOCKER_LOAD), "only the quiet time starts anew");
        cr_expect(d.want_load_samples);
        free(bad.path);
        setting_done(&s);
}

/* The quiet time counts only while the load is watched. */
ucs_test(policy, quiet_time_needs_watching) {
        Row r = { "quiet", { OPEN } };
        UcsLoadSample sample = { .valid = true, .metric = UCS_LOAD_PRESSURE, .value_ppm = 10, .guest_ppm = 0 };
        UcsDecision d;
        Setting s;
        unsigned n = 0;

        setting_make(&s, &r);
        for (; n < 100; n++) {
                sample.boottime_usec = s.world.boottime_usec;
                s.world.load = &sample;
                ucs_policy_step(s.config, &s.state, &s.world, &d);
                if (d.effects & UCS_EFFECT_APPLY)
                        break;
                cr_assert(d.want_load_samples);
                s.world.boottime_usec += UCS_LOAD_SAMPLE_USEC;
                s.world.realtime_usec += UCS_LOAD_SAMPLE_USEC;
        }
        cr_expect_eq(n, 30, "60 s of quiet in samples of 2 s, got %u", n);

        /* the load itself looks once more, without a new sample */
        s.world.load = NULL;
        ucs_policy_confirm(s.config, &s.state, &s.world, &d);
        cr_expect_eq(d.holding, 0U);

        /* long after the last sample the time begins anew, and what is said is not in the past */
        for (unsigned k = 0; k < 3; k++) {
                s.world.boottime_usec += 50 * UCS_LOAD_SAMPLE_USEC;
                s.world.realtime_usec += 50 * UCS_LOAD_SAMPLE_USEC;
                ucs_policy_explain(s.config, &s.state, &s.world, 0, &d);
                cr_assert_eq(d.n_reports, 1);
                cr_expect_eq(d.reports[0].blocker, UCS_BLOCKER_LOAD);
                cr_expect_eq(d.reports[0].clears_usec, s.world.realtime_usec + s.config->quiet_usec);
        }
        setting_done(&s);
}

ucs_test(policy, tables_are_complete) {
        for (UcsBlocker b = 0; b < _UCS_BLOCKER_MAX; b++) {
                cr_expect_not_null(ucs_blocker_to_string(b), "blocker %d has no name", b);
                cr_expect_eq(ucs_blocker_from_string(ucs_blocker_to_string(b)), b);
        }
        cr_expect_eq(ucs_blocker_from_string("nonsense"), _UCS_BLOCKER_INVALID);
        cr_expect_eq(ucs_blocker_from_string(NULL), _UCS_BLOCKER_INVALID);
        cr_expect_null(ucs_blocker_to_string(_UCS_BLOCKER_MAX));
        for (unsigned i = 0; i < 8; i++) {
                uint64_t flag;

                cr_assert_not_null(ucs_apply_flag_to_string(UINT64_C(1) << i));
                cr_expect_eq(ucs_apply_flag_from_string(ucs_apply_flag_to_string(UINT64_C(1) << i), &flag), 0);
                cr_expect_eq(flag, UINT64_C(1) << i);
        }
        cr_expect_null(ucs_apply_flag_to_string(3));
        cr_expect_null(ucs_apply_flag_to_string(256));
        for (UcsLife l = 0; l < _UCS_LIFE_MAX; l++)
                cr_expect_eq(ucs_life_from_string(ucs_life_to_string(l)), l);
        for (UcsResult x = 0; x < _UCS_RESULT_MAX; x++) {
                cr_expect_eq(ucs_result_from_string(ucs_result_to_string(x)), x);
                cr_expect(x == UCS_RESULT_NONE || strlen(ucs_result_advice(x, NULL)) > 10, "no advice for '%s'", ucs_result_to_string(x));
        }
}

/* What brings up CPUs that kept an old revision depends on whether CPU 0 is one of them: the kernel goes by it. */
ucs_test(policy, advice_for_laggards) {
        static const struct {
                const char *cpus, *has, *lacks;
        } advices[] = {
                { "", "ucodectl status", "offline" },
                { "0", "request the load again", "offline" },
                { "0-1", "request the load again", "offline" },
                { "0,64", "request the load again", "offline" },
                { "1", "offline and online again", "acknowledge" },
                { "2,6-7", "offline and online again", "acknowledge" },
                { "8191", "offline and online again", "acknowledge" },
        };

        for (size_t i = 0; i < ELEMENTSOF(advices); i++) {
                const char *advice;
                UcsCpuSet set = {};

                if (*advices[i].cpus)
                        cr_assert_eq(ucs_cpuset_parse(advices[i].cpus, &set, NULL), 0);
                advice = ucs_result_advice(UCS_RESULT_MIXED_REVISIONS, &set);
                cr_expect(strstr(advice, advices[i].has) && !strstr(advice, advices[i].lacks), "CPUs '%s': %s", advices[i].cpus, advice);
        }
        cr_expect_str_eq(ucs_result_advice(UCS_RESULT_MIXED_REVISIONS, NULL), ucs_result_advice(UCS_RESULT_MIXED_REVISIONS, &(UcsCpuSet){}));
}

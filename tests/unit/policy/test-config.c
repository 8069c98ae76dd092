/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* core/policy/config: every key with right and wrong values, lists, resets, and what cat-config would print.
 */

#include <stdio.h>

#include "base/str.h"
#include "core/policy/config.h"
#include "ucs-test.h"

/* Zones from a table: the names are known, all of them mean UTC. */
static unsigned n_loads;

static int load_zone(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        n_loads++;
        if (!streq(name, "") && !streq(name, "UTC"))
                return ucs_error_set(e, -ENOENT, "there is no time zone '%s'", name);
        *ret = ucs_zone_utc();
        return 0;
}
static const UcsZoneSource zones = { load_zone, NULL };

static UcsConfig *config_new(void) {
        UcsConfig *c = NULL;

        cr_assert_eq(ucs_config_new(&c), 0);
        return c;
}

/* "section.key=value @origin" lines of all that cat-config shows, or only of one key. */
static char *dump(const UcsConfig *c, const char *only) {
        const char *section, *key, *origin;
        UcsConfigIterator i = {};
        char *value, *text;
        UcsText t = {};

        while (ucs_config_next(c, &i, &section, &key, &value, &origin)) {
                if (!only || streq(key, only))
                        ucs_text_appendf(&t, "%s.%s=%s @%s\n", section, key, value, origin);
                free(value);
        }
        cr_assert_eq(ucs_text_take(&t, &text, NULL), 0);
        return text;
}

static void expect_dump(const UcsConfig *c, const char *only, const char *expected) {
        _cleanup_free_ char *text = dump(c, only);

        cr_expect_str_eq(text, expected, "got:\n%s", text);
}

ucs_test(config, defaults) {
        _cleanup_(ucs_config_freep) UcsConfig *c = config_new();

        cr_assert_eq(ucs_config_finish(c, &zones, NULL), 0);
        cr_expect_eq(c->windows.n, 1);
        cr_expect_eq(c->blackouts.n, 0);
        cr_expect_eq(c->zone, ucs_zone_utc());
        cr_expect_eq(c->require, UCS_REQUIRE_ALL);
        cr_expect_eq(c->spread_usec, UINT64_MAX);
        cr_expect_eq(c->deadline_usec, UINT64_C(14) * 86400 * 1000000);
        cr_expect_eq(c->settle_usec, 30000000);
        cr_expect_eq(c->boot_grace_usec, 1800000000);
        cr_expect_eq(c->metric, UCS_LOAD_AUTO);
        cr_expect_eq(c->threshold_ppm, 100000);
        cr_expect_eq(c->guest_threshold_ppm, 1000000);
        cr_expect_eq(c->quiet_usec, 60000000);
        cr_expect_eq(c->automatic, true);
        cr_expect_eq(c->trust, UCS_TRUST_MINREV);
        cr_expect_eq(c->max_stall_nsec, 100000000);
        cr_expect_eq(c->witness, _UCS_WITNESS_INVALID);
        cr_expect_null(c->firmware_path);
        expect_dump(c, NULL,
                    "Schedule.Window=*-*-* 02:00 for 2h @default\n"
                    "Schedule.Blackout= @default\n"
                    "Schedule.TimeZone=UTC @default\n"
                    "Schedule.Require=all @default\n"
                    "Schedule.SpreadSec=auto @default\n"
                    "Schedule.DeadlineSec=14d @default\n"
                    "Schedule.SettleSec=30s @default\n"
                    "Schedule.BootGraceSec=30min @default\n"
                    "Load.Metric=auto @default\n"
                    "Load.Threshold=10% @default\n"
                    "Load.GuestThreshold=100% @default\n"
                    "Load.QuietSec=1min @default\n"
                    "Apply.Automatic=yes @default\n"
                    "Apply.Trust=minrev @default\n"
                    "Apply.MaxStallMSec=100 @default\n"
                    "Apply.LatencyCritical=block @default\n"
                    "Apply.ProbationSec=1d @default\n"
                    "Stall.Witness=auto @default\n"
                    "Firmware.Path= @default\n"
                    "Early.ImagePath= @default\n"
                    "Advise.RebootRequiredFile=no @default\n");
}

ucs_test(config, never_finished_and_null) {
        UcsConfig *c = config_new();

        cr_expect_null(ucs_config_free(c));
        cr_expect_null(ucs_config_free(NULL));
}

/* What is written is what is shown, and what is shown can be written. */
ucs_test(config, right_values) {
        static const struct {
                const char *section, *key, *value, *shown;
        } cases[] = {
                { "Schedule", "Require", "all", "all" },
                { "Schedule", "Require", "any", "any" },
                { "Schedule", "SpreadSec", "auto", "auto" },
                { "Schedule", "SpreadSec", "0", "0" },
                { "Schedule", "SpreadSec", "7d", "7d" },
                { "Schedule", "SpreadSec", "900", "15min" },
                { "Schedule", "DeadlineSec", "1s", "1s" },
                { "Schedule", "DeadlineSec", "3650d", "3650d" },
                { "Schedule", "DeadlineSec", "1d 2h 3min 4s 5ms 6us", "1d 2h 3min 4s 5ms 6us" },
                { "Schedule", "SettleSec", "1s", "1s" },
                { "Schedule", "SettleSec", "90", "1min 30s" },
                { "Schedule", "SettleSec", "24h", "1d" },
                { "Schedule", "BootGraceSec", "0", "0" },
                { "Schedule", "BootGraceSec", "1.5h", "1h 30min" },
                { "Schedule", "TimeZone", "UTC", "UTC" },
                { "Schedule", "Window", "Sat 03:30 UTC for 45min", "Sat 03:30 UTC for 45min" },
                { "Schedule", "Blackout", "*-12-18 00:00 for 14d", "*-12-18 00:00 for 14d" },
                { "Load", "Metric", "auto", "auto" },
                { "Load", "Metric", "pressure", "pressure" },
                { "Load", "Metric", "utilization", "utilization" },
                { "Load", "Metric", "loadavg", "loadavg" },
                { "Load", "Threshold", "0.0001%", "0.0001%" },
                { "Load", "Threshold", "2.5%", "2.5%" },
                { "Load", "Threshold", "02.50%", "2.5%" },
                { "Load", "Threshold", "100%", "100%" },
                { "Load", "GuestThreshold", "33.3333%", "33.3333%" },
                { "Load", "GuestThreshold", "5.05%", "5.05%" },
                { "Load", "QuietSec", "0", "0" },
                { "Load", "QuietSec", "1d", "1d" },
                { "Apply", "Automatic", "no", "no" },
                { "Apply", "Automatic", "off", "no" },
                { "Apply", "Automatic", "TRUE", "yes" },
                { "Apply", "Trust", "minrev", "minrev" },
                { "Apply", "Trust", "approved", "approved" },
                { "Apply", "Trust", "any", "any" },
                { "Apply", "MaxStallMSec", "1", "1" },
                { "Apply", "MaxStallMSec", "60000", "60000" },
                { "Apply", "LatencyCritical", "allow", "allow" },
                { "Apply", "LatencyCritical", "block", "block" },
                { "Stall", "Witness", "auto", "auto" },
                { "Stall", "Witness", "schedstat", "schedstat" },
                { "Stall", "Witness", "perf", "perf" },
                { "Stall", "Witness", "kernel", "kernel" },
                { "Stall", "Witness", "none", "none" },
                { "Firmware", "Path", "/srv/firmware", "/srv/firmware" },
                { "Firmware", "Path", "/", "/" },
                { "Firmware", "Path", "/a..b/..c", "/a..b/..c" },
                { "Early", "ImagePath", "/efi/loader/%v/initrd", "/efi/loader/%v/initrd" },
                { "Advise", "RebootRequiredFile", "yes", "yes" },
                { "Advise", "RebootRequiredFile", "0", "no" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                for (unsigned again = 0; again < 2; again++) {
                        _cleanup_(ucs_config_freep) UcsConfig *c = config_new();
                        UcsError e = {};
                        char expected[128];

                        cr_assert_eq(ucs_config_assign(c, cases[i].section, cases[i].key,
                                                       again ? cases[i].shown : cases[i].value, "f:1",
                                                       &zones, &e),
                                     0, "%s", e.text);
                        cr_assert_eq(ucs_config_finish(c, &zones, &e), 0);
                        (void) snprintf(expected, sizeof(expected), "%s.%s=%s @f:1\n", cases[i].section,
                                        cases[i].key, cases[i].shown);
                        expect_dump(c, cases[i].key, expected);
                }
}

ucs_test(config, wrong_values) {
#define SPAN(min_max) "expected a time span of " min_max
#define SHARE         "expected a share of more than 0% and up to 100%, such as "
        static const struct {
                const char *section, *key, *value;
                int r;
                const char *error;
        } cases[] = {
                { "Schedule", "Require", "both", -EINVAL, "[Schedule] Require=both: expected all or any" },
                { "Schedule", "Require", "All", -EINVAL, "[Schedule] Require=All: expected all or any" },
                { "Schedule", "SpreadSec", "-1", -EINVAL,
                  "[Schedule] SpreadSec=-1: expected auto, or a time span of up to 7d, such as 15min" },
                { "Schedule", "SpreadSec", "8d", -EINVAL,
                  "[Schedule] SpreadSec=8d: expected auto, or a time span of up to 7d, such as 15min" },
                { "Schedule", "DeadlineSec", "infinity", -EINVAL,
                  "[Schedule] DeadlineSec=infinity: " SPAN("1s to 3650d, such as 14d") },
                { "Schedule", "DeadlineSec", "0", -EINVAL,
                  "[Schedule] DeadlineSec=0: " SPAN("1s to 3650d, such as 14d") },
                { "Schedule", "DeadlineSec", "99999999999999999999d", -EINVAL,
                  "[Schedule] DeadlineSec=99999999999999999999d: " SPAN("1s to 3650d, such as 14d") },
                { "Schedule", "SettleSec", "abc", -EINVAL,
                  "[Schedule] SettleSec=abc: " SPAN("1s to 1d, such as 30s") },
                { "Schedule", "SettleSec", "0", -EINVAL,
                  "[Schedule] SettleSec=0: " SPAN("1s to 1d, such as 30s") },
                { "Schedule", "SettleSec", "999ms", -EINVAL,
                  "[Schedule] SettleSec=999ms: " SPAN("1s to 1d, such as 30s") },
                { "Schedule", "SettleSec", "86401", -EINVAL,
                  "[Schedule] SettleSec=86401: " SPAN("1s to 1d, such as 30s") },
                { "Schedule", "SettleSec", "30s # quick", -EINVAL,
                  "[Schedule] SettleSec=30s # quick: " SPAN(
                          "1s to 1d, such as 30s; '#' begins a comment only at the start of a line") },
                { "Schedule", "BootGraceSec", "31d", -EINVAL,
                  "[Schedule] BootGraceSec=31d: " SPAN("up to 30d, such as 30min") },
                { "Schedule", "TimeZone", "Nope/Zone", -EINVAL,
                  "[Schedule] TimeZone=: there is no time zone 'Nope/Zone'; expected the name of a time zone, such as Europe/Berlin or UTC" },
                { "Schedule", "Window", "*-*-* 02:00", -EINVAL, NULL },
                { "Schedule", "Window", "*-*-* 02:00 for 0", -EINVAL, NULL },
                { "Schedule", "Window", "Someday 02:00 for 1h", -EINVAL, NULL },
                { "Schedule", "Window", "*-*-* 02:00 Nope/Zone for 1h", -EINVAL, NULL },
                { "Schedule", "Blackout", "2h", -EINVAL, NULL },
                { "Load", "Metric", "cpu", -EINVAL,
                  "[Load] Metric=cpu: expected auto, pressure, utilization or loadavg" },
                { "Load", "Threshold", "10", -EINVAL, "[Load] Threshold=10: " SHARE "10%" },
                { "Load", "Threshold", "0%", -EINVAL, "[Load] Threshold=0%: " SHARE "10%" },
                { "Load", "Threshold", "100.1%", -EINVAL, "[Load] Threshold=100.1%: " SHARE "10%" },
                { "Load", "Threshold", "-5%", -EINVAL, "[Load] Threshold=-5%: " SHARE "10%" },
                { "Load", "GuestThreshold", "all", -EINVAL, "[Load] GuestThreshold=all: " SHARE "50%" },
                { "Load", "QuietSec", "2d", -EINVAL, "[Load] QuietSec=2d: " SPAN("up to 1d, such as 60s") },
                { "Apply", "Automatic", "maybe", -EINVAL, "[Apply] Automatic=maybe: expected yes or no" },
                { "Apply", "Trust", "vendor", -EINVAL,
                  "[Apply] Trust=vendor: expected minrev, approved or any" },
                { "Apply", "LatencyCritical", "no", -EINVAL, "[Apply] LatencyCritical=no: expected block or allow" },
                { "Apply", "LatencyCritical", "Block", -EINVAL, "[Apply] LatencyCritical=Block: expected block or allow" },
                { "Apply", "MaxStallMSec", "0", -EINVAL,
                  "[Apply] MaxStallMSec=0: expected a whole number of milliseconds from 1 to 60000, without a unit" },
                { "Apply", "MaxStallMSec", "60001", -EINVAL,
                  "[Apply] MaxStallMSec=60001: expected a whole number of milliseconds from 1 to 60000, without a unit" },
                { "Apply", "MaxStallMSec", "100ms", -EINVAL,
                  "[Apply] MaxStallMSec=100ms: expected a whole number of milliseconds from 1 to 60000, without a unit" },
                { "Apply", "MaxStallMSec", "4294967296", -EINVAL,
                  "[Apply] MaxStallMSec=4294967296: expected a whole number of milliseconds from 1 to 60000, without a unit" },
                { "Stall", "Witness", "write", -EINVAL,
                  "[Stall] Witness=write: expected auto, schedstat, perf, kernel or none" },
                { "Stall", "Witness", "tracing", -EINVAL,
                  "[Stall] Witness=tracing: expected auto, schedstat, perf, kernel or none" },
                { "Firmware", "Path", "lib/firmware", -EINVAL,
                  "[Firmware] Path=lib/firmware: expected an absolute path without '..', one an assignment" },
                { "Firmware", "Path", "/lib/../etc", -EINVAL,
                  "[Firmware] Path=/lib/../etc: expected an absolute path without '..', one an assignment" },
                { "Early", "ImagePath", "boot/initrd", -EINVAL,
                  "[Early] ImagePath=boot/initrd: expected an absolute path without '..', one an assignment" },
                { "Advise", "RebootRequiredFile", "maybe", -EINVAL, "[Advise] RebootRequiredFile=maybe: expected yes or no" },
                { "Firmware", "Path", "/lib/..", -EINVAL,
                  "[Firmware] Path=/lib/..: expected an absolute path without '..', one an assignment" },

                { "Schedule", "Widnow", "x", -ENOENT,
                  "there is no key Widnow= in [Schedule], expected one of Window, Blackout, TimeZone, Require, SpreadSec, DeadlineSec, "
                  "SettleSec, BootGraceSec" },
                { "Schedule", "window", "x", -ENOENT,
                  "there is no key window= in [Schedule], expected one of Window, Blackout, TimeZone, Require, SpreadSec, DeadlineSec, "
                  "SettleSec, BootGraceSec" },
                { "Load", "Window", "x", -ENOENT,
                  "there is no key Window= in [Load], expected it in [Schedule]" },
                { "Stall", "X", "x", -ENOENT, "there is no key X= in [Stall], expected one of Witness" },
                /* designed, and not there yet: what would have no effect is not taken */
                { "Apply", "DrainTimeoutSec", "5min", -ENOENT,
                  "there is no key DrainTimeoutSec= in [Apply], expected one of Automatic, Trust, MaxStallMSec, LatencyCritical, ProbationSec" },
                { "Fleet", "Backend", "none", -ENOENT,
                  "there is no section [Fleet], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
                { "schedule", "Window", "x", -ENOENT,
                  "there is no section [schedule], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
                { "", "Window", "x", -ENOENT,
                  "there is no section [], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise" },
        };
        _cleanup_(ucs_config_freep) UcsConfig *c = config_new();
        _cleanup_free_ char *before = dump(c, NULL);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                UcsError e = {};
                int r;

                r = ucs_config_assign(c, cases[i].section, cases[i].key, cases[i].value, "f:1", &zones, &e);
                cr_expect_eq(r, cases[i].r, "%s=%s: %d", cases[i].key, cases[i].value, r);
                cr_expect_eq(e.code, r);
                if (cases[i].error)
                        cr_expect_str_eq(e.text, cases[i].error, "got: %s\nexpected: %s", e.text,
                                         cases[i].error);
                else {
                        cr_expect(str_startswith(e.text, "[Schedule] "), "%s", e.text);
                        cr_expect(strstr(e.text, "expected "), "%s", e.text);
                }
        }
        /* nothing of it left a trace */
        expect_dump(c, NULL, before);
}

ucs_test(config, check_section) {
        UcsError e = {};

        cr_expect_eq(ucs_config_check_section("Apply", &e), 0);
        cr_expect_eq(ucs_config_check_section("Firmware", NULL), 0);
        cr_expect_eq(ucs_config_check_section("apply", &e), -ENOENT);
        cr_expect_str_eq(
                e.text,
                "there is no section [apply], expected one of Schedule, Load, Apply, Stall, Firmware, Early, Advise");
}

/* Assignments in turn, and what is left. */
ucs_test(config, lists_and_resets) {
        static const struct {
                const char *key, *values[5];
                const char *shown;
        } cases[] = {
                { "Window", { NULL }, "Schedule.Window=*-*-* 02:00 for 2h @default\n" },
                { "Window", { "Sat 03:00 for 1h" }, "Schedule.Window=Sat 03:00 for 1h @f:1\n" },
                { "Window",
                  { "Sat 03:00 for 1h", "Sun 04:00 for 1h" },
                  "Schedule.Window=Sat 03:00 for 1h @f:1\nSchedule.Window=Sun 04:00 for 1h @f:2\n" },
                { "Window", { "" }, "Schedule.Window= @f:1\n" },
                { "Window", { "Sat 03:00 for 1h", "" }, "Schedule.Window= @f:2\n" },
                { "Window",
                  { "Sat 03:00 for 1h", "", "Sun 04:00 for 1h" },
                  "Schedule.Window=Sun 04:00 for 1h @f:3\n" },
                { "Window",
                  { "Sat 03:00 for 1h", "Sat 03:00 for 1h", "", "", "Sun 04:00 for 1h" },
                  "Schedule.Window=Sun 04:00 for 1h @f:5\n" },
                { "Blackout", { NULL }, "Schedule.Blackout= @default\n" },
                { "Blackout", { "*-12-24 for 3d" }, "Schedule.Blackout=*-12-24 for 3d @f:1\n" },
                { "Path", { "/a", "/b" }, "Firmware.Path=/a @f:1\nFirmware.Path=/b @f:2\n" },
                { "Path", { "/a", "/b", "" }, "Firmware.Path= @f:3\n" },
                { "SettleSec", { "5s", "7s" }, "Schedule.SettleSec=7s @f:2\n" },
                { "SettleSec", { "5s", "" }, "Schedule.SettleSec=30s @f:2\n" },
                { "SpreadSec", { "5s", "" }, "Schedule.SpreadSec=auto @f:2\n" },
                { "TimeZone", { "UTC", "" }, "Schedule.TimeZone=UTC @f:2\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *section = streq(cases[i].key, "Path") ? "Firmware" : "Schedule";
                _cleanup_(ucs_config_freep) UcsConfig *c = config_new();

                for (size_t k = 0; k < ELEMENTSOF(cases[i].values) && cases[i].values[k]; k++) {
                        char origin[8];
                        UcsError e = {};

                        (void) snprintf(origin, sizeof(origin), "f:%zu", k + 1);
                        cr_assert_eq(ucs_config_assign(c, section, cases[i].key, cases[i].values[k], origin,
                                                       &zones, &e),
                                     0, "%s", e.text);
                }
                cr_assert_eq(ucs_config_finish(c, &zones, NULL), 0);
                expect_dump(c, cases[i].key, cases[i].shown);
        }
}

/* The machine's zone is asked for only when nobody names one; an unknown one is an error, never UTC. */
ucs_test(config, zone_of_the_machine) {
        _cleanup_(ucs_config_freep) UcsConfig *named = config_new(), *own = config_new(),
                                              *none = config_new(), *bad = config_new();
        UcsError e = {};

        n_loads = 0;
        cr_assert_eq(ucs_config_assign(named, "Schedule", "TimeZone", "UTC", "f:1", &zones, NULL), 0);
        cr_expect_eq(n_loads, 1);
        cr_assert_eq(ucs_config_finish(named, &zones, NULL), 0);
        cr_expect_eq(n_loads, 1);
        cr_assert_eq(ucs_config_finish(own, &zones, NULL), 0);
        cr_expect_eq(n_loads, 2);
        cr_assert_eq(ucs_config_finish(none, NULL, NULL), 0);
        cr_expect_eq(none->zone, ucs_zone_utc());

        cr_expect_eq(ucs_config_assign(bad, "Schedule", "TimeZone", "UTC", "f:1", NULL, &e), -EINVAL);
        cr_expect_null(bad->zone);
}

static int no_zone(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        return ucs_error_set(e, -ENOENT, "/etc/localtime leads nowhere");
}

ucs_test(config, zone_that_cannot_be_read) {
        _cleanup_(ucs_config_freep) UcsConfig *c = config_new();
        const UcsZoneSource broken = { no_zone, NULL };
        UcsError e = {};

        cr_expect_eq(ucs_config_finish(c, &broken, &e), -ENOENT);
        cr_expect_str_eq(e.text, "/etc/localtime leads nowhere");
}

ucs_test(config, strings) {
        for (UcsRequire v = 0; v < _UCS_REQUIRE_MAX; v++)
                cr_expect_eq(ucs_require_from_string(ucs_require_to_string(v)), v);
        for (UcsTrust v = 0; v < _UCS_TRUST_MAX; v++)
                cr_expect_eq(ucs_trust_from_string(ucs_trust_to_string(v)), v);
        cr_expect_null(ucs_require_to_string(_UCS_REQUIRE_MAX));
        cr_expect_eq(ucs_trust_from_string(NULL), _UCS_TRUST_INVALID);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The configuration keys and their kinds of values; see config-keys.h. Reads and writes text, and knows
 * nothing of files. */

#include <inttypes.h>
#include <stdio.h>

#include "base/enum.h"
#include "base/parse.h"
#include "base/timefmt.h"
#include "core/policy/config-keys.h"

static void *field_of(const ConfigKey *k, const UcsConfig *c) {
        return (char *) c + k->offset;
}

static int format_string(const char *s, char **ret) {
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

/* --- time spans --- */

static int parse_span(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                      UcsError *e) {
        uint64_t usec;
        int r;

        r = ucs_parse_timespan(value, &usec);
        if (r < 0)
                return r;
        if (usec < k->min || usec > k->max)
                return -ERANGE;
        *(uint64_t *) field_of(k, c) = usec;
        return 0;
}

/* Exact, so that it can be read back; ucs_format_timespan() is for people, and rounds. */
static int format_span(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        static const struct {
                const char *name;
                uint64_t usec;
        } units[] = {
                { "d", USEC_PER_DAY }, { "h", USEC_PER_HOUR },  { "min", USEC_PER_MINUTE },
                { "s", USEC_PER_SEC }, { "ms", USEC_PER_MSEC }, { "us", 1 },
        };
        uint64_t usec = *(uint64_t *) field_of(k, c);
        UcsText t = {};

        if (usec == 0)
                return format_string("0", ret);
        for (size_t u = 0; u < ELEMENTSOF(units); u++) {
                if (usec >= units[u].usec)
                        ucs_text_appendf(&t, "%s%" PRIu64 "%s", t.length > 0 ? " " : "",
                                         usec / units[u].usec, units[u].name);
                usec %= units[u].usec;
        }
        return ucs_text_take(&t, ret, NULL);
}

static int parse_span_or_auto(const ConfigKey *k, UcsConfig *c, const char *value,
                              const UcsZoneSource *zones, UcsError *e) {
        if (!streq(value, "auto"))
                return parse_span(k, c, value, zones, e);
        *(uint64_t *) field_of(k, c) = UINT64_MAX;
        return 0;
}

static int format_span_or_auto(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        if (*(uint64_t *) field_of(k, c) == UINT64_MAX)
                return format_string("auto", ret);
        return format_span(k, c, i, ret);
}

static int parse_msec(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                      UcsError *e) {
        uint32_t msec;
        int r;

        r = ucs_parse_u32(value, 10, &msec);
        if (r < 0)
                return r;
        if (msec * NSEC_PER_MSEC < k->min || msec * NSEC_PER_MSEC > k->max)
                return -ERANGE;
        *(uint64_t *) field_of(k, c) = msec * NSEC_PER_MSEC;
        return 0;
}

static int format_msec(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        UcsText t = {};

        ucs_text_appendf(&t, "%" PRIu64, *(uint64_t *) field_of(k, c) / NSEC_PER_MSEC);
        return ucs_text_take(&t, ret, NULL);
}

/* --- shares and switches --- */

static int parse_share(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                       UcsError *e) {
        uint32_t ppm;
        int r;

        r = ucs_parse_percent(value, &ppm);
        if (r < 0)
                return r;
        if (ppm < k->min || ppm > k->max)
                return -ERANGE;
        *(uint32_t *) field_of(k, c) = ppm;
        return 0;
}

static int format_share(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        uint32_t ppm = *(uint32_t *) field_of(k, c), rest = ppm % 10000;
        int digits = 4;
        UcsText t = {};

        for (; digits > 0 && rest % 10 == 0; rest /= 10)
                digits--;
        if (digits > 0)
                ucs_text_appendf(&t, "%" PRIu32 ".%0*" PRIu32 "%%", ppm / 10000, digits, rest);
        else
                ucs_text_appendf(&t, "%" PRIu32 "%%", ppm / 10000);
        return ucs_text_take(&t, ret, NULL);
}

static int parse_switch(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                        UcsError *e) {
        return ucs_parse_bool(value, field_of(k, c));
}

static int format_switch(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        return format_string(*(bool *) field_of(k, c) ? "yes" : "no", ret);
}

/* --- words --- */

#define DEFINE_WORD_TYPE(name, type, prefix)                                                                \
        static int parse_##name(const ConfigKey *k, UcsConfig *c, const char *value,                        \
                                const UcsZoneSource *zones, UcsError *e) {                                  \
                type v = prefix##_from_string(value);                                                       \
                if ((int) v < 0)                                                                            \
                        return -EINVAL;                                                                     \
                *(type *) field_of(k, c) = v;                                                               \
                return 0;                                                                                   \
        }                                                                                                   \
        static int format_##name(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {            \
                return format_string(prefix##_to_string(*(type *) field_of(k, c)), ret);                    \
        }                                                                                                   \
        static const ConfigType type_##name = { .parse = parse_##name, .format = format_##name }

DEFINE_WORD_TYPE(require, UcsRequire, ucs_require);
DEFINE_WORD_TYPE(metric, UcsLoadMetric, ucs_load_metric);
DEFINE_WORD_TYPE(trust, UcsTrust, ucs_trust);
DEFINE_WORD_TYPE(latency, UcsLatencyCritical, ucs_latency_critical);

/* "write" is what is left when there is no witness, and nothing to ask for. */
static int parse_witness(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                         UcsError *e) {
        UcsWitnessKind v = _UCS_WITNESS_INVALID;

        if (!streq(value, "auto")) {
                v = ucs_witness_from_string(value);
                if ((int) v < 0 || v == UCS_WITNESS_WRITE)
                        return -EINVAL;
        }
        c->witness = v;
        return 0;
}

static int format_witness(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        return format_string((int) c->witness < 0 ? "auto" : ucs_witness_to_string(c->witness), ret);
}

/* --- windows, zones, directories --- */

static int parse_window(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                        UcsError *e) {
        _cleanup_(ucs_window_freep) UcsWindow *w = NULL;
        int r;

        r = ucs_window_parse(value, zones, &w, e);
        if (r < 0)
                return r;
        r = ucs_window_list_add(field_of(k, c), w);
        if (r < 0)
                return r;
        (void) TAKE_PTR(w);
        return 0;
}

static int format_window(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        const UcsWindowList *l = field_of(k, c);

        return i < l->n ? format_string(ucs_window_expression(l->windows[i]), ret) : -ENOENT;
}

static void reset_windows(const ConfigKey *k, UcsConfig *c) {
        UcsWindowList *l = field_of(k, c);

        ucs_window_list_done(l);
        *l = (UcsWindowList){};
}

static int parse_zone(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                      UcsError *e) {
        UcsZone *z;
        int r;

        if (!zones)
                return -EINVAL;
        r = zones->load(zones->userdata, value, &z, e);
        if (r < 0)
                return r;
        ucs_zone_unref(c->zone);
        c->zone = z;
        return 0;
}

static int format_zone(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        return format_string(c->zone ? ucs_zone_name(c->zone) : "", ret);
}

static void reset_zone(const ConfigKey *k, UcsConfig *c) {
        c->zone = ucs_zone_unref(c->zone);
}

/* Absolute, and without "..", which would mean different things to the kernel and below a root. */
static int parse_directory(const ConfigKey *k, UcsConfig *c, const char *value, const UcsZoneSource *zones,
                           UcsError *e) {
        if (value[0] != '/' || strstr(value, "/../") || str_endswith(value, "/.."))
                return -EINVAL;
        return strv_push(field_of(k, c), value);
}

static int format_directory(const ConfigKey *k, const UcsConfig *c, size_t i, char **ret) {
        char **l = *(char ***) field_of(k, c);

        return i < strv_length(l) ? format_string(l[i], ret) : -ENOENT;
}

static void reset_directories(const ConfigKey *k, UcsConfig *c) {
        char ***l = field_of(k, c);

        *l = strv_free(*l);
}

/* --- the table --- */

static const ConfigType type_span = { .parse = parse_span, .format = format_span };
static const ConfigType type_spread = { .parse = parse_span_or_auto, .format = format_span_or_auto };
static const ConfigType type_msec = { .parse = parse_msec, .format = format_msec };
static const ConfigType type_share = { .parse = parse_share, .format = format_share };
static const ConfigType type_switch = { .parse = parse_switch, .format = format_switch };
static const ConfigType type_witness = { .parse = parse_witness, .format = format_witness };
static const ConfigType type_zone = { .parse = parse_zone, .format = format_zone, .reset = reset_zone };
static const ConfigType type_windows = { true, parse_window, format_window, reset_windows };
static const ConfigType type_directories = { true, parse_directory, format_directory, reset_directories };

#define FIELD(f) offsetof(UcsConfig, f)
#define WINDOW_EXPECTED                                                                                     \
        "a calendar expression and a length, such as '*-*-* 02:00 for 2h' or 'Sat 03:30 UTC for 45min'"

/* Upper bounds keep sums of times far from overflow, and catch a unit too many. */
const ConfigKey ucs_config_keys[] = {
        { "Schedule", "Window", &type_windows, FIELD(windows), "*-*-* 02:00 for 2h", 0, 0, WINDOW_EXPECTED },
        { "Schedule", "Blackout", &type_windows, FIELD(blackouts), NULL, 0, 0, WINDOW_EXPECTED },
        { "Schedule", "TimeZone", &type_zone, FIELD(zone), NULL, 0, 0,
          "the name of a time zone, such as Europe/Berlin or UTC" },
        { "Schedule", "Require", &type_require, FIELD(require), "all", 0, 0, "all or any" },
        { "Schedule", "SpreadSec", &type_spread, FIELD(spread_usec), "auto", 0, 7 * USEC_PER_DAY,
          "auto, or a time span of up to 7d, such as 15min" },
        { "Schedule", "DeadlineSec", &type_span, FIELD(deadline_usec), "14d", USEC_PER_SEC,
          3650 * USEC_PER_DAY, "a time span of 1s to 3650d, such as 14d" },
        { "Schedule", "SettleSec", &type_span, FIELD(settle_usec), "30s", USEC_PER_SEC, USEC_PER_DAY,
          "a time span of 1s to 1d, such as 30s" },
        { "Schedule", "BootGraceSec", &type_span, FIELD(boot_grace_usec), "30min", 0, 30 * USEC_PER_DAY,
          "a time span of up to 30d, such as 30min" },
        { "Load", "Metric", &type_metric, FIELD(metric), "auto", 0, 0,
          "auto, pressure, utilization or loadavg" },
        { "Load", "Threshold", &type_share, FIELD(threshold_ppm), "10%", 1, 1000000,
          "a share of more than 0% and up to 100%, such as 10%" },
        { "Load", "GuestThreshold", &type_share, FIELD(guest_threshold_ppm), "100%", 1, 1000000,
          "a share of more than 0% and up to 100%, such as 50%" },
        { "Load", "QuietSec", &type_span, FIELD(quiet_usec), "60s", 0, USEC_PER_DAY,
          "a time span of up to 1d, such as 60s" },
        { "Apply", "Automatic", &type_switch, FIELD(automatic), "yes", 0, 0, "yes or no" },
        { "Apply", "Trust", &type_trust, FIELD(trust), "minrev", 0, 0, "minrev, approved or any" },
        { "Apply", "MaxStallMSec", &type_msec, FIELD(max_stall_nsec), "100", NSEC_PER_MSEC,
          60 * NSEC_PER_SEC, "a whole number of milliseconds from 1 to 60000, without a unit" },
        { "Apply", "LatencyCritical", &type_latency, FIELD(latency_critical), "block", 0, 0, "block or allow" },
        { "Apply", "ProbationSec", &type_span, FIELD(probation_usec), "24h", 0, 30 * USEC_PER_DAY,
          "a time span of up to 30d, such as 24h" },
        { "Stall", "Witness", &type_witness, FIELD(witness), "auto", 0, 0,
          "auto, schedstat, perf, kernel or none" },
        { "Firmware", "Path", &type_directories, FIELD(firmware_path), NULL, 0, 0,
          "an absolute path without '..', one an assignment" },
        { "Early", "ImagePath", &type_directories, FIELD(early_image_path), NULL, 0, 0,
          "an absolute path without '..', one an assignment" },
        { "Advise", "RebootRequiredFile", &type_switch, FIELD(reboot_required_file), "no", 0, 0, "yes or no" },
};
const size_t ucs_config_n_keys = ELEMENTSOF(ucs_config_keys);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration as values, and the one table of its keys (ucodesyncd.conf(5), `ucodectl cat-config`). Text comes in key
 * by key with its origin; os/conf reads the files. */

#include "core/record/stall.h"
#include "core/schedule/load.h"
#include "core/schedule/window.h"

typedef enum UcsRequire {
        UCS_REQUIRE_ALL, /* "all": window and load */
        UCS_REQUIRE_ANY, /* "any": either is enough; a blackout never is */
        _UCS_REQUIRE_MAX,
        _UCS_REQUIRE_INVALID = -EINVAL,
} UcsRequire;

typedef enum UcsTrust {
        UCS_TRUST_MINREV,   /* "minrev" */
        UCS_TRUST_APPROVED, /* "approved" */
        UCS_TRUST_ANY,      /* "any" */
        _UCS_TRUST_MAX,
        _UCS_TRUST_INVALID = -EINVAL,
} UcsTrust;

typedef enum UcsLatencyCritical {
        UCS_LATENCY_CRITICAL_BLOCK, /* "block" */
        UCS_LATENCY_CRITICAL_ALLOW, /* "allow" */
        _UCS_LATENCY_CRITICAL_MAX,
        _UCS_LATENCY_CRITICAL_INVALID = -EINVAL,
} UcsLatencyCritical;

const char *ucs_require_to_string(UcsRequire v);
UcsRequire ucs_require_from_string(const char *s);
const char *ucs_trust_to_string(UcsTrust v);
UcsTrust ucs_trust_from_string(const char *s);
const char *ucs_latency_critical_to_string(UcsLatencyCritical v);
UcsLatencyCritical ucs_latency_critical_from_string(const char *s);

typedef struct UcsConfig {
        /* [Schedule] */
        UcsWindowList windows, blackouts;
        UcsZone *zone;
        UcsRequire require;
        uint64_t spread_usec; /* UINT64_MAX: auto */
        uint64_t deadline_usec, settle_usec, boot_grace_usec;
        /* [Load] */
        UcsLoadMetric metric;
        uint32_t threshold_ppm, guest_threshold_ppm;
        uint64_t quiet_usec;
        /* [Apply] */
        bool automatic;
        UcsTrust trust;
        uint64_t max_stall_nsec;
        UcsLatencyCritical latency_critical;
        uint64_t probation_usec;
        /* [Stall] */
        UcsWitnessKind witness; /* _UCS_WITNESS_INVALID: auto */
        /* [Firmware] */
        char **firmware_path; /* NULL: the kernel's own search path */
        /* [Early] */
        char **early_image_path; /* NULL: where distributions keep the initramfs (os/early.h) */
        /* [Advise] */
        bool reboot_required_file;

        struct UcsConfigOrigin *origins; /* one a key of the table, where its value came from; owned */
} UcsConfig;

UcsConfig *ucs_config_free(UcsConfig *c);
DEFINE_CLEANUP(UcsConfig *, ucs_config_free);

/* All defaults, nothing assigned. 0 or -ENOMEM. */
int ucs_config_new(UcsConfig **ret);

/* Whether keys of that section exist: 0, or -ENOENT with those that do. */
int ucs_config_check_section(const char *section, UcsError *e);

/* One assignment. `origin` is "path:line" for cat-config. The first assignment of a list key replaces the built-in default,
 * further ones add, an empty one resets. An empty one of any other key brings its default back. -EINVAL with what was expected (the
 * caller adds file and line); -ENOENT: no such section or key; -ENOMEM. The value is untouched then. */
int ucs_config_assign(UcsConfig *c, const char *section, const char *key, const char *value, const char *origin,
                      const UcsZoneSource *zones, UcsError *e);

/* After the last assignment: the defaults of lists that nobody assigned, and the machine's own zone where no TimeZone= is (without `zones`:
 * UTC). Errors as of the zone source. */
int ucs_config_finish(UcsConfig *c, const UcsZoneSource *zones, UcsError *e);

/* For cat-config: the next value's section, key, text and origin ("default" when nobody set it), in the order of
 * ucodesyncd.conf(5). A list key gives one value after another, an empty one "" once. False at the end. Start with an iterator of
 * zeros. `*ret_value` is new memory, exact enough to be read back; NULL: there was none. */
typedef struct UcsConfigIterator {
        size_t key, index;
} UcsConfigIterator;
bool ucs_config_next(const UcsConfig *c, UcsConfigIterator *i, const char **ret_section, const char **ret_key,
                     char **ret_value, const char **ret_origin);

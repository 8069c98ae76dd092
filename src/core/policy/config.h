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

const char *ucs_require_to_string(UcsRequire v);
UcsRequire ucs_require_from_string(const char *s);
const char *ucs_trust_to_string(UcsTrust v);
UcsTrust ucs_trust_from_string(const char *s);

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
        /* [Stall] */
        UcsWitnessKind witness; /* _UCS_WITNESS_INVALID: auto */
        /* [Firmware] */
        char **firmware_path; /* NULL: the kernel's own search path */

        struct UcsConfigOrigin *origins; /* one a key of the table, where its value came from; owned */
} UcsConfig;

UcsConfig *ucs_config_free(UcsConfig *c);
DEFINE_CLEANUP(UcsConfig *, ucs_config_free);

/* All defaults, nothing assigned. 0 or -ENOMEM. */
int ucs_config_new(UcsConfig **ret);

/* One assignment. `origin` is "path:line" for cat-config. The first assignment of a list key replaces the built-in default,
 * further ones add, an empty one resets. -EINVAL with what was expected (the caller adds file and line); -ENOENT: no such
 * section or key. */
int ucs_config_assign(UcsConfig *c, const char *section, const char *key, const char *value, const char *origin,
                      const UcsZoneSource *zones, UcsError *e);

/* After the last assignment: load the zones that are left, fill in defaults of lists, check what keys say together. */
int ucs_config_finish(UcsConfig *c, const UcsZoneSource *zones, UcsError *e);

/* For cat-config: the i-th key's section, name, effective value(s) and origin ("default" when nobody set it), in the order of
 * ucodesyncd.conf(5). A list key gives one line a value: `*index` walks them. False at the end. `*ret_value` is new memory. */
typedef struct UcsConfigIterator {
        size_t key, index;
} UcsConfigIterator;
bool ucs_config_next(const UcsConfig *c, UcsConfigIterator *i, const char **ret_section, const char **ret_key,
                     char **ret_value, const char **ret_origin);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a TZif file holds, in memory. Private to the zone. */

#include "core/schedule/zone-tail.h"

/* zic's own limits are 2000 transitions and 256 types (tzfile.h, TZ_MAX_TIMES and TZ_MAX_TYPES). */
#define UCS_ZONE_TRANSITIONS_MAX 4096
#define UCS_ZONE_TYPES_MAX 256

typedef struct UcsZoneType {
        int32_t offset_sec;
        uint8_t abbreviation; /* offset into `abbreviations` */
} UcsZoneType;

struct UcsZone {
        unsigned n_ref;
        char *name;
        int64_t *transitions; /* ascending */
        uint8_t *type_of;     /* the type that begins with each transition; before the first: type 0 */
        size_t n_transitions;
        UcsZoneType types[UCS_ZONE_TYPES_MAX];
        size_t n_types;
        char *abbreviations; /* NUL-terminated strings, back to back */
        bool has_tail;       /* what holds from the last transition on (always, when there is none) */
        UcsZoneTail tail;
};

/* Fill `z`, fresh but for its name. -EBADMSG or -ENOMEM; what was allocated until then belongs to `z`. */
int ucs_zone_read_tzif(UcsZone *z, const void *data, size_t size, UcsError *e);

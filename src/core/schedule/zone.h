/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A time zone, from the bytes of a TZif file (RFC 8536, versions 1 to 4 with the POSIX footer). No setenv("TZ"), no
 * localtime(): those are process-global, and glibc reads an unknown zone silently as UTC. */

#include "base/cleanup.h"
#include "base/error.h"

typedef struct UcsZone UcsZone;

/* A wall-clock time in a zone. */
typedef struct UcsCivil {
        int64_t year;
        unsigned month;  /* 1..12 */
        unsigned day;    /* 1..31 */
        unsigned hour, minute, second;
        unsigned weekday; /* 0 = Monday; filled by ucs_zone_to_civil(), ignored by ucs_zone_from_civil() */
} UcsCivil;

/* -EBADMSG: not a TZif file, `e` says why. `name` is kept for messages. */
int ucs_zone_new(const char *name, const void *tzif, size_t size, UcsZone **ret, UcsError *e);
UcsZone *ucs_zone_ref(UcsZone *z);
UcsZone *ucs_zone_unref(UcsZone *z);
DEFINE_CLEANUP(UcsZone *, ucs_zone_unref);

/* UTC, static: ref and unref are harmless. */
UcsZone *ucs_zone_utc(void);
const char *ucs_zone_name(const UcsZone *z);

/* The wall clock at a moment; `ret_offset_sec` (east of Greenwich) and `ret_abbreviation` may be NULL. */
void ucs_zone_to_civil(const UcsZone *z, int64_t utc_sec, UcsCivil *ret, int32_t *ret_offset_sec,
                       const char **ret_abbreviation);

/* The moment of a wall clock. In a gap: the transition itself (returns 1). In an overlap: the first of the two (returns 2).
 * Otherwise 0. */
int ucs_zone_from_civil(const UcsZone *z, const UcsCivil *c, int64_t *ret_utc_sec);

/* Where zones come from. Core opens nothing: the caller hands in a function (os/conf reads usr/share/zoneinfo below the
 * root; tests have tables). An empty `name` is the machine's own zone (etc/localtime). Returns a new reference;
 * -ENOENT: no such zone. */
typedef struct UcsZoneSource {
        int (*load)(void *userdata, const char *name, UcsZone **ret, UcsError *e);
        void *userdata;
} UcsZoneSource;

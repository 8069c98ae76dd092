/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A time zone, from the bytes of a TZif file (RFC 9636, versions 1 to 4 with the POSIX footer). No setenv("TZ"), no
 * localtime(): those are process-global, and glibc reads an unknown zone silently as UTC.
 *
 * Two ways to say what a wall clock shows: UcsCivil, and "local seconds", the same reading counted in seconds as if it were UTC.
 * Moments are whole seconds of CLOCK_REALTIME. */

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

/* A stretch of time, from <= t < until, in which the zone keeps one offset. Neighbours may have equal offsets. */
typedef struct UcsZoneSpan {
        int64_t from_sec;         /* INT64_MIN: since ever */
        int64_t until_sec;        /* INT64_MAX: for ever */
        int32_t offset_sec;       /* east of Greenwich, within UCS_ZONE_WEST_MAX and UCS_ZONE_EAST_MAX */
        const char *abbreviation; /* "CEST"; lives as long as the zone */
} UcsZoneSpan;

/* The bounds of an offset (RFC 9636, 3.2, "utoff"); what lies outside makes a file invalid. */
#define UCS_ZONE_WEST_MAX (-89999)
#define UCS_ZONE_EAST_MAX 93599

/* -EBADMSG: not a TZif file, or one that counts leap seconds ("right/…": the system clock does not), `e` says why; -ENOMEM.
 * `name` is kept for messages. Bytes behind the footer are ignored, as glibc does. */
int ucs_zone_new(const char *name, const void *tzif, size_t size, UcsZone **ret, UcsError *e);
UcsZone *ucs_zone_ref(UcsZone *z);
UcsZone *ucs_zone_unref(UcsZone *z);
DEFINE_CLEANUP(UcsZone *, ucs_zone_unref);

/* UTC, static: ref and unref are harmless. */
UcsZone *ucs_zone_utc(void);
const char *ucs_zone_name(const UcsZone *z);

/* The span that holds a moment. */
void ucs_zone_span(const UcsZone *z, int64_t utc_sec, UcsZoneSpan *ret);

/* The wall clock at a moment (one beyond 2^55 s from the epoch is taken as that); `ret_offset_sec` (east of Greenwich) and
 * `ret_abbreviation` may be NULL. */
void ucs_zone_to_civil(const UcsZone *z, int64_t utc_sec, UcsCivil *ret, int32_t *ret_offset_sec,
                       const char **ret_abbreviation);

/* The moment of a wall clock: the first at which the clock shows that time or a later one. In a gap: the transition itself
 * (returns 1). In an overlap: the first of the two (returns 2). Otherwise 0. The month must be valid, a day or second beyond its
 * range counts on; years within 10^9. */
int ucs_zone_from_civil(const UcsZone *z, const UcsCivil *c, int64_t *ret_utc_sec);
int ucs_zone_from_local(const UcsZone *z, int64_t local_sec, int64_t *ret_utc_sec);

/* The furthest that the wall clock has come until `utc_sec`, in local seconds: what it shows then or, after it was set back, what
 * it showed right before. The wall-clock times whose moment is later than `utc_sec` are those beyond it, no others. */
int64_t ucs_zone_furthest_local(const UcsZone *z, int64_t utc_sec);

/* Where zones come from. Core opens nothing: the caller hands in a function (os/conf reads usr/share/zoneinfo below the
 * root; tests have tables). An empty `name` is the machine's own zone (etc/localtime). Returns a new reference;
 * -ENOENT: no such zone. Names that come from an expression have only letters, digits, '+', '-', '_' and single inner '/'. */
typedef struct UcsZoneSource {
        int (*load)(void *userdata, const char *name, UcsZone **ret, UcsError *e);
        void *userdata;
} UcsZoneSource;

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wall clocks and moments; see zone.h. Everything is asked of one question, ucs_zone_span(): which offset holds around a moment, and
 * from when until when. A zone never changes once it was made. */

#include <assert.h>
#include <errno.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "core/schedule/zone-tzif.h"

#define SEC_PER_DAY INT64_C(86400)
#define SEC_MAX (INT64_C(1) << 55)

/* Far beyond every date, and far from overflow when an offset is added. */
static int64_t clamp_sec(int64_t sec) {
        if (sec > SEC_MAX)
                return SEC_MAX;
        return MAX(sec, -SEC_MAX);
}

static UcsZone utc = {
        .name = (char *) "UTC",
        .types = { [0] = { 0, 0 } },
        .n_types = 1,
        .abbreviations = (char *) "UTC",
};

UcsZone *ucs_zone_utc(void) {
        return &utc;
}

UcsZone *ucs_zone_ref(UcsZone *z) {
        if (z && z != &utc)
                z->n_ref++;
        return z;
}

UcsZone *ucs_zone_unref(UcsZone *z) {
        if (!z || z == &utc || --z->n_ref > 0)
                return NULL;
        free(z->name);
        free(z->transitions);
        free(z->type_of);
        free(z->abbreviations);
        free(z);
        return NULL;
}

int ucs_zone_new(const char *name, const void *tzif, size_t size, UcsZone **ret, UcsError *e) {
        _cleanup_(ucs_zone_unrefp) UcsZone *z = NULL;
        int r;

        z = new0(UcsZone, 1);
        if (!z)
                return ucs_error_set(e, -ENOMEM, "out of memory");
        z->n_ref = 1;
        r = str_replace(&z->name, name);
        if (r < 0)
                return ucs_error_set(e, r, "out of memory");
        r = ucs_zone_read_tzif(z, tzif, size, e);
        if (r < 0)
                return ucs_error_prefix(e, r, "time zone '%.64s'", name);
        *ret = TAKE_PTR(z);
        return 0;
}

const char *ucs_zone_name(const UcsZone *z) {
        return z->name;
}

void ucs_zone_span(const UcsZone *z, int64_t utc_sec, UcsZoneSpan *ret) {
        size_t below = 0, above = z->n_transitions;
        const UcsZoneType *type;

        while (below < above) { /* the number of transitions at or before the moment */
                size_t middle = below + (above - below) / 2;

                if (z->transitions[middle] <= utc_sec)
                        below = middle + 1;
                else
                        above = middle;
        }

        if (below == z->n_transitions && z->has_tail) {
                ucs_zone_tail_span(&z->tail, clamp_sec(utc_sec), ret);
                if (z->n_transitions > 0)
                        ret->from_sec = MAX(ret->from_sec, z->transitions[z->n_transitions - 1]);
                return;
        }

        type = &z->types[below == 0 ? 0 : z->type_of[below - 1]];
        *ret = (UcsZoneSpan){
                .from_sec = below == 0 ? INT64_MIN : z->transitions[below - 1],
                .until_sec = below == z->n_transitions ? INT64_MAX : z->transitions[below],
                .offset_sec = type->offset_sec,
                .abbreviation = z->abbreviations + type->abbreviation,
        };
}

static int64_t floor_div(int64_t a, int64_t b) {
        return a / b - (a % b < 0);
}

void ucs_zone_to_civil(const UcsZone *z, int64_t utc_sec, UcsCivil *ret, int32_t *ret_offset_sec,
                       const char **ret_abbreviation) {
        int64_t local, days, rest;
        UcsZoneSpan span;

        utc_sec = clamp_sec(utc_sec);
        ucs_zone_span(z, utc_sec, &span);
        local = utc_sec + span.offset_sec;
        days = floor_div(local, SEC_PER_DAY);
        rest = local - days * SEC_PER_DAY;

        ucs_civil_from_days(days, &ret->year, &ret->month, &ret->day);
        ret->hour = (unsigned) (rest / 3600);
        ret->minute = (unsigned) (rest / 60 % 60);
        ret->second = (unsigned) (rest % 60);
        ret->weekday = (unsigned) (((days + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
        if (ret_offset_sec)
                *ret_offset_sec = span.offset_sec;
        if (ret_abbreviation)
                *ret_abbreviation = span.abbreviation;
}

int ucs_zone_from_local(const UcsZone *z, int64_t local_sec, int64_t *ret_utc_sec) {
        int64_t moment;
        UcsZoneSpan span;

        /* No offset lets the clock show this reading earlier than here. Walk the spans from there on: the first one in
         * which the clock reaches the reading holds the moment. */
        ucs_zone_span(z, local_sec - UCS_ZONE_EAST_MAX, &span);
        for (;;) {
                moment = MAX(span.from_sec, local_sec - span.offset_sec);
                if (moment < span.until_sec)
                        break;
                ucs_zone_span(z, span.until_sec, &span);
        }
        *ret_utc_sec = moment;
        if (moment > local_sec - span.offset_sec)
                return 1;

        while (span.until_sec <= local_sec - UCS_ZONE_WEST_MAX) {
                ucs_zone_span(z, span.until_sec, &span);
                moment = local_sec - span.offset_sec;
                /* a change of the abbreviation alone repeats nothing: the moment must be another one */
                if (moment >= span.from_sec && moment < span.until_sec)
                        return 2;
        }
        return 0;
}

int ucs_zone_from_civil(const UcsZone *z, const UcsCivil *c, int64_t *ret_utc_sec) {
        assert(c->month >= 1 && c->month <= 12);

        return ucs_zone_from_local(z,
                                   ucs_days_from_civil(c->year, c->month, c->day) * SEC_PER_DAY +
                                           (int64_t) c->hour * 3600 + (int64_t) c->minute * 60 + c->second,
                                   ret_utc_sec);
}

int64_t ucs_zone_furthest_local(const UcsZone *z, int64_t utc_sec) {
        int64_t furthest, from_sec;
        UcsZoneSpan span;

        ucs_zone_span(z, utc_sec, &span);
        furthest = utc_sec + span.offset_sec;
        from_sec = span.from_sec;

        /* what was shown longer ago than the widest possible setback cannot be ahead of now */
        while (from_sec > utc_sec - (UCS_ZONE_EAST_MAX - UCS_ZONE_WEST_MAX)) {
                ucs_zone_span(z, from_sec - 1, &span);
                furthest = MAX(furthest, from_sec - 1 + span.offset_sec);
                from_sec = span.from_sec;
        }
        return furthest;
}

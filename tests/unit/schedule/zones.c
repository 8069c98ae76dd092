/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Real zones for tests; see zones.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "ucs-test.h"
#include "zones.h"

#define DIRECTORY "/usr/share/zoneinfo"

static int load(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        char path[256], data[65536];
        size_t n;
        FILE *f;

        if (!*name) {
                *ret = ucs_zone_utc();
                return 0;
        }
        (void) snprintf(path, sizeof(path), DIRECTORY "/%s", name);
        f = fopen(path, "re");
        if (!f)
                return ucs_error_set(e, -ENOENT, "there is no %s", path);
        n = fread(data, 1, sizeof(data), f);
        (void) fclose(f);
        return ucs_zone_new(name, data, n, ret, e);
}

const UcsZoneSource installed_zones = { load, NULL };

UcsZone *zone_or_skip(const char *name) {
        UcsZone *z = NULL;
        UcsError e = {};
        int r;

        r = load(NULL, name, &z, &e);
        if (r == -ENOENT)
                cr_skip_test("time zone %s is not installed", name);
        cr_assert(r == 0, "%s", e.text);
        return z;
}

int64_t utc(const char *s) {
        unsigned month, day, hour, minute, second;
        int64_t year;
        char end = 0;

        cr_assert(sscanf(s, "%" SCNd64 "-%u-%uT%u:%u:%u%c", &year, &month, &day, &hour, &minute, &second, &end) == 7 && end == 'Z',
                  "'%s' is no time", s);
        return ucs_days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
}

const char *iso(int64_t sec) {
        static char buffers[4][UCS_TIMESTAMP_MAX];
        static unsigned next;

        next = (next + 1) % 4;
        return ucs_format_utc(buffers[next], (uint64_t) sec * USEC_PER_SEC);
}

const char *wall(const UcsZone *z, int64_t sec, char *buf) {
        const char *abbreviation;
        UcsCivil c;

        ucs_zone_to_civil(z, sec, &c, NULL, &abbreviation);
        (void) snprintf(buf, 64, "%04" PRId64 "-%02u-%02u %02u:%02u:%02u %s", c.year, c.month, c.day, c.hour, c.minute, c.second,
                        abbreviation);
        return buf;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Our side of the differential test: answers on stdout, one line a question from stdin.
 *
 *     ZONE|BASE|N|EXPRESSION         BASE in usec since the epoch; an empty ZONE is UTC
 *     ok|NORMALIZED|USEC USEC … [never]
 *     error|ERRNO|TEXT
 *
 * Zones are the files of $ZONEINFO, by default /usr/share/zoneinfo. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/str.h"
#include "core/schedule/calendar.h"

#define ZONE_SIZE_MAX 65536

static int load_zone(void *userdata, const char *name, UcsZone **ret, UcsError *e) {
        _cleanup_text_ UcsText path = {};
        _cleanup_free_ char *data = NULL;
        ssize_t n;
        int fd;

        ucs_text_appendf(&path, "%s/%s", (const char *) userdata, name);
        data = malloc(ZONE_SIZE_MAX);
        if (!data || path.failed)
                return -ENOMEM;
        fd = open(path.data, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return ucs_error_set(e, -errno, "%s: %m", path.data);
        n = read(fd, data, ZONE_SIZE_MAX);
        (void) close(fd);
        if (n < 0) /* a directory: "Europe" is no zone */
                return ucs_error_set(e, -ENOENT, "%s is no zone", path.data);
        return ucs_zone_new(name, data, (size_t) n, ret, e);
}

static void answer(char *line, const UcsZoneSource *zones) {
        char *fields[4] = { line };
        _cleanup_(ucs_calendar_freep) UcsCalendar *calendar = NULL;
        _cleanup_(ucs_zone_unrefp) UcsZone *zone = NULL;
        _cleanup_free_ char *normalized = NULL;
        uint64_t t, n;
        UcsError e = {};
        int r;

        for (size_t i = 1; i < ELEMENTSOF(fields); i++) {
                char *bar = strchr(fields[i - 1], '|');

                if (!bar) {
                        printf("error|%d|not a question\n", -EBADMSG);
                        return;
                }
                *bar = '\0';
                fields[i] = bar + 1;
        }
        if (ucs_parse_u64(fields[1], 10, &t) < 0 || ucs_parse_u64(fields[2], 10, &n) < 0) {
                printf("error|%d|not a question\n", -EBADMSG);
                return;
        }

        if (*fields[0])
                r = load_zone(zones->userdata, fields[0], &zone, &e);
        else {
                zone = ucs_zone_utc();
                r = 0;
        }
        if (r >= 0)
                r = ucs_calendar_parse(fields[3], zones, &calendar, &e);
        if (r >= 0)
                r = ucs_calendar_format(calendar, &normalized);
        if (r < 0) {
                printf("error|%d|%s\n", r, e.text);
                return;
        }

        printf("ok|%s|", normalized);
        for (uint64_t i = 0; i < n; i++) {
                r = ucs_calendar_next(calendar, zone, t, &t);
                if (r < 0) {
                        printf("never");
                        break;
                }
                printf("%" PRIu64 " ", t);
        }
        putchar('\n');
}

int main(void) {
        const char *directory = getenv("ZONEINFO") ?: "/usr/share/zoneinfo";
        UcsZoneSource zones = { load_zone, (void *) directory };
        char *line = NULL;
        size_t size = 0;
        ssize_t n;

        while ((n = getline(&line, &size, stdin)) > 0) {
                if (line[n - 1] == '\n')
                        line[n - 1] = '\0';
                answer(line, &zones);
                (void) fflush(stdout);
        }
        free(line);
        return 0;
}

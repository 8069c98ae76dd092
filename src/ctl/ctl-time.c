/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Moments; see ctl-time.h. All through core/schedule/zone: what is shown, what --after= means and what a
 * window does agree. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "ctl/ctl-time.h"
#include "os/clock.h"
#include "os/conf.h"
#include "os/root.h"

int ctl_root(UcsCtl *ctl) {
        UcsError e = {};
        int fd, r;

        r = ucs_root_open(ctl->root ?: "/", &fd, &e);
        if (r < 0) {
                (void) ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "--root: %s", e.text);
                return r;
        }
        return fd;
}

UcsZoneSource ctl_zone_source(int *root_fd) {
        return (UcsZoneSource){ .load = ucs_conf_zone_load, .userdata = root_fd };
}

UcsZone *ctl_zone(UcsCtl *ctl) {
        const char *tz = getenv("TZ");
        _cleanup_fd_ int fd = -EBADF;

        if (ctl->zone)
                return ctl->zone;
        if (ucs_root_open(ctl->root ?: "/", &fd, NULL) >= 0) {
                /* TZ may hold a rule instead of a name (tzset(3)): then the machine's zone is nearest */
                if (tz && *tz == ':')
                        tz++;
                if ((!tz || !*tz || *tz == '/' || ucs_conf_zone_load(&fd, tz, &ctl->zone, NULL) < 0) &&
                    ucs_conf_zone_load(&fd, "", &ctl->zone, NULL) < 0)
                        ctl->zone = NULL;
        }
        if (!ctl->zone)
                ctl->zone = ucs_zone_utc();
        return ctl->zone;
}

static const char *const weekdays[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };

const char *ctl_format_moment(UcsCtl *ctl, char buf[static CTL_TIME_MAX], uint64_t usec) {
        const char *abbreviation = "";
        UcsCivil c;

        if (usec == 0 || usec == UINT64_MAX)
                return snprintf(buf, CTL_TIME_MAX, "never"), buf;
        ucs_zone_to_civil(ctl_zone(ctl), (int64_t) (usec / USEC_PER_SEC), &c, NULL, &abbreviation);
        (void) snprintf(buf, CTL_TIME_MAX, "%s %04" PRId64 "-%02u-%02u %02u:%02u:%02u %.16s",
                        weekdays[c.weekday % 7], c.year, c.month, c.day, c.hour, c.minute, c.second,
                        abbreviation);
        return buf;
}

const char *ctl_format_relative(char buf[static CTL_TIME_MAX], uint64_t usec, uint64_t now_usec) {
        uint64_t distance = usec > now_usec ? usec - now_usec : now_usec - usec;
        char span[UCS_TIMESPAN_MAX];

        /* in whole units of what matters: nobody wants "in 3h 12min 4s 120ms" */
        distance -= distance % USEC_PER_SEC;
        if (distance == 0)
                return snprintf(buf, CTL_TIME_MAX, "now"), buf;
        ucs_format_timespan(span, distance);
        (void) snprintf(buf, CTL_TIME_MAX, usec > now_usec ? "in %s" : "%s ago", span);
        return buf;
}

const char *ctl_format_moment_relative(UcsCtl *ctl, char buf[static CTL_TIME_MAX], uint64_t usec) {
        char relative[CTL_TIME_MAX];
        size_t n;

        ctl_format_moment(ctl, buf, usec);
        if (usec != 0 && usec != UINT64_MAX) {
                n = strlen(buf);
                (void) snprintf(buf + n, CTL_TIME_MAX - n, " (%s)",
                                ctl_format_relative(relative, usec, ucs_clock_realtime_usec()));
        }
        return buf;
}

const char *ctl_format_end(UcsCtl *ctl, char buf[static CTL_TIME_MAX], uint64_t usec, uint64_t start_usec) {
        const char *abbreviation = "";
        UcsCivil c;

        if (usec == 0 || usec == UINT64_MAX)
                return snprintf(buf, CTL_TIME_MAX, "no end"), buf;
        if (usec < start_usec || usec - start_usec >= USEC_PER_DAY)
                return ctl_format_moment(ctl, buf, usec);
        ucs_zone_to_civil(ctl_zone(ctl), (int64_t) (usec / USEC_PER_SEC), &c, NULL, &abbreviation);
        (void) snprintf(buf, CTL_TIME_MAX, "%02u:%02u:%02u %.16s", c.hour, c.minute, c.second, abbreviation);
        return buf;
}

/* `digits` decimal digits at `*s`, at most `max`; moves behind them. */
static bool take_number(const char **s, size_t digits, unsigned max, unsigned *ret) {
        unsigned v = 0;

        for (size_t i = 0; i < digits; i++) {
                if ((*s)[i] < '0' || (*s)[i] > '9')
                        return false;
                v = v * 10 + (unsigned) ((*s)[i] - '0');
        }
        if (v > max)
                return false;
        *s += digits;
        *ret = v;
        return true;
}

static bool take(const char **s, char c) {
        if (**s != c)
                return false;
        (*s)++;
        return true;
}

/* The date and time of day at `*s`; moves behind them. */
static bool take_civil(const char **s, UcsCivil *ret) {
        static const unsigned days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        UcsCivil c = {};
        const char *p;
        unsigned year;
        bool leap;

        if (!take_number(s, 4, 9999, &year) || !take(s, '-') || !take_number(s, 2, 12, &c.month) ||
            !take(s, '-') || !take_number(s, 2, 31, &c.day) || c.month == 0 || c.day == 0)
                return false;
        c.year = year;
        leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if (c.day > days[c.month - 1] + (c.month == 2 && leap))
                return false;

        p = *s;
        if ((take(&p, ' ') || take(&p, 'T')) && *p >= '0' && *p <= '9') {
                if (!take_number(&p, 2, 23, &c.hour) || !take(&p, ':') || !take_number(&p, 2, 59, &c.minute))
                        return false;
                if (*p == ':' && (!take(&p, ':') || !take_number(&p, 2, 59, &c.second)))
                        return false;
                *s = p;
        }
        *ret = c;
        return true;
}

/* The zone behind the time, " Europe/Berlin" or "Z"; the own one when there is none. */
static int parse_zone(UcsCtl *ctl, const char *what, const char *name, UcsZone **ret) {
        _cleanup_fd_ int fd = -EBADF;
        UcsError e = {};

        if (!*name) {
                *ret = ucs_zone_ref(ctl_zone(ctl));
                return 0;
        }
        if (streq(name, "UTC") || streq(name, "Z")) {
                *ret = ucs_zone_utc();
                return 0;
        }
        fd = ctl_root(ctl);
        if (fd < 0)
                return UCS_EXIT_FAILED;
        if (ucs_conf_zone_load(&fd, name, ret, &e) < 0)
                return ctl_fail_named(ctl, UCS_EXIT_FAILED, "InvalidArgument", "%s: %s", what, e.text);
        return 0;
}

int ctl_parse_moment(UcsCtl *ctl, const char *what, const char *s, uint64_t *ret_usec) {
        _cleanup_(ucs_zone_unrefp) UcsZone *zone = NULL;
        const char *p = s;
        uint64_t epoch;
        UcsCivil c;
        int64_t sec;
        int r;

        if (streq(s, "now")) {
                *ret_usec = ucs_clock_realtime_usec();
                return 0;
        }
        if (*s == '@') {
                if (ucs_parse_u64(s + 1, 10, &epoch) < 0 ||
                    __builtin_mul_overflow(epoch, USEC_PER_SEC, ret_usec) || *ret_usec > INT64_MAX)
                        goto invalid;
                return 0;
        }
        if (!take_civil(&p, &c) || (*p && *p != ' ' && !streq(p, "Z")))
                goto invalid;
        while (*p == ' ')
                p++;
        r = parse_zone(ctl, what, p, &zone);
        if (r != 0)
                return r;
        (void) ucs_zone_from_civil(zone, &c, &sec);
        if (sec < 0)
                goto invalid;
        *ret_usec = (uint64_t) sec * USEC_PER_SEC;
        return 0;

invalid:
        return ctl_fail_named(
                ctl, UCS_EXIT_FAILED, "InvalidArgument",
                "%s: '%s' is no moment such as '2026-12-05 02:00', '2026-12-05 02:00 Europe/Berlin' or '@1796000000'",
                what, s);
}

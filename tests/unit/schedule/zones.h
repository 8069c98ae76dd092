/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Real zones for tests, from /usr/share/zoneinfo, and moments as people write them. */

#include "core/schedule/zone.h"

/* A source of the zones that are installed; an empty name is UTC. */
extern const UcsZoneSource installed_zones;

/* The zone, or the test ends as skipped, and says so. */
UcsZone *zone_or_skip(const char *name);

/* "2026-03-29T01:00:00Z" to seconds; fails the test on anything else. */
int64_t utc(const char *s);

/* Seconds to "2026-03-29T01:00:00Z", in one of a few static buffers. */
const char *iso(int64_t sec);

/* The wall clock: "2026-03-29 03:00:00 CEST". Into `buf`, of 64 bytes. */
const char *wall(const UcsZone *z, int64_t sec, char *buf);

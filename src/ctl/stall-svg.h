/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The same chart as a picture that a report can hold: SVG without anything from elsewhere, a bar a CPU, grouped by package and x2APIC cluster, on
 * an axis of time; the time in which no CPU ran anything as a band behind it, the worst CPU marked. It has its own ground, and colours for
 * a light and for a dark page. All text in it is escaped. */

#include "ctl/stall-model.h"

/* `m`: sorted by cluster. `stall`: the properties of org.ucodesync1.Stall; `load`: the entry of the history, or NULL. New memory, or NULL without. */
char *stall_svg(UcsCtl *ctl, const StallModel *m, const json_object *stall, const json_object *load);

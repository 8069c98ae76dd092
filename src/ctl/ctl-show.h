/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What several screens show, in the same words: a revision, the list of blockers, a request's end. */

#include "ctl/ctl-decode.h"
#include "ctl/ctl-screen.h"

#define CTL_LABEL_COLUMNS 11

/* A revision as it stands in a JSON value, "none" where there is none. */
const char *ctl_revision(const json_object *o, const char *key);

/* How many CPUs the groups of a status have. */
uint64_t ctl_count_cpus(const json_object *status);

/* Rows of blockers: name and sentence, and below it when it clears or what gets past it. */
void ctl_show_blockers(CtlScreen *s, const char *label, const json_object *blockers);

/* Rows of the property Advice: what rules say that do not block, what is to be known about the next boot, and who else loads. */
void ctl_show_advice(CtlScreen *s, const json_object *o);

/* "12.45 ms (29 889 604 ticks)". `tsc_hz` 0: no ticks. */
#define CTL_STALL_MAX 128
const char *ctl_format_stall(char buf[static CTL_STALL_MAX], uint64_t nsec, uint64_t tsc_hz);

/* "29 889 604" */
#define CTL_GROUPED_MAX 40
const char *ctl_format_grouped(char buf[static CTL_GROUPED_MAX], uint64_t n);

/* Colour of a result, its advice ("" for an unknown one; `laggards`: the list of CPUs that kept an old revision, or NULL), and the exit code of a request
 * that ended so. */
CtlStyle ctl_result_style(const char *result);
const char *ctl_result_advice(const char *result, const char *laggards);
UcsExit ctl_result_exit(const char *result);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the Manager interface shows, as one value: filled after every evaluation, compared with the last, and read by the property getters, so
 * that what was signalled is what is read. */

#include "core/policy/trust.h"
#include "daemon/outlook.h"

#define PUBLISHED_GROUPS_MAX 32
#define PUBLISHED_ADVICE_MAX 16

typedef struct PublishedGroup {
        uint32_t signature, platform_mask, n_cpus, lowest_revision, candidate_revision;
} PublishedGroup;

struct Published {
        const char *support, *support_reason, *state;
        struct {
                size_t n;
                UcsBlockerReport reports[_UCS_BLOCKER_MAX];
        } blockers;
        struct {
                size_t n;
                char sentences[PUBLISHED_ADVICE_MAX][UCS_ADVICE_MAX];
        } advice;
        uint32_t signature, platform_mask, running_revision;
        int mixed; /* sd-bus booleans are ints */
        struct {
                size_t n;
                PublishedGroup groups[PUBLISHED_GROUPS_MAX];
        } groups;
        uint32_t candidate_revision, candidate_min_revision;
        char candidate_path[512], candidate_date[UCS_DATE_MAX], candidate_digest[UCS_DIGEST_HEX_MAX];
        int overdue;
        uint64_t pending_since_usec, last_apply_usec;
        const char *last_result;
        uint32_t last_old_revision, last_new_revision;
        int mitigations_need_reboot, reboot_required;
        uint32_t early_revision;
        char early_path[UCS_EARLY_PATH_MAX];
        uint64_t probation_until_usec;

        /* computed when read; signalled only while pending */
        int in_window, load_quiet;
        uint64_t next_window_start_usec, next_window_end_usec, earliest_apply_usec;
        uint64_t forecast_nsec, applied_total, failed_total;
};

/* `d` is the decision to show. */
void published_fill(Manager *m, const UcsDecision *d, Published *ret);

/* bus-manager.c: the table of properties, for bus-publish.c. */
typedef struct ManagerProperty {
        const char *name;
        const char *signature;
        size_t offset, size; /* in Published; size 0: not in there, computed by the getter alone */
        bool computed;       /* no EmitsChangedSignal: signalled only while pending */
} ManagerProperty;

extern const ManagerProperty manager_properties[];
extern const size_t n_manager_properties;
extern const sd_bus_vtable manager_vtable[];
extern const sd_bus_vtable stall_vtable[];
extern const sd_bus_vtable logcontrol_vtable[];

/* Append one property's value from `p` to a message. */
int manager_property_append(sd_bus_message *message, const ManagerProperty *property, const Published *p);

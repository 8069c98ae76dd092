/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names that scripts read: every property, history key and signal argument of docs/dbus-api.md, and what
 * its number means. The order here is the order of the output. Names are never changed; new ones are added.
 */

#include "ctl/ctl-decode.h"

static const CtlField group_members[] = {
        { "", "signature", CTL_HEX },
        { "", "platform_mask", CTL_HEX },
        { "", "cpus" },
        { "", "running_revision", CTL_REVISION },
        { "", "candidate_revision", CTL_REVISION },
        {},
};

const CtlField ctl_blocker_members[] = {
        { "", "blocker" },
        { "", "sentence" },
        { "", "clears_usec", CTL_MOMENT },
        {},
};

const CtlField ctl_processor_members[] = {
        { "", "cpu" },
        { "", "signature", CTL_HEX },
        { "", "platform_mask", CTL_HEX },
        { "", "revision", CTL_REVISION },
        { "", "package", CTL_SPAN },
        { "", "cluster", CTL_SPAN },
        {},
};

const CtlField ctl_window_members[] = {
        { "", "start_usec", CTL_MOMENT },
        { "", "end_usec", CTL_MOMENT },
        { "", "expression" },
        {},
};

const CtlField ctl_per_cpu_members[] = {
        { "", "cpu" },
        { "", "apic_id", CTL_SPAN },
        { "", "cluster", CTL_SPAN },
        { "", "stall_nsec", CTL_SPAN },
        { "", "entry_nsec", CTL_SPAN },
        { "", "exit_nsec", CTL_SPAN },
        {},
};

static const CtlField bucket_members[] = {
        { "", "below_nsec", CTL_SPAN },
        { "", "count" },
        {},
};

const CtlField ctl_manager_fields[] = {
        { "Version", "version" },
        { "Vendor", "vendor" },
        { "Support", "support" },
        { "SupportReason", "support_reason" },
        { "State", "state" },
        { "BlockedBy", "blocked_by" },
        { "Blockers", "blockers", .members = ctl_blocker_members },
        { "Advice", "advice" },
        { "Signature", "signature", CTL_HEX },
        { "PlatformMask", "platform_mask", CTL_HEX },
        { "RunningRevision", "running_revision", CTL_REVISION },
        { "MixedRevisions", "mixed_revisions" },
        { "Groups", "groups", .members = group_members },
        { "CandidateRevision", "candidate_revision", CTL_REVISION },
        { "CandidatePath", "candidate_path" },
        { "CandidateDate", "candidate_date" },
        { "CandidateMinRevision", "candidate_min_revision", CTL_REVISION },
        { "CandidateDigest", "candidate_digest" },
        { "EarlyRevision", "early_revision", CTL_REVISION },
        { "EarlyPath", "early_path" },
        { "RebootRequired", "reboot_required" },
        { "MitigationsNeedReboot", "mitigations_need_reboot" },
        { "Overdue", "overdue" },
        { "PendingSinceUSec", "pending_since_usec", CTL_MOMENT },
        { "ProbationUntilUSec", "probation_until_usec", CTL_MOMENT },
        { "LastApplyUSec", "last_apply_usec", CTL_MOMENT },
        { "LastResult", "last_result" },
        { "LastOldRevision", "last_old_revision", CTL_REVISION },
        { "LastNewRevision", "last_new_revision", CTL_REVISION },
        { "InWindow", "in_window" },
        { "NextWindowStartUSec", "next_window_start_usec", CTL_MOMENT },
        { "NextWindowEndUSec", "next_window_end_usec", CTL_MOMENT },
        { "EarliestApplyUSec", "earliest_apply_usec", CTL_MOMENT },
        { "LoadQuiet", "load_quiet" },
        { "LoadMetric", "load_metric" },
        { "LoadValue", "load_value" },
        { "GuestShare", "guest_share" },
        { "ForecastStallNSec", "forecast_stall_nsec", CTL_SPAN },
        { "AppliedTotal", "applied_total" },
        { "FailedTotal", "failed_total" },
        {},
};

const CtlField ctl_stall_fields[] = {
        { "Witness", "witness" },
        { "Witnesses", "witnesses", CTL_SPAN },
        { "StallNSec", "stall_nsec", CTL_SPAN },
        { "WorstNSec", "worst_nsec", CTL_SPAN },
        { "WorstCPU", "worst_cpu", CTL_SPAN },
        { "MedianNSec", "median_nsec", CTL_SPAN },
        { "P99NSec", "p99_nsec", CTL_SPAN },
        { "StallTicks", "stall_ticks", CTL_SPAN },
        { "WorstTicks", "worst_ticks", CTL_SPAN },
        { "TSCHz", "tsc_hz", CTL_RATE },
        { "EntrySpreadNSec", "entry_spread_nsec", CTL_SPAN },
        { "ExitSpreadNSec", "exit_spread_nsec", CTL_SPAN },
        { "WriteNSec", "write_nsec", CTL_SPAN },
        { "StealNSec", "steal_nsec", CTL_SPAN },
        { "CPUsWitnessed", "cpus_witnessed" },
        { "CPUsMissing", "cpus_missing" },
        { "MixedCPUs", "mixed_cpus" },
        { "StallCount", "stall_count" },
        { "StallTotalNSec", "stall_total_nsec", CTL_SPAN },
        { "StallMaxNSec", "stall_max_nsec", CTL_SPAN },
        { "OverBudgetTotal", "over_budget_total" },
        { "Histogram", "histogram", .members = bucket_members },
        {},
};

const CtlField ctl_history_fields[] = {
        { "When", "when_usec", CTL_MOMENT },
        { "Id", "id" },
        { "Result", "result" },
        { "Signature", "signature", CTL_HEX },
        { "PlatformMask", "platform_mask", CTL_HEX },
        { "OldRevision", "old_revision", CTL_REVISION },
        { "TargetRevision", "target_revision", CTL_REVISION },
        { "NewRevision", "new_revision", CTL_REVISION },
        { "Path", "path" },
        { "Digest", "digest" },
        { "PredictedErrno", "predicted_errno", CTL_ERRNO },
        { "WriteErrno", "write_errno", CTL_ERRNO },
        { "Flags", "flags" },
        { "UID", "uid", CTL_SPAN },
        { "CPUs", "cpus" },
        { "Witness", "witness" },
        { "StallNSec", "stall_nsec", CTL_SPAN },
        { "WorstNSec", "worst_nsec", CTL_SPAN },
        { "WorstCPU", "worst_cpu", CTL_SPAN },
        { "WriteNSec", "write_nsec", CTL_SPAN },
        { "TSCHz", "tsc_hz", CTL_RATE },
        { "Laggards", "laggards" },
        { "Note", "note" },
        { "BootID", "boot_id" },
        { "Witnesses", "witnesses", CTL_SPAN },
        {},
};

static const CtlField candidate_found_arguments[] = {
        { "", "revision", CTL_REVISION },
        { "", "path" },
        {},
};

static const CtlField prepare_arguments[] = {
        { "", "start" },
        {},
};

static const CtlField applied_arguments[] = {
        { "", "id" },
        { "", "old_revision", CTL_REVISION },
        { "", "new_revision", CTL_REVISION },
        { "", "stall_nsec", CTL_SPAN },
        { "", "result" },
        {},
};

static const CtlField measured_arguments[] = {
        { "", "when_usec", CTL_MOMENT },
        { "", "stall_nsec", CTL_SPAN },
        { "", "worst_nsec", CTL_SPAN },
        { "", "write_nsec", CTL_SPAN },
        { "", "witness" },
        {},
};

static const CtlField over_budget_arguments[] = {
        { "", "when_usec", CTL_MOMENT },
        { "", "stall_nsec", CTL_SPAN },
        { "", "budget_nsec", CTL_SPAN },
        { "", "witness" },
        {},
};

const CtlSignal ctl_signals[] = {
        { CTL_MANAGER, "CandidateFound", "candidate_found", candidate_found_arguments },
        { CTL_MANAGER, "PrepareForApply", "prepare_for_apply", prepare_arguments },
        { CTL_MANAGER, "Applied", "applied", applied_arguments },
        { CTL_STALL, "StallMeasured", "stall_measured", measured_arguments },
        { CTL_STALL, "StallOverBudget", "stall_over_budget", over_budget_arguments },
        {},
};

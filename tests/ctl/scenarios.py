# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines and moments that the fake daemon plays: the two-socket machine of the 2019 measurement, current, pending, failed, unsupported,
and what it answers to each method. `UNKNOWN` is what the interface says it is."""

import copy
import time

UNKNOWN, UNKNOWN_ID = 2**64 - 1, 2**32 - 1
OLD, NEW, SIGNATURE, MASK = 0x200003A, 0x200005E, 0x50654, 0x80
PATH = "/lib/firmware/intel-ucode/06-55-04"
DIGEST = "c0" * 32
HOUR, DAY = 3600 * 10**6, 24 * 3600 * 10**6
NOW = int(time.time()) * 10**6


def history_entry(**more):
    e = {
        "When": ("t", NOW - 3 * DAY), "Id": ("u", 3), "Result": ("s", "success"), "Signature": ("u", SIGNATURE), "PlatformMask": ("u", MASK),
        "OldRevision": ("u", 0x2000032), "TargetRevision": ("u", OLD), "NewRevision": ("u", OLD), "Path": ("s", PATH), "Digest": ("s", DIGEST),
        "PredictedErrno": ("i", 0), "WriteErrno": ("i", 0), "Flags": ("t", 1), "UID": ("u", 0), "CPUs": ("u", 72), "Witness": ("s", "schedstat"),
        "StallNSec": ("t", 12454000), "WorstNSec": ("t", 12610000), "WorstCPU": ("u", 17), "WriteNSec": ("t", 14020000), "TSCHz": ("t", 2400000000),
        "Laggards": ("s", ""), "Note": ("s", ""), "BootID": ("s", "8b9cf1d2-6d5c-4f8e-9a43-0b6f4d0f7c11"),
        "Witnesses": ("a{st}", {"schedstat": 12454000, "write": 14020000}),
    }
    return {k: (t, more.get(k, v)) for k, (t, v) in e.items()}


STALL = {
    "Witness": "schedstat", "Witnesses": {"schedstat": 12454000, "write": 14020000}, "StallNSec": 12454000, "WorstNSec": 12610000, "WorstCPU": 17, "MedianNSec": 12500000, "P99NSec": 12600000,
    "StallTicks": 29889600, "WorstTicks": 30264000, "TSCHz": 2400000000, "EntrySpreadNSec": UNKNOWN, "ExitSpreadNSec": UNKNOWN,
    "WriteNSec": 14020000, "StealNSec": UNKNOWN, "CPUsWitnessed": 71, "CPUsMissing": 1, "StallCount": 4, "StallTotalNSec": 400000000,
    "StallMaxNSec": 350900000, "OverBudgetTotal": 1,
    "Histogram": [[1000000, 0], [3000000, 0], [10000000, 0], [30000000, 3], [100000000, 0], [1000000000, 1], [UNKNOWN, 0]],
}


def processors(n=72, lag=()):
    return [[c, SIGNATURE, MASK, 0x2000032 if c in lag else OLD, (c // 18) % 2, c // 16] for c in range(n)]


def current(**more):
    s = {
        "manager": {
            "Version": "0.1.0", "Vendor": "intel", "Support": "late-load", "State": "current", "Signature": SIGNATURE, "PlatformMask": MASK,
            "RunningRevision": OLD, "Groups": [[SIGNATURE, MASK, 72, OLD, 0]], "LastApplyUSec": NOW - 3 * DAY, "LastResult": "success",
            "LastOldRevision": 0x2000032, "LastNewRevision": OLD, "NextWindowStartUSec": NOW + 9 * HOUR, "NextWindowEndUSec": NOW + 11 * HOUR,
            "ForecastStallNSec": UNKNOWN, "AppliedTotal": 4,
        },
        "stall": dict(STALL),
        "replies": {
            "ListHistory": [[history_entry()]],
            "ListProcessors": [processors()],
            "GetPerCPU": [[[c, 2 * c, c // 16, UNKNOWN if c == 5 else 12454000 + 2000 * c, UNKNOWN, UNKNOWN] for c in range(72)]],
            "Explain": [[], -1, UNKNOWN, UNKNOWN],
            "Apply": [7],
        },
    }
    merge(s, more)
    return s


BLOCKERS = [
    ["window", "Outside the maintenance windows of this host", NOW + 9 * HOUR],
    ["minrev", "The vendor names no minimum revision from which 0x200005e may be loaded late (Trust=minrev)", 0],
]


def pending(**more):
    s = current(manager={
        "State": "pending", "BlockedBy": [b[0] for b in BLOCKERS], "Blockers": BLOCKERS, "Groups": [[SIGNATURE, MASK, 72, OLD, NEW]],
        "CandidateRevision": NEW, "CandidatePath": PATH, "CandidateDate": "2019-05-14", "CandidateMinRevision": 0x2000032, "CandidateDigest": DIGEST,
        "PendingSinceUSec": NOW - 2 * HOUR, "EarliestApplyUSec": NOW + 9 * HOUR, "LoadMetric": "pressure", "LoadValue": 0.021,
        "GuestShare": 0.0, "ForecastStallNSec": 14000000,
    }, replies={"Explain": [BLOCKERS, 0, 11000000, 14000000]})
    merge(s, more)
    return s


def unsupported(**more):
    s = current(manager={"Support": "advisory", "SupportReason": "kernel-option", "State": "unsupported", "BlockedBy": ["unsupported"],
                         "Blockers": [["unsupported", "this kernel cannot", 0]], "LastResult": "", "LastApplyUSec": 0})
    merge(s, more)
    return s


def failed(**more):
    s = pending(manager={"State": "failed", "BlockedBy": ["rejected"], "Blockers": [["rejected", "This very file ended in 'refused' here before", 0]],
                         "LastResult": "mixed-revisions", "MixedRevisions": True},
                replies={"ListHistory": [[history_entry(Result="mixed-revisions", Laggards="2,6-7", Note="the kernel log named CPU 2"), history_entry()]]})
    merge(s, more)
    return s


def merge(into, more):
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict) and key != "script":
            into[key] = {**into[key], **copy.deepcopy(value)}
        else:
            into[key] = copy.deepcopy(value)

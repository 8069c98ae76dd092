# SPDX-License-Identifier: LGPL-2.1-or-later
"""A daemon of another version: words, properties, keys and members that this ucodectl does not know, and ones that are not there."""

from harness import case, contains, ctl, equal, error, fake
from scenarios import NOW, current, history_entry, pending


@case
def new_words_are_shown_as_they_are():
    s = pending(manager={"State": "meditating", "Support": "by-telepathy", "SupportReason": "the-stars", "LastResult": "enlightened",
                         "Blockers": [["solar-flare", "The sun is restless", 0], ["moon", "It is full", NOW + 10**10]], "BlockedBy": ["solar-flare", "moon"]},
                replies={"ListHistory": [[history_entry(Result="enlightened", Witness="oracle")]], "Explain": [[["solar-flare", "The sun is restless", 0]], 4242, 1, 2]})
    with fake(s):
        r = ctl()
        equal(r.code, 0)
        contains(r.out, "meditating", "solar-flare: The sun is restless", "moon: It is full", "clears at ", "enlightened", "oracle")
        equal((ctl("--json=short").json["state"], ctl("--json=short").json["blocked_by"]), ("meditating", ["solar-flare", "moon"]))
        contains(ctl("history").out, "enlightened")
        contains(ctl("explain").out, "solar-flare", "would answer with an error")
        equal(ctl("explain", "--json=short").json["predicted"], None)


@case
def new_properties_and_keys_come_last_in_snake_case():
    extra = [["FutureThing", "s", "x"], ["NextMoonUSec", "t", 5], ["CPUsAsleep", "u", 3], ["P50NSec", "t", 6], ["TSCKind", "s", ""], ["ManyThings", "a(us)", [[1, "one"]]]]
    entry = {**history_entry(), "FutureKey": ("u", 9), "CPUsAsleep": ("u", 2)}
    with fake(pending(extra=extra, replies={"ListHistory": [[entry]]})):
        o = ctl("--json=short").json
        equal({k: o[k] for k in ("future_thing", "next_moon_usec", "cpus_asleep", "p50_nsec", "tsc_kind", "many_things")},
              {"future_thing": "x", "next_moon_usec": 5, "cpus_asleep": 3, "p50_nsec": 6, "tsc_kind": None, "many_things": [{"member_0": 1, "member_1": "one"}]})
        equal((o["last_load"]["future_key"], o["last_load"]["cpus_asleep"]), (9, 2))
        equal(ctl().code, 0)


@case
def missing_properties_are_missed_and_no_more():
    names = ["CandidateMinRevision", "CandidateDate", "Groups", "Overdue", "PendingSinceUSec", "LoadMetric", "LoadValue", "GuestShare", "ForecastStallNSec",
             "NextWindowStartUSec", "MixedRevisions", "EarliestApplyUSec"]
    with fake(pending(manager={n: None for n in names})):
        r = ctl()
        equal(r.code, 0)
        contains(r.out, "pending", "0x0200003a", "0x0200005e")
        o = ctl("--json=short").json
        equal([n for n in ("groups", "overdue", "load_metric") if n in o], [])


@case
def methods_that_it_lacks():
    gone = {m: ["org.freedesktop.DBus.Error.UnknownMethod", "no such method"] for m in ("ListHistory", "Explain", "GetPerCPU")}
    with fake(pending(errors=gone)):
        equal((ctl().code, ctl("--json=short").json["last_load"]), (0, None))
        contains(ctl("history").err, "of another version")
        error(ctl("explain", "--json=short"), "org.freedesktop.DBus.Error.UnknownMethod")
        equal(ctl("stall", "--per-cpu").code, 1)


@case
def histories_of_few_keys():
    with fake(current(replies={"ListHistory": [[{"Result": ("s", "success")}, {}]]})):
        equal((ctl().code, ctl("history").code), (0, 0))
        equal(ctl("history", "--json=short").json, [{"result": "success"}, {}])

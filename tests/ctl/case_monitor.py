# SPDX-License-Identifier: LGPL-2.1-or-later
"""monitor: a line a change, at once; objects line by line; the daemon comes and goes; signals of others are not believed."""

import json

from harness import Started, case, check, contains, equal, fake, lacks, private_bus
from scenarios import NEW, NOW, OLD, current, pending


@case
def a_line_a_change():
    with fake(current()) as f:
        s = Started("monitor")
        contains(s.read("state"), "state: current, 0x0200003a runs, on disk: none")
        f.run({"set": {"Blockers": [["window", "Outside", 1800000000 * 10**6], ["load", "Not quiet", 0]], "Groups": [[1, 2, 3, 4, 0]]}})
        s.read("groups: 0x00000001 0x00000002 3 0x00000004 -$")
        contains("\n".join(s.lines), "blockers: window Outside Fri 2027-01-15 08:00:00 UTC; load Not quiet -")
        f.run({"set": {"Blockers": []}})
        s.read("blockers: none$")
        f.run({"set": {"State": "pending", "CandidateRevision": NEW, "CandidatePath": "/lib/firmware/x", "BlockedBy": ["window"], "PendingSinceUSec": NOW}},
              {"signal": ["CandidateFound", [NEW, "/lib/firmware/x"]]})
        s.read("candidate_found revision=0x0200005e path=/lib/firmware/x")
        text = "\n".join(s.lines)
        contains(text, "state: current → pending", "candidate_revision: none → 0x0200005e", "blocked_by: none → window", "pending_since_usec: none → ")
        f.run({"set": {"State": "pending"}}, {"stall": {"StallNSec": 30000000}}, {"signal": ["StallMeasured", [NOW, 30000000, 31000000, 32000000, "schedstat"]]},
              {"signal": ["StallOverBudget", [NOW, 30000000, 20000000, "schedstat"]]}, {"signal": ["Applied", [7, OLD, NEW, 30000000, "success"]]})
        s.read("applied id=7 old_revision=0x0200003a new_revision=0x0200005e stall_nsec=30.00 ms result=success")
        contains("\n".join(s.lines), "stall_nsec: 12.45 ms → 30.00 ms", "stall_measured when_usec=", "stall_over_budget when_usec=", "budget_nsec=20.00 ms")
        equal(sum("state: " in line and "pending" in line for line in s.lines), 1, "a value that stays is not a change")
        r = s.interrupt()
        equal((r.code, r.err), (0, ""))


@case
def json_lines():
    for mode in ("short", "pretty"):
        with fake(current()) as f:
            s = Started("monitor", f"--json={mode}")
            first = json.loads(s.read("snapshot"))
            equal((first["type"], first["manager"]["state"], first["stall"]["worst_cpu"]), ("snapshot", "current", 17))
            f.run({"set": {"State": "pending"}}, {"signal": ["PrepareForApply", [True]]})
            s.read('"signal"')
            r = s.interrupt()
            equal((r.code, r.err), (0, ""))
            lines = [json.loads(line) for line in s.lines]
            equal([(o["type"], o.get("name")) for o in lines], [("snapshot", None), ("property", "state"), ("signal", "prepare_for_apply")])
            equal((lines[1]["old"], lines[1]["value"], lines[2]["arguments"]), ("current", "pending", {"start": True}))
            check(all(o["time_usec"] > 1.7e15 for o in lines), lines)


@case
def the_daemon_comes_and_goes():
    s = Started("monitor")
    s.read("ucodesyncd is not running; waiting for it")
    with fake(pending()):
        s.read("ucodesyncd has started")
        s.read("state: pending")
    s.read("ucodesyncd has stopped")
    with fake(current()) as f:
        s.read("state: current")
        f.run({"set": {"State": "pending"}})
        s.read("state: current → pending")
    s.read("ucodesyncd has stopped")
    equal(s.interrupt().code, 0)
    s = Started("monitor", "--json=short")
    equal(json.loads(s.read("stopped"))["type"], "stopped")
    with fake(pending()):
        s.read('"started"')
        s.read('"snapshot"')
    equal(s.interrupt().code, 0)


@case
def others_are_not_believed():
    with fake(current()) as f:
        s = Started("monitor")
        s.read("state")
        f.run({"forge": ["Applied", [7, OLD, NEW, 1, "success"]]}, {"sleep": 100}, {"signal": ["PrepareForApply", [True]]})
        s.read("prepare_for_apply")
        lacks(s.interrupt().out, "applied")


@case
def the_end_of_the_bus_is_an_error():
    with private_bus() as bus, fake(current()):
        s = Started("monitor")
        s.read("state")
        bus.terminate()
        r = s.wait()
        equal(r.code, 1)
        contains(r.err, "the system bus is gone")


@case
def hostile_values_come_out_harmless():
    with fake(current()) as f:
        s = Started("monitor")
        s.read("state")
        f.run({"set": {"CandidatePath": "/x\x1b]0;title\x07\n2026 state: current"}}, {"signal": ["CandidateFound", [NEW, "/y\x1b[2J\r\u202egpj"]]})
        s.read("candidate_found")
        r = s.interrupt()
        lacks(r.out, "\x1b", "\x07", "\r", "\u202e")
        contains(r.out, "/x?]0;title??2026 state: current", "path=/y?[2J??gpj")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""apply, cancel, acknowledge: flags, the end of a request by each result, waiting, interruption, a daemon that leaves, and signals of others."""

from harness import Started, case, check, contains, ctl, equal, error, fake, lacks, private_bus
from scenarios import BLOCKERS, NEW, NOW, OLD, HOUR, UNKNOWN, current, pending


def applied(result, id=7, old=OLD, new=NEW, stall=12454000):
    return {"signal": ["Applied", [id, old, new, stall, result]]}


def ends(result, **more):
    return pending(script={"Apply": [{"signal": ["PrepareForApply", [True]]}, {"set": {"State": "applying"}}, {"sleep": 20}, applied(result, **more)]})


@case
def apply_says_the_id_and_leaves():
    with fake(pending()) as f:
        r = ctl("apply")
        equal((r.code, r.out, r.err), (0, "Request 7 is accepted\n", ""))
        equal(ctl("apply", "--json=short").json, {"id": 7})
        equal(ctl("apply", "-q").out, "")
        calls = f.stop()
        equal([c["args"] for c in calls], [[0]] * 3)


@case
def flags_are_added_up():
    table = [(["--now"], 3), (["--dry-run"], 32), (["--force=ignore-schedule"], 1), (["--force=ignore-load"], 2), (["--force=ignore-inhibitors"], 4),
             (["--force=ignore-hold"], 8), (["--force=ignore-trust"], 16), (["--force=despite-prediction"], 64), (["--force=ignore-health"], 128),
             (["--now", "--force=ignore-hold,ignore-trust", "--dry-run"], 59)]
    with fake(pending()) as f:
        for args, _ in table:
            equal(ctl("apply", *args).code, 0, args)
        equal([c["args"][0] for c in f.stop()], [flags for _, flags in table])


@case
def waiting_ends_with_each_result():
    codes = {"success": 0, "no-change": 0, "cancelled": 2, "refused": 1, "malformed": 1, "busy": 1, "io-error": 1, "mixed-revisions": 1,
             "digest-rejected": 1, "unexpected-revision": 1, "not-permitted": 1, "timeout": 1, "of-a-newer-daemon": 1}
    for result, code in codes.items():
        with fake(ends(result)):
            r = ctl("apply", "--wait")
            equal(r.code, code, result)
            contains(r.out, "Request 7 is accepted\n", "Loading now\n")
            contains(r.out if code == 0 else r.err, result)
            o = ctl("apply", "--wait", "--json=short")
            equal((o.code, o.json), (code, {"id": 7, "old_revision": "0x0200003a", "new_revision": "0x0200005e", "stall_nsec": 12454000, "result": result}), result)
            equal(ctl("apply", "--wait", "-q").code, code, result)
    with fake(ends("success")):
        contains(ctl("apply", "--wait").out, "success: 0x0200003a → 0x0200005e, the machine stood still for 12.45 ms")
    with fake(ends("success", stall=UNKNOWN)):
        contains(ctl("apply", "--wait").out, "stood still for unknown")
        equal(ctl("apply", "--wait", "--json=short").json["stall_nsec"], None)
    with fake(ends("no-change")):
        contains(ctl("apply", "--wait", "--dry-run").out, "Dry run: nothing stands in the way")


@case
def a_signal_right_behind_the_answer_is_not_missed():
    with fake(pending(script={"Apply": [applied("success")]})):
        for _ in range(20):
            equal(ctl("apply", "--wait").code, 0)


@case
def only_the_own_request_ends_the_wait():
    steps = [applied("refused", id=6), applied("refused", id=0), {"signal": ["PrepareForApply", [False]]}, {"sleep": 50}, applied("success")]
    with fake(pending(script={"Apply": steps})):
        equal(ctl("apply", "--wait").code, 0)


@case
def a_signal_of_someone_else_does_not():
    with fake(pending(script={"Apply": [{"forge": ["Applied", [7, OLD, NEW, 1, "success"]]}, {"sleep": 200}, applied("refused")]})):
        r = ctl("apply", "--wait")
        equal(r.code, 1)
        lacks(r.out, "success")


@case
def nor_does_the_news_that_the_daemon_left():
    lie = {"forge": ["NameOwnerChanged", ["org.ucodesync1", ":1.1", ""]]}
    with fake(pending(script={"Apply": [{"sleep": 100}, lie, {"sleep": 100}, applied("success")]})):
        equal(ctl("apply", "--wait").code, 0)


@case
def a_daemon_that_the_call_starts_is_waited_for():
    for _ in range(3):
        with private_bus(activate=pending(script={"Apply": [applied("success"), {"sleep": 1000}, {"exit": True}]})):
            equal(ctl("apply", "--wait", "--json=short").code, 0)


@case
def what_it_waits_for_is_said_once():
    scenario = pending(manager={"Blockers": [*BLOCKERS, ["manual", "Automatic=no", 0], ["hold", "held by the storage team", 0]]})
    scenario["script"] = {"Apply": [{"sleep": 100}, {"set": {"Blockers": [BLOCKERS[0]], "RunningRevision": OLD}}, {"set": {"Blockers": [BLOCKERS[0]]}},
                                    {"sleep": 50}, {"set": {"Blockers": []}}, applied("success")]}
    with fake(scenario):
        r = ctl("apply", "--wait", "--force=ignore-trust")
        lines = [line for line in r.out.splitlines() if line.startswith("Waiting")]
        equal(len(lines), 2, r.out)
        check(lines[0].startswith("Waiting: window until ") and lines[0].endswith(", hold"), lines[0])
        check(lines[1].startswith("Waiting: window until ") and "hold" not in lines[1], lines[1])


@case
def interrupting_leaves_the_request_open():
    with fake(pending()) as f:
        s = Started("apply", "--wait")
        s.read("Waiting: window")
        r = s.interrupt()
        equal(r.code, 1)
        contains(r.err, "request 7 stays open, 'ucodectl cancel 7' takes it back")
        equal([c["call"] for c in f.stop()], ["Apply"])
    with fake(pending(script={"Apply": [{"sleep": 300}, {"exit": True}]})) as f:
        s = Started("apply", "--wait", "--json=short")
        while "Apply" not in f.process.stdout.readline():
            pass
        r = s.interrupt()
        contains(error(r, "Interrupted"), "stays open")


@case
def the_daemon_leaves_while_one_waits():
    for args, seen in ((["apply", "--wait"], False), (["apply", "--wait", "--json=short"], True)):
        with fake(pending(script={"Apply": [{"sleep": 100}, {"exit": True}]})):
            r = ctl(*args)
            if seen:
                contains(error(r, "NoReply"), "ucodesyncd went away before request 7 ended")
            else:
                equal(r.code, 1)
                contains(r.err, "ucodesyncd went away before request 7 ended", "ucodectl history")
    with fake(pending(script={"Apply": [{"sleep": 100}, {"drop": True}]})):
        contains(ctl("apply", "--wait").err, "went away")


@case
def the_bus_leaves_while_one_waits():
    with private_bus() as bus, fake(pending()):
        s = Started("apply", "--wait")
        s.read("Waiting")
        bus.terminate()
        r = s.wait()
        equal(r.code, 1)
        check("the system bus is gone" in r.err or "ucodesyncd went away" in r.err, r.err)  # whoever it took first


@case
def cancel_and_acknowledge():
    with fake(pending()) as f:
        equal(ctl("cancel", "7").out, "Request 7 is taken back\n")
        equal(ctl("cancel", "7", "--json=short").json, {"cancelled": 7})
        equal(ctl("acknowledge", "c0" * 32).out, "The file may be tried again\n")
        equal(ctl("acknowledge", "C0" * 32, "--json=short").json, {"acknowledged": "C0" * 32})
        equal([(c["call"], c["args"]) for c in f.stop()], [("Cancel", [7])] * 2 + [("Acknowledge", ["c0" * 32]), ("Acknowledge", ["C0" * 32])])


@case
def acknowledge_without_a_digest_shows_it_and_calls_nothing():
    with fake(pending()) as f:
        r = ctl("acknowledge")
        equal(r.code, 1)
        contains(r.err, "name the file by its SHA-256", "c0" * 32)
        equal(f.stop(), [])
    with fake(current()):
        equal(ctl("acknowledge").code, 2)


@case
def passwords_are_asked_for_unless_not():
    with fake(pending()) as f:
        ctl("apply")
        ctl("apply", "--no-ask-password")
        calls = f.stop()
        if calls[0]["interactive"] is not None:
            equal([c["interactive"] for c in calls], [True, False])


@case
def log_level_is_read_and_set():
    with fake(pending(log_level="notice")):
        equal(ctl("log-level").out, "notice\n")
        equal((ctl("log-level", "debug").out, ctl("log-level").out), ("", "debug\n"))
        equal(ctl("log-level", "err", "--json=short").json, {"log_level": "err"})

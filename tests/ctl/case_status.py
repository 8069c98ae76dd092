# SPDX-License-Identifier: LGPL-2.1-or-later
"""status, check and explain: every state in text and in JSON, the exit codes of --quiet, what stands on the screen and what must not."""

import errno
import tempfile
import time
from pathlib import Path

import scenarios
from harness import case, check, contains, ctl, equal, fake, lacks
from scenarios import NEW, NOW, UNKNOWN, current, failed, history_entry, pending, unsupported

# Every name of DESIGN's Manager in snake_case: scripts read them, so they are written out here and not derived.
MANAGER_KEYS = """version vendor support support_reason state blocked_by blockers signature platform_mask running_revision mixed_revisions groups
candidate_revision candidate_path candidate_date candidate_min_revision candidate_digest overdue pending_since_usec
advice early_revision early_path reboot_required mitigations_need_reboot probation_until_usec
last_apply_usec last_result last_old_revision last_new_revision in_window next_window_start_usec next_window_end_usec earliest_apply_usec
load_quiet load_metric load_value guest_share forecast_stall_nsec applied_total failed_total""".split()
STALL_KEYS = """witness witnesses stall_nsec worst_nsec worst_cpu median_nsec p99_nsec stall_ticks worst_ticks tsc_hz entry_spread_nsec exit_spread_nsec
write_nsec steal_nsec cpus_witnessed cpus_missing mixed_cpus stall_count stall_total_nsec stall_max_nsec over_budget_total histogram""".split()
HISTORY_KEYS = """when_usec id result signature platform_mask old_revision target_revision new_revision path digest predicted_errno write_errno
flags uid cpus witness stall_nsec worst_nsec worst_cpu write_nsec tsc_hz laggards note boot_id witnesses""".split()


@case
def json_has_every_property_by_its_name():
    with fake(pending()):
        for mode in ("short", "pretty"):
            o = ctl("status", f"--json={mode}").json
            more = [k for k in o if k not in MANAGER_KEYS]
            equal(set(MANAGER_KEYS) - set(o), set())
            equal(set(more), {"forecast_low_nsec", "old_microcode", "old_microcode_usec", "stall", "last_load"})
            equal(sorted(o["stall"]), sorted(STALL_KEYS))
            equal(sorted(o["last_load"]), sorted(HISTORY_KEYS))
        equal(len(ctl("--json=short").out.splitlines()), 1)


@case
def json_values_have_their_form():
    with fake(pending()):
        o = ctl("--json=short").json
        equal(o["state"], "pending")
        equal((o["running_revision"], o["candidate_revision"], o["signature"], o["platform_mask"]), ("0x0200003a", "0x0200005e", "0x00050654", "0x00000080"))
        equal(o["blocked_by"], ["window", "minrev"])
        equal(o["blockers"][0], {"blocker": "window", "sentence": "Outside the maintenance windows of this host", "clears_usec": NOW + 9 * scenarios.HOUR})
        equal(o["blockers"][1]["clears_usec"], None)
        equal(o["groups"], [{"signature": "0x00050654", "platform_mask": "0x00000080", "cpus": 72, "running_revision": "0x0200003a", "candidate_revision": "0x0200005e"}])
        equal((o["mixed_revisions"], o["load_value"], o["pending_since_usec"]), (False, 0.021, NOW - 2 * scenarios.HOUR))
        equal((o["stall"]["entry_spread_nsec"], o["stall"]["stall_nsec"]), (None, 12454000))
        equal(o["stall"]["histogram"][-1], {"below_nsec": None, "count": 0})
        equal((o["last_load"]["laggards"], o["last_load"]["uid"], o["last_load"]["write_errno"]), (None, 0, 0))


@case
def nothing_is_null_and_never_zero():
    with fake({"manager": {"State": "current", "ForecastStallNSec": UNKNOWN}, "stall": {k: UNKNOWN for k in ("StallNSec", "WorstNSec", "WriteNSec")}}):
        o = ctl("--json=short").json
        for key in ("running_revision", "candidate_revision", "candidate_path", "candidate_date", "support_reason", "last_result", "pending_since_usec",
                    "next_window_start_usec", "forecast_stall_nsec", "last_load"):
            equal(o[key], None, key)
        equal(o["stall"]["stall_nsec"], None)
        r = ctl()
        equal(r.code, 0)
        contains(r.out, "current", "unknown", "nothing newer")
        lacks(r.out, "Last load", "1970", "never", "0x00000000")


@case
def quiet_is_an_exit_code_and_nothing_else():
    for scenario, code in ((current(), 0), (pending(), 2), (pending(manager={"State": "applying"}), 2), (failed(), 1), (unsupported(), 3),
                           (current(manager={"State": "of-a-newer-daemon"}), 1)):
        with fake(scenario):
            for args in (["-q"], ["status", "--quiet"], ["-q", "--json=short"]):
                r = ctl(*args)
                equal((r.code, r.out, r.err), (code, "", ""), scenario["manager"]["State"])
            equal(ctl().code, 0)
            equal(ctl("--json=short").code, 0)


@case
def the_screen_answers_the_questions():
    with fake(pending(manager={"Overdue": True})):
        out = ctl().out
        contains(out, "pending: an update waits, for longer than it should", "0x0200003a on 72 CPUs", "0x0200005e of 2019-05-14", scenarios.PATH,
                 "window: Outside the maintenance windows", "clears at ", "(in 8h 5", "--force=ignore-trust", "not before someone decides about minrev",
                 "would stand still for 11.00 ms to 14.00 ms", "success: 0x02000032 → 0x0200003a on 72 CPUs", "12.45 ms (29 889 600 ticks)", "17: 12.61 ms", "(3d ago)")
    with fake(pending(manager={"Blockers": scenarios.BLOCKERS[:1] + [["load", "Not quiet", 0]], "InWindow": True, "LoadQuiet": True, "GuestShare": 0.5})):
        out = ctl().out
        contains(out, "Earliest  ", "Window  open until ", "quiet, pressure 2.1%, guests 50.0%")
        lacks(out, "someone decides")


@case
def what_the_next_boot_runs_is_shown_when_it_is_known():
    extra = [["EarlyRevision", "u", 0x2000032], ["RebootRequired", "b", True], ["MitigationsNeedReboot", "b", True], ["ProbationUntilUSec", "t", NOW + scenarios.DAY]]
    with fake(pending(extra=extra)):
        contains(ctl().out, "Next boot  0x02000032, older than what runs", "Reboot  needed", "loaded is not mitigated", "Probation  until ")
        o = ctl("--json=short").json
        equal((o["early_revision"], o["reboot_required"], o["mitigations_need_reboot"]), ("0x02000032", True, True))
    with fake(pending(extra=[["EarlyRevision", "u", 0]])):
        lacks(ctl().out, "Next boot")
        equal(ctl("--json=short").json["early_revision"], None)
    with fake(pending(extra=[["EarlyRevision", "u", scenarios.OLD]])):
        contains(ctl().out, "Next boot  0x0200003a, older than what is on disk")
    with fake(pending(extra=[["EarlyRevision", "u", NEW]])):
        contains(ctl().out, "Next boot  0x0200005e\n")
    path = ["EarlyPath", "s", "/boot/initrd.img-6.1.0-13-amd64"]
    with fake(current(extra=[["EarlyRevision", "u", 0x2000032], path])):
        contains(ctl().out, "Next boot  0x02000032, or what the firmware of the board has", path[2])
        equal(ctl("--json=short").json["early_path"], path[2])
    with fake(current(extra=[["EarlyRevision", "u", 0], path])):
        contains(ctl().out, "Next boot  what the firmware of the board has", path[2])


@case
def the_kernels_own_list_is_a_second_opinion():
    """Read from sysfs below --root=, with the age of the boot; absent, empty and strange."""
    with tempfile.TemporaryDirectory() as top, fake(current()):
        root = Path(top)
        (root / "sys/devices/system/cpu/vulnerabilities").mkdir(parents=True)
        (root / "proc").mkdir()
        file, uptime = root / "sys/devices/system/cpu/vulnerabilities/old_microcode", root / "proc/uptime"
        lacks(ctl(f"--root={root}").out, "Kernel says")
        o = ctl(f"--root={root}", "--json=short").json
        equal((o["old_microcode"], o["old_microcode_usec"]), (None, None))
        file.write_text("Vulnerable\n")
        contains(ctl(f"--root={root}").out, "Kernel says  Vulnerable (old_microcode, by a list of its own)")
        uptime.write_text("263000.12 1.0\n")
        contains(ctl(f"--root={root}").out, "Kernel says  Vulnerable (old_microcode, by a list of its own, as of the boot 3d 1h ago)")
        o = ctl(f"--root={root}", "--json=short").json
        equal(o["old_microcode"], "Vulnerable")
        check(abs(o["old_microcode_usec"] - (time.time() - 263000) * 1e6) < 60e6, o["old_microcode_usec"])
        file.write_text("Not affected\n")
        contains(ctl(f"--root={root}").out, "Kernel says  Not affected (")
        for text, up in (("", "1.0"), ("Unknown: running under hypervisor\n", "soon"), ("\x1b[31mred\n", "99999999999999999999")):
            file.write_text(text)
            uptime.write_text(up)
            r = ctl(f"--root={root}")
            equal(r.code, 0)
            lacks(r.out, "\x1b", "as of the boot")


@case
def unsupported_says_why_and_what_would_change_it():
    with fake(unsupported()):
        out = ctl().out
        contains(out, "unsupported: this kernel was built without CONFIG_MICROCODE_LATE_LOADING")
        lacks(out, "Blocked by", "Window")
    with fake(unsupported(manager={"SupportReason": "phase-of-the-moon"})):
        contains(ctl().out, "unsupported: phase-of-the-moon")


@case
def failed_names_the_cpus_and_the_advice():
    with fake(failed()):
        contains(ctl().out, "mixed-revisions", "CPUs 2,6-7 do not run 0x0200003a", "the kernel log named CPU 2", "offline and online again", "ucodectl acknowledge",
                 "Mixed: some CPUs run something newer")


@case
def an_upper_bound_is_called_one():
    with fake(current(replies={"ListHistory": [[history_entry(Witness="write", WorstNSec=UNKNOWN, WorstCPU=2**32 - 1, TSCHz=0)]]})):
        out = ctl().out
        contains(out, "at most 12.45 ms in which")
        lacks(out, "Worst CPU", "ticks")


@case
def several_groups_are_each_shown():
    groups = [[0x50654, 0x80, 36, 0x200003A, NEW], [0x50657, 0x80, 36, 0x5000012, 0]]
    with fake(pending(manager={"Groups": groups})):
        contains(ctl().out, "0x0200003a on 36 CPUs, signature 0x00050654, platform mask 0x80, 0x0200005e on disk", "0x05000012 on 36 CPUs, signature 0x00050657")


@case
def check_calls_and_says_what_was_found():
    with fake(pending()) as f:
        equal(ctl("check").out, "pending: 0x0200005e is on disk, 0x0200003a runs\n")
        equal(ctl("check", "--json=short").json["state"], "pending")
        equal(ctl("check", "-q").out, "")
        equal([c["call"] for c in f.stop()], ["Check"] * 3)
    with fake(current()):
        r = ctl("check")
        equal((r.code, r.out), (0, "current: nothing newer than 0x0200003a is on disk\n"))


@case
def explain_predicts():
    with fake(pending()):
        r = ctl("explain")
        equal(r.code, 2)
        contains(r.out, "from 0x0200003a to 0x0200005e", "72 CPUs", "would accept it", "11.00 ms to 14.00 ms", "until the next reset", "window: ")
        o = ctl("explain", "--json=short").json
        equal(sorted(o), sorted("state support support_reason running_revision candidate_revision candidate_path advice flags blockers predicted_errno "
                                "predicted forecast_low_nsec forecast_high_nsec".split()))
        equal((o["predicted_errno"], o["predicted"], o["forecast_low_nsec"], o["flags"]), (0, "success", 11000000, []))
    with fake(pending(replies={"Explain": [[], 2, UNKNOWN, UNKNOWN]})) as f:
        r = ctl("explain", "--force=ignore-hold,ignore-health", "--dry-run")
        equal(r.code, 0)
        contains(r.out, "nothing that it can use", "ENOENT", "no forecast", "Blocked by  nothing")
        equal(ctl("explain", "--json=short").json["predicted"], "ENOENT")
        equal([c["args"] for c in f.stop()], [[8 + 128 + 32], [0]])
    with fake(current()):
        r = ctl("explain")
        equal(r.code, 2)
        contains(r.out, "nothing newer than 0x0200003a is on disk")
        lacks(r.out, "Kernel")
        equal(ctl("explain", "--json=short").json["predicted_errno"], None)
    with fake(unsupported(manager={"CandidateRevision": NEW})):
        r = ctl("explain")
        equal(r.code, 3)
        contains(r.out, "CONFIG_MICROCODE_LATE_LOADING")
    for e in (1, 5, 13, 16, 22, 30, 77, 135):
        with fake(pending(replies={"Explain": [[], e, 1, 2]})):
            contains(ctl("explain").out, "Kernel  would", f"({errno.errorcode.get(e, '?')})")


@case
def what_rules_say():
    sentence = "Be warned: latency spikes from 0x2b000603 on (https://example.org/1) (rule '06-8f-08')"
    with fake(pending(manager={"Advice": [sentence, "A warm reboot may hang, power-cycle instead: \x1b[31mred (rule 'x')"]})):
        for verb in ("status", "explain"):
            r = ctl(verb)
            contains(r.out, "Advice", sentence, "power-cycle instead")
            lacks(r.out, "\x1b")
        equal(ctl("--json=short").json["advice"][0], sentence)
    with fake(pending()):
        lacks(ctl("status").out, "Advice")

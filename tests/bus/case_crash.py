# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon or the machine dies at the worst moment; what a start finds, and what comes of it. And what a load leaves behind."""

import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

from cases import AMD, ANY_TRUST, INTEL, INTEL_FILE, NEW, OLD, amd, case, check, equal, intel, table
from world import BUILD, MANAGER, SHUT, configuration


def intent(w):
    return w.root / "var/lib/ucodesync/intent"


def kill_in_the_load(w):
    """The process is gone when its thread comes back from the kernel, not before."""
    time.sleep(1)  # the thread has written by now
    w.daemon.send_signal(signal.SIGKILL)
    w.sim("set", "hang", "no")
    w.daemon.wait(30)
    w.processes.remove(w.daemon)
    w.daemon = None
    w.sim("wait", "writes", 1)


@case(sim=INTEL + ["--hang"])
def killed_in_the_load_which_succeeds(w):
    """The same boot: the CPUs tell, the history is complete, nothing is loaded twice."""
    intel(w)
    w.until_property("State", "applying")
    check("to 0x0200005e" in intent(w).read_text(), "the intent is not on disk")
    kill_in_the_load(w)
    w.start_daemon()
    equal("RunningRevision", w.get("RunningRevision"), NEW)
    entry = w.history()[0]
    equal("result", entry["Result"], "success")
    equal("revisions", (entry["OldRevision"], entry["NewRevision"]), (OLD, NEW))
    check("ended during the load" in entry["Note"], f"note is {entry['Note']!r}")
    check(not intent(w).exists(), "the intent is still there")
    equal("State", w.get("State"), "current")
    w.restart_daemon()
    equal("entries", len(w.history()), 1)
    equal("writes", len(w.writes()), 1)


@case(sim=INTEL + ["--hang"])
def killed_again_while_it_looks_back(w):
    """Before each thing that the next start brings to disk: whichever was the last, the load is there once, and is nobody else's."""
    intel(w)
    w.until_property("State", "applying")
    kill_in_the_load(w)
    directory, kept = w.root / "var/lib/ucodesync", w.top / "kept"
    directory.rename(kept)
    command = ["strace", "-f", "-qq", "-o", w.top / "trace", "-e", "trace=fsync"]
    w.environment["ASAN_OPTIONS"] = "detect_leaks=0:exitcode=99"  # it is traced
    for n in range(1, 100):
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(kept, directory)
        said = w.top / f"said-{n}"
        traced = w.start([*command, "-e", f"inject=fsync:signal=SIGKILL:when={n}", BUILD / "src/daemon/ucodesyncd", f"--root={w.root}"],
                         stderr=open(said, "w"))
        w.until(lambda: traced.poll() is not None or "started:" in said.read_text(), "the daemon to be killed, or to have started")
        survived = traced.poll() is None
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end by itself
            for pid in Path(f"/proc/{traced.pid}/task/{traced.pid}/children").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
        traced.wait(30)
        w.processes.remove(traced)
        w.until(lambda: not w.has_name(), "the name to be free")
        w.start_daemon()
        equal(f"history when killed before the {n}th fsync", [e["Result"] for e in w.history()], ["success"])
        if survived:
            break
        w.stop_daemon()
    check(n > 5, f"it was killed {n - 1} times only")


@case(sim=INTEL + ["--fail-cpus=2,6", "--hang"])
def killed_in_the_load_which_fails_in_part(w):
    intel(w)
    w.until_property("State", "applying")
    kill_in_the_load(w)
    w.start_daemon()
    equal("result", w.history()[0]["Result"], "mixed-revisions")
    equal("laggards", w.history()[0]["Laggards"], "2,6")
    equal("State", w.get("State"), "failed")
    time.sleep(3)
    equal("writes", len(w.writes()), 1)


@case(sim=INTEL + ["--hang"])
def the_bus_goes_in_the_load(w):
    """The load is seen to its end, with its stall, and written down; then the daemon leaves, for systemd to start it again."""
    intel(w)
    w.until_property("State", "applying")
    time.sleep(1)
    bus = w.processes[0]
    bus.terminate()
    bus.wait()
    w.processes.remove(bus)
    w.until_says("connection to the bus was closed")
    w.sim("set", "hang", "no")
    equal("the daemon's exit status", w.daemon.wait(30), 1)
    w.processes.remove(w.daemon)
    w.daemon = None
    w.start(["dbus-daemon", f"--config-file={w.top}/bus.conf", "--nofork", "--nosyslog", "--nopidfile"])
    w.until(lambda: not w.has_name() and w.busctl("list"), "the bus to be back")
    w.start_daemon()
    equal("result", w.history()[0]["Result"], "success")
    equal("witness", w.history()[0]["Witness"], "schedstat")


@table([("the history", dict(sim=INTEL + ["--fail-cpus=2,6", "--hang"]), "history", 1), ("the state", dict(sim=INTEL + ["--fail-cpus=2,6", "--hang"]), "state", 1),
        ("the state, of a success", dict(sim=INTEL + ["--hang"]), "state", 0)])
def only_half_can_be_saved(w, name, failed):
    """The intent stays until both are on disk: a start knows from the one what the other lacks, and nothing is loaded twice."""
    intel(w)
    w.until_property("State", "applying")
    time.sleep(1)
    path = intent(w).with_name(name)
    path.unlink(missing_ok=True)
    (path / "in the way").mkdir(parents=True)  # rename() does not replace it
    w.sim("set", "hang", "no")
    w.until(lambda: w.get("State") != "applying", "the end of the load")
    w.until_says(f"cannot write var/lib/ucodesync/{name}")
    check(intent(w).exists(), "the intent is gone")
    w.stop_daemon(signal.SIGKILL)
    w.start_daemon()
    equal("results", [e["Result"] for e in w.history()], ["mixed-revisions" if failed else "success"])
    if failed:
        check("rejected" in w.get("BlockedBy"), f"BlockedBy is {w.get('BlockedBy')}")
    else:
        check(w.get("ProbationUntilUSec") > 0, "there is no probation")
    check(not intent(w).exists(), "the intent is still there")
    equal("writes", len(w.writes()), 1)


@case(sim=INTEL + ["--fail-cpus=2,6", "--hang"])
def the_way_is_free_again(w):
    """What could not be saved is saved with what comes next, and the intent is closed then."""
    intel(w)
    w.until_property("State", "applying")
    time.sleep(1)
    path = intent(w).with_name("state")
    path.unlink()
    (path / "in the way").mkdir(parents=True)
    w.sim("set", "hang", "no")
    w.until_says("cannot write var/lib/ucodesync/state")
    w.until(lambda: w.get("State") != "applying", "the end of the load")
    (path / "in the way").rmdir()
    path.rmdir()
    w.call("Acknowledge", "s", w.get("CandidateDigest"))
    w.until_says("can be written again")
    check(not intent(w).exists(), "the intent is still there")


@case(sim=INTEL)
def the_intent_cannot_be_written(w):
    """Nothing is loaded without it. The file is not blamed, it is not tried in a circle, and an acknowledgement need not wait."""
    (intent(w) / "in the way").mkdir(parents=True)
    intel(w)
    w.until_says("The intent cannot be put on disk")
    w.until_property("State", "failed")
    sentence = w.get("Blockers")[0][1]
    check("could not be begun" in sentence, f"the sentence is {sentence!r}")
    time.sleep(3)
    equal("attempts", w.journal().count("The intent cannot be put on disk"), 1)
    equal("writes", w.writes(), [])
    (intent(w) / "in the way").rmdir()
    intent(w).rmdir()
    w.call("Acknowledge", "s", w.get("CandidateDigest"))
    w.until_property("LastResult", "success")


def interrupted(w, text=None):
    """A daemon that was killed between the intent and the write: nothing was written."""
    w.stop_daemon(signal.SIGKILL)
    intent(w).parent.mkdir(exist_ok=True)
    digest = __import__("hashlib").sha256((w.root / INTEL_FILE).read_bytes()).hexdigest()
    boot = (w.root / "proc/sys/kernel/random/boot_id").read_text().strip()
    intent(w).write_text(text if text is not None else
                         f"ucodesync-intent 1\nboot {boot}\ndigest {digest}\nsignature 0x00050654\nmask 0x00000001\nfrom {OLD:#010x}\nto {NEW:#010x}\n"
                         f"when 1796126400000000\nid 0\nuid 4294967295\npath /lib/firmware/intel-ucode/06-55-04\nend\n")


@case(sim=INTEL, config=configuration(window=SHUT))
def killed_before_the_write(w):
    """Nothing had happened: recorded as such, and the update still waits for its window."""
    intel(w)
    w.until_property("State", "pending")
    interrupted(w)
    w.start_daemon()
    equal("result", w.history()[0]["Result"], "cancelled")
    equal("State", w.get("State"), "pending")
    check(not intent(w).exists(), "the intent is still there")
    w.reload(configuration())
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(window=SHUT))
def the_machine_went_down(w):
    """Another boot: this very file is suspect, and only an acknowledgement, or another file, opens the way."""
    intel(w)
    w.until_property("State", "pending")
    interrupted(w)
    w.sim("reboot")
    w.configure(configuration())
    w.start_daemon()
    equal("State", w.get("State"), "failed")
    check("suspect-crash" in w.get("BlockedBy"), f"BlockedBy is {w.get('BlockedBy')}")
    equal("result", w.history()[0]["Result"], "regressed")
    w.until_says("went down during a load")
    digest = w.get("CandidateDigest")
    w.refused("Apply", "t", 255 & ~32, says="suspect-crash")
    for _ in range(3):
        w.restart_daemon()
        equal("State", w.get("State"), "failed")
    equal("writes", w.writes(), [])
    equal("entries", len(w.history()), 1)
    w.call("Acknowledge", "s", digest)
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(window=SHUT))
def another_file_after_a_crash(w):
    intel(w)
    w.until_property("State", "pending")
    interrupted(w)
    w.sim("reboot")
    w.configure(configuration())
    w.start_daemon()
    equal("State", w.get("State"), "failed")
    intel(w, revision=0x2000070)
    w.until_property("LastResult", "success")


@table([(name, dict(sim=INTEL, config=configuration(window=SHUT)), text) for name, text in {
    "empty": "", "garbage": "\x7fELF\x02\x01", "cut short": "ucodesync-intent 1\nboot x\n", "a newer format": "ucodesync-intent 9\nend\n",
    "twice the same": "ucodesync-intent 1\nboot x\nboot x\nend\n"}.items()])
def intents_that_cannot_be_understood(w, text):
    intel(w)
    w.until_property("State", "pending")
    interrupted(w, text)
    w.start_daemon()
    w.until_says("/var/lib/ucodesync/intent")
    check(not intent(w).exists(), "the intent is still there")
    check((intent(w).parent / "intent.bad-1").exists(), "it was not kept")
    equal("State", w.get("State"), "pending")


@case(sim=INTEL)
def probation_ends_badly(w):
    """A machine check within the probation: regressed, the file is suspect. Read at the daemon's own times, and at its start."""
    intel(w)
    w.until_property("LastResult", "success")
    check(w.get("ProbationUntilUSec") > time.time() * 1e6, "there is no probation")
    w.stop_daemon(signal.SIGKILL)
    w.sim("reboot")
    w.start_daemon()
    equal("the last result", w.get("LastResult"), "regressed")
    w.until_says("the machine went down")
    equal("ProbationUntilUSec", w.get("ProbationUntilUSec"), 0)
    equal("State", w.get("State"), "failed")
    equal("BlockedBy", w.get("BlockedBy")[:1], ["suspect-crash"])


@case(sim=INTEL)
def probation_survives_a_restart_and_an_orderly_reboot(w):
    intel(w)
    w.until_property("LastResult", "success")
    until = w.get("ProbationUntilUSec")
    w.restart_daemon()
    equal("ProbationUntilUSec", w.get("ProbationUntilUSec"), until)
    equal("LastResult", w.get("LastResult"), "success")
    w.stop_daemon()
    w.sim("reboot", f"{NEW:#x}")
    w.start_daemon()
    equal("LastResult", w.get("LastResult"), "success")
    equal("ProbationUntilUSec", w.get("ProbationUntilUSec"), 0)


@table([("a machine check", dict(sim=INTEL, config=configuration(apply="ProbationSec=8s")), "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 5: 0"),
        ("a soft lockup", dict(sim=INTEL, config=configuration(apply="ProbationSec=8s")), "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [x:1]"),
        ("an RCU stall", dict(sim=INTEL, config=configuration(apply="ProbationSec=8s")), "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"),
        ("an invalid opcode", dict(sim=INTEL, config=configuration(apply="ProbationSec=8s")), "traps: x[1] trap invalid opcode ip:1 sp:2 error:0"),
        ("an unstable TSC", dict(sim=INTEL, config=configuration(apply="ProbationSec=8s")),
         "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:")])
def signs_in_the_log(w, line):
    intel(w)
    w.until_property("LastResult", "success")
    w.sim("log", 3, line)
    w.until_property("LastResult", "regressed")
    check("suspect" in (w.root / "var/lib/ucodesync/state").read_text(), "the file is not suspect")


@case(sim=INTEL, config=configuration(apply="ProbationSec=4s"))
def a_quiet_probation(w):
    intel(w)
    w.until_property("LastResult", "success")
    w.sim("log", 6, "usb 1-1: new high-speed USB device number 2")
    w.until_property("ProbationUntilUSec", 0)
    equal("LastResult", w.get("LastResult"), "success")
    w.until_says("nothing bad was seen")


@case(sim=INTEL)
def somebody_else_loads(w):
    """Within this boot and without us: recorded, whether the daemon ran meanwhile or not."""
    w.sim("external", "0x2000050")
    w.call("Check")
    equal("result", w.history()[0]["Result"], "external")
    equal("revisions", (w.history()[0]["OldRevision"], w.history()[0]["NewRevision"]), (OLD, 0x2000050))
    w.until_says("Somebody else")
    equal("MitigationsNeedReboot", w.get("MitigationsNeedReboot"), True)
    w.stop_daemon()
    w.sim("external", "0x2000058")
    w.start_daemon()
    equal("results", [e["Result"] for e in w.history()], ["external", "external"])
    w.stop_daemon()
    w.sim("reboot")
    w.start_daemon()
    equal("a reboot is no load", len(w.history()), 2)
    equal("MitigationsNeedReboot", w.get("MitigationsNeedReboot"), False)


@case(sim=INTEL + ["--features-change", "--clocksource-flip"])
def what_a_load_leaves_behind(w):
    intel(w)
    w.until_property("LastResult", "success")
    w.until_says("CPU features changed")
    note = w.history()[0]["Note"]
    check("-hle" in note and "-rtm" in note, f"note is {note!r}")
    check("clocksource changed" in note, f"note is {note!r}")
    equal("MitigationsNeedReboot", w.get("MitigationsNeedReboot"), True)


@table([("an error", dict(sim=AMD + ["--log-digest=fail"], config=ANY_TRUST)), ("silence", dict(sim=AMD + ["--log-digest=silent"], config=ANY_TRUST))])
def digest_rejected(w):
    amd(w)
    w.until_property("LastResult", "digest-rejected")
    equal("State", w.get("State"), "failed")
    time.sleep(2)
    equal("writes", len(w.writes()), 1)

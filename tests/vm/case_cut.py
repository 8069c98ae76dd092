# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cut off: the power goes at chosen instructions of the kernel, and the daemon is killed at chosen system calls.

A power cut is a SIGKILL of QEMU while its debugger's stub holds the guest at a breakpoint, so that each happens at its place and not near it; what the
guest had flushed is in the disk's file, and nothing else. Each check boot is the next cut's boot. After each: the file system is sound, state
and history are readable, nothing recorded before is lost, the file is suspect-crash where its load may have been begun, and nowhere else, and nobody
loads it again until it is acknowledged."""

import base64
import itertools
import os
import subprocess

from guest import wait_for
from qemu import Gdb
from shapes import CUT
from suite import case, check, equal, pause
from virtual import STATE


def stop_at(m, address, start):
    """Let a new update arrive, and the guest run to this address; the debugger that holds it there."""
    gdb = Gdb(m.vm)
    gdb.add(address)
    gdb.go()
    start()
    gdb.wait()
    return gdb


def step_over(gdb, address):
    """A breakpoint stops before its instruction: away with it for one step."""
    gdb.remove(address)
    gdb.step()
    gdb.add(address)
    gdb.go()


def before_the_intent(m, update):
    """At the first fsync of the load: that of the intent, which is not in place yet."""
    fsync, = m.symbols("do_fsync")
    m.reconfigure(Automatic="no")
    update()
    m.blocked("manual")
    m.settled()
    m.sh("sync")
    return stop_at(m, fsync, start=lambda: m.vm.send("busctl call org.ucodesync1 /org/ucodesync1 org.ucodesync1.Manager Apply t 3"))


def before_the_write(m, update):
    reload, = m.symbols("reload_store")
    return stop_at(m, reload, start=update)


def in_the_stall(m, update):
    """At the first CPU's simulated patch write: all others stand still."""
    write, = m.symbols("microcode_sim_write")
    return stop_at(m, write, start=update)


def to_its_end(gdb, entry):
    """From the entry of a function to the place that it returns to, for the CPU that was stopped there."""
    back = int.from_bytes(gdb.memory(gdb.registers()["rsp"]), "little")
    gdb.remove(entry)
    gdb.add(back)
    gdb.go()
    gdb.wait()
    return gdb


def half_done(m, update):
    """When the first CPU to come back from its patch write has the new revision; the others may."""
    write, = m.symbols("microcode_sim_write")
    return to_its_end(stop_at(m, write, start=update), write)


def after_the_write(m, update):
    """Where reload_store() returns to: the kernel has answered, the daemon has not heard it."""
    reload, = m.symbols("reload_store")
    return to_its_end(stop_at(m, reload, start=update), reload)


def at_fsync(k):
    """At the k-th fsync behind the write: history, state, and their directories are being put on disk."""
    def place(m, update):
        fsync, = m.symbols("do_fsync")
        gdb = after_the_write(m, update)
        back = gdb.registers()["rip"]
        gdb.remove(back)
        gdb.add(fsync)
        gdb.go()
        for n in range(k):
            gdb.wait()
            if n < k - 1:
                step_over(gdb, fsync)
        return gdb
    place.__name__ = f"history_{k}"
    return place


def in_probation(m, update):
    """An hour after a success, by the guest's clock."""
    update()
    m.loaded(m.revision)
    m.sh("sync; date -s @$(($(date +%s) + 3600)) >/dev/null; sleep 3")
    return None


# (place, suspect after it)
PLACES = [(before_the_write, True), (in_the_stall, True), (at_fsync(1), True), (in_probation, True),
          (after_the_write, True), (half_done, True), (at_fsync(2), True), (at_fsync(3), True), (at_fsync(4), True), (before_the_intent, False)]


def file_system_is_sound(m, what):
    """What e2fsck says of a copy of the disk: 0, or 1 for a journal that was replayed."""
    copy = os.path.join(m.work, "copy")
    subprocess.run(["qemu-img", "convert", "-O", "raw", m.disk, copy], check=True)
    r = subprocess.run(["e2fsck", "-f", "-p", copy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       env=dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"))
    os.unlink(copy)
    check(r.returncode <= 1, f"{what}: e2fsck ends with {r.returncode}:\n{r.stdout}")


def cut_once(m, place, suspect):
    """One power cut at a place, and the boot after it. A machine that is up, with its daemon enabled and nothing pending, before and after."""
    before = [e["When"]["data"] for e in m.history()]
    m.sh("sync")
    asked = []

    def update():
        """Through a script of the agent's that nobody waits for: the guest may stop before it answers."""
        m.revision += 1
        data = base64.b64encode(m.fixture(f"--seed={m.revision & 0xff}", revision=m.revision)).decode()
        path = m.firmware_path
        asked.append(m.vm.send(f"mkdir -p $(dirname {path}); base64 -d >{path}.dpkg-new <<'END'\n{data}\nEND\nsync; mv {path}.dpkg-new {path}; sync"))

    gdb = place(m, update)
    revision = m.revision
    m.vm.kill()
    if gdb:
        gdb.io.close()
    what = place.__name__
    file_system_is_sound(m, what)
    m.up()
    m.revision = revision

    check("EXT4-fs error" not in m.sh("dmesg"), f"{what}: the file system is damaged")
    equal(f"{what}: the daemon", m.unit("ActiveState", "NRestarts"), {"ActiveState": "active", "NRestarts": "0"})
    m.until("State", lambda s: s != "applying")
    m.call("Check")
    m.settled()
    said = m.sh("journalctl -b -u ucodesyncd -o cat --no-pager")
    check("cannot be read" not in said and ".bad-" not in m.sh(f"ls {STATE}"), f"{what}: state is not readable:\n{said}")
    history = m.history()
    lost = set(before) - {e["When"]["data"] for e in history}
    equal(f"{what}: entries lost", lost, set())
    if not suspect:
        check("suspect-crash" not in m.get("BlockedBy"), f"{what}: suspect without a reason")
        equal(f"{what}: entries regressed", [e for e in history if e["When"]["data"] not in before and e["Result"]["data"] == "regressed"], [])
        return
    wait_for(f"{what}: suspect-crash", lambda: "suspect-crash" in m.get("BlockedBy"), m.patience)
    equal(f"{what}: State", m.get("State"), "failed")
    equal(f"{what}: the newest entry", (history[0]["Result"]["data"], history[0]["TargetRevision"]["data"]), ("regressed", revision))
    equal(f"{what}: new entries", len([e for e in history if e["When"]["data"] not in before]), 1)
    for _ in range(2):
        m.call("Check")
        m.settled()
    pause(2)
    equal(f"{what}: writes of this boot", m.writes(), [])
    equal(f"{what}: revisions", set(m.revisions()), {m.shape.base})
    check(m.call("Apply", "t", "3", check=False).returncode != 0, f"{what}: a request gets past suspect-crash")
    equal(f"{what}: the intent is closed", m.sh(f"ls {STATE} | grep -c intent || true"), "0")


def settle_down(m):
    """For the next cut: nothing pending, the quick configuration. The file that was suspect is acknowledged first, and then gone."""
    digest = m.get("CandidateDigest")
    m.sh(f"rm -f {m.firmware_path} {m.firmware_path}.dpkg-new")
    if digest:
        m.call("Acknowledge", "s", digest, check=False)
    m.reconfigure()
    m.call("Check")
    m.until("State", "current")


@case(CUT, quick=True, weight=8)
def power_cuts(m):
    for place, suspect in itertools.islice(itertools.cycle(PLACES), m.context.kills):
        cut_once(m, place, suspect)
        print(f"     cut: {place.__name__}{', suspect' if suspect else ''}", flush=True)
        settle_down(m)
    m.snapshots.clear()


@case(CUT)
def orderly_reboot_in_probation(m):
    """Nobody's fault: not suspect. The file is still newer than what the boot brought, and is loaded again, once."""
    revision = m.next_update()
    m.loaded(revision)
    m.reboot()
    m.revision = revision
    m.loaded(revision)
    m.settled()
    equal("writes of this boot", m.writes(), [1])
    equal("results", [e["Result"]["data"] for e in m.history()][:2], ["success", "success"])
    m.snapshots.clear()


def killed(m, syscall, when, path=None, wanted=("success",)):
    """SIGKILL at the entry of a system call of the load, by strace; systemd starts the daemon again, in the same boot."""
    m.reconfigure(Automatic="no")
    revision = m.next_update()
    m.blocked("manual")
    m.settled()
    pid = m.unit("MainPID")
    before = len(m.history())
    only = f"-P {path}" if path else ""
    m.sh(f"systemd-run --quiet --collect --unit=killer strace -f -qq -o /run/killer -p {pid} {only} -e trace={syscall} "
         f"-e inject={syscall}:signal=KILL:when={when}; until grep -q 'TracerPid:.[1-9]' /proc/{pid}/status; do sleep 0.2; done")
    m.call("Apply", "t", "3", check=False)
    wait_for(f"{syscall} {when}: another daemon", lambda: m.unit("MainPID") not in ("0", pid), m.patience)
    m.sh("systemctl stop killer", check=False)
    m.until("State", lambda s: s != "applying")
    m.call("Check")
    m.settled()
    history = m.history()
    equal(f"{syscall} {when}: at most one entry", len(history) - before <= 1, True)
    check("suspect-crash" not in m.get("BlockedBy"), f"{syscall} {when}: suspect, though the machine never went down")
    if len(history) > before:
        result = history[0]["Result"]["data"]
        check(result in wanted, f"{syscall} {when}: the entry says {result}")
        equal(f"{syscall} {when}: entry and CPUs agree", result == "success", set(m.revisions()) == {revision})
    equal(f"{syscall} {when}: an intent that is left", m.sh(f"ls {STATE} | grep -c intent || true"), "0")
    return revision


RELOAD = "/sys/devices/system/cpu/microcode/reload"


@case(CUT, weight=4)
def daemon_killed(m):
    """Without a reboot: the CPUs tell what became of the load, and nothing is loaded twice."""
    for syscall, when, path, wanted, writes in (
            ("fsync", 1, None, (), 0),                      # the intent's own
            ("write", 1, RELOAD, ("cancelled",), 0),        # right before the kernel is asked
            ("fsync", 3, None, ("success",), 1),            # history or state
            ("fsync", 5, None, ("success",), 1)):
        m.begin()
        killed(m, syscall, when, path, wanted)
        answers = m.writes()
        check(len(answers) <= max(writes, 1), f"{syscall} {when}: the kernel answered {answers}")
        if len(answers) == 0:
            m.call("Apply", "t", "3")
            m.until("RunningRevision", m.revision)
            equal("writes, after another request", m.writes(), [1])


@case(CUT)
def daemon_killed_in_the_stall(m):
    """SIGKILL while the kernel is in the load: the thread ends when the kernel lets it, and the next daemon finds the CPUs updated."""
    m.parameter("sim_delay_ms", 800)
    revision = m.next_update()
    m.until("State", "applying")
    m.sh("systemctl kill --signal=KILL --kill-who=main ucodesyncd")
    m.until("RunningRevision", revision)
    m.settled()
    equal("writes", m.writes(), [1])
    equal("history", [e["Result"]["data"] for e in m.history()], ["success"])
    check("suspect-crash" not in m.get("BlockedBy"), "suspect, though the machine never went down")



# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mounts: what is the machine's and what is not, clients and simulators that are killed, ends of all kinds."""

import os
import signal
import subprocess
import sys
import time

from simtest import CPU, equal, mounts_below, test
from test_answers import INTEL_FILE, SAFE


def client(code, *args):
    return subprocess.Popen([sys.executable, "-c", "import os, sys, time\n" + code, *args])


def end(process, seconds=30):
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise AssertionError("the client did not go") from None


@test
def the_rest_is_real(kit):
    """Rename, fsync and inotify's file system: below the root, but not of FUSE."""
    sim = kit.sim("--topology=1x1x1")
    os.makedirs(sim.path("var/lib/x"))
    equal("a device of its own", os.stat(sim.path("var/lib/x")).st_dev == os.stat(sim.root).st_dev, True)
    equal("sys is another", os.stat(sim.path("sys")).st_dev != os.stat(sim.root).st_dev, True)
    equal("mounts", sorted(os.path.basename(m) for m in mounts_below(sim.root)), ["dev", "proc", "sys"])


@test
def a_subtree_alone(kit):
    """As a part of a running system, with a second view for what is bind-mounted elsewhere."""
    cpu, proc = os.path.join(kit.scratch, "cpu"), os.path.join(kit.scratch, "proc")
    os.mkdir(cpu)
    os.mkdir(proc)
    sim = kit.sim("--topology=2x2x2", "--cost-usec=100", "--firmware-root=" + kit.scratch,
                  mount=["--only=sys/devices/system/cpu", "--mount=" + cpu, "--only=/proc", "--mount=" + proc])
    os.makedirs(os.path.join(kit.scratch, "lib/firmware/intel-ucode"))
    with open(os.path.join(kit.scratch, "lib/firmware", INTEL_FILE), "wb") as f:
        f.write(kit.fixture(*SAFE))
    equal("top", sorted(set(os.listdir(cpu)) & {"online", "microcode", "cpu7"}), ["cpu7", "microcode", "online"])
    with open(os.path.join(cpu, "microcode/reload"), "w", encoding="ascii") as f:
        f.write("1")
    with open(os.path.join(cpu, "cpu7/microcode/version"), encoding="ascii") as f:
        equal("revision", f.read(), "0x200005e\n")
    target = os.path.join(kit.scratch, "cpuinfo")
    with open(target, "w", encoding="ascii"):
        pass
    subprocess.run(["mount", "--bind", os.path.join(proc, "cpuinfo"), target], check=True)
    try:
        with open(target, encoding="ascii") as f:
            equal("cpuinfo", f.read().count("microcode\t: 0x200005e\n"), 8)
    finally:
        subprocess.run(["umount", target], check=True)
    del sim


@test
def clients_killed_in_mid_read(kit):
    """They go at once, and whoever comes next is served."""
    sim = kit.sim("--topology=1x2x2")
    readers = [client("fd = os.open(sys.argv[1], os.O_RDONLY)\nos.lseek(fd, 0, 2)\nopen(sys.argv[2], 'w').close()\nos.read(fd, 8192)",
                      sim.path("dev/kmsg"), os.path.join(sim.scratch, "reader%d" % i)) for i in range(5)]
    spinners = [client("while True:\n  open(sys.argv[1]).read()\n  os.listdir(sys.argv[2])", sim.path("proc/cpuinfo"), sim.cpu(""))
                for _ in range(3)]
    for i in range(5):
        while not os.path.exists(os.path.join(sim.scratch, "reader%d" % i)):
            time.sleep(0.01)
    time.sleep(0.3)
    for p in readers + spinners:
        p.send_signal(signal.SIGKILL)
    for p in readers + spinners:
        equal("killed", end(p), -signal.SIGKILL)
    sim.send("log", "6", "anybody there?")
    equal("alive", sim.revisions(), [0x200003A] * 4)


@test
def clients_killed_in_mid_write(kit):
    """As on a real machine: a writer that is killed stays until the load is over, and the load goes on without it."""
    sim = kit.sim("--topology=1x2x2", "--cost-usec=100", "--hang")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    writer = client("os.write(os.open(sys.argv[1], os.O_WRONLY), b'1')", sim.cpu("microcode/reload"))
    sim.wait_for_stop()
    writer.send_signal(signal.SIGKILL)
    equal("others are served", sim.revisions(), [0x200003A] * 4)
    sim.send("set", "hang", "no")
    equal("killed", end(writer), -signal.SIGKILL)
    equal("writes", sim.send("wait", "writes", "1"), "1 SUCCESS")
    equal("revisions", sim.revisions(), [0x200005E] * 4)


@test
def ends_while_files_are_open(kit):
    """The mounts go, even with clients in them; Sim.stop() looks."""
    sim = kit.sim("--topology=1x2x2", "--hang")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    fd = os.open(sim.path("proc/uptime"), os.O_RDONLY)
    waiting = client("sys.stderr = open(os.devnull, 'w')\nopen(sys.argv[1]).read()\nfd = os.open(sys.argv[2], os.O_RDONLY)\nos.lseek(fd, 0, 2)\nos.read(fd, 8192)",
                     sim.path("proc/uptime"), sim.path("dev/kmsg"))
    hanging = client("sys.stderr = open(os.devnull, 'w')\nos.write(os.open(sys.argv[1], os.O_WRONLY), b'1')", sim.cpu("microcode/reload"))
    sim.wait_for_stop()
    sim.process.send_signal(signal.SIGTERM)
    equal("exit status", sim.process.wait(30), 0)
    equal("mounts", mounts_below(sim.root), [])
    for p in (waiting, hanging):
        end(p)
    try:
        os.pread(fd, 10, 0)
        raise AssertionError("still read")
    except OSError:
        pass
    os.close(fd)


@test
def ends_on_quit(kit):
    sim = kit.sim("--topology=1x1x1")
    sim.send("quit")
    equal("exit status", sim.process.wait(30), 0)
    equal("mounts", mounts_below(sim.root), [])
    equal("socket", os.path.exists(sim.socket), False)


@test
def ends_when_it_is_unmounted(kit):
    sim = kit.sim("--topology=1x1x1")
    subprocess.run(["umount", sim.path("proc")], check=True)
    equal("exit status", sim.process.wait(30), 0)


@test
def starts_over_a_dead_one(kit):
    """A simulator that was killed leaves dead mounts; the next one on the same directory takes them away."""
    sim = kit.sim("--topology=1x1x1")
    sim.process.kill()
    sim.process.wait()
    sim.ready = False  # its exit status is not asked for
    again = type(sim)(sim.program, sim.scratch, ["--topology=1x2x1"])
    kit.sims.append(again)
    equal("started", again.ready, True)
    equal("present", again.read(CPU + "/present"), "0-1\n")
    again.stop()
    kit.sims.remove(again)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long the machine stands still, and what the accounts of its stoppers, the log of writes and the counters say of it."""

import os
import subprocess
import threading
import time

from simtest import CPU, Skipped, equal, rows, test
from test_answers import INTEL_FILE, SAFE

SERIAL_TICKS, PARALLEL_TICKS = 842898034, 29889604


def stall(sim):
    return {k: int(v) for k, v in (w.split("=") for w in sim.send("get", "stall").split())}


def load(kit, sim, wanted="SUCCESS"):
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    before = [sim.account(cpu) for cpu in range(len(sim.revisions()))]
    equal("answer", sim.reload(), wanted)
    after = [sim.account(cpu) for cpu in range(len(before))]
    return [a[0] - b[0] for a, b in zip(after, before)], [a[1] - b[1] for a, b in zip(after, before)]


@rows([("serial", "serial", SERIAL_TICKS), ("parallel", "parallel", PARALLEL_TICKS)])
def the_machine_of_2019(kit, how, ticks):
    """Within a millionth of the ticks that were published; the accounts are the model's, the smallest of them exactly."""
    sim = kit.sim("--load=" + how)
    nsec, runs = load(kit, sim)
    figures = stall(sim)
    equal("ticks", abs(figures["modelled_ticks"] - ticks) < ticks / 1e5, True)
    equal("runs", runs, [1] * 72)
    equal("smallest", min(nsec), figures["modelled_nsec"])
    equal("largest", max(nsec) - min(nsec) < 20001, True)
    equal("the write took as long", figures["write_nsec"] >= figures["modelled_nsec"], True)


@test
def a_cost_of_ones_own(kit):
    sim = kit.sim("--topology=1x4x2", "--cost-usec=1000", "--load=serial", "--skew-usec=0")
    nsec, _ = load(kit, sim)
    equal("accounts", nsec, [4 * 1000000 + 8 * 38546] * 8)


@test
def nobody_stops_without_a_load(kit):
    sim = kit.sim("--topology=1x2x2")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE, "--revision=2000001"))
    before = [sim.account(cpu) for cpu in range(4)]
    equal("answer", sim.reload(), "ENOENT")
    equal("accounts", [sim.account(cpu) for cpu in range(4)], before)
    equal("writes", sim.send("get", "writes"), "1 ENOENT")


@test
def offline_cpus_have_no_run(kit):
    sim = kit.sim("--topology=1x2x2", "--offline=3", "--cost-usec=100")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    before = [sim.account(cpu) for cpu in range(4)]
    equal("answer", sim.reload(), "SUCCESS")
    after = [sim.account(cpu) for cpu in range(4)]
    equal("runs", [a[1] - b[1] for a, b in zip(after, before)], [1, 1, 1, 0])
    equal("no time", after[3][0], before[3][0])


@test
def charged_late(kit):
    """The run is there before its time is; the time comes without another run."""
    sim = kit.sim("--topology=1x2x2", "--cost-usec=100", "--account-delay-usec=2000000")
    before = sim.account(2)
    begin = time.monotonic()
    nsec, runs = load(kit, sim)
    if time.monotonic() - begin > 2:
        raise Skipped("this host is too slow to see the delay")
    equal("runs at once", runs, [1] * 4)
    equal("no time yet", nsec, [0] * 4)
    while sim.account(2)[0] == before[0]:
        equal("comes within a minute", time.monotonic() - begin < 60, True)
        time.sleep(0.05)
    after = sim.account(2)
    equal("time later", after[0] - before[0] >= stall(sim)["modelled_nsec"], True)
    equal("no other run", after[1] - before[1], 1)


@test
def never_charged_and_mixed(kit):
    sim = kit.sim("--topology=1x2x2", "--cost-usec=100", "--account-missing=1", "--account-mixed=2", "--skew-usec=0")
    nsec, runs = load(kit, sim)
    stop = stall(sim)["modelled_nsec"]
    equal("runs", runs, [1, 1, 2, 1])
    equal("time", nsec, [stop, 0, stop + 400000, stop])


@test
def other_work_of_a_stopper(kit):
    sim = kit.sim("--topology=1x2x1")
    before = sim.account(1)
    sim.send("stopper", "1", "5000", "3")
    equal("account", sim.account(1), (before[0] + 5000, before[1] + 3))


@test
def stolen_time_and_nmis(kit):
    sim = kit.sim("--topology=1x2x2", "--cost-usec=100", "--steal-usec=50000")

    def steal():
        return int(sim.read("proc/stat").splitlines()[0].split()[8])

    before = steal()
    load(kit, sim)
    equal("steal, in ticks of 10 ms", steal() - before, 20)
    equal("NMIs", sim.nmis(), [1] * 4)


@test
def others_read_while_a_load_blocks(kit):
    """A write that hangs holds up neither readers nor commands; it ends when it is let go, and as it would have."""
    sim = kit.sim("--topology=1x2x2", "--cost-usec=100", "--hang")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    answers = []
    writer = threading.Thread(target=lambda: answers.append(sim.reload()))
    writer.start()
    sim.wait_for_stop()
    for _ in range(50):
        for cpu in range(4):
            equal("revision", sim.read(CPU + "/cpu%d/microcode/version" % cpu), "0x200003a\n")
        sim.read("proc/cpuinfo")
    equal("still writing", writer.is_alive(), True)
    equal("writes", sim.send("get", "writes"), "0")
    sim.send("set", "hang", "no")
    writer.join(30)
    equal("answer", answers, ["SUCCESS"])
    equal("writes", sim.send("wait", "writes", "1"), "1 SUCCESS")


@test
def many_writers(kit):
    """One after the other: the first one loads, the others find nothing to do."""
    sim = kit.sim("--topology=1x2x2", "--cost-usec=20000")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    answers = []
    writers = [threading.Thread(target=lambda: answers.append(sim.reload())) for _ in range(16)]
    for w in writers:
        w.start()
    for w in writers:
        w.join(60)
    equal("answers", sorted(answers), ["ENOENT"] * 15 + ["SUCCESS"])


@test
def hotplug_waits_for_the_load(kit):
    sim = kit.sim("--topology=1x2x2", "--cost-usec=100", "--hang")
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE))
    writer = threading.Thread(target=sim.reload)
    writer.start()
    sim.wait_for_stop()
    plug = threading.Thread(target=sim.write_file, args=(CPU + "/cpu3/online", "0"))
    plug.start()
    time.sleep(0.2)
    equal("online", sim.read(CPU + "/online"), "0-3\n")
    sim.send("set", "hang", "no")
    writer.join(30)
    plug.join(30)
    equal("online", sim.read(CPU + "/online"), "0-2\n")


def fifo_allowed():
    return subprocess.run(["chrt", "-f", "99", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0


@test
def real_stall(kit):
    """The host's CPUs stand still, and the accounts are what their threads took: at least as long as was modelled."""
    if not fifo_allowed():
        raise Skipped("SCHED_FIFO is not permitted here")
    sim = kit.sim("--topology=1x4x2", "--cost-usec=20000", "--real-stall", "--skew-usec=0")
    nsec, runs = load(kit, sim)
    figures = stall(sim)
    equal("runs", runs, [1] * 8)
    equal("accounts", nsec, [figures["stalled_nsec"]] * 8)
    equal("as long as modelled", figures["stalled_nsec"] >= figures["modelled_nsec"], True)
    equal("write", figures["write_nsec"] >= figures["stalled_nsec"], True)


@test
def real_stall_is_refused_at_start(kit):
    """Without the right to SCHED_FIFO it says so and does not start."""
    if not fifo_allowed():
        raise Skipped("nothing to take away")
    directory = os.path.join(kit.scratch, "x")
    os.mkdir(directory)
    r = subprocess.run(["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "prlimit", "--rtprio=0", kit.program,
                        "--mount=" + directory, "--real-stall"],
                       capture_output=True, text=True, check=False, timeout=60)
    equal("exit status", r.returncode, 1)
    equal("says so", "SCHED_FIFO" in r.stderr, True)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line of ucodebench, right and wrong, and how it ends."""

import os
import signal
import subprocess
import time

from harness import busy_host, case, contains, check, equal, measured, need_root, refused, state, trees, ucodebench, Skipped

WRONG = [
    ([], "A verb is missing"),
    (["shoot"], "unknown verb 'shoot'"),
    (["shootdown", "--frobnicate"], "unknown option '--frobnicate'"),
    (["shootdown", "-x"], "unknown option '-x'"),
    (["shootdown", "--lengths=1"], "shootdown takes no --lengths"),
    (["witness", "--calls=100"], "witness takes no --calls"),
    (["witness", "extra"], "witness takes no 'extra'"),
    (["probe"], "probe wants -- COMMAND"),
    (["shootdown", "--yes=1"], "--yes takes no value"),
    (["shootdown", "--calls"], "--calls wants a number"),
    (["shootdown", "--calls=9"], "is not a number from 10"),
    (["shootdown", "--calls=1e3"], "is not a number from 10"),
    (["witness", "--lengths="], "is not a list of milliseconds"),
    (["witness", "--lengths=0"], "is not a list of milliseconds"),
    (["witness", "--lengths=501"], "is not a list of milliseconds"),
    (["witness", "--lengths=1,x"], "is not a list of milliseconds"),
    (["witness", "--repetitions=0"], "is not a number from 1 to 1000"),
    (["revision", "--sizes=8193"], "is not a list of numbers of CPUs"),
    (["revision", "--limit=0"], "is not a time"),
    (["revision", "--limit=31min"], "is not a time"),
    (["revision", "--limit=soon"], "is not a time"),
    (["probe", "--window=2min", "--", "true"], "is not a time up to 1min"),
    (["shootdown", "--cpus="], "is not a list of CPUs"),
    (["shootdown", "--cpus=0-"], "is not a list of CPUs"),
    (["shootdown", "--nice=20"], "is not a number from 0 to 19"),
    (["shootdown", "--json=yaml"], "is not pretty, short or off"),
]


@case
def wrong_command_lines():
    for args, part in WRONG:
        r = ucodebench(*args)
        if "--json=yaml" in args:  # JSON was asked for, whatever of
            equal((r.returncode, r.stderr), (1, ""), f"{args}")
            contains(r.stdout, part, '"error"')
        else:
            equal((r.returncode, r.stdout), (1, ""), f"{args}")
            contains(r.stderr, part)
            contains(refused(*args, code=1, name="InvalidArgument"), part)


@case
def help_and_version():
    r = ucodebench("--help")
    equal((r.returncode, r.stderr), (0, ""))
    contains(r.stdout, "shootdown", "revision", "witness", "probe -- COMMAND", "--json[=MODE]", "--limit=TIME")
    equal(ucodebench("witness", "--help").returncode, 0)
    r = ucodebench("--version")
    equal((r.returncode, r.stderr), (0, ""))
    check(r.stdout.startswith("ucodebench "), r.stdout)


@case
def cpus_that_are_not_there():
    contains(refused("shootdown", "--cpus=8000", code=3, name="NotSupported"), "CPU 8000 is not there")


@case
def one_cpu_is_too_few_for_a_shootdown():
    first = min(os.sched_getaffinity(0))
    contains(refused("shootdown", f"--cpus={first}", code=3, name="NotSupported"), "takes two CPUs")


@case
def refused_on_a_busy_host():
    with busy_host():
        for verb in (["shootdown", "--calls=100000"], ["revision"], ["witness"], ["probe", "--window=1min", "--", "true"]):
            if verb[0] == "shootdown" and len(os.sched_getaffinity(0)) < 2:
                continue
            message = refused(*verb, code=2, name="Busy")
            contains(message, "this host is busy", "--yes")
            r = ucodebench(*verb)
            equal((r.returncode, r.stdout), (2, ""))
            contains(r.stderr, "this host is busy")


@case
def short_ones_are_not_refused():
    with busy_host():
        measured("revision", "--sizes=3", "--repetitions=2")


@case
def cut_short():
    """--limit= ends it, and what was measured until then is there."""
    o = measured("revision", "--yes", "--limit=1ms", "--repetitions=1000", "--sizes=3")
    contains(" ".join(o["machine"]["notes"]), "Cut short")


@case
def signals_leave_nothing_behind():
    before = trees()
    p = subprocess.Popen([state["ucodebench"], "revision", "--yes", "--sizes=4096", "--repetitions=30"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while trees() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    if trees() == before:
        p.kill()
        p.wait()
        raise Skipped("no tmpfs to put a tree on")
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=120)
    equal((p.returncode, out), (4, ""))
    contains(err, "interrupted")
    equal(trees(), before, "trees that are left")


@case
def output_that_cannot_be_written():
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = ucodebench("revision", "--sizes=2,3", "--repetitions=2", "--yes", stdout=full)
    equal(r.returncode, 1)
    contains(r.stderr, "the output cannot be written")


@case
def without_privilege():
    need_root()
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    program = state["ucodebench"]
    if subprocess.run([*nobody, "test", "-x", program], check=False).returncode != 0:
        raise Skipped("the build directory is not open to others")
    for verb in (["witness", "--lengths=1", "--repetitions=1"], ["probe", "--", "true"]):
        message = refused(*verb, code=3, name="NotSupported", prefix=nobody)
        contains(message, "SCHED_FIFO is not permitted")
    o = measured("revision", "--sizes=3", "--repetitions=2", "--yes", prefix=nobody)
    contains(" ".join(o["machine"]["notes"]), "the kernel's may not be dropped")


@case
def a_group_without_real_time():
    """cgroup v1 with RT_GROUP_SCHED: a new group has none, and root in it may not be SCHED_FIFO."""
    need_root()
    group = f"/sys/fs/cgroup/cpu/ucodebench-test-{os.getpid()}"
    try:
        os.mkdir(group)
    except OSError as e:
        raise Skipped(f"no cgroup v1 with the cpu controller: {e.strerror}") from e
    try:
        try:
            with open(group + "/cpu.rt_runtime_us", encoding="utf-8") as f:
                equal(f.read().strip(), "0", "share of a new group")
        except FileNotFoundError as e:
            raise Skipped("this kernel has no RT_GROUP_SCHED") from e
        enter = ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"]
        contains(refused("witness", "--lengths=1", "--repetitions=1", code=3, name="NotSupported", prefix=enter), "cpu.rt_runtime_us")
    finally:
        os.rmdir(group)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the cases of ucodebench stand on: running it, reading its one JSON object, a busy host, and a table of cases."""

import contextlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
TIMEOUT = 600

CASES = []
state = {"ucodebench": None, "tmp": None, "kernel": None}


class Skipped(Exception):
    pass


def case(f):
    CASES.append(f)
    return f


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def equal(found, expected, what=""):
    check(found == expected, f"{what}: " if what else "", f"found {found!r}, expected {expected!r}")


def contains(text, *parts):
    for part in parts:
        check(part in text, f"{part!r} is not in:\n{text}")


def ucodebench(*args, prefix=(), **options):
    return subprocess.run([*prefix, state["ucodebench"], *args], stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT, check=False, **options)


def measured(*args, **options):
    """The object of a run that is to succeed. Its output is that object alone, on one line."""
    r = ucodebench("--json=short", *args, **options)
    if r.returncode == 3:
        raise Skipped(json.loads(r.stdout)["error"]["message"])
    equal(r.returncode, 0, f"exit of {args} ({r.stdout.strip()} {r.stderr.strip()})")
    equal(r.stderr, "", "stderr")
    equal(r.stdout.count("\n"), 1, "lines of output")
    o = json.loads(r.stdout)
    equal(list(o), ["benchmark", "machine", "rows"], "keys of the object")
    return o


def refused(*args, code, name, **options):
    """The error object of a run that is to fail."""
    r = ucodebench("--json=short", *args, **options)
    equal(r.returncode, code, f"exit of {args} ({r.stdout.strip()} {r.stderr.strip()})")
    error = json.loads(r.stdout)["error"]
    equal(list(error), ["name", "message", "exit"], "keys of the error")
    equal((error["name"], error["exit"]), (name, code))
    return error["message"]


def cpus():
    return sorted(os.sched_getaffinity(0))


def trees():
    """What synthetic trees are left on the file systems that they are made on."""
    return sorted(str(p) for d in ("/dev/shm", "/run", "/tmp") for p in Path(d).glob("ucodebench-??????"))


@contextlib.contextmanager
def busy_host():
    """Every CPU is kept busy by a process of its own."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda c=c: os.sched_setaffinity(0, [c])) for c in cpus()]
    try:
        yield
    finally:
        for p in burners:
            p.kill()
            p.wait()


def need_root():
    if os.geteuid() != 0:
        raise Skipped("needs root")


def run(names):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for f in CASES:
        name = f.__name__.replace("_", "-")
        if names and name not in names:
            continue
        try:
            f()
            result, why = "passed", ""
        except Skipped as e:
            result, why = "skipped", f": {e}"
        except Exception as e:  # noqa: BLE001 - whatever it is, the case has failed
            result, why = "failed", f": {e}"
            if not isinstance(e, AssertionError):
                traceback.print_exc()
        counts[result] += 1
        print(f"{result:8}{name}{why}", flush=True)
    return counts

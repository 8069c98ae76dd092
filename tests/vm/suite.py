# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases: functions that take a machine, each bound to the shape of machine that it wants, in the order in which they stand.

Cases of one shape share its boot, and begin from its snapshot (virtual.py). A case fails by check(), or by any exception; then the ends of the
daemon's journal and of the console are shown, and the console's log is kept.
"""

import concurrent.futures
import os
import shutil
import sys
import time
import traceback

from guest import Cannot, Failed
from qemu import Gone, Stuck
from virtual import UNIT, Virtual

CASES = []


class Skip(Exception):
    """The case cannot be decided here; the text says why."""


class Case:
    def __init__(self, function, shape, enabled, quick, weight):
        self.function, self.shape, self.enabled, self.quick, self.weight = function, shape, enabled, quick, weight
        self.title = function.__name__


def case(shape, enabled=True, quick=False, weight=1):
    """`enabled`: the daemon runs at the start; `quick`: part of the subset of UCODESYNC_VM=quick; `weight`: how long it takes, beside others."""
    def add(function):
        CASES.append(Case(function, shape, enabled, quick, weight))
        return function
    return add


def check(condition, text):
    if not condition:
        raise Failed(text)


def equal(what, found, wanted):
    check(found == wanted, f"{what} is {found!r}, wanted {wanted!r}")


def pause(seconds):
    """Time in which something must not happen."""
    time.sleep(seconds)


def flags(*names):
    """Of a request, as D-Bus has them."""
    table = {"ignore-schedule": 1, "ignore-load": 2, "ignore-trust": 16, "dry-run": 32, "despite-prediction": 64, "ignore-health": 128}
    return str(sum(table[n] for n in names))


def story(m, case):
    """What is left of a case that failed, for whoever looks into it."""
    kept = os.path.join(os.environ.get("TMPDIR", "/var/tmp"), f"ucodesync-vm-{case.title}.console")
    try:
        shutil.copy(m.vm.console, kept)
        text = m.sh(f"journalctl --quiet --no-pager --output=short-precise -u {UNIT} -n 40; echo; dmesg | tail -n 12", check=False, timeout=60)
    except Exception as e:  # it is only an explanation
        text = f"(the guest says nothing any more: {e})"
    return "".join(f"     | {line}\n" for line in text.splitlines()) + f"     the console is kept: {kept}"


def run(context, names, log=sys.stdout):
    """(passed, failed, skipped). Kinds of machine run side by side, `context.jobs` at a time: a machine waits for most of its time. Those with the
    most cases come first."""
    wanted = [c for c in CASES if (c.title in names if names else (c.quick or not context.quick))]
    shapes = list({id(c.shape): c.shape for c in wanted}.values())
    shapes.sort(key=lambda shape: -sum(c.weight for c in wanted if c.shape is shape))
    pool = concurrent.futures.ThreadPoolExecutor(context.jobs)
    try:
        counts = pool.map(lambda shape: run_shape(context, shape, [c for c in wanted if c.shape is shape], log), shapes)
        return [sum(column) for column in zip([0, 0, 0], *counts)]
    except BaseException:  # an end by a signal: nobody waits for the machines
        context.stopping = True
        for m in context.machines:
            m.vm.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def run_shape(context, shape, cases, log):
    """One machine: it is started when its first case comes, and ends with its last."""
    counts = [0, 0, 0]
    begin = time.monotonic()
    m = None

    def say(text):
        print(text, file=log, flush=True)

    for c in cases:
        if context.stopping:
            break
        started = time.monotonic()
        try:
            try:
                if m is None:
                    m = Virtual(shape, context)
                    context.machines.append(m)
                m.begin(c.enabled)
                c.function(m)
            except (Gone, Stuck):
                if m is not None:
                    m.snapshots.clear()  # the next case begins with a fresh disk and a boot
                raise
        except (Skip, Cannot) as e:
            counts[2] += 1
            say(f"SKIP {c.title}: {e}")
        except Exception as e:  # whatever it was, it is this case's failure, and the next ones still run
            counts[1] += 1
            trace = "" if isinstance(e, Failed) else "\n" + traceback.format_exc()
            say(f"FAIL {c.title}: {e}{trace}\n{story(m, c) if m is not None else ''}")
        else:
            counts[0] += 1
            say(f"ok   {c.title} ({time.monotonic() - started:.0f} s)")
    if m is not None:
        m.close()
    say(f"     [{shape.name}: {time.monotonic() - begin:.0f} s]")
    return counts

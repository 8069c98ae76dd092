# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases: functions that take a machine, each bound to the shape of machine that it wants, in the order in which they stand.

Cases of one shape share its boot, and begin from its snapshot (virtual.py). A case fails by check(), or by any exception; then the ends of the
daemon's journal and of the console are shown, and the console's log is kept.
"""

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
    def __init__(self, function, shape, enabled, quick, title):
        self.function, self.shape, self.enabled, self.quick, self.title = function, shape, enabled, quick, title


def case(shape, enabled=True, quick=False):
    """`enabled`: the daemon runs at the start; `quick`: part of the subset of UCODESYNC_VM=quick."""
    def add(function):
        CASES.append(Case(function, shape, enabled, quick, function.__name__))
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


def story(m, case, log):
    """What is left of a case that failed, for whoever looks into it."""
    try:
        text = m.sh(f"journalctl --quiet --no-pager --output=short-precise -u {UNIT} -n 40; echo; dmesg | tail -n 12", check=False, timeout=60)
        print("".join(f"     | {line}\n" for line in text.splitlines()), end="", file=log, flush=True)
    except Exception as e:  # it is only an explanation
        print(f"     (the guest says nothing any more: {e})", file=log)
    kept = os.path.join(os.environ.get("TMPDIR", "/var/tmp"), f"ucodesync-vm-{case.title}.console")
    shutil.copy(m.vm.console, kept)
    print(f"     the console is kept: {kept}", file=log, flush=True)


def run(context, names, log=sys.stdout):
    """(passed, failed, skipped). Machines are started when their first case comes, and end with their last."""
    counts = [0, 0, 0]
    wanted = [c for c in CASES if (c.title in names if names else (c.quick or not context.quick))]
    shapes = list({id(c.shape): c.shape for c in wanted}.values())
    for shape in shapes:
        m = None
        begin = time.monotonic()
        for c in [c for c in wanted if c.shape is shape]:
            started = time.monotonic()
            try:
                try:
                    if m is None:
                        m = Virtual(shape, context)
                    m.begin(c.enabled)
                    c.function(m)
                except (Gone, Stuck):
                    if m is not None:
                        m.snapshots.clear()  # the next case begins with a fresh disk and a boot
                    raise
            except (Skip, Cannot) as e:
                counts[2] += 1
                print(f"SKIP {c.title}: {e}", file=log, flush=True)
            except Exception as e:  # whatever it was, it is this case's failure, and the next ones still run
                counts[1] += 1
                print(f"FAIL {c.title}: {e}", file=log, flush=True)
                if not isinstance(e, Failed):
                    traceback.print_exc(file=log)
                if m is not None:
                    story(m, c, log)
            else:
                counts[0] += 1
                print(f"ok   {c.title} ({time.monotonic() - started:.0f} s)", file=log, flush=True)
        if m is not None:
            m.close()
        print(f"     [{shape.name}: {time.monotonic() - begin:.0f} s]", file=log, flush=True)
    return counts

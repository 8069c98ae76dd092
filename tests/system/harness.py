# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases: functions that take the machine, registered in the order in which they stand, told apart by name.

A case fails by check() or by any exception; then the end of the daemon's journal is shown. Before each case the daemon is put into a
known condition: enabled, running, the quick configuration, nothing pending. What a case needs otherwise it does itself.
"""

import sys
import time
import traceback

from guest import Failed
from machine import OPEN, UNIT

CASES = []


class Skip(Exception):
    """The case cannot be decided here; the text says why."""


def case(function):
    CASES.append(function)
    return function


def check(condition, text):
    if not condition:
        raise Failed(text)


def equal(what, found, wanted):
    check(found == wanted, f"{what} is {found!r}, wanted {wanted!r}")


def prepare(m):
    """The same start for every case, whatever the one before left."""
    m.configure(OPEN)
    m.remove(f"/etc/systemd/system/{UNIT}.d/case.conf")
    m.run("systemctl", "daemon-reload")
    m.run("systemctl", "reset-failed", UNIT, check=False)
    m.run("systemctl", "enable", "--quiet", UNIT)
    m.run("systemctl", "stop", UNIT)
    m.settle()
    m.run("systemctl", "start", UNIT)
    m.until("State", "current")


def run(m, names, log=sys.stdout):
    """Run the cases of these names, or all. (passed, failed, skipped)"""
    counts = [0, 0, 0]
    for function in CASES:
        if names and function.__name__ not in names:
            continue
        title = function.__name__
        after = m.cursor()
        try:
            prepare(m)
            function(m)
        except Skip as e:
            counts[2] += 1
            print(f"SKIP {title}: {e}", file=log, flush=True)
        except Exception as e:  # whatever it was, it is this case's failure, and the next ones still run
            counts[1] += 1
            print(f"FAIL {title}: {e}", file=log)
            if not isinstance(e, Failed):
                traceback.print_exc(file=log)
            print("".join(f"     | {line}\n" for line in m.story(after)[-40:]), end="", file=log, flush=True)
        else:
            counts[0] += 1
            print(f"ok   {title}", file=log, flush=True)
    return counts


def pause(seconds):
    """Time in which something must not happen."""
    time.sleep(seconds)

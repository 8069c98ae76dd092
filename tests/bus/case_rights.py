# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon as its unit runs it, root without any capability, and firmware that it may not read until somebody opens it."""

import os
import time

from cases import INTEL, NEW, case, equal, intel, table
from world import BUILD

OTHER = 65534


def start_without_capabilities(w):
    w.daemon = w.start(["setpriv", "--bounding-set=-all", "--inh-caps=-all", BUILD / "src/daemon/ucodesyncd", f"--root={w.root}"], stderr=open(w.journal_path, "ab"))
    w.until(w.has_name, "the daemon to own its name")
    status = open(f"/proc/{w.daemon.pid}/status").read()
    equal("capabilities", [line.split()[1] for line in status.splitlines() if line.startswith("CapEff")], ["0" * 16])


@table([("the directory of the files", dict(sim=INTEL, start=False), "lib/firmware/intel-ucode"),
        ("the one above", dict(sim=INTEL, start=False), "lib/firmware")])
def a_directory_that_is_opened(w, path):
    """Nothing can be found in it, by Check neither; when it is opened that is noticed without one."""
    intel(w)
    closed = w.root / path
    os.chown(closed, OTHER, OTHER)
    closed.chmod(0o700)
    start_without_capabilities(w)
    w.call("Check")
    equal("CandidateRevision", w.get("CandidateRevision"), 0)
    time.sleep(2)
    equal("writes", w.writes(), [])
    closed.chmod(0o755)
    w.until_property("RunningRevision", NEW)


@case(sim=INTEL, start=False)
def a_directory_that_changes_hands(w):
    intel(w)
    closed = w.root / "lib/firmware/intel-ucode"
    os.chown(closed, OTHER, OTHER)
    closed.chmod(0o700)
    start_without_capabilities(w)
    os.chown(closed, 0, 0)
    w.until_property("RunningRevision", NEW)

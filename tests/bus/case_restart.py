# SPDX-License-Identifier: LGPL-2.1-or-later
"""What survives the daemon: history, what is pending since when, what was rejected; and files that cannot be understood."""

import signal
import time

from cases import INTEL, NEW, OLD, case, check, equal, intel, table
from world import SHUT, STALL, configuration


@case(sim=INTEL)
def history_and_totals_survive(w):
    intel(w)
    w.until_property("LastResult", "success")
    before, total = w.history(), w.get("StallTotalNSec", STALL)
    w.restart_daemon()
    equal("history", w.history(), before)
    equal("LastResult", w.get("LastResult"), "success")
    equal("StallTotalNSec", w.get("StallTotalNSec", STALL), total)
    equal("writes", len(w.writes()), 1)


@case(sim=INTEL, config=configuration(window=SHUT))
def pending_survives(w):
    intel(w)
    w.until_property("State", "pending")
    since = w.get("PendingSinceUSec")
    for number in (signal.SIGTERM, signal.SIGKILL):
        w.stop_daemon(number)
        w.start_daemon()
        w.until_property("State", "pending")
        equal("PendingSinceUSec", w.get("PendingSinceUSec"), since)
    equal("found once", w.journal().count("Update found"), 1)


@case(sim=INTEL)
def rejections_survive(w):
    w.sim("set", "fail-cpus", "0-7")
    intel(w)
    w.until_property("LastResult", "io-error")
    w.restart_daemon()
    w.until_property("State", "failed")
    equal("writes", len(w.writes()), 1)


@table([(f"{name}: {what}", dict(sim=INTEL), name, content) for name in ("state", "history") for what, content in {
    "empty": b"",
    "garbage": b"\x00\xff\x7f" * 100,
    "a newer format": b"ucodesync-%s 99\nend\n",
    "cut short": b"ucodesync-%s 1\n",
    "huge": b"x" * (5 << 20),
}.items()])
def files_that_cannot_be_understood(w, name, content):
    """Kept beside, said once, and the daemon starts."""
    w.stop_daemon()
    path = w.root / "var/lib/ucodesync" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.replace(b"%s", name.encode()))
    w.start_daemon()
    equal("State", w.get("State"), "current")
    kept = [p for p in path.parent.iterdir() if p.name.startswith(name + ".bad")]
    equal("files kept", len(kept), 1)
    equal("its content", kept[0].read_bytes(), content.replace(b"%s", name.encode()))
    equal("said", w.journal().count(f"/var/lib/ucodesync/{name}"), 1)
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=INTEL)
def state_that_cannot_be_written(w):
    """Without the intent on disk nothing is loaded."""
    w.stop_daemon()
    path = w.root / "var/lib/ucodesync"
    if path.exists():
        for p in path.iterdir():
            p.unlink()
        path.rmdir()
    path.write_text("a file where the directory should be")
    w.start_daemon()
    intel(w)
    w.until(lambda: w.get("State") in ("pending", "failed"), "the update to be found")
    time.sleep(3)
    equal("writes", w.writes(), [])
    check(w.get("State") in ("pending", "failed"), f"State is {w.get('State')}")

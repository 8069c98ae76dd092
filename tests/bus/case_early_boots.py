# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots that come up older than what was loaded late, although the early image had it: counted once a boot, kept on disk, and two in a row hold the next load
back. What adds to the count, what leaves it, and what resets it."""

import re
import time

from case_advice import HERE, IMAGE, advises, image
from case_health import HEALTH, holds
from cases import NEW, OLD, case, check, equal, intel, table
from world import SHUT, configuration

BROKEN = "early-loading-broken"


def count(w):
    """As it is on disk, once this boot is judged: that is after the daemon has its name."""
    boot = (w.root / "proc/sys/kernel/random/boot_id").read_text().strip()

    def judged():
        return re.search(rf"^early-boots (\d+) {boot}$", (w.root / "var/lib/ucodesync/state").read_text(), re.M)
    return int(w.until(judged, "this boot to be judged")[1])


def reboot(w, revision=OLD, between=None):
    """In order. The clock of the file system counts in hundredths, and the image must be older than the boot."""
    if w.daemon:
        w.stop_daemon()
    if between:
        between()
    time.sleep(1.1)
    w.sim("reboot", f"{revision:#x}")
    w.start_daemon()


def loaded(w):
    """A late load, and the image that has it, too."""
    image(w, NEW)
    intel(w)
    w.until_property("LastResult", "success")


@case(sim=HERE)
def three_boots_in_a_row(w):
    """The first is loaded again as if nothing were; from the second on it is held back, and counted on."""
    loaded(w)
    equal("in the boot of the load", count(w), 0)
    for n in (1, 2, 3):
        reboot(w)
        equal("boots", count(w), n)
        w.until_says(f"although /{IMAGE} has it: {n} in a row")
        if n == 1:
            w.until_property("RunningRevision", NEW)
            check(BROKEN not in w.get("BlockedBy"), "held back by one boot, which may be somebody's choice")
        else:
            holds_count(w, n)
    w.restart_daemon()
    equal("boots, after a restart of the daemon alone", count(w), 3)
    holds_count(w, 3)
    advises(w, "early loading does not work")
    equal("writes", len(w.writes()), 2)

    # it gives way to ignore-health, and to nothing else; the load in between is none of the boots
    w.refused("Apply", "t", 255 & ~(32 | HEALTH), says=BROKEN)
    w.call("Apply", "t", 3 | HEALTH)
    w.until_property("RunningRevision", NEW)
    equal("boots", count(w), 3)
    equal("history", [e["Result"] for e in w.history()], ["success"] * 3)


def holds_count(w, n):
    w.until(lambda: BROKEN in w.get("BlockedBy"), f"{BROKEN} to block")
    sentence = next(b[1] for b in w.get("Blockers") if b[0] == BROKEN)
    check(f"The last {n} boots came up older" in sentence, f"the sentence is {sentence!r}")
    equal("State", w.get("State"), "pending")


ONE = configuration(window=SHUT)


def two_broken(w):
    loaded(w)
    w.configure(ONE)
    reboot(w)
    reboot(w)
    equal("boots before", count(w), 2)


@table([
    ("a boot that comes up right", dict(sim=HERE), NEW, None, 0, False),
    ("a boot that comes up newer still", dict(sim=HERE), NEW + 2, None, 0, False),
    ("an image that lacks it: nobody's fault but the image's", dict(sim=HERE), OLD, lambda w: image(w, OLD), 0, True),
    ("no image at all: nothing is known", dict(sim=HERE), OLD, lambda w: (w.root / IMAGE).unlink(), 2, True),
])
def what_resets_it(w, revision, between, wanted, pending):
    two_broken(w)
    reboot(w, revision, between=(lambda: between(w)) if between else None)
    equal("boots", count(w), wanted)
    equal("State", w.get("State"), "pending" if pending else "current")
    equal("held back", BROKEN in w.get("BlockedBy"), pending and wanted >= 2)


@case(sim=HERE)
def an_image_that_came_after_the_boot(w):
    """It could not be seen by that boot, which therefore says nothing: neither counted, nor reset."""
    two_broken(w)
    w.stop_daemon()
    time.sleep(1.1)
    w.sim("reboot", f"{OLD:#x}")
    time.sleep(1.1)
    image(w, NEW)
    w.start_daemon()
    equal("boots", count(w), 2)
    check(BROKEN in w.get("BlockedBy"), "forgotten by a boot that says nothing")
    reboot(w)
    equal("boots, with the image there before", count(w), 3)


@case(sim=HERE)
def begins_anew_after_a_good_boot(w):
    two_broken(w)
    reboot(w, NEW)
    equal("boots", count(w), 0)
    reboot(w)
    equal("boots", count(w), 1)
    check(BROKEN not in w.get("BlockedBy"), "held back by what was put right")


@case(sim=HERE)
def nothing_was_ever_loaded_late(w):
    """An image that boots do not take is said, and is no reason to hold the first load back."""
    image(w, NEW)
    intel(w, revision=NEW)
    w.configure(ONE)
    for _ in range(3):
        reboot(w)
        equal("boots", count(w), 0)
    holds(w, "window")
    check(BROKEN not in w.get("BlockedBy"), "held back without a load")

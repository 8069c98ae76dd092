# SPDX-License-Identifier: LGPL-2.1-or-later
"""The list of cases, and how one is run.

    @case(sim=[…], config=…)
    def name(w): …          # w is its World

A case fails by check() and equal(), or by any exception; then the end of the daemon's journal is shown with it."""

import traceback

from world import Failed, World, configuration

CASES = []


def check(condition, text):
    if not condition:
        raise Failed(text)


def equal(what, found, wanted):
    check(found == wanted, f"{what} is {found!r}, wanted {wanted!r}")


class Case:
    def __init__(self, function, keywords, row=None):
        self.function, self.keywords, self.row = function, keywords, row
        self.name = function.__name__ + (f"[{row[0]}]" if row else "")

    def run(self):
        journal = ""
        try:
            with World(self.function.__name__, **self.keywords) as w:
                try:
                    self.function(*([w] + list(self.row[1:]) if self.row else [w]))
                    if w.daemon is not None:
                        check(w.alive(), "the daemon is gone")
                        equal("the daemon's exit status", w.stop_daemon(), 0)
                finally:
                    journal = "".join(f"\n     | {line}" for line in w.journal().splitlines()[-25:])
        except Failed as e:
            return "FAIL", f"{e}{journal}"
        except Exception:
            return "FAIL", traceback.format_exc() + journal
        return "ok", ""


def case(**keywords):
    def add(function):
        CASES.append(Case(function, keywords))
        return function
    return add


def table(rows):
    """One case a row: (name, World's keywords, further arguments…)."""
    def add(function):
        for name, keywords, *arguments in rows:
            CASES.append(Case(function, keywords, [name, *arguments]))
        return function
    return add


# The machine of most cases: 2 sockets of 2 cores with 2 threads, small enough to be quick, large enough for groups of CPUs.
INTEL = ["--topology=2x2x2", "--vendor=intel", "--signature=0x50654", "--platform=0x1", "--revision=0x200003a"]
INTEL_FILE = "lib/firmware/intel-ucode/06-55-04"
AMD = ["--topology=1x4x1", "--vendor=amd", "--signature=0x830f10", "--revision=0x08301081"]
AMD_FILE = "lib/firmware/amd-ucode/microcode_amd_fam17h.bin"

OLD, NEW = 0x200003A, 0x200005E


def intel(w, *options, revision=NEW, minimum=0x2000030, path=INTEL_FILE):
    return w.fixture(path, "--signature=0x50654", "--mask=0x1", f"--revision={revision:#x}", f"--min-revision={minimum:#x}", *options)


def amd(w, *options, revision=0x08301090, path=AMD_FILE):
    return w.fixture(path, "--vendor=amd", "--signature=0x830f10", f"--revision={revision:#x}", *options)


ANY_TRUST = configuration(apply="Trust=any")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows of the table of cases. A row names its report by number, and stands for its whole kind: beside the reported input it has neighbours that must
fare the same, or differently.

    @row(15, sim=[…], config=…)
    def stray_files(w): …                        # w is its World, see tests/bus/world.py

    @rows(16, [(name, dict(sim=[…]), argument…), …])
    def minimum_insisted_on(w, argument): …      # one world a neighbour

A new row is a function in any rows_*.py; the runner finds it."""

import shutil

from cases import Case
from reports import REPORTS
from world import TOP, configuration

ROWS = []  # (number, Case)

ANY, MINREV, APPROVED = (configuration(apply=f"Trust={t}") for t in ("any", "minrev", "approved"))


def rows(number, table):
    if number not in REPORTS:
        raise ValueError(f"there is no report {number}")

    def add(function):
        for name, keywords, *arguments in table:
            ROWS.append((number, Case(function, keywords, [name, *arguments])))
        return function
    return add


def row(number, **keywords):
    return rows(number, [("as reported", keywords)])


def machine(signature, platform, revision, *more, config=ANY, **keywords):
    """A small Intel machine, as keywords of its World."""
    return dict(sim=["--topology=1x4x1", "--vendor=intel", f"--signature={signature:#x}", f"--platform={platform:#x}", f"--revision={revision:#x}", *more],
                config=config, **keywords)


def file_of(signature):
    """Where the kernel looks for a CPU's file (Intel, families 6 to 15)."""
    return f"lib/firmware/intel-ucode/{signature >> 8 & 0xf:02x}-{(signature >> 4 & 0xf) | (signature >> 12 & 0xf0):02x}-{signature & 0xf:02x}"


def put(w, signature, platform, revision, *options):
    return w.fixture(file_of(signature), f"--signature={signature:#x}", f"--mask={platform:#x}", f"--revision={revision:#x}", *options)


def ship(w):
    """The package's own rules, where it installs them; then the daemon starts."""
    shutil.copytree(TOP / "conf/rules.d", w.root / "usr/lib/ucodesync/rules.d")
    w.start_daemon()


def blockers(w):
    return {b[0]: b[1] for b in w.get("Blockers")}

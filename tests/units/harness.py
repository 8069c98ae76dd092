# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every check of this directory needs: counting, running, reading. A check is reported when it is made; only what did not pass
is printed, with what was seen."""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]

counts = {"passed": 0, "failed": 0, "skipped": 0}


def report(outcome, name, detail=""):
    counts[outcome] += 1
    if outcome != "passed":
        print(f"{outcome.upper()}: {name}" + (f"\n{detail.rstrip()}".replace("\n", "\n    ") if detail else ""))


def check(name, good, detail=""):
    report("passed" if good else "failed", name, detail)


def skip(name, detail=""):
    report("skipped", name, detail)


def have(*programs):
    """All there? Otherwise what needs them is counted as skipped."""
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        skip("needs " + ", ".join(missing))
    return not missing


def run(*argv, **kwargs):
    return subprocess.run([str(a) for a in argv], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)


def read(path):
    return (TOP / path).read_text(encoding="utf-8")

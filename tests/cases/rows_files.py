# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that are taken back, that are none, or that are for another CPU; and a kernel that insists."""

from cases import check, equal
from table import ANY, MINREV, blockers, file_of, machine, put, row, rows

LAPTOP = machine(0x806C1, 0x80, 0x68)
DESKTOP = machine(0x906EB, 0x2, 0x100)


def nothing_happens(w, text="the file to be looked at"):
    """The directories settle, are scanned, and nothing comes of it."""
    w.call("Check")
    equal("State", w.get("State"), "current")
    equal("CandidateRevision", w.get("CandidateRevision"), 0)
    equal("BlockedBy", w.get("BlockedBy"), [])
    equal("writes", w.writes(), [])
    check("Update found" not in w.journal(), "an update is announced")
    check("not usable" not in w.journal(), "a file is complained about")


@rows(6, [("older", LAPTOP, 0x60), ("the same", LAPTOP, 0x68), ("older by far", LAPTOP, 0x1), ("revisions are unsigned", machine(0x806C1, 0x80, 0x80000001), 0x70)])
def reverted(w, revision):
    put(w, 0x806C1, 0x80, revision)
    nothing_happens(w)
    w.restart_daemon()
    nothing_happens(w)


@row(7, **machine(0x306F2, 0x6F, 0x2B, config=ANY + "\n[Apply]\nAutomatic=no\n"))
def withdrawn_while_pending(w):
    put(w, 0x306F2, 0x6F, 0x2D)
    w.until_property("CandidateRevision", 0x2D)
    put(w, 0x306F2, 0x6F, 0x2A)
    w.until_property("State", "current")
    equal("CandidateRevision", w.get("CandidateRevision"), 0)
    equal("PendingSinceUSec", w.get("PendingSinceUSec"), 0)
    put(w, 0x306F2, 0x6F, 0x2E)
    w.until_property("CandidateRevision", 0x2E)
    (w.root / file_of(0x306F2)).unlink()
    w.until_property("State", "current")
    equal("writes", w.writes(), [])


@row(7, **machine(0x306F2, 0x6F, 0x2B))
def withdrawn_after_the_load(w):
    put(w, 0x306F2, 0x6F, 0x2D)
    w.until_property("LastResult", "success")
    put(w, 0x306F2, 0x6F, 0x2B, "--seed=2")
    w.call("Check")
    equal("State", w.get("State"), "current")
    equal("RunningRevision", w.get("RunningRevision"), 0x2D)
    equal("writes", len(w.writes()), 1)


@row(15, **DESKTOP)
def stray_files(w):
    directory = w.root / "lib/firmware/intel-ucode"
    for name, text in (("list", "06-9e-0b\n"), ("README", "read me\n"), ("06-9e-0b.initramfs", "x"), ("06-9e-0b.dpkg-new", "half a fi"), ("06-9e-0b~", ""),
                       ("06-9e-0b.bak", "\x01\0\0\0")):
        (directory / name).write_text(text)
    (directory / "06-9e-0c").write_bytes(b"\x01\0\0\0" + b"\xff" * 60)
    (directory / "subdirectory").mkdir()
    w.fixture("lib/firmware/intel-ucode/06-9E-0B", "--fixture=B", "--revision=0x200")
    nothing_happens(w)
    w.fixture("lib/firmware/intel-ucode/06-9e-0b", "--fixture=B")
    w.until_property("LastResult", "success")
    equal("RunningRevision", w.get("RunningRevision"), 0x110)
    check("not usable" not in w.journal(), "a stray file is complained about")


FORCED = ["--force-minrev"]


@rows(16, [
    ("no minimum", machine(0x906EB, 0x2, 0xF0, *FORCED), "A", "refusal-predicted"),
    ("minimum not met", machine(0x906EB, 0x2, 0xFF, *FORCED), "B", "refusal-predicted"),
    ("minimum met", machine(0x906EB, 0x2, 0x100, *FORCED), "B", None),
    ("no minimum, and the daemon asks for one, too", machine(0x906EB, 0x2, 0xF0, *FORCED, config=MINREV), "A", "minrev"),
    ("no minimum, and the kernel does not mind", machine(0x906EB, 0x2, 0xF0), "A", None),
    ("minimum not met, and the kernel does not mind", machine(0x906EB, 0x2, 0xFF), "B", None),
])
def minimum_insisted_on(w, fixture, blocked):
    w.fixture(file_of(0x906EB), f"--fixture={fixture}")
    if not blocked:
        w.until_property("LastResult", "success")
        return
    w.until(lambda: blocked in blockers(w), f"'{blocked}' to block")
    w.refused("Apply", "t", 255 - 32 - 64, says="")
    equal("writes", w.writes(), [])


AMD = ["--topology=1x4x1", "--vendor=amd"]


@rows(31, [
    ("another model of the family", dict(sim=[*AMD, "--signature=0xa50f00", "--revision=0x0a50000b"], config=ANY), "lib/firmware/amd-ucode/microcode_amd_fam19h.bin", "--fixture=D"),
    ("Intel, another mask", machine(0x906EB, 0x20, 0xF0), file_of(0x906EB), "--fixture=A"),
    ("Intel, another CPU in the file", machine(0x906EB, 0x2, 0xF0), file_of(0x906EB), "--signature=0x906ec"),
])
def nothing_for_this_cpu(w, path, options):
    w.fixture(path, options)
    nothing_happens(w)


@rows(11, [
    ("06-8f-07", machine(0x806F7, 0x1, 0x100), 0x806F7, ["--fixture=C"], 0x120),
    ("06-97-05", machine(0x90675, 0x2, 0x20), 0x90675, ["--signature=0x90672", "--mask=0x7", "--revision=0x3d", "--also=0x90675/7"], 0x3D),
    ("several updates, and the last one's table names it", machine(0x906A4, 0x40, 0x4), 0x906A4,
     ["--signature=0x906a3", "--mask=0x80", "--revision=0x43a", "--next", "--signature=0x906a4", "--mask=0x80", "--next", "--signature=0x906a3",
      "--mask=0x40", "--revision=0xb", "--also=0x906a4/40"], 0xB),
])
def only_in_the_extended_table(w, signature, options, revision):
    w.fixture(file_of(signature), *options)
    w.until_property("LastResult", "success")
    equal("RunningRevision", w.get("RunningRevision"), revision)


@rows(26, [
    ("features vanish", machine(0x506E3, 0x2, 0xC2, "--features-change"), True),
    ("they stay", machine(0x506E3, 0x2, 0xC2), False),
])
def features(w, change):
    put(w, 0x506E3, 0x2, 0xD6)
    w.until_property("LastResult", "success")
    equal("times said", w.journal().count("CPU features changed with the load:"), int(change))
    if change:
        check("-hle" in w.journal().lower() and "-rtm" in w.journal().lower(), "they are not named")


@row(26, **machine(0x506E3, 0x2, 0xC2, "--features-change", config=MINREV))
def features_without_a_minimum(w):
    """The vendor names no revision from which that is safe: it is not loaded."""
    put(w, 0x506E3, 0x2, 0xD6)
    w.until(lambda: "minrev" in blockers(w), "'minrev' to block")
    equal("writes", w.writes(), [])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What package managers do to the directories: files that come and go, strangers beside them, a step back."""

import os
import shutil
import subprocess
import time

from cases import check, equal
from readers import Readers
from table import ANY, file_of, machine, put, row, rows
from world import BUILD, SHUT, configuration

CPU = (0x906EB, 0x2)
NAME = "06-9e-0b"
WAITING = configuration(window=SHUT, apply="Trust=any")
DESKTOP = machine(*CPU, 0x100, config=WAITING)


def directory(w):
    return w.root / "lib/firmware/intel-ucode"


def microcode(w, revision, *options):
    """The bytes of a file for this machine."""
    path = w.top / "made"
    subprocess.run([BUILD / "tests/fixtures/mkfixture", f"--signature={CPU[0]:#x}", f"--mask={CPU[1]:#x}", f"--revision={revision:#x}", *options, f"--output={path}"],
                   check=True, env=w.environment)
    return path.read_bytes()


def until_scanned(w):
    """Whatever is to be looked at has settled (SettleSec=1s) and was looked at. Nothing tells of a look that is not taken."""
    time.sleep(2.5)


# 7: what was on disk and is not any more

TAKEN = "was taken back"
LAPTOP = (0x806C1, 0x80)


def takes_back(w, count, *says):
    w.until_says(TAKEN, count)
    line = [x for x in w.journal().splitlines() if TAKEN in x][-1]
    for text in says:
        check(text in line, f"it says {line!r}, wanted {text!r} in it")
    return line


@rows(7, [
    ("as reported, older and not loaded", machine(*LAPTOP, 0x50, config=WAITING), 0x60, "Revision 0x68 was taken back: /lib/firmware/intel-ucode/06-8c-01 has 0x60 now; 0x50 runs [",),
    ("older than what runs", machine(*LAPTOP, 0x68, config=WAITING), 0x60, "has 0x60 now; 0x68 runs, and goes on until the next boot"),
    ("the board runs something newer still", machine(*LAPTOP, 0x70, config=WAITING), 0x60, "has 0x60 now; 0x70 runs ["),
    ("a file for another mask", machine(*LAPTOP, 0x50, config=WAITING), None, "has nothing for this CPU now"),
    ("no file", machine(*LAPTOP, 0x50, config=WAITING), 0, "no file for this CPU is there now"),
])
def taken_back(w, revision, says):
    put(w, *LAPTOP, 0x68)
    w.call("Check")
    if revision:
        put(w, *LAPTOP, revision)
    elif revision is None:
        put(w, LAPTOP[0], 0x1, 0x68)
    else:
        (w.root / file_of(LAPTOP[0])).unlink()
    w.call("Check")
    takes_back(w, 1, says, "UCODESYNC_OLD_REVISION=0x68")
    entry = w.entries(TAKEN)[0]
    equal("NEW_REVISION", entry.get("NEW_REVISION"), f"{revision:#x}" if revision else None)
    for _ in range(2):
        w.call("Check")
        w.restart_daemon()
    equal("times said", w.journal().count(TAKEN), 1)
    # and again when it happens again
    put(w, *LAPTOP, 0x68, "--seed=7")
    w.call("Check")
    equal("times said", w.journal().count(TAKEN), 1)
    put(w, *LAPTOP, 0x64)
    w.call("Check")
    takes_back(w, 2, "has 0x64 now")
    equal("writes", w.writes(), [])


@row(7, **machine(*LAPTOP, 0x50, config=WAITING))
def taken_back_behind_the_daemons_back(w):
    """While it was down, and over a reboot, too."""
    put(w, *LAPTOP, 0x68)
    w.until_property("CandidateRevision", 0x68)
    w.stop_daemon()
    put(w, *LAPTOP, 0x60)
    w.sim("reboot", "0x68")
    w.start_daemon()
    takes_back(w, 1, "0x68 runs, and goes on")
    equal("State", w.get("State"), "current")


@rows(7, [("the board is ahead from the start on", machine(*LAPTOP, 0x68, config=WAITING), ["60"]),
          ("newer and newer", machine(*LAPTOP, 0x50, config=WAITING), ["58", "60", "68"]),
          ("another file of the same revision", machine(*LAPTOP, 0x50, config=WAITING), ["60", "60"])])
def nothing_is_taken_back(w, revisions):
    for n, revision in enumerate(revisions):
        put(w, *LAPTOP, int(revision, 16), f"--seed={n + 1}")
        w.call("Check")
    put(w, *LAPTOP, int(revisions[-1], 16), "--corrupt=body-bit")  # a bad file tells nothing
    w.call("Check")
    put(w, *LAPTOP, int(revisions[-1], 16))
    w.call("Check")
    w.restart_daemon()
    check(TAKEN not in w.journal(), "something is said to be taken back")


# 15: nobody reads what is not asked for

STRAYS = {"list": "06-9e-0b\n", "README": "read me\n", f"{NAME}.initramfs": "x", "06-9E-0B": "\x01\0\0\0", f"{NAME}.dpkg-new": "half a fi", f"{NAME}.dpkg-tmp": "",
          f"{NAME};5f3e1a2b": "rpm", f"{NAME}~": "", f".{NAME}.swp": "b0VIM", "06-9e-0c": "\x01\0\0\0", f"{NAME}.gz": "\x1f\x8b"}


@row(15, **dict(DESKTOP, config=ANY))
def strays_are_never_opened(w):
    w.stop_daemon()
    for name, text in STRAYS.items():
        (directory(w) / name).write_text(text)
    with Readers(directory(w)) as readers:
        w.start_daemon()
        w.call("Check")
        equal("read", readers.read(), set())
        made = w.top / "made"
        made.write_bytes(microcode(w, 0x110))
        shutil.copy(made, w.root / "lib/firmware/copy")
        (w.root / "lib/firmware/copy").rename(directory(w) / NAME)
        w.until_property("LastResult", "success")
        check(readers.opened(NAME) > 0, "this test does not see who reads")
        for name in STRAYS:
            equal(f"times that {name} was opened", readers.opened(name), 0)
    check("not usable" not in w.journal(), "a stray file is complained about")


def link_loop(path):
    path.symlink_to(path.name)


def empty(path):
    path.touch()


IN_THE_WAY = {"a link to itself": (link_loop, "Too many levels of symbolic links"), "an empty file": (empty, "is empty"),
              "a directory": (lambda path: path.mkdir(), "directory")}


@rows(15, [(name, DESKTOP, *way) for name, way in IN_THE_WAY.items()])
def passed_over(w, make, says):
    """What stands earlier in the search path, and the kernel passes over without a word: told, once a change, and shown."""
    put(w, *CPU, 0x110)
    w.until_property("CandidateRevision", 0x110)
    equal("Advice", w.get("Advice"), [])
    path = w.root / "lib/firmware/updates/intel-ucode" / NAME
    path.parent.mkdir(parents=True)
    for times in (1, 2):
        make(path)
        w.until_says("The kernel passes over a file without a word", times)
        w.call("Check")
        advice = [s for s in w.get("Advice") if "passes over" in s]
        equal("sentences", len(advice), 1)
        check(says in advice[0] and f"updates/intel-ucode/{NAME}" in advice[0] and f"takes /lib/firmware/intel-ucode/{NAME}" in advice[0], advice[0])
        explained = subprocess.run([BUILD / "src/ctl/ucodectl", "--no-pager", "explain"], text=True, capture_output=True, env=w.environment).stdout
        check("passes over a file" in " ".join(explained.split()), f"explain says {explained}")
        equal("times said", w.journal().count("The kernel passes over"), times)
        equal("CandidateRevision", w.get("CandidateRevision"), 0x110)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        w.until(lambda: not any("passes over" in s for s in w.get("Advice")), "Advice to forget it")
    check("not usable" not in w.journal(), "it counts as a bad file")


# 29: a directory that is there, and empty

@rows(29, [("as reported, the directory is empty", dict(DESKTOP, start=False), "empty"),
           ("there is none", dict(DESKTOP, start=False), "none"),
           ("no firmware at all", dict(DESKTOP, start=False), "nothing"),
           ("a link to an empty one", dict(DESKTOP, start=False), "link")])
def empty_directory(w, kind):
    if kind != "empty":
        directory(w).rmdir()
    if kind == "nothing":
        shutil.rmtree(w.root / "lib/firmware")
    if kind == "link":
        (w.root / "srv/ucode").mkdir(parents=True)
        directory(w).symlink_to("../../srv/ucode")
    w.start_daemon()
    equal("State", (w.get("State"), w.get("BlockedBy"), w.get("CandidatePath")), ("current", [], ""))
    equal("Explain", w.call("Explain", "t", 0)[1], 2)
    check("not usable" not in w.journal() and "cannot be watched" not in w.journal(), "it counts as an error")
    if kind in ("none", "nothing"):
        w.root.joinpath("lib/firmware").mkdir(parents=True, exist_ok=True)
        made = w.root / "lib/firmware/.new"
        made.mkdir()
        (made / NAME).write_bytes(microcode(w, 0x110))
        made.rename(directory(w))  # all at once
    else:
        put(w, *CPU, 0x110)
    w.until_property("CandidateRevision", 0x110)
    equal("found", w.journal().count("Update found"), 1)


# 30: dpkg's own sequence

def unpack(w, files, gone=(), part=512, pause=0.05):
    """Each file beside its name, first a part of it; then each of the old ones gets a second name, and the new ones theirs."""
    d = directory(w)
    d.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        with open(d / f"{name}.dpkg-new", "wb") as f:
            f.write(data[:part])
            f.flush()
            time.sleep(pause)
            f.write(data[part:])
            os.fchmod(f.fileno(), 0o644)
            os.fsync(f.fileno())
        os.utime(d / f"{name}.dpkg-new", (1700000000, 1700000000))
    backups = []
    for name in files:
        if (d / name).exists():
            os.link(d / name, d / f"{name}.dpkg-tmp")
            backups.append(d / f"{name}.dpkg-tmp")
        os.rename(d / f"{name}.dpkg-new", d / name)
    for name in gone:
        (d / name).unlink()
    time.sleep(0.1)
    for path in backups:
        path.unlink()


def package(w, revision):
    """Files for other CPUs, before and behind the one that counts."""
    other = {n: microcode(w, 0x20, f"--signature={s:#x}", "--size=4096") for n, s in (("06-8c-01", 0x806C1), ("06-9e-0c", 0x906EC))}
    return {"06-8c-01": other["06-8c-01"], NAME: microcode(w, revision, "--size=4096"), "06-9e-0c": other["06-9e-0c"]}


def looks(w, readers, act, revision):
    """How often the scan has opened the file because of what `act` does, in scans: one more look by hand tells how often a scan opens it."""
    before = readers.opened(NAME)
    act()
    w.until_property("CandidateRevision", revision)
    until_scanned(w)
    seen = readers.opened(NAME) - before
    w.call("Check")
    each = readers.opened(NAME) - before - seen
    check(each > 0, "this test does not see who reads")
    return seen / each


@row(30, **DESKTOP)
def as_dpkg_does_it(w):
    """A fresh installation, an upgrade that drops a file, and a removal with the directory: one look at the file each."""
    first, second, third = package(w, 0x108), package(w, 0x110), package(w, 0x118)
    with Readers(directory(w)) as readers:
        equal("looks at a fresh installation", looks(w, readers, lambda: unpack(w, first), 0x108), 1)
        del second["06-9e-0c"]
        equal("looks at an upgrade", looks(w, readers, lambda: unpack(w, second, gone=["06-9e-0c"]), 0x110), 1)
        equal("what was read", readers.read(), {NAME})
    equal("found", w.journal().count("Update found"), 2)
    for path in directory(w).iterdir():
        path.unlink()
    directory(w).rmdir()
    w.until_property("CandidateRevision", 0)
    equal("State", w.get("State"), "current")
    time.sleep(2)
    unpack(w, third)
    w.until_property("CandidateRevision", 0x118)
    until_scanned(w)
    equal("found", w.journal().count("Update found"), 3)
    check("not usable" not in w.journal(), "half a file was read")


@row(30, **machine(*CPU, 0x100, config=configuration(window=SHUT, settle="4s", apply="Trust=any")))
def one_behind_the_other(w):
    """Several packages before the directory has settled: one look, at what is there in the end."""
    packages = [package(w, revision) for revision in (0x108, 0x110, 0x118)]
    with Readers(directory(w)) as readers:
        equal("looks", looks(w, readers, lambda: [unpack(w, files, pause=0) for files in packages], 0x118), 1)
    equal("found", w.journal().count("Update found"), 1)


@rows(30, [("dpkg", DESKTOP, ".dpkg-new"), ("rpm", DESKTOP, ";5f3e1a2b"), ("a copy", DESKTOP, ".part")])
def half_a_file_beside_it(w, suffix):
    """An installation that stops in the middle: what lies there for ever is not read, nor when it is completed; the name counts."""
    data = microcode(w, 0x110, "--size=4096")
    half = directory(w) / f"{NAME}{suffix}"
    with Readers(directory(w)) as readers:
        half.write_bytes(data[:512])
        until_scanned(w)
        w.call("Check")
        equal("CandidateRevision", w.get("CandidateRevision"), 0)
        half.write_bytes(data)
        until_scanned(w)
        equal("CandidateRevision", w.get("CandidateRevision"), 0)
        equal("what was read", readers.read(), set())
        half.rename(directory(w) / NAME)
        w.until_property("CandidateRevision", 0x110)
    check("not usable" not in w.journal(), "half a file was read")


@row(30, **DESKTOP)
def written_in_place(w):
    """As `cp` does it, over the old one, and not fast: the file settles first."""
    put(w, *CPU, 0x108)
    w.until_property("CandidateRevision", 0x108)
    data = microcode(w, 0x110, "--size=8192")
    with open(directory(w) / NAME, "wb") as f:
        for at in range(0, len(data), 1024):
            f.write(data[at:at + 1024])
            f.flush()
            time.sleep(0.3)
    w.until_property("CandidateRevision", 0x110)
    equal("found", w.journal().count("Update found"), 2)
    check("not usable" not in w.journal(), "half a file was read")

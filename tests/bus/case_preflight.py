# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the kernel would answer, foretold: for each generation of the loader, every row of the table of answers, prediction beside answer.

A case is one machine that goes through all rows. Where a row would load nothing, the daemon writes nothing, whoever asks; then the answer is fetched
all the same: with despite-prediction, or, where the daemon has no file that it could write for, by writing to reload beside it."""

import errno
import itertools
import lzma

from cases import AMD_FILE, ANY_TRUST, INTEL, INTEL_FILE, NEW, OLD, amd, case, check, equal, intel, table
from world import configuration

KERNELS = ("5.10", "6.1", "6.12", "7.3")
MODERN = ("6.12", "7.3")

# ignore-schedule, -load, -inhibitors, -hold, -trust, -health; and despite-prediction
EVERYTHING, DESPITE = 1 | 2 | 4 | 8 | 16 | 128, 64

# No load by itself, and none that waits for its probation.
BY_HAND = configuration(apply="Automatic=no\nTrust=any\nProbationSec=0")

seed = itertools.count(1)


def fresh():
    """No two files of a case have the same bytes: what was refused once is not tried again."""
    return f"--seed={next(seed)}"


def explain(w):
    """What is foretold, and whether something would be loaded: (errno, blockers)."""
    w.call("Check")
    blockers, predicted, _, _ = w.call("Explain", "t", EVERYTHING)
    return predicted, {b[0]: b[1] for b in blockers}


def write_beside(w):
    """The kernel's answer to somebody else."""
    try:
        with open(w.root / "sys/devices/system/cpu/microcode/reload", "w", encoding="ascii") as f:
            f.write("1\n")
    except OSError as e:
        return e.errno
    return 0


def apply(w, flags):
    """A load by the daemon, to its end: its entry in the history."""
    number = w.call("Apply", "t", flags)[0]
    return w.until(lambda: next((e for e in w.history() if e["Id"] == number), None), "the load in the history")


def name(number):
    return errno.errorcode[number] if number else "success"


def expect(w, row, wanted, loads, can_apply=True, waits=False, says=None):
    """One row. `wanted`: the errno, 0 for success. `loads`: whether CPUs change. `waits`: for CPUs that are offline, which no request
    overrides."""
    predicted, blockers = explain(w)
    equal(f"{row}: predicted", name(predicted), name(wanted))
    writes = len(w.writes())

    if loads:
        equal(f"{row}: blockers", blockers, {})
        entry = apply(w, EVERYTHING)
        equal(f"{row}: result", entry["Result"], "success")
    else:
        if waits:
            check("cpus-offline" in blockers and "refusal-predicted" not in blockers, f"{row}: blockers are {blockers}")
        else:
            w.refused("Apply", "t", EVERYTHING)
        if says:
            check(says in " ".join(blockers.values()), f"{row}: the sentences are {blockers}, wanted '{says}'")
        equal(f"{row}: writes without the flag", len(w.writes()), writes)
        if waits or not can_apply:
            equal(f"{row}: answered", name(write_beside(w)), name(wanted))
            return
        entry = apply(w, EVERYTHING | DESPITE)
    equal(f"{row}: foretold in the history", name(entry["PredictedErrno"]), name(wanted))
    equal(f"{row}: answered", name(entry["WriteErrno"]), name(wanted))
    equal(f"{row}: writes", len(w.writes()), writes + 1)


def right_so_far(w):
    check("was not the one foretold" not in w.journal(), "a prediction that was right is called wrong")


@table([(k, dict(sim=INTEL + [f"--kernel={k}"], config=BY_HAND), k in MODERN) for k in KERNELS])
def intel_rows(w, modern):
    nothing, bad = (errno.ENOENT, errno.EBADFD) if modern else (0, 0)

    def back():
        w.sim("set", "revision", hex(OLD))
        w.call("Check")

    expect(w, "no file", nothing, False, can_apply=False)
    (w.root / INTEL_FILE).write_bytes(b"")
    expect(w, "an empty file", nothing, False, can_apply=False)
    intel(w, fresh(), revision=OLD)
    expect(w, "the same revision", nothing, False)
    intel(w, fresh(), revision=OLD - 1)
    expect(w, "an older one", nothing, False)
    intel(w, fresh(), "--signature=0x50657")
    expect(w, "another signature", nothing, False)
    intel(w, fresh(), "--mask=0x80")
    expect(w, "another platform", nothing, False)
    for corruption in ("body-bit", "truncated", "stray-byte", "trailing-text"):
        intel(w, fresh(), f"--corrupt={corruption}")
        expect(w, corruption, bad, False)
    intel(w, fresh())
    expect(w, "updated on all CPUs", 0, True)

    back()
    intel(w, fresh())
    w.sim("offline", "1")
    expect(w, "an offline primary", errno.EBUSY if modern else errno.EINVAL, False, waits=True)
    w.sim("online", "1")
    w.sim("set", "revision", hex(OLD))
    w.sim("offline", "5")
    expect(w, "an offline sibling", 0, True)
    w.sim("online", "5")

    back()
    w.sim("set", "force-minrev", "yes")
    intel(w, fresh(), minimum=0)
    expect(w, "force_minrev, none named", nothing, not modern, says="names none")
    back()
    intel(w, fresh(), minimum=OLD + 1)
    expect(w, "force_minrev, not met", nothing, not modern, says="may be loaded from")
    back()
    intel(w, fresh(), minimum=OLD)
    expect(w, "force_minrev, met", 0, True)
    back()
    w.fixture(INTEL_FILE, "--signature=0x50654", "--mask=0x1", fresh(), f"--revision={NEW:#x}", f"--min-revision={OLD:#x}", "--next",
              f"--revision={NEW + 1:#x}", "--min-revision=0")
    w.call("Check")
    equal("what this kernel takes of two", w.get("CandidateRevision"), NEW if modern else NEW + 1)
    expect(w, "force_minrev, the best of those that are safe", 0, True)
    w.sim("set", "force-minrev", "no")

    back()
    right_so_far(w)
    w.sim("set", "fail-cpus", "2,6")
    intel(w, fresh())
    w.call("Check")
    entry = apply(w, EVERYTHING)
    equal("some CPUs failed: result", entry["Result"], "mixed-revisions")
    equal("some CPUs failed: answered", name(entry["WriteErrno"]), "EIO" if modern else "EPERM")
    w.until_says(f"not the one foretold: {'EIO' if modern else 'EPERM'} instead of success")
    equal("a difference is said once", w.journal().count("not the one foretold"), 1)
    w.sim("set", "fail-cpus", "")
    intel(w, fresh())
    expect(w, "again after a partial failure", nothing, False, says="CPU 0 alone")
    check(f"0x{OLD:x} 2,6" in w.sim("get", "revisions"), "the old CPUs were brought up")
    w.sim("set", "revision", f"{OLD:#x} 0,4")
    w.sim("set", "revision", f"{NEW:#x} 1-3,5-7")
    intel(w, fresh())
    expect(w, "again when CPU 0 was the one that failed", 0, True)


AMD_SMT = ["--topology=1x2x2", "--vendor=amd", "--signature=0x830f10", "--revision=0x08301081"]
AMD_OLD = 0x08301081


@table([(k, dict(sim=AMD_SMT + [f"--kernel={k}"], config=BY_HAND), k in MODERN) for k in KERNELS])
def amd_rows(w, modern):
    missing, bad = (errno.ENOENT, errno.EBADFD) if modern else (0, 0)

    def back(revision=AMD_OLD):
        w.sim("set", "revision", hex(revision))
        w.call("Check")

    expect(w, "no file", missing, False, can_apply=False)
    (w.root / AMD_FILE).write_bytes(b"")
    expect(w, "an empty file", missing, False, can_apply=False)
    amd(w, fresh(), revision=AMD_OLD)
    expect(w, "the same revision", 0, False)
    amd(w, fresh(), revision=AMD_OLD - 1)
    expect(w, "an older one", 0, False)
    w.fixture(AMD_FILE, "--vendor=amd", "--signature=0x820f10", "--revision=0x08201090", fresh())
    expect(w, "another CPU's", 0, False)
    for corruption in ("magic", "truncated", "second-container", "section-type", "readme"):
        amd(w, fresh(), f"--corrupt={corruption}")
        expect(w, corruption, bad, False)
    amd(w, fresh())
    expect(w, "updated on all CPUs", 0, True)

    back()
    amd(w, fresh())
    w.sim("offline", "1")
    expect(w, "an offline primary", errno.EBUSY if modern else errno.EINVAL, False, waits=True)
    w.sim("online", "1")
    back()
    w.sim("offline", "3")
    expect(w, "an offline sibling", errno.EIO if modern else 0, not modern, waits=True)
    w.sim("online", "3")

    back()
    w.sim("set", "force-minrev", "yes")
    amd(w, fresh())
    expect(w, "force_minrev", missing, not modern, says="AMD's updates name none")
    w.sim("set", "force-minrev", "no")

    back()
    w.sim("set", "revision", "0x08301090 0,2")
    amd(w, fresh())
    expect(w, "again after a partial failure", 0, False, says="leaves the CPUs that lag behind")
    back()
    w.sim("set", "revision", "0x08301090 1,3")
    amd(w, fresh())
    expect(w, "again when CPU 0 was the one that failed", 0, True)

    back(0x0830107B)
    w.sim("set", "log-digest", "fail")
    amd(w, fresh())
    expect(w, "across the EntrySign cutoff", errno.EIO if modern else errno.EPERM, False, says="BIOS")
    w.sim("set", "log-digest", "off")
    w.fixture(AMD_FILE, "--vendor=amd", "--signature=0x830f10", "--revision=0x08301090", fresh(), "--next", "--revision=0x0830107c")
    w.call("Check")
    equal("of two patches the one of this side", w.get("CandidateRevision"), 0x0830107C)
    back(0x0830107D)
    equal("and of the other side", w.get("CandidateRevision"), 0x08301090)
    back(0x0830107B)
    w.sim("set", "cmdline", "quiet microcode.amd_sha_check=off")
    w.call("Check")
    equal("digests do not matter", w.get("CandidateRevision"), 0x08301090)
    expect(w, "EntrySign switched off", 0, True)
    right_so_far(w)


BDX = ["--topology=1x20x2", "--signature=0x406f1", "--platform=0x1", "--cost-usec=100"]


@table([(f"{what}, {k}", dict(sim=BDX + [f"--kernel={k}", f"--revision={revision}", f"--llc-kb={llc}"], config=BY_HAND), k in MODERN, loads)
        for k in ("6.1", "7.3") for what, revision, llc, loads in (("below and large", "0x0b00001f", 61440, False),
                                                                    ("no longer below", "0x0b000021", 61440, True),
                                                                    ("2.5 MiB a core", "0x0b00001f", 51200, True))])
def bdx90(w, modern, loads):
    w.fixture("lib/firmware/intel-ucode/06-4f-01", "--signature=0x406f1", "--mask=0x1", "--revision=0x0b000040", "--min-revision=0x0b000001")
    expect(w, "BDX90", errno.ENOENT if modern and not loads else 0, loads, says="BDX90")


@table([(f"{how}, {k}", dict(sim=INTEL + [f"--kernel={k}", "--force-minrev"], config=ANY_TRUST), minimum)
        for k in MODERN for how, minimum in (("none named", 0), ("not met", OLD + 1))])
def never_in_vain(w, minimum):
    """By itself, with the window open and all quiet: pending, said why, and nothing is written; a file that is safe is loaded."""
    intel(w, minimum=minimum)
    w.until(lambda: "refusal-predicted" in w.get("BlockedBy"), "the prediction to block")
    w.until_says("The kernel would answer ENOENT: The kernel insists on minimum revisions")
    w.refused("Apply", "t", 255 & ~(32 | 64), says="refusal-predicted")
    equal("writes", w.writes(), [])
    intel(w, minimum=OLD)
    w.until_property("LastResult", "success")
    equal("writes", len(w.writes()), 1)


@case(sim=INTEL + ["--kernel=6.12"], config=configuration(apply="Automatic=no\nTrust=any"))
def the_parameter_changes_at_run_time(w):
    intel(w, minimum=0)
    equal("before", explain(w)[0], 0)
    (w.root / "sys/module/microcode/parameters/force_minrev").write_text("Y\n")
    equal("after", explain(w)[0], errno.ENOENT)
    check("refusal-predicted" in w.get("BlockedBy"), f"BlockedBy is {w.get('BlockedBy')}")


def pack_xz(data):
    return lzma.compress(data, check=lzma.CHECK_CRC32)


def pack_zst(data):
    """A frame that names the size of its content, as the kernel needs it, with one raw block (RFC 8878, 3.1.1)."""
    return (0xFD2FB528).to_bytes(4, "little") + b"\xa0" + len(data).to_bytes(4, "little") + (len(data) << 3 | 1).to_bytes(3, "little") + data


COMPRESSIONS = {"xz": (pack_xz, "XZ", "ZSTD"), "zst": (pack_zst, "ZSTD", "XZ")}


@table([(f"{kind}, {'read' if reads else 'not read'}", dict(sim=INTEL + (["--compress=" + kind] if reads else []), config=BY_HAND, start=False), kind, reads)
        for kind in COMPRESSIONS for reads in (True, False)])
def compressed_files(w, kind, reads):
    """Whether this kernel reads that suffix, from its build options."""
    pack, option, other = COMPRESSIONS[kind]
    options = [f"CONFIG_FW_LOADER_COMPRESS_{option}=y" if reads else f"# CONFIG_FW_LOADER_COMPRESS_{option} is not set",
               f"# CONFIG_FW_LOADER_COMPRESS_{other} is not set"]
    (w.root / "boot").mkdir()
    (w.root / "boot/config-7.3.4").write_text("\n".join(["CONFIG_FW_LOADER_COMPRESS=y", *options, ""]))
    w.start_daemon()
    plain = intel(w, path=INTEL_FILE + ".plain")
    plain.write_bytes(pack(plain.read_bytes()))
    plain.rename(w.root / f"{INTEL_FILE}.{kind}")
    expect(w, kind, 0 if reads else errno.ENOENT, reads, says="does not see")

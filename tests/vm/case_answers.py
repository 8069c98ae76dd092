# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of answers, on the real kernel: what is foretold for each kind of file, beside what the kernel then says.

Where a row would load nothing, the daemon writes nothing, whoever asks; its own answer is fetched all the same: with despite-prediction, or by a
write to reload beside the daemon, where it has no file that it could write for."""

import errno
import itertools

from shapes import AMD, AMD_BASE, BASE, INTEL_TOO
from suite import case, check, equal, flags

EVERYTHING = ("ignore-schedule", "ignore-load", "ignore-trust", "ignore-health")
RELOAD = "/sys/devices/system/cpu/microcode/reload"

seed = itertools.count(1)


def fresh():
    """No two files of a case have the same bytes: what was refused once is not tried again."""
    return f"--seed={next(seed)}"


def name(number):
    return errno.errorcode[number] if number else "success"


def write_beside(m):
    before = len(m.writes())
    m.sh(f"echo 1 >{RELOAD}", check=False)
    answers = m.writes()
    equal("answers to a write", len(answers), before + 1)
    return max(-answers[-1], 0)


def expect(m, row, wanted, by_daemon=True):
    """A row in which nothing is loaded."""
    m.call("Check")
    m.settled()
    before = m.writes()
    predicted = m.call("Explain", "t", flags(*EVERYTHING))[1]
    equal(f"{row}: foretold", name(predicted), name(wanted))
    r = m.call("Apply", "t", flags(*EVERYTHING), check=False)
    check(r.returncode != 0, f"{row}: a load in vain is accepted")
    equal(f"{row}: writes without the flag", m.writes(), before)
    if by_daemon:
        number = m.call("Apply", "t", flags(*EVERYTHING, "despite-prediction"))[0]
        m.until("State", lambda s: s != "applying" and m.last().get("Id") == number)
        last = m.last()
        equal(f"{row}: foretold and answered, in the history", (name(last["PredictedErrno"]), name(last["WriteErrno"])), (name(wanted), name(wanted)))
        answered = max(-m.writes()[-1], 0)
        equal(f"{row}: writes", len(m.writes()), len(before) + 1)
    else:
        answered = write_beside(m)
    equal(f"{row}: the kernel's answer", name(answered), name(wanted))


@case(INTEL_TOO)
def answers_intel(m):
    m.reconfigure(Automatic="no", Trust="any", ProbationSec="0")
    expect(m, "no file", errno.ENOENT, by_daemon=False)
    m.vm.put(m.firmware_path, b"")
    expect(m, "an empty file", errno.ENOENT, by_daemon=False)
    for row, options, keywords in (("the same revision", [], dict(revision=BASE)), ("an older one", [], dict(revision=BASE - 1)),
                                   ("another signature", ["--signature=0x50657"], {}), ("another platform", ["--mask=0x80"], {})):
        m.arrive(*options, fresh(), **keywords)
        expect(m, row, errno.ENOENT)
    for corruption in ("body-bit", "truncated", "trailing-text"):
        m.arrive(fresh(), f"--corrupt={corruption}", revision=BASE + 1)
        expect(m, corruption, errno.EBADFD)
    m.arrive(fresh(), "--next", f"--revision={BASE + 2:#x}", "--corrupt=body-bit", revision=BASE + 1)
    expect(m, "a good update and then a bad one", errno.EBADFD)
    equal("revisions after all these", set(m.revisions()), {BASE})
    check("foretold" not in m.sh("journalctl -u ucodesyncd -o cat --no-pager"), "a prediction that was right is called wrong")


@case(AMD)
def answers_amd(m):
    m.reconfigure(Automatic="no", Trust="any", ProbationSec="0")
    expect(m, "no file", errno.ENOENT, by_daemon=False)
    m.vm.put(m.firmware_path, b"")
    expect(m, "an empty file", errno.ENOENT, by_daemon=False)
    for row, revision in (("the same revision", AMD_BASE), ("an older one", AMD_BASE - 1), ("another CPU's", 0x08201090)):
        m.arrive(fresh(), revision=revision)
        expect(m, row, 0)
    for corruption in ("magic", "truncated", "second-container"):
        m.arrive(fresh(), f"--corrupt={corruption}", revision=AMD_BASE + 1)
        expect(m, corruption, errno.EBADFD)
    equal("revisions after all these", set(m.revisions()), {AMD_BASE})
    check("foretold" not in m.sh("journalctl -u ucodesyncd -o cat --no-pager"), "a prediction that was right is called wrong")


@case(AMD, quick=True)
def update_amd(m):
    """An update that a rule approves; without one it waits."""
    revision = m.next_update()
    m.blocked("minrev")
    m.settled()
    equal("writes without a rule", m.writes(), [])
    m.approve()
    m.run("systemctl", "reload", "ucodesyncd.service")
    m.loaded(revision)
    equal("writes", m.writes(), [1])
    equal("revisions", m.revisions(), [revision] * 4)
    equal("Vendor, Signature", (m.get("Vendor"), m.get("Signature")), ("amd", 0x830f10))
    equal("Witness", m.get("Witness", "org.ucodesync1.Stall"), "schedstat")


@case(AMD)
def two_containers(m):
    """The late loader takes one container only: a file of two is malformed to it, and nothing is written."""
    m.approve()
    m.run("systemctl", "reload", "ucodesyncd.service")
    m.revision += 1
    m.arrive("--corrupt=second-container", revision=m.revision)
    m.call("Check")
    m.settled()
    equal("State", m.get("State"), "current")
    equal("foretold", name(m.call("Explain", "t", "0")[1]), "EBADFD")
    equal("writes", m.writes(), [])
    m.arrive(revision=m.revision)
    m.loaded(m.revision)


@case(AMD)
def offline_primary_amd(m):
    """EBUSY foretold, and it is what the kernel says; loaded when the CPU is back."""
    m.approve()
    m.run("systemctl", "reload", "ucodesyncd.service")
    m.online(3, False)
    revision = m.next_update()
    m.blocked("cpus-offline")
    m.settled()
    wanted = m.call("Explain", "t", "0")[1]
    check(wanted in (errno.EBUSY, errno.EIO), f"foretold is {name(wanted)}")
    m.online(3, True)
    m.loaded(revision)
    equal("writes", m.writes(), [1])

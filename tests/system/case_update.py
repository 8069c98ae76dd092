# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lives of updates: from a file that a package brings to the CPUs, the bus, the journal, and what people type."""

import json
import threading

from harness import case, check, equal, pause
from machine import FIRMWARE, OPEN, SHUT, STALL, UNIT

FIELDS = ("STATE BLOCKED_BY OLD_REVISION NEW_REVISION PATH DIGEST STALL_NSEC STALL_TICKS WORST_CPU WRITE_NSEC WITNESS RESULT "
          "PREDICTED WINDOW UID").split()
CANDIDATE_REJECTED = "MESSAGE_ID=e65fda2ca03f4fd795b42dd914366575"
DEFERRED = "MESSAGE_ID=07365167d94b49db82f60f13b49d058b"


def applied(m, revision):
    m.until("RunningRevision", revision)
    m.until("State", "current")


@case
def update(m):
    """The whole way, and every place at which its end is to be seen."""
    old, before, writes = m.revision, m.get("AppliedTotal"), m.writes()
    after = m.cursor()
    revision = m.update()

    equal("LastResult", m.get("LastResult"), "success")
    equal("LastOldRevision, LastNewRevision", (m.get("LastOldRevision"), m.get("LastNewRevision")), (old, revision))
    equal("AppliedTotal", m.get("AppliedTotal"), before + 1)
    equal("writes to reload", m.writes(), writes + 1)
    equal("MixedRevisions", m.get("MixedRevisions"), False)
    equal("revisions of all CPUs", [p[3] for p in m.call("ListProcessors")[0]], [revision] * 8)
    equal("Witness", m.get("Witness", STALL), "write")
    write = m.get("WriteNSec", STALL)
    check(0 < write < 2**63, f"WriteNSec is {write}")

    entries = m.journal("UCODESYNC_RESULT=success", after=after)
    equal("success entries", len(entries), 1)
    e = json.loads(m.out("journalctl", "UCODESYNC_RESULT=success", "-o", "json", "-n1"))
    equal("the last entry of journalctl UCODESYNC_RESULT=success", e["__CURSOR"], entries[0]["__CURSOR"])
    equal("missing fields", [f for f in FIELDS if "UCODESYNC_" + f not in e], [])
    equal("OLD_REVISION, NEW_REVISION", (e["UCODESYNC_OLD_REVISION"], e["UCODESYNC_NEW_REVISION"]), (hex(old), hex(revision)))
    equal("WITNESS", e["UCODESYNC_WITNESS"], "write")
    equal("WRITE_NSEC", int(e["UCODESYNC_WRITE_NSEC"]), write)
    equal("_SYSTEMD_UNIT", e["_SYSTEMD_UNIT"], UNIT)
    check(e["UCODESYNC_PATH"].endswith("intel-ucode/06-55-04"), f"PATH is {e['UCODESYNC_PATH']}")
    check(len(e["UCODESYNC_DIGEST"]) == 64, f"DIGEST is {e['UCODESYNC_DIGEST']}")
    bad = [e["MESSAGE"] for e in m.journal("_SYSTEMD_UNIT=" + UNIT, after=after) if int(e["PRIORITY"]) <= 4]
    equal("warnings and errors on the way", bad, [])

    status = m.unit("StatusText")
    check(f"{revision:x}" in status, f"StatusText is '{status}'")


@case
def catalog(m):
    """journalctl -x explains every entry that has an id, in its own words, without an open field."""
    m.run("journalctl", "--update-catalog")
    after = m.cursor()
    m.update()
    entries = m.journal("_SYSTEMD_UNIT=" + UNIT, after=after)
    ids = {e["MESSAGE_ID"] for e in entries if "MESSAGE_ID" in e}
    check(len(ids) >= 3, f"only these ids on the way of an update: {ids}")
    text = m.out("journalctl", "--no-pager", "-x", "--after-cursor=" + after, "-u", UNIT)
    check(text.count(" Defined-By: ucodesync") >= len(ids), "entries without a catalog text:\n" + text)
    check("@UCODESYNC_" not in text, "an open field in:\n" + text)
    check(f"0x{m.revision:x}" in text or f"0x{m.revision:08x}" in text, "the new revision is in no text")
    check(m.out("journalctl", "--no-pager", "-u", UNIT, "-g", f"{m.revision:x}"), "journalctl -g does not find the revision")


@case
def ucodectl_shows_it(m):
    m.update()
    new = f"{m.revision:x}"
    for verb in (["status"], ["history"], ["processors"], ["stall"], []):
        text = m.out("ucodectl", "--no-pager", *verb, user=65534)
        check(verb == ["stall"] or new in text, f"ucodectl {' '.join(verb)} does not name {new}:\n{text}")
    r = json.loads(m.out("ucodectl", "--json=short", "status"))
    check(isinstance(r, dict) and r, f"ucodectl --json status: {r}")
    r = m.run("ucodectl", "inspect", f"{FIRMWARE}/06-55-04")
    check(new in r.stdout, f"ucodectl inspect: {r.stdout}")
    r = m.run("ucodectl", "apply", check=False)
    equal("exit of ucodectl apply with nothing to do", r.returncode, 2)


@case
def history_outlives_a_restart(m):
    m.update()
    history, last = m.history(), m.get("LastApplyUSec")
    equal("newest in the history", history[0]["NewRevision"]["data"], m.revision)
    m.restart()
    equal("history after a restart", m.history(), history)
    equal("LastResult, LastApplyUSec after a restart", (m.get("LastResult"), m.get("LastApplyUSec")), ("success", last))
    equal("what lies in the state directory for others", m.out("find", "/var/lib/ucodesync", "-perm", "/077"), "")


@case
def outside_the_window(m):
    m.configure(SHUT)
    m.run("systemctl", "reload", UNIT)
    after = m.cursor()
    revision = m.next_update()
    writes = m.writes()
    m.blocked("window")
    pause(4)
    equal("writes to reload", m.writes(), writes)
    equal("RunningRevision", m.get("RunningRevision"), revision - 1)
    entries = m.journal(DEFERRED, after=after)
    check("window" in entries[-1]["UCODESYNC_BLOCKED_BY"], f"deferred by {entries[-1]['UCODESYNC_BLOCKED_BY']}")
    sets = [e["UCODESYNC_BLOCKED_BY"] for e in entries]
    check(all(a != b for a, b in zip(sets, sets[1:])), f"deferred entries without a change of the set: {sets}")
    check("Pending" in m.unit("StatusText"), f"StatusText is '{m.unit('StatusText')}'")
    equal("exit of ucodectl apply --now --wait", m.run("ucodectl", "apply", "--now", "--wait", check=False).returncode, 0)
    applied(m, revision)
    equal("who asked", m.history()[0]["UID"]["data"], 0)


@case
def busy_machine(m):
    """Pressure holds an update back; when it is gone for QuietSec=, the update is applied."""
    m.control("set", "pressure-percent", "60")
    try:
        m.configure(OPEN.replace("QuietSec=0", "QuietSec=2s"))
        m.run("systemctl", "reload", UNIT)
        writes = m.writes()
        revision = m.next_update()
        m.until("BlockedBy", ["load"])
        pause(6)
        equal("BlockedBy", m.get("BlockedBy"), ["load"])
        equal("LoadMetric, LoadQuiet", (m.get("LoadMetric"), m.get("LoadQuiet")), ("pressure", False))
        check(m.get("LoadValue") > 0.3, f"LoadValue is {m.get('LoadValue')}")
        equal("writes to reload", m.writes(), writes)
    finally:
        m.control("set", "pressure-percent", "auto")
    applied(m, revision)


@case
def malformed_file(m):
    """Named once, nothing is written, all stays as it is; the package repairs it, and the update takes its course."""
    m.revision += 1
    revision = m.revision
    writes = m.writes()
    after = m.cursor()
    m.firmware(revision=hex(revision), min_revision="0x1", corrupt="body-bit")
    pause(5)
    equal("State", m.get("State"), "current")
    equal("writes to reload", m.writes(), writes)
    entries = m.journal(CANDIDATE_REJECTED, after=after)
    equal("candidate-rejected entries", len(entries), 1)
    check(f"{FIRMWARE}/06-55-04".removeprefix("/usr") in entries[0]["MESSAGE"], f"which file is it? {entries[0]['MESSAGE']}")
    m.firmware(revision=hex(revision), min_revision="0x1")
    applied(m, revision)


@case
def unmet_minimum_revision(m):
    m.revision += 1
    writes = m.writes()
    m.firmware(revision=hex(m.revision), min_revision=hex(m.revision))
    m.blocked("minrev")
    pause(4)
    equal("State", m.get("State"), "pending")
    equal("writes to reload", m.writes(), writes)
    m.firmware(revision=hex(m.revision), min_revision="0x1")
    applied(m, m.revision)


@case
def others_may_look_only(m):
    """User nobody: every property can be read, every change is refused, and nothing changes."""
    m.configure(SHUT)
    m.run("systemctl", "reload", UNIT)
    revision = m.next_update()
    m.blocked("window")
    for name in ("State", "BlockedBy", "CandidateRevision", "NextWindowStartUSec"):
        m.get(name, user=65534)
    m.get("WriteNSec", STALL, user=65534)
    m.call("ListHistory", "u", "5", user=65534)
    m.call("Explain", "t", "0", user=65534)
    for call in (["Apply", "t", "1"], ["Check"], ["Cancel", "u", "1"], ["ReloadConfig"], ["Acknowledge", "s", "0" * 64]):
        r = m.call(*call, check=False, user=65534)
        check(r.returncode != 0, f"nobody may {call[0]}")
        check("denied" in r.stderr.lower() or "permi" in r.stderr.lower() or "authoriz" in r.stderr.lower(),
              f"{call[0]} is refused, but not for lack of rights: {r.stderr}")
    r = m.run("ucodectl", "apply", "--now", user=65534, check=False)
    equal("exit of ucodectl apply as nobody", r.returncode, 1)
    equal("State", m.get("State"), "pending")
    m.configure(OPEN)
    m.run("systemctl", "reload", UNIT)
    applied(m, revision)


@case
def answers_while_loading(m):
    """A load of seconds: the bus answers all the same, and a stop waits for its end."""
    m.control("set", "cost-usec", "4000000")
    try:
        revision = m.next_update()
        m.until("State", "applying")
        check(m.get("CandidateRevision") in (revision, 0), "the bus does not answer during a load")
        stop = threading.Thread(target=m.run, args=("systemctl", "stop", UNIT))
        stop.start()
        stop.join(60)
        check(not stop.is_alive(), "the stop does not end")
        v = m.unit("Result", "ExecMainStatus", "ExecMainCode")
        equal("Result of the stop", (v["Result"], v["ExecMainStatus"], v["ExecMainCode"]), ("success", "0", "1"))
    finally:
        m.control("set", "cost-usec", "0")
    m.run("systemctl", "start", UNIT)
    applied(m, revision)
    newest = m.history()[0]
    equal("the load that the stop waited for", (newest["Result"]["data"], newest["NewRevision"]["data"]), ("success", revision))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trust: rules that block, allow, approve and warn; files of rules that are wrong; the rules that are shipped, on the machines that they are about."""

import hashlib
import shutil

from cases import INTEL, INTEL_FILE, NEW, case, check, equal, intel, table
from world import TOP, configuration

ANY, MINREV, APPROVED = (configuration(apply=f"Trust={t}") for t in ("any", "minrev", "approved"))
BLOCK = "[no]\nAction=block\nSignature=0x50654\nTo=0x200005e\nReason=it hung on two of ours\nReference=https://example.org/7\n"
SENTENCE = "Rule 'no' blocks 0x200005e: it hung on two of ours (https://example.org/7)"


def rules(w, text, name="50-test.conf", load=True):
    w.configure(text, f"rules.d/{name}")
    if load:
        w.call("ReloadConfig")


def ship(w):
    """The package's own rules, where it installs them."""
    shutil.copytree(TOP / "conf/rules.d", w.root / "usr/lib/ucodesync/rules.d")


def blockers(w):
    return {b[0]: b[1] for b in w.get("Blockers")}


def advice(w):
    """What rules say; others have their sentences there, too."""
    return [a for a in w.get("Advice") if "(rule '" in a]


def is_denied(w, sentence):
    w.until(lambda: "denied" in blockers(w), "'denied' to block")
    equal("the sentence", blockers(w)["denied"], sentence)


@case(sim=INTEL, config=ANY)
def block_is_never_overridden(w):
    rules(w, BLOCK)
    intel(w)
    is_denied(w, SENTENCE)
    equal("State", w.get("State"), "pending")
    for flags in (0, 16, 255 - 32):
        w.refused("Apply", "t", flags, says="it hung on two of ours")
        check("denied" in [b[0] for b in w.call("Explain", "t", flags)[0]], "Explain does not name it")
    check("denied" in w.call("CanApply")[1], "CanApply does not name it")
    equal("writes", w.writes(), [])
    rules(w, "# nothing any more\n")
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=ANY)
def allow_gets_past_and_is_logged(w):
    rules(w, BLOCK, "10-block.conf", load=False)
    rules(w, "[yes]\nAction=allow\nSignature=0x50654\nReason=tried on twelve\n", "20-allow.conf")
    w.watch()
    intel(w)
    w.until_property("LastResult", "success")
    entries = w.entries("Rule 'yes' of /etc/ucodesync/rules.d/20-allow.conf:1 allows 0x200005e: tried on twelve; rule 'no' blocks it: it hung on two of ours "
                        "(https://example.org/7)")
    equal("entries of the override", len(entries), 1)
    equal("its blocker", entries[0].get("BLOCKED_BY"), "denied")
    check("Blocked elsewhere, allowed here" in w.journal(), "nobody was told beforehand")


@case(sim=INTEL, config=ANY)
def allow_of_a_package_is_a_mistake(w):
    path = w.root / "usr/lib/ucodesync/rules.d/x.conf"
    path.parent.mkdir(parents=True)
    path.write_text("[yes]\nAction=allow\nSignature=0x50654\nReason=x\n")
    w.refused("ReloadConfig", says="only rules in /etc may")


@table([(name, dict(sim=INTEL, config=config), *rest) for name, config, *rest in [
    ("no rule", MINREV, "", 0, "minrev"),
    ("minimum absent", MINREV, "[a]\nAction=approve\nTo=0x200005e\n", 0, None),
    ("minimum not met", MINREV, "[a]\nAction=approve\nSignature=0x50654\nFrom=<=0x200003a\n", 0x2000050, None),
    ("of another revision", MINREV, "[a]\nAction=approve\nTo=0x200005f\n", 0, "minrev"),
    ("approved, no rule", APPROVED, "", 0x2000030, "unapproved"),
    ("approved", APPROVED, "[a]\nAction=approve\nVendor=intel\nPlatformMask=0x1\n", 0, None),
    ("approved for another kernel", APPROVED, "[a]\nAction=approve\nKernel=4.*\n", 0x2000030, "unapproved"),
    ("a block beats an approval", APPROVED, "[a]\nAction=approve\n" + BLOCK, 0x2000030, "denied"),
]])
def approve(w, text, minimum, blocked):
    rules(w, text + "# \n")
    intel(w, minimum=minimum)
    if blocked:
        w.until(lambda: blocked in blockers(w), f"'{blocked}' to block")
        equal("writes", w.writes(), [])
    else:
        w.until_property("LastResult", "success")


@case(sim=INTEL, config=APPROVED)
def approved_by_digest(w):
    path = intel(w)
    w.until(lambda: "unapproved" in blockers(w), "'unapproved' to block")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    equal("CandidateDigest", w.get("CandidateDigest"), digest)
    rules(w, f"[this-file]\nAction=approve\nSHA256={'0' * 63}1, {digest}\n")
    w.until_property("LastResult", "success")

    # other bytes of a newer revision are another file
    intel(w, revision=NEW + 1)
    w.until_property("CandidateRevision", NEW + 1)
    w.until(lambda: "unapproved" in blockers(w), "'unapproved' to block")
    equal("writes", len(w.writes()), 1)


@table([(name, dict(sim=INTEL, config=ANY), *rest) for name, *rest in [
    ("wrong key", "[a]\nActoin=block\n", "/etc/ucodesync/rules.d/50-test.conf:2: there is no key Actoin="),
    ("incomplete", "[a]\nAction=block\n", "/etc/ucodesync/rules.d/50-test.conf:1: rule [a] has no Reason="),
    ("no rule at all", "\x00", "/etc/ucodesync/rules.d/50-test.conf:1: there is a NUL byte"),
    ("a bad range", "\n[a]\nFrom=0x9..0x1\n", "/etc/ucodesync/rules.d/50-test.conf:3: From=0x9..0x1: expected revisions such as"),
]])
def wrong_file(w, text, says):
    # at a reload the last good rules stay
    rules(w, BLOCK)
    intel(w)
    is_denied(w, SENTENCE)
    rules(w, text, load=False)
    w.refused("ReloadConfig", says=says)
    check("the last good configuration stays" in w.journal(), "nobody says what happens next")
    is_denied(w, SENTENCE)

    # at a start nothing is applied until they are right, and nothing gets past that
    w.restart_daemon()
    w.until(lambda: "config-invalid" in blockers(w), "'config-invalid' to block")
    check(says in blockers(w)["config-invalid"], f"the sentence is {blockers(w)['config-invalid']!r}")
    w.refused("Apply", "t", 255 - 32, says="Nothing is applied until the configuration is right")
    equal("writes", w.writes(), [])
    rules(w, "[a]\nAction=approve\n")
    w.until_property("LastResult", "success")


@case(sim=INTEL, config=configuration(apply="Trust=any\nAutomatic=no"))
def right_configuration_beside_wrong_rules(w):
    """What is right stays in force: wrong rules do not bring the defaults back."""
    rules(w, "[a]\n", load=False)
    w.restart_daemon()
    intel(w)
    w.until(lambda: {"config-invalid", "manual"} <= blockers(w).keys(), "'config-invalid' and 'manual' to block")
    check("minrev" not in blockers(w), "Trust=any is not in force")


@case(sim=INTEL, config=configuration(apply="Trust=any\nAutomatic=no"))
def warning_is_said_once(w):
    rules(w, "[careful]\nAction=warn\nSignature=0x50654\nReason=latency spikes were seen\n")
    equal("Advice", advice(w), [])
    w.watch()
    intel(w)
    sentence = "Be warned: latency spikes were seen (rule 'careful')"
    w.until(lambda: advice(w) == [sentence], "Advice to have the sentence")
    w.until(lambda: any("Advice" in s["payload"]["data"][1] for s in w.signals("PropertiesChanged")), "Advice to be signalled")
    for _ in range(3):
        w.call("Check")
    equal("times said", w.journal().count(sentence), 1)
    w.call("Apply", "t", 0)
    w.until_property("LastResult", "success")
    w.until(lambda: advice(w) == [], "the advice to end with the load")


# --- the rules that are shipped ---

DELL = ["--sys-vendor=Dell Inc.", "--bios-vendor=Dell Inc."]


def machine(signature, platform, revision, *more):
    return dict(sim=["--topology=1x4x1", "--vendor=intel", f"--signature={signature:#x}", f"--platform={platform:#x}", f"--revision={revision:#x}", *more],
                config=ANY, start=False)


def name_of(signature):
    family = signature >> 8 & 0xf
    return f"lib/firmware/intel-ucode/{family:02x}-{(signature >> 4 & 0xf) | (signature >> 12 & 0xf0):02x}-{signature & 0xf:02x}"


SHIPPED = [
    # name, machine, target, the rule that blocks or None
    ("06-4f-01 from 0x0b00001f, 3 MiB a core", machine(0x406f1, 0x1, 0x0B00001F, "--llc-kb=12288"), 0x0B000040, "06-4f-01-bdx90"),
    ("06-4f-01 from 0x0b000021", machine(0x406f1, 0x1, 0x0B000021, "--llc-kb=12288"), 0x0B000040, None),
    ("06-4f-01 from 0x0b00001f, 2.5 MiB a core", machine(0x406f1, 0x1, 0x0B00001F, "--llc-kb=10240"), 0x0B000040, None),
    ("06-2d-07 to 0x718", machine(0x206d7, 0x1, 0x714), 0x718, "06-2d-07-0x718"),
    ("06-2d-07 to 0x71a", machine(0x206d7, 0x1, 0x714), 0x71A, None),
    ("06-4e-03 from 0x74", machine(0x406e3, 0x80, 0x74), 0xDC, "06-4e-03-old-firmware"),
    ("06-5e-03 from 0x74", machine(0x506e3, 0x2, 0x74), 0xE2, "06-4e-03-old-firmware"),
    ("06-4e-03 from 0xd6", machine(0x406e3, 0x80, 0xD6), 0xDC, None),
    ("06-8e-0c of Dell", machine(0x806ec, 0x4, 0xB8, *DELL), 0xCA, "06-8e-0c-dell"),
    ("06-8e-0c of another", machine(0x806ec, 0x4, 0xB8), 0xCA, None),
    ("06-af-03 from 0x362", machine(0xA06F3, 0x1, 0x03000362), 0x030003A3, "06-af-03-0x3a3"),
    ("06-af-03 from 0x392", machine(0xA06F3, 0x1, 0x03000392), 0x030003A3, None),
]


@table([(name, keywords, keywords["sim"], target, rule) for name, keywords, target, rule in SHIPPED])
def shipped(w, sim, target, rule):
    ship(w)
    w.start_daemon()
    signature, platform = (int(next(o for o in sim if o.startswith(f"--{k}=")).split("=")[1], 16) for k in ("signature", "platform"))
    w.fixture(name_of(signature), f"--signature={signature:#x}", f"--mask={platform:#x}", f"--revision={target:#x}")
    if rule:
        w.until(lambda: f"Rule '{rule}' blocks" in blockers(w).get("denied", ""), f"'{rule}' to block")
        w.refused("Apply", "t", 255 - 32, says=rule)
        equal("writes", w.writes(), [])
    else:
        w.until_property("LastResult", "success")
        equal("RunningRevision", w.get("RunningRevision"), target)


@case(sim=["--topology=1x4x1", "--vendor=intel", "--signature=0x50654", "--platform=0x1", "--revision=0x200003a"], config=ANY, start=False)
def reboot_risk_stays_until_the_reboot(w):
    ship(w)
    w.start_daemon()
    w.fixture(INTEL_FILE, "--signature=0x50654", "--mask=0x1", "--revision=0x2000065")
    w.until_property("LastResult", "success")
    sentence = "A warm reboot may hang, power-cycle instead: Machines that ran this revision hung at the next warm reboot"
    check(sentence in w.history()[0]["Note"], f"the note is {w.history()[0]['Note']!r}")
    w.until(lambda: [a for a in advice(w) if a.startswith(sentence)], "Advice to have the risk")
    equal("times said", w.journal().count(sentence), 1)
    w.restart_daemon()
    check([a for a in advice(w) if a.startswith(sentence)], "a restart forgets it")
    equal("times said", w.journal().count(sentence), 1)

    # another boot of the machine: the risk is over
    w.stop_daemon()
    w.sim("reboot", "0x2000065")
    w.start_daemon()
    equal("Advice", advice(w), [])
    equal("times said", w.journal().count(sentence), 1)

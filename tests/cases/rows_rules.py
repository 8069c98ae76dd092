# SPDX-License-Identifier: LGPL-2.1-or-later
"""Updates that did harm: the rules that are shipped, on the machines that they are about and on those beside."""

from cases import check, equal
from table import APPROVED, MINREV, blockers, machine, put, rows, ship


def harm(*table):
    """(name, machine, target revision, the rule that blocks or None), as rows."""
    return [(name, dict(keywords, start=False), next(int(o[12:], 16) for o in keywords["sim"] if o.startswith("--signature=")),
             next(int(o[11:], 16) for o in keywords["sim"] if o.startswith("--platform=")), target, rule) for name, keywords, target, rule in table]


def fares(w, signature, platform, target, rule):
    ship(w)
    put(w, signature, platform, target)
    if not rule:
        w.until_property("LastResult", "success")
        equal("RunningRevision", w.get("RunningRevision"), target)
        return
    w.until(lambda: f"Rule '{rule}' blocks {target:#x}: " in blockers(w).get("denied", ""), f"'{rule}' to block")
    w.refused("Apply", "t", 255 - 32, says=rule)
    equal("State", w.get("State"), "pending")
    equal("writes", w.writes(), [])


@rows(1, harm(
    ("3 MiB a core, from 0x0b00001f", machine(0x406F1, 0x1, 0x0B00001F, "--llc-kb=12288"), 0x0B000040, "06-4f-01-bdx90"),
    ("3 MiB a core, from 0x0b000021", machine(0x406F1, 0x1, 0x0B000021, "--llc-kb=12288"), 0x0B000040, None),
    ("2.5 MiB a core, from 0x0b00001f", machine(0x406F1, 0x1, 0x0B00001F, "--llc-kb=10240"), 0x0B000040, None),
    ("2.5 MiB and a little a core", machine(0x406F1, 0x1, 0x0B000020, "--llc-kb=10244"), 0x0B000022, "06-4f-01-bdx90"),
    ("an old kernel, which would load it", machine(0x406F1, 0x1, 0x0B00001F, "--llc-kb=12288", "--kernel=5.10"), 0x0B000040, "06-4f-01-bdx90"),
))
def bdx90(w, *arguments):
    fares(w, *arguments)


@rows(2, harm(
    ("to 0x718", machine(0x206D7, 0x1, 0x714), 0x718, "06-2d-07-0x718"),
    ("to 0x71a", machine(0x206D7, 0x1, 0x714), 0x71A, None),
    ("06-2d-06", machine(0x206D6, 0x1, 0x612), 0x718, None),
))
def withdrawn_0x718(w, *arguments):
    fares(w, *arguments)


@rows(3, harm(
    ("06-4e-03 from 0x74", machine(0x406E3, 0x80, 0x74), 0xDC, "06-4e-03-old-firmware"),
    ("06-5e-03 from 0x7f to 0xe2", machine(0x506E3, 0x2, 0x7F), 0xE2, "06-4e-03-old-firmware"),
    ("06-5e-03 from 0x80", machine(0x506E3, 0x2, 0x80), 0xE2, None),
    ("06-4e-03 from 0xd6", machine(0x406E3, 0x80, 0xD6), 0xDC, None),
))
def old_firmware(w, *arguments):
    fares(w, *arguments)


@rows(5, harm(
    ("of that vendor", machine(0x806EC, 0x4, 0xB8, "--bios-vendor=Dell Inc."), 0xCA, "06-8e-0c-dell"),
    ("of another vendor", machine(0x806EC, 0x4, 0xB8, "--bios-vendor=LENOVO"), 0xCA, None),
    ("another CPU of that vendor", machine(0x806EB, 0x10, 0xB8, "--bios-vendor=Dell Inc."), 0xCA, None),
))
def one_vendor(w, *arguments):
    fares(w, *arguments)


@rows(36, harm(
    ("from 0x362", machine(0xA06F3, 0x1, 0x03000362), 0x030003A3, "06-af-03-0x3a3"),
    ("from 0x391", machine(0xA06F3, 0x1, 0x03000391), 0x030003A3, "06-af-03-0x3a3"),
    ("from 0x392", machine(0xA06F3, 0x1, 0x03000392), 0x030003A3, None),
    ("the step in between", machine(0xA06F3, 0x1, 0x03000362), 0x03000392, None),
))
def minimum_is_no_proof(w, *arguments):
    fares(w, *arguments)


@rows(36, [
    ("from 0x362, minimum met", machine(0xA06F3, 0x1, 0x03000362, config=MINREV, start=False), "", "denied"),
    ("from 0x392, minimum met", machine(0xA06F3, 0x1, 0x03000392, config=MINREV, start=False), "", None),
    ("from 0x362, approved only, nobody does", machine(0xA06F3, 0x1, 0x03000362, config=APPROVED, start=False), "", "unapproved"),
    ("from 0x392, approved only, nobody does", machine(0xA06F3, 0x1, 0x03000392, config=APPROVED, start=False), "", "unapproved"),
    ("from 0x392, approved", machine(0xA06F3, 0x1, 0x03000392, config=APPROVED, start=False), "[a]\nAction=approve\nTo=0x030003a3\n", None),
    ("from 0x362, approved", machine(0xA06F3, 0x1, 0x03000362, config=APPROVED, start=False), "[a]\nAction=approve\nTo=0x030003a3\n", "denied"),
])
def trust_beside_the_rule(w, approval, blocked):
    w.configure(approval, "rules.d/50-approval.conf")
    ship(w)
    put(w, 0xA06F3, 0x1, 0x030003A3, "--min-revision=0x03000132")
    if blocked:
        w.until(lambda: blocked in blockers(w), f"'{blocked}' to block")
        equal("writes", w.writes(), [])
    else:
        w.until_property("LastResult", "success")


RISK = "A warm reboot may hang, power-cycle instead"


@rows(4, [
    ("to 0x2000065", machine(0x50654, 0x1, 0x200003A, start=False), 0x2000065, True),
    ("to 0x2000064", machine(0x50654, 0x1, 0x200003A, start=False), 0x2000064, False),
])
def reboot_hangs(w, target, risk):
    ship(w)
    put(w, 0x50654, 0x1, target)
    w.until_property("LastResult", "success")
    w.until(lambda: any(a.startswith(RISK) for a in w.get("Advice")) == risk, f"the advice {'' if risk else 'not '}to have the risk")
    for _ in range(2):
        equal("the risk in the note", RISK in w.history()[0]["Note"], risk)
        equal("times said", w.journal().count(RISK), int(risk))
        equal("the risk in Advice", any(a.startswith(RISK) for a in w.get("Advice")), risk)
        w.restart_daemon()
    w.stop_daemon()
    w.sim("reboot", f"{target:#x}")
    w.start_daemon()
    check(not any(a.startswith(RISK) for a in w.get("Advice")), "the risk outlives the reboot")


@rows(37, [
    ("to 0x2b000603", machine(0x806F8, 0x1, 0x2B000590, start=False), 0x1, 0x2B000603, True),
    ("to 0x2b000650", machine(0x806F8, 0x4, 0x2B000603, start=False), 0x4, 0x2B000650, True),
    ("to 0x2b000590", machine(0x806F8, 0x1, 0x2B000461, start=False), 0x1, 0x2B000590, False),
    ("revisions of the other mask", machine(0x806F8, 0x10, 0x2C000390, start=False), 0x10, 0x2C000410, False),
])
def latency(w, platform, target, warned):
    ship(w)
    put(w, 0x806F8, platform, target)
    w.until_property("LastResult", "success")
    equal("times said", w.journal().count("Be warned: Spikes of latency"), int(warned))

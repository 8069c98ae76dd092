# SPDX-License-Identifier: LGPL-2.1-or-later
"""The description of the D-Bus interface: the shipped XML, docs/dbus-api.md and org.ucodesync1(5) say the same, and the comparison
that finds so would see a difference. The daemon's own introspection is compared in tests/bus."""

import re

from harness import HERE, TOP, check, read, run

# A change that the comparison must see: pattern, replacement.
MUTATIONS = [
    (r'<method name="Check"/>', ""),
    (r'<arg name="flags" type="t"', '<arg name="flags" type="u"'),
    (r'<arg name="sha256"', '<arg name="digest"'),
    (r'(<arg name="answer" type="s" direction=)"out"', r'\1"in"'),
    (r'<signal name="PrepareForApply"', '<signal name="PrepareForLoad"'),
    (r'(<property name="State" type="s" access=)"read"', r'\1"readwrite"'),
    (r'(EmitsChangedSignal" value=)"const"', r'\1"false"'),
    (r'(<property name="Support" type="s" access="read")/>',
     r'\1><annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="invalidates"/></property>'),
    (r'<interface name="org.ucodesync1.Stall">', '<interface name="org.ucodesync1.Halt">'),
]


def test_interface(tmp):
    tool, shipped, page = HERE / "check-dbus-docs", TOP / "conf/org.ucodesync1.xml", TOP / "docs/dbus-api.md"
    r = run(tool, shipped, page)
    check("interface: docs/dbus-api.md says what the XML says", r.returncode == 0, r.stdout)
    check("interface: the comparison finds the XML equal to itself", run(tool, shipped, shipped).returncode == 0)

    text = shipped.read_text()
    for n, (pattern, replacement) in enumerate(MUTATIONS):
        changed = tmp / f"changed-{n}.xml"
        mutated, hits = re.subn(pattern, replacement, text, count=1)
        changed.write_text(mutated)
        r = run(tool, changed, page)
        check(f"interface: the comparison sees change {n}", hits == 1 and r.returncode == 1 and r.stdout.count("\n") >= 1, r.stdout)

    block = run(tool, "--synopsis", shipped).stdout
    check("interface: org.ucodesync1(5) shows what the XML says", len(block) > 1000 and f"```\n{block}```\n" in read("docs/man/org.ucodesync1.5.scd"),
          "run tests/units/check-dbus-docs --synopsis conf/org.ucodesync1.xml")

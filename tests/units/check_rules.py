# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rules: their manual page against the table of keys and actions in the source, and that what is shipped is installed where it is read."""

import re

from harness import TOP, check, read


def test_rules():
    source = read("src/core/policy/rule-keys.c")
    keys = re.findall(r'^        \{ "(\w+)", parse_\w+,', source, re.M)
    page = read("docs/man/ucodesync-rules.5.scd")
    shown = re.findall(r"^\*(\w+)=\*$", page.split("# KEYS")[1].split("# EXAMPLES")[0], re.M)
    check("ucodesync-rules(5): the keys of the table, in its order", len(keys) > 10 and keys == shown, f"{keys}\n{shown}")

    actions = re.findall(r'\[UCS_RULE_\w+\] = "([\w-]+)"', read("src/core/policy/rules.c"))
    shown = re.findall(r"^\*([\w-]+)\*$", page.split("# WHAT A RULE DOES")[1].split("# KEYS")[0], re.M)
    check("ucodesync-rules(5): the actions of the table", len(actions) == 5 and actions == shown, f"{actions}\n{shown}")

    for name in ("REASON", "REFERENCE"):
        limit = re.search(rf"UCS_RULE_{name}_MAX (\d+)", read("src/core/policy/rules.h"))[1]
        check(f"rules: {name} is as long in the header, the table and the page", f"at most {limit} bytes" in source and f"At most {limit} bytes" in page)

    there = sorted(p.name for p in (TOP / "conf/rules.d").iterdir())
    built = sorted(re.findall(r"'rules\.d/([\w.-]+)'", read("conf/meson.build")))
    check("rules.d: every file is installed", there and there == built, f"{there}\n{built}")
    where = re.search(r"rules\.d/[^)]*install_dir: '([^']+)'", read("conf/meson.build"), re.S)[1]
    check("rules.d: installed where it is read", f'"{where}"' in read("src/os/rules.c"), where)
    tested = sorted(re.findall(r'"(06-[\w-]+)"', re.search(r"load_shipped.*?\};", read("tests/unit/os/test-rules.c"), re.S)[0]))
    check("rules.d: every file is tested", [f"{t}.conf" for t in tested] == there, f"{tested}")

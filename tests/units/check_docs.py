# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shipped configuration and the documentation against the tables of the source: keys, blockers, flags, results; links; man pages
that render without complaint."""

import re
import shutil

from harness import TOP, check, have, read, run


def test_conf():
    section, keys, shown = None, [], []
    for n, line in enumerate(read("conf/ucodesyncd.conf").splitlines(), 1):
        if m := re.fullmatch(r"\[(\w+)\]", line):
            section = m[1]
        elif m := re.fullmatch(r"#([A-Za-z]+)=(.*)", line):
            keys.append((section, m[1]))
            shown.append((section, m[1], m[2]))
        elif line and not line.startswith(("# ", "#\n")) and line != "#":
            check(f"ucodesyncd.conf:{n}: a comment, a section, or #Key=default", False, line)
        if len(line) > 199:
            check(f"ucodesyncd.conf:{n}: not longer than the reader takes", False)
    check("ucodesyncd.conf: has keys, each in a section, each once", len(keys) > 10 and len(set(keys)) == len(keys) and
          all(s for s, _ in keys), f"{keys}")

    # { "Section", "Key", &type, FIELD(member), "default" or NULL, … }
    source = [(s, k, "" if d == "NULL" else d.strip('"')) for s, k, d in re.findall(
        r'\{ "(\w+)",\s*"(\w+)",\s*&type_\w+,\s*FIELD\(\w+\),\s*("[^"]*"|NULL),', read("src/core/policy/config-keys.c"))]
    check("ucodesyncd.conf: the keys, order and defaults of the table", source == shown, f"{sorted(set(source) ^ set(shown))}")

    section, documented = None, []
    for line in read("docs/man/ucodesyncd.conf.5.scd").splitlines():
        if m := re.fullmatch(r"# (?:\[(\w+)\]|.*)", line):
            section = m[1]
        elif section and (m := re.match(r"\*(\w+)=\*", line)):
            documented.append((section, m[1]))
    upper = [(s.upper(), k) for s, k in keys]
    check("ucodesyncd.conf(5): the same keys in the same order", documented == upper, f"{documented}\n{upper}")


def test_readme():
    """What a reader of README.md does and looks for: its first build with what tools/setup --build installs; every page."""
    text = read("README.md")
    packages = run(TOP / "tools/setup", "--list", "--build").stdout
    wanted = re.findall(r"dependency\('([\w-]+)'\)", read("tests/meson.build"))
    lines = re.findall(r"^    meson setup .*", text, re.M)
    for line in lines:
        check(f"README.md: what tools/setup --build installs is enough for '{line.strip()}'",
              "-Dtests=false" in line or all(name in packages for name in wanted), f"{wanted}")
    check("README.md: says how to build", lines and wanted)
    both = run(TOP / "tools/setup", "--list", "--build", "--check").stdout.splitlines()
    check("tools/setup: parts add up", {l.split()[1] for l in both} == {"build", "check"}, f"{both}")
    for path in sorted((TOP / "docs/man").glob("*.scd")):
        name, section = path.stem.rsplit(".", 1)
        check(f"README.md: names {name}({section})", f"{name}({section})" in text)
    for path in sorted((TOP / "docs").glob("*.md")):
        check(f"README.md: links to {path.name}", f"](docs/{path.name})" in text)


def test_news():
    """Until there is a release, NEWS.md has all of this version: each blocker that has a gate."""
    gated = {g.lower().replace("_", "-") for g in re.findall(r"\{ UCS_BLOCKER_(\w+), ucs_gate_", read("src/core/policy/policy.c"))}
    first = read("NEWS.md").split("\n## ")[1]
    said = re.search(r"\* Blockers: ([\w\s,-]+)\.", first)
    check("NEWS.md: the blockers of 0.1.0", "0.1.0" not in first or (said and set(re.split(r",\s+", said[1])) == gated), f"{gated}")


def test_events():
    """ucodesyncd(8) lists the message ids that the daemon sends, for those who filter by them."""
    ids = dict(re.findall(r'^#define UCS_MESSAGE_(\w+) "([0-9a-f]+)"', read("src/daemon/message-ids.h"), re.M))
    sent = {name for path in (TOP / "src/daemon").glob("*.c") for name in re.findall(r"\bUCS_MESSAGE_(\w+)", path.read_text())}
    page = dict(re.findall(r"^\|  (\w+)\n:  ([0-9a-f]{32}): ", read("docs/man/ucodesyncd.8.scd"), re.M))
    wanted = {"".join(word.capitalize() for word in name.split("_")): ids[name] for name in sent}
    check("ucodesyncd(8): an id for each event that is sent, and no other", len(sent) > 10 and page == wanted, f"{page}\n{wanted}")


def blocker_table():
    """{name: name of its flag or ""} of src/core/policy/blocker.c."""
    return {name: "" if flag == "0" else flag.replace("UCS_APPLY_", "").lower().replace("_", "-")
            for name, flag in re.findall(r'\[UCS_BLOCKER_\w+\] = \{ "([\w-]+)", (\w+),', read("src/core/policy/blocker.c"))}


def table(path, heading):
    """{first cell: [the other cells]} of the table below a heading; a first cell with several names counts for each. {}: no such table."""
    text = f"\n{read(path)}".partition(f"\n{heading}\n")[2]
    rows = {}
    for line in re.split(r"\n##", text)[0].splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("| `"):
            rows |= {name: cells[1:] for name in re.findall(r"`([\w-]+)`", cells[0])}
    return rows


def test_docs(tmp):
    blockers = blocker_table()
    gated = set(re.findall(r"\{ UCS_BLOCKER_(\w+), ucs_gate_", read("src/core/policy/policy.c")))
    gated = {g.lower().replace("_", "-") for g in gated}
    check("docs: the table of blockers was found", len(blockers) > 20 and len(gated) > 5)

    rows = table("docs/architecture.md", "## Blockers")
    for name, flag in blockers.items():
        cells = rows.get(name, [""] * 3)
        said = cells[-1].replace("`", "")
        check(f"architecture.md: blocker {name}", said == flag if flag else said in ("never", "any request", "Acknowledge"),
              f"it says '{said}', the table has '{flag}'")
        check(f"architecture.md: whether {name} has a gate", (cells[1] == "yes") == (name in gated), f"{cells}")
    check("architecture.md: no other blocker", rows.keys() == blockers.keys(), f"{rows.keys() ^ blockers.keys()}")

    page = read("docs/man/ucodesyncd.8.scd").split("# BLOCKERS")[1].split("\n# ")[0]
    shown = dict(re.findall(r"^\|  ([\w-]+)\n:  .*\n:  (.*)$", page, re.M))
    reserved = set(re.search(r"reserved: ([\w\s,-]+)\.", page)[1].replace("\n", " ").split(", "))
    check("ucodesyncd(8): a row for each blocker that can be in the set", shown.keys() == gated, f"{shown.keys() ^ gated}")
    check("ucodesyncd(8): the others are named as reserved", reserved == blockers.keys() - gated, f"{reserved ^ (blockers.keys() - gated)}")
    for name, flag in blockers.items():
        if name in shown and flag:
            check(f"ucodesyncd(8): past {name} with {flag}", shown[name] == flag, shown[name])

    flags = {name: number for number, name in re.findall(r"^\| (\d+) \| `([\w-]+)` \|", read("docs/dbus-api.md"), re.M)}
    header = {name.lower().replace("_", "-"): n for name, n in
              re.findall(r"^\s+UCS_APPLY_(\w+) = (\d+),", read("src/core/policy/blocker.h"), re.M)}
    check("dbus-api.md: flags", header and flags == header, f"{flags}\n{header}")

    names = re.findall(r'\[UCS_RESULT_\w+\] = "([\w-]+)"', read("src/core/policy/result.c"))
    said = list(table("docs/dbus-api.md", "### Results"))
    check("dbus-api.md: results", names and names == said, f"{names}\n{said}")
    said = table("docs/architecture.md", "## Results").keys()
    check("architecture.md: results", set(names) == said, f"{set(names) ^ said}")

    # tiers of tools/check that exist yet
    tiers = [l.split()[0] for l in read("tools/check").split("tiers='")[1].split("'")[0].splitlines() if l.strip()]
    tiers = [t for t in tiers if (TOP / f"tests/{t}/run").exists()]
    said = list(table("docs/testing.md", "# Testing"))
    for tier in tiers:
        check(f"tests/{tier}/run takes --build=, as testing.md says", tier == "vm" or "--build" in read(f"tests/{tier}/run"))
    check("testing.md: tiers", tiers and said == tiers, f"{said}\n{tiers}")

    # links within docs/ lead somewhere
    for path in [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            check(f"{path.name}: link to {target}", (path.parent / target).exists())

    # pages that comments send the reader to
    named = {}
    for path in sorted([*(TOP / "src").rglob("*.[ch]"), *(TOP / "tools").iterdir(), *(TOP / "tests").rglob("*.[chp]*")]):
        if path.is_file() and "__pycache__" not in path.parts:
            for target in re.findall(r"\bdocs/[\w.-]+\.(?:md|scd)", path.read_text(encoding="utf-8", errors="replace")):
                named.setdefault(target, path.relative_to(TOP))
    for target, path in named.items():
        check(f"{path}: sends the reader to {target}", (TOP / target).exists())

    if not have("scdoc"):
        return
    for page in sorted((TOP / "docs/man").glob("*.scd")):
        r = run("scdoc", input=page.read_text())
        check(f"{page.name}: scdoc", r.returncode == 0, r.stdout)
        if shutil.which("groff"):
            out = tmp / page.stem
            out.write_text(r.stdout)
            w = run("groff", "-t", "-man", "-Tutf8", "-ww", "-z", out)
            check(f"{page.name}: groff has no complaint", w.returncode == 0 and w.stdout == "", w.stdout)

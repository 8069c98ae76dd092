# SPDX-License-Identifier: LGPL-2.1-or-later
"""The journal catalogs: an entry for each message id and no other, accepted by journalctl; and the comparison would see a fault."""

import re
import shutil

from harness import HERE, TOP, check, have, run


def test_catalog(tmp):
    ids, catalogs = TOP / "src/daemon/message-ids.h", sorted((TOP / "conf").glob("*.catalog"))
    tool = HERE / "check-catalog"
    r = run(tool, ids, *catalogs)
    check("catalog: an entry for each message id, and no other", r.returncode == 0 and len(catalogs) == 2, r.stdout)

    # the check itself must see what is wrong
    text = catalogs[0].read_text()
    first = re.search(r"^-- ([0-9a-f]{32})$", text, re.M)[1]
    for name, broken in {"a missing entry": re.sub(rf"^-- {first}$.*?(?=^-- )", "", text, count=1, flags=re.M | re.S),
                         "an unknown entry": text.replace(first, "0123456789abcdef" * 2),
                         "an unknown field": text.replace("@UCODESYNC_PATH@", "@UCODESYNC_FILE@", 1),
                         "a missing header": text.replace("Defined-By: ucodesync\n", "", 1),
                         "a long line": text + "x" * 100 + "\n"}.items():
        path = tmp / "broken.catalog"
        path.write_text(broken)
        check(f"catalog: the check sees {name}", broken != text and run(tool, ids, path).returncode == 1)

    if not have("journalctl"):
        return
    root = tmp / "root"
    there = root / "usr/lib/systemd/catalog"
    there.mkdir(parents=True)
    (root / "var/lib/systemd/catalog").mkdir(parents=True)
    for catalog in catalogs:
        shutil.copy(catalog, there)
    r = run("journalctl", "--update-catalog", f"--root={root}")
    check("catalog: journalctl compiles it", r.returncode == 0 and r.stdout == "", r.stdout)
    listed = run("journalctl", "--list-catalog", "--no-pager", f"--root={root}").stdout
    wanted = set(re.findall(r'"([0-9a-f]{32})"', ids.read_text()))
    check("catalog: journalctl lists every id", set(re.findall(r"^([0-9a-f]{32}) ucodesync: \S", listed, re.M)) == wanted, listed)

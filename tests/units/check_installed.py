# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a build directory would install, and where."""

import json
import re
from pathlib import Path

from harness import TOP, check, run


def test_installed(build):
    installed = json.loads(run("meson", "introspect", "--installed", build).stdout)
    paths = set(installed.values())
    prefix = next(o["value"] for o in json.loads(run("meson", "introspect", "--buildoptions", build).stdout) if o["name"] == "prefix")
    for wanted in (r".*/systemd/system/ucodesyncd\.service", r".*/systemd/system/ucodesync-reboot-required\.(path|service)", r".*/systemd/catalog/ucodesync\.catalog", r".*/systemd/catalog/ucodesync\.de\.catalog",
                   r"/etc/ucodesync/ucodesyncd\.conf", re.escape(prefix) + r"/share/dbus-1/system\.d/org\.ucodesync1\.conf",
                   re.escape(prefix) + r"/share/dbus-1/system-services/org\.ucodesync1\.service",
                   re.escape(prefix) + r"/share/dbus-1/interfaces/org\.ucodesync1\.xml",
                   re.escape(prefix) + r"/share/doc/ucodesync/examples/witness-perf\.conf", r".*/ucodesyncd", r".*/ucodectl"):
        check(f"installed: {wanted}", any(re.fullmatch(wanted, p) for p in paths), "\n".join(sorted(paths)))
    # directories that people put files into are there: they are not among what meson says that it installs
    made = re.findall(r"^install_emptydir\(sysconfdir / '([^']+)'\)$", (TOP / "conf/meson.build").read_text(), re.M)
    check("installed: directories for drop-ins and rules", sorted(made) == ["ucodesync/rules.d", "ucodesync/ucodesyncd.conf.d"], f"{made}")
    removed = (TOP / "debian/ucodesync.postrm").read_text()
    for name in made:
        check(f"debian: a purge takes /etc/{name} when it is empty", f"/etc/{name} " in removed)
    unit = next((s for s, p in installed.items() if p.endswith("/ucodesyncd.service")), None)
    start = re.search(r"^ExecStart=(\S+)$", Path(unit).read_text(), re.M)[1] if unit else None
    check("installed: the unit starts the daemon from where it is installed", start in paths, f"{start}")

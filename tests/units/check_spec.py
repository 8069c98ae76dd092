# SPDX-License-Identifier: LGPL-2.1-or-later
"""The RPM spec, as far as Debian's tools can tell: rpmspec reads it, it has the two packages, and its lists of files name all that a build directory
would install, each once, and nothing else."""

import fnmatch
import json
import re

from harness import TOP, check, have, run

SPEC = TOP / "packaging/ucodesync.spec"
MACROS = {"_unitdir": "/usr/lib/systemd/system", "_sharedstatedir": "/var/lib", "_sysconfdir": "/etc", "_prefix": "/usr"}
# the directories of the administrator, made by meson, and by hand in %install that of the daemon
MADE = ("/etc/ucodesync", "/etc/ucodesync/ucodesyncd.conf.d", "/etc/ucodesync/rules.d", "/var/lib/ucodesync")


def rpmspec(*argv):
    return run("rpmspec", *(f"--define={name} {value}" for name, value in MACROS.items()), *argv, SPEC)


def claimed(text):
    """[(package, path pattern)] of the %files sections; directories that are marked so stand for themselves, others for all below them."""
    found, package = [], None
    for line in text.splitlines():
        section = re.match(r"%(\w+)(?:\s+-n\s+(\S+))?", line)
        if section and section[1] == "files":
            package = section[2] or "ucodesync"
        elif section and section[1] in ("changelog", "package", "description"):
            package = None
        elif package and line.split() and not re.match(r"%(doc|license)\s+[^/]", line):
            found.append((package, line.split()[-1], "%dir" in line))
    return found


def test_spec(build):
    if not have("rpmspec"):
        return
    names = rpmspec("-q", "--qf=%{name}\\n", "--builtrpms").stdout.split()
    check("spec: its packages", sorted(names) == ["ucodebench", "ucodesync"], f"{names}")
    parsed = rpmspec("-P")
    check("spec: rpmspec reads it", parsed.returncode == 0 and "warning" not in parsed.stdout, parsed.stdout[-2000:])
    for name in re.findall(r"^%(?:doc|license)\s+([^/%\n].*)$", parsed.stdout, re.M):
        for path in name.split():
            check(f"spec: {path} is there", (TOP / path).is_file())
    patterns = claimed(parsed.stdout)
    directories = [path for _, path, directory in patterns if directory]
    check("spec: directories of its own are those that it makes", sorted(directories) == sorted(MADE), f"{directories}")
    if not build:
        return
    prefix = next(o["value"] for o in json.loads(run("meson", "introspect", "--buildoptions", build).stdout) if o["name"] == "prefix")
    installed = [re.sub(r"^/lib/systemd/system/", "/usr/lib/systemd/system/", re.sub(f"^{re.escape(prefix)}/", "/usr/", path))
                 for path in json.loads(run("meson", "introspect", "--installed", build).stdout).values()]
    used = set()
    for path in installed:
        by = [(package, pattern) for package, pattern, directory in patterns
              if not directory and (fnmatch.fnmatchcase(path, pattern) or path.startswith(pattern + "/"))]
        used.update(by)
        check(f"spec: {path} is in one package", len(by) == 1, f"{by}")
        check(f"spec: {path} is in its own package", not by or (by[0][0] == "ucodebench") == ("ucodebench" in path), f"{by}")
    unused = [pattern for package, pattern, directory in patterns if not directory and (package, pattern) not in used]
    check("spec: nothing is named that is not installed", not unused, f"{unused}")

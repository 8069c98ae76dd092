# SPDX-License-Identifier: LGPL-2.1-or-later
"""ucodesyncd.service and its drop-ins: what other parts of the tree rely on, what systemd says of it, the exposure of its sandbox,
and the system calls that the filter leaves."""

import os
import re
import shutil
import xml.etree.ElementTree as ET

from harness import TOP, check, have, read, run

MAX_EXPOSURE = 1.2


def directives(text):
    """[(section, key, value)] of a unit file."""
    section, result = None, []
    for line in text.splitlines():
        if m := re.fullmatch(r"\[(\w+)\]", line):
            section = m[1]
        elif line and line[0] not in "#;":
            key, _, value = line.partition("=")
            result.append((section, key, value))
    return result


# What other parts of the tree rely on: a directive and the reason for which somebody might want to change it, and must not.
EXPECTED = {
    "Type": "notify",                      # STATUS=, READY=1 after the first evaluation
    "BusName": "org.ucodesync1",
    "Restart": "on-failure",
    "WatchdogSec": "3min",
    "StateDirectory": "ucodesync",
    "RuntimeDirectory": "ucodesync",
    "RuntimeDirectoryMode": "0755",        # collectors read it
    "RuntimeDirectoryPreserve": "yes",     # drop-ins in /run outlive a restart
    "CapabilityBoundingSet": "",
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ReadOnlyPaths": "/run",
    "ProtectKernelTunables": "yes",
    "ReadWritePaths": "-/sys/devices/system/cpu/microcode",
    "ProtectProc": "invisible",
    "ProcSubset": "all",                   # /proc/cpuinfo, /proc/stat, /proc/pressure
    "RestrictAddressFamilies": "AF_UNIX",
    "LimitNOFILE": "16384",
    "MemoryDenyWriteExecute": "yes",
}
# Root with group 0 is what can write to the reload file and see the kernel's threads.
FORBIDDEN = ("User", "Group", "DynamicUser", "SupplementaryGroups", "AmbientCapabilities", "PrivateUsers")


def exposure(unit):
    output = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit).stdout
    m = re.search(r"Overall exposure level for \S+: ([\d.]+)", output)
    return (float(m[1]) if m else None), output


def syscalls(*sets):
    """Every system call of systemd's filter sets, resolved."""
    text, groups, group = run("systemd-analyze", "--no-pager", "syscall-filter").stdout, {}, None
    for line in text.splitlines():
        if line.startswith("@"):
            group = groups.setdefault(line.strip(), [])
        elif line.startswith("    ") and group is not None and not line.strip().startswith("#"):
            group.append(line.strip())
    result, todo = set(), list(sets)
    while todo:
        name = todo.pop()
        if name.startswith("@"):
            todo += groups[name]
        else:
            result.add(name)
    return result


def test_reboot_required(tmp, daemon):
    """The oneshot unit that tells the distribution: pulled in by the daemon's, accepted by systemd, and its script tried out."""
    there = tmp / "reboot-required"
    there.mkdir()
    for kind in ("path", "service"):
        shutil.copy(TOP / f"units/ucodesync-reboot-required.{kind}", there)
    path, service = (directives((there / f"ucodesync-reboot-required.{kind}").read_text()) for kind in ("path", "service"))
    check("reboot-required: the daemon's unit wants the path", ("Unit", "Wants", "ucodesync-reboot-required.path") in daemon)
    sign = "/run/ucodesync/reboot-required"
    check("reboot-required: both look at the daemon's sign", ("Path", "PathExists", sign) in path and ("Unit", "ConditionPathExists", sign) in service)
    # a path unit starts a service that has ended again, as long as the path exists
    check("reboot-required: once a boot", ("Service", "RemainAfterExit", "yes") in service and ("Service", "Type", "oneshot") in service)
    r = run("systemd-analyze", "verify", "--man=no", there / "ucodesync-reboot-required.path", env=os.environ | {"SYSTEMD_UNIT_PATH": f"{there}:"})
    check("reboot-required: systemd-analyze verify", r.returncode == 0 and r.stdout == "", r.stdout)
    level, output = exposure(there / "ucodesync-reboot-required.service")
    check(f"reboot-required: exposure at most {MAX_EXPOSURE}", level is not None and level <= MAX_EXPOSURE, f"{level}\n{output}")

    text = (there / "ucodesync-reboot-required.service").read_text().replace("\\\n", " ")
    m = re.search(r"^ExecStart=/bin/sh -euc '(.*)'$", text, re.M)
    check("reboot-required: a script", m is not None)
    for name, before, packages in (("nothing before", None, None), ("someone was first", "*** restart ***\n", "linux-image-amd64\n"),
                                   ("said already", "*** restart ***\n", "dbus\nintel-microcode\n"), ("a package of a longer name", None, "intel-microcode-extra\n")):
        root = there / name.replace(" ", "-")
        (root / "run/ucodesync").mkdir(parents=True)
        (root / "run/ucodesync/reboot-required").write_text("*** System restart required ***\nintel-microcode\nCPU microcode 0x2, 0x1 runs\n")
        for file, content in (("reboot-required", before), ("reboot-required.pkgs", packages)):
            if content:
                (root / "run" / file).write_text(content)
        script = m[1].replace("$$", "$").replace("/run/", f"{root}/run/") if m else "false"
        for _ in range(2):
            r = run("/bin/sh", "-euc", script)
        got = [(root / "run" / f).read_text() if (root / "run" / f).exists() else None for f in ("reboot-required", "reboot-required.pkgs")]
        wanted = [before or "*** System restart required ***\n", packages if packages and "\nintel-microcode\n" in packages else (packages or "") + "intel-microcode\n"]
        check(f"reboot-required: {name}", r.returncode == 0 and r.stdout == "" and got == wanted, f"{r.stdout}{got}\n{wanted}")


def test_unit(tmp):
    text = read("units/ucodesyncd.service.in")
    lines = directives(text)
    service = [(k, v) for s, k, v in lines if s == "Service"]

    for key, value in EXPECTED.items():
        got = [v for k, v in service if k == key]
        check(f"unit: {key}={value}", got == [value], f"it is {got}")
    for key in FORBIDDEN:
        check(f"unit: no {key}=", not any(k == key for k, _ in service))

    alias = [v for s, k, v in lines if s == "Install" and k == "Alias"]
    activation = dict(line.split("=", 1) for line in read("conf/org.ucodesync1.service").splitlines() if "=" in line)
    check("unit: the alias is what activation asks for", alias == [activation.get("SystemdService")], f"{alias}, {activation}")
    check("activation: name and user", activation.get("Name") == "org.ucodesync1" and activation.get("User") == "root")
    check("unit: enabled into multi-user.target", ("Install", "WantedBy", "multi-user.target") in lines)

    # ExecReload= calls a method that exists, without arguments
    reload = [v for k, v in service if k == "ExecReload"]
    words = reload[0].split() if reload else []
    methods = {(i.get("name"), m.get("name")): m.findall("arg")
               for i in ET.parse(TOP / "conf/org.ucodesync1.xml").getroot() for m in i.findall("method")}
    check("unit: ExecReload= calls a method of the interface",
          words[:2] == ["busctl", "call"] and methods.get(tuple(words[-2:])) == [], f"{reload}")

    pages = {re.sub(r"\.scd$", "", p.name).rsplit(".", 1)[0] for p in (TOP / "docs/man").glob("*.scd")}
    named = {m for k, v in [(k, v) for s, k, v in lines if s == "Unit"] if k == "Documentation"
             for m in re.findall(r"man:([\w.]+)\(", v)}
    check("unit: Documentation= names pages that exist", named and named <= pages, f"{named - pages}")

    if not have("systemd-analyze"):
        return
    unit = tmp / "ucodesyncd.service"
    unit.write_text(text.replace("@UCODESYNCD@", "/bin/true"))
    check("unit: nothing is left to be substituted", "@UCODESYNCD@" in text and not re.search(r"=.*@[A-Z]+@", unit.read_text()))
    r = run("systemd-analyze", "verify", "--man=no", unit)
    check("unit: systemd-analyze verify", r.returncode == 0 and r.stdout == "", r.stdout)
    level, output = exposure(unit)
    check(f"unit: exposure at most {MAX_EXPOSURE}", level is not None and level <= MAX_EXPOSURE, f"{level}\n{output}")
    print(f"systemd-analyze security: {level}")

    # The filter, resolved: what the daemon's work takes is in it, what it must never do is not.
    allowed = set()
    for value in [v for k, v in service if k == "SystemCallFilter"]:
        members = syscalls(*value.lstrip("~").split())
        allowed = allowed - members if value.startswith("~") else allowed | members
    needed = {"openat2", "pread64", "inotify_add_watch", "timerfd_settime", "eventfd2", "epoll_wait", "clone3", "rename",
              "renameat", "fsync", "mkdirat", "fchmod", "sendmsg", "recvmsg", "getrandom", "prlimit64", "uname"}
    refused = {"sched_setaffinity", "sched_setscheduler", "perf_event_open", "bpf", "mount", "init_module", "ptrace", "reboot",
               "setuid", "chown", "iopl", "settimeofday", "setpriority"}
    check("unit: system calls that the daemon needs", needed <= allowed, f"{sorted(needed - allowed)}")
    check("unit: system calls that it must not have", not refused & allowed, f"{sorted(refused & allowed)}")

    test_reboot_required(tmp, lines)

    for example in sorted((TOP / "units/examples").glob("*.conf")):
        there = tmp / example.stem
        dropins = there / "ucodesyncd.service.d"
        dropins.mkdir(parents=True)
        shutil.copy(unit, there)
        shutil.copy(example, dropins)
        r = run("systemd-analyze", "verify", "--man=no", there / unit.name, env=os.environ | {"SYSTEMD_UNIT_PATH": f"{there}:"})
        check(f"drop-in {example.name}: systemd-analyze verify", r.returncode == 0 and r.stdout == "", r.stdout)
        known = {k for _, k, _ in directives(example.read_text())}
        check(f"drop-in {example.name}: says how it is put to use", "systemctl daemon-reload" in example.read_text() and known)

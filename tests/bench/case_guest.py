# SPDX-License-Identifier: LGPL-2.1-or-later
"""ucodebench in a guest of five CPUs on two sockets, whose APIC ids fall into two x2APIC clusters (0-2 and 16-17). QEMU emulates the CPUs, so
its times mean nothing; how many IPIs are sent, to which CPUs, and what the kernel's own revision files say, does.

An initramfs of ucodebench, its libraries and a small init is all that the guest has."""

import json
import os
import re
import shutil
import subprocess

from case_figures import FLUSHES, calls, check_shootdown
from harness import HERE, Skipped, case, check, equal, state

CPU = "Skylake-Server"
BOOTS = 2  # one that never reaches user space is repeated once
TIMEOUT = 600
CALLS = 20
COMMANDS = [
    f"shootdown --calls={CALLS} --yes --limit=5min --json=short",
    "revision --sizes=8 --repetitions=2 --yes --json=short",
    f"shootdown --cpus=0-2 --calls={CALLS} --yes --json=short",
]


def newc(entries):
    """A cpio archive in the form that the kernel unpacks (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    out = bytearray()
    for i, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        head = "070701" + "".join(f"{v:08X}" for v in (i, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0))
        for part in (head.encode() + name.encode() + b"\0", data):
            out += part
            out += b"\0" * (-len(out) % 4)
    return bytes(out)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def libraries(program):
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return sorted({m[1] for m in re.finditer(r"(?:=> |^\s*)(/\S+)", out, re.M)})


def initramfs():
    init = state["tmp"] / "guest-init"
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-static", "-o", init, HERE / "guest-init.c"], check=True)
    files = [("init", 0o100755, read(init)), ("ucodebench", 0o100755, read(state["ucodebench"])),
             ("commands", 0o100644, "".join(c + "\n" for c in COMMANDS).encode())]
    files += [(path.lstrip("/"), 0o100755, read(path)) for path in libraries(state["ucodebench"])]
    directories = sorted({str(p) for name, _, _ in files for p in os.path.dirname(name).split("\n") if p})
    parents = sorted({"/".join(d.split("/")[:n]) for d in directories for n in range(1, d.count("/") + 2)})
    path = state["tmp"] / "initramfs"
    path.write_bytes(newc([(d, 0o040755, b"") for d in parents] + files))
    return path


def boot(image):
    """What the console said."""
    far = [a for core in range(2) for a in ("-device", f"{CPU}-x86_64-cpu,socket-id=1,core-id={core},thread-id=0")]
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-M", "q35", "-cpu", CPU, "-smp", "3,maxcpus=32,sockets=2,cores=16,threads=1", *far,
               "-m", "1024", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio", "-kernel", state["kernel"], "-initrd",
               image, "-append", "console=ttyS0 panic=-1 tsc=reliable loglevel=4 microcode=base_rev=0x02006000"]
    try:
        r = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(errors="replace").replace("\r", "")
    return r.stdout.decode(errors="replace").replace("\r", "")


@case
def guest():
    """IPIs as many as targets, packed, spread and from socket to socket; and the kernel's own revision files."""
    if not shutil.which("qemu-system-x86_64"):
        raise Skipped("qemu-system-x86_64 is not installed")
    if not state["kernel"].exists():
        raise Skipped("no kernel to boot: --kernel=FILE or $UCODESYNC_KERNEL")
    image = initramfs()
    for _ in range(BOOTS):
        console = boot(image)
        if "BEGIN shootdown" in console:
            break
    objects = [json.loads(line) for line in console.splitlines() if line.startswith('{"')]
    ends = re.findall(r"^END (-?\d+)$", console, re.M)
    equal(ends, ["0"] * len(COMMANDS), f"how ucodebench ended, of\n{console[-4000:]}\n")
    equal([o.get("benchmark") for o in objects], ["shootdown", "revision", "shootdown"])

    whole, revision, near = objects
    m = whole["machine"]
    equal((m["cpus"], m["online"], m["packages"], m["clusters"]), (5, 5, 2, 2), "the guest's CPUs")
    equal(check_shootdown(whole, CALLS), [], "IPIs a call that are not the number of targets")
    seen = {(row["targets"], row["clusters"], row["note"].split(";")[0].split(",")[0]) for row in whole["rows"] if row["op"] == "mprotect"}
    if "never ran at the same time" in " ".join(m["notes"]) or "Cut short" in " ".join(m["notes"]):
        raise Skipped(f"this host is too busy for five CPUs: rows are missing, what there is of {len(whole['rows'])} is right")
    equal(seen, {(0, 0, "alone"), (1, 1, "packed"), (2, 1, "packed"), (2, 2, "spread"), (3, 2, "packed"), (4, 2, "all others"), (2, 1, "socket 0 to 1")})
    equal({row["op"] for row in whole["rows"]}, {*FLUSHES, "membarrier"})
    equal(m["ipi_shorthand"], "enabled", "what this kernel's log says")

    judged = [row for row in whole["rows"] if row["targets"] > 0 and calls(row) >= CALLS]
    if len(judged) < len(FLUSHES):
        raise Skipped(f"this host is too busy for five CPUs: only {len(judged)} rows have calls enough to be judged")
    print(f"        guest: {len(judged)} of {sum(row['targets'] > 0 for row in whole['rows'])} rows had calls enough to be judged", flush=True)

    equal((near["machine"]["cpus"], near["machine"]["clusters"]), (3, 1), "CPUs 0 to 2")
    equal(check_shootdown(near, CALLS), [], "IPIs a call that are not the number of targets")
    check(all("all others" not in row["note"] for row in near["rows"]), "the other socket was left out")

    check("stands in" not in " ".join(revision["machine"]["notes"]), "this kernel has cpuN/microcode/version")
    check(any((row["way"], row["cpus"]) == ("kept", 5) for row in revision["rows"]), "no row of the kernel's own files")

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's own kernel for virtual machines, as it is shipped: no late loading, and its disk and port drivers are modules. So it comes with an
initramfs that holds these modules and a small init, initramfs.c, which loads them and goes on to the disk."""

import os
import shutil
import subprocess
import tempfile

from guest import Cannot
from image import CACHE, HERE, command

META = "linux-image-cloud-amd64"
# in the order in which they need each other; what is built in is not there, and not missed
MODULES = ("virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk virtio_console "
           "crc16 mbcache jbd2 crc32c_generic libcrc32c ext4").split()


def kernel(context):
    """(kernel, initrd), from the cache or from apt."""
    where = os.path.join(CACHE, "debian-kernel")
    done = os.path.join(where, "initrd")
    if not os.path.exists(done) or os.path.getmtime(done) < max(os.path.getmtime(os.path.join(HERE, f)) for f in ("debian.py", "initramfs.c")):
        work = tempfile.mkdtemp(prefix="kernel.", dir=CACHE)
        try:
            make(work)
            os.makedirs(where, exist_ok=True)
            for name in ("vmlinuz", "initrd"):
                os.rename(os.path.join(work, name), os.path.join(where, name))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return os.path.join(where, "vmlinuz"), done


def apt(work, *argv):
    r = subprocess.run(argv, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode != 0:
        raise Cannot(f"Debian's kernel is not to be had: {' '.join(argv[:3])}: {r.stderr.strip()[-300:] or 'failed'}")
    return r.stdout


def make(work):
    package = next((line.split()[1] for line in apt(work, "apt-cache", "depends", META).splitlines() if "Depends: linux-image-" in line), None)
    if package is None:
        raise Cannot(f"apt knows no {META}")
    apt(work, "apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package)
    deb = next(f for f in os.listdir(work) if f.endswith(".deb"))
    tree = os.path.join(work, "tree")
    command("dpkg-deb", "-x", os.path.join(work, deb), tree, what="unpacking the kernel")
    boot = os.path.join(tree, "boot")
    os.rename(os.path.join(boot, next(f for f in os.listdir(boot) if f.startswith("vmlinuz-"))), os.path.join(work, "vmlinuz"))

    init = os.path.join(work, "init")
    command("cc", "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", init, os.path.join(HERE, "initramfs.c"),
            what="the small init does not compile")
    found = {f[:-3]: os.path.join(d, f) for d, _, files in os.walk(os.path.join(tree, "lib/modules")) for f in files if f.endswith(".ko")}
    chosen = [found[name.replace("_", "-")] if name.replace("_", "-") in found else found[name]
              for name in MODULES if name in found or name.replace("_", "-") in found]
    with open(os.path.join(work, "initrd"), "wb") as f:
        archive = Archive(f)
        for directory in ("dev", "proc", "sys", "root", "modules"):
            archive.add(directory, 0o040755)
        archive.add("dev/console", 0o020600, device=(5, 1))
        archive.add("init", 0o100755, read(init))
        for number, path in enumerate(chosen):
            archive.add(f"modules/{number:02}", 0o100644, read(path))
        archive.end()


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Archive:
    """cpio, "newc"."""

    def __init__(self, f):
        self.f, self.number = f, 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.number += 1
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % n for n in fields) + name.encode() + b"\0"
        self.f.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))

    def end(self):
        self.add("TRAILER!!!", 0)

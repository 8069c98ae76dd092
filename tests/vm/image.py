# SPDX-License-Identifier: LGPL-2.1-or-later
"""The disk from which every guest boots: the Debian tree of tests/tree with the package installed, and the agent, as an ext4 image.

    base(source) -> Image         made once for each state of the tree, kept in the cache
    image.overlay(path)           a disk of one guest: what it writes stays there
    debian_kernel() -> (kernel, initrd)

The base is never written to. Where something is missing that the machine could have, Cannot says what.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile

from guest import Cannot

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(os.environ.get("UCODESYNC_CACHE", "/var/cache/ucodesync-tests"), "vm")
SIZE = "1G"
PORT = "org.ucodesync.agent"

# What has no place in a guest that lives for minutes, or would do something at a moment of its own.
MASKED = """
serial-getty@ttyS0.service getty.target systemd-ask-password-console.path systemd-ask-password-wall.path
systemd-modules-load.service systemd-random-seed.service systemd-binfmt.service systemd-timesyncd.service systemd-update-utmp.service
proc-sys-fs-binfmt_misc.automount dev-hugepages.mount dev-mqueue.mount sys-kernel-config.mount
apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer e2scrub_reap.service systemd-tmpfiles-clean.timer
""".split()

AGENT_UNIT = f"""[Unit]
Description=Agent of the VM tier
DefaultDependencies=no
After=sysinit.target dbus.socket
Conflicts=shutdown.target

[Service]
ExecStart=/usr/local/sbin/vm-agent {PORT}
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb TZ=UTC
KillMode=process
OOMScoreAdjust=-1000
StandardOutput=journal+console

[Install]
WantedBy=multi-user.target
"""


def need(program, package):
    if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
        raise Cannot(f"{program} is not installed (Debian: {package})")


def command(*argv, what, **keywords):
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords)
    if r.returncode != 0:
        raise RuntimeError(f"{what}: {(r.stderr.strip() or r.stdout.strip())[-2000:]}")
    return r.stdout


def script(path, *arguments, why):
    """A script of ours that prints where its result is; 77: not on this machine."""
    r = subprocess.run([os.path.join(SOURCE, path), *arguments], stdout=subprocess.PIPE, text=True)
    if r.returncode == 77:
        raise Cannot(f"{why} (see above)")
    if r.returncode != 0:
        raise RuntimeError(f"{path} failed (see above)")
    return r.stdout.split("\n")[0]


class Image:
    """An image in use: its shared lock is held for as long as this lives."""

    def __init__(self, path, lock, packages):
        self.path, self.lock, self.packages = path, lock, packages

    def overlay(self, path):
        command("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", self.path, path, what="the overlay")


def base(packages=None):
    """`packages`: a directory of them instead of building those of this tree."""
    for program, package in (("qemu-img", "qemu-utils"), ("mke2fs", "e2fsprogs"), ("cc", "gcc"), ("unshare", "util-linux")):
        need(program, package)
    if os.geteuid() != 0:
        raise Cannot("only root can make a Debian tree with devices and owners")
    packages = packages or script("tests/vm/package", why="the packages cannot be built")
    tree = script("tests/tree/build", why="there is no Debian tree here")
    key = hashlib.sha256("\0".join([os.path.basename(packages), os.path.basename(tree), *(read(os.path.join(HERE, f)) for f in
                                                                                           ("image.py", "agent.c"))]).encode()).hexdigest()[:16]
    os.makedirs(CACHE, exist_ok=True)
    path = os.path.join(CACHE, f"image-{key}.ext4")
    lock = open(path + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_SH)
    if not os.path.exists(path):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            make(path, tree, packages)
            remove_stale(path)
        fcntl.flock(lock, fcntl.LOCK_SH)
    return Image(path, lock, packages)


def remove_stale(keep):
    """Images of former states, unless somebody runs from one."""
    for name in os.listdir(CACHE):
        path = os.path.join(CACHE, name)
        if name.startswith("image-") and name.endswith(".ext4") and path != keep:
            with open(path + ".lock", "w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue
                os.unlink(path)
                os.unlink(path + ".lock")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(root, path, text, mode=0o644):
    path = root + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
        os.fchmod(f.fileno(), mode)


def package(packages, name="ucodesync"):
    return next(os.path.join(packages, f) for f in sorted(os.listdir(packages)) if f.startswith(name + "_") and f.endswith(".deb"))


def make(path, tree, packages):
    print("vm: making the guest's disk", flush=True)
    work = tempfile.mkdtemp(prefix="image.", dir=CACHE)
    root = os.path.join(work, "root")
    try:
        with open(tree + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            command("cp", "-a", tree, root, what="the copy of the tree")
        # As its owner would install it, in the tree: dpkg runs the package's own scripts.
        debs = "/var/lib/ucodesync-packages"
        os.makedirs(root + debs)
        for name in os.listdir(packages):
            if name.endswith(".deb"):
                shutil.copy(os.path.join(packages, name), root + debs)
        command("unshare", "--mount", "--pid", "--fork", "chroot", root, "dpkg", "--install", debs + "/" + os.path.basename(package(packages)),
                what="dpkg --install", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"})
        os.makedirs(root + "/usr/local/sbin", exist_ok=True)
        command("cc", "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", root + "/usr/local/sbin/vm-agent", os.path.join(HERE, "agent.c"),
                what="the agent does not compile")
        write(root, "/etc/systemd/system/vm-agent.service", AGENT_UNIT)
        wants = root + "/etc/systemd/system/multi-user.target.wants"
        os.makedirs(wants, exist_ok=True)
        os.symlink("/etc/systemd/system/vm-agent.service", wants + "/vm-agent.service")
        for unit in MASKED:
            place = f"{root}/etc/systemd/system/{unit}"
            if not os.path.lexists(place):
                os.symlink("/dev/null", place)
        write(root, "/etc/machine-id", "5f2b7c1d9e3a46c08d14a7e6b0935f22\n")
        write(root, "/etc/hostname", "ucodesync-guest\n")
        write(root, "/etc/fstab", "/dev/vda / ext4 defaults 0 1\n")
        # No fsync of journald's among those of the daemon: the power is cut at them.
        write(root, "/etc/systemd/journald.conf.d/vm.conf", "[Journal]\nStorage=persistent\nSyncIntervalSec=1h\nRateLimitBurst=0\n")
        os.makedirs(root + "/var/log/journal", exist_ok=True)
        os.makedirs(root + "/usr/lib/firmware", exist_ok=True)
        command("mke2fs", "-q", "-t", "ext4", "-d", root, "-L", "guest", "-E", "root_owner=0:0,lazy_itable_init=1", path + ".new", SIZE, what="mke2fs",
                env=dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"))
        os.rename(path + ".new", path)
    finally:
        shutil.rmtree(work, ignore_errors=True)

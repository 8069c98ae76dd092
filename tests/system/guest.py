# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest: the real systemd as PID 1 over the small Debian tree, in namespaces of its own, without a container engine.

    with Guest() as guest:
        guest.mount_root(tree, layers=[product])
        guest.up()
        guest.run("systemctl", "is-system-running")

The guest's root is an overlay whose upper directory lies on disk (a copy of the tree where overlays cannot be stacked). Programs get in
with nsenter, with a clean environment. What the guest leaves behind is nothing: its processes die with its PID 1, which dies with the
process that started it, and mounts go with the namespaces. Whoever makes a guest must be in a mount namespace of its own, which
enter_private_mounts() sees to.

Nothing here knows ucodesync; machine.py does.
"""

import atexit
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PREFIX = "ucodesync-system-"
HERE = os.path.dirname(os.path.abspath(__file__))
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What has no place in a guest: it wants a terminal, a device manager, or something of the kernel that is shared with the outside.
MASKED = """
getty.target systemd-ask-password-console.path systemd-ask-password-wall.path
systemd-sysctl.service systemd-modules-load.service systemd-random-seed.service systemd-binfmt.service systemd-pstore.service
systemd-remount-fs.service swap.target systemd-journald-audit.socket
proc-sys-fs-binfmt_misc.automount sys-kernel-config.mount sys-kernel-debug.mount sys-kernel-tracing.mount
sys-fs-fuse-connections.mount dev-hugepages.mount dev-mqueue.mount
apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer systemd-tmpfiles-clean.timer
""".split()

MACHINE_ID = "5f2b7c1d9e3a46c08d14a7e6b0935f21"


class Cannot(Exception):
    """This machine cannot have a guest; the text says why."""


class Failed(Exception):
    """A command in the guest ended badly, or something that had to happen did not."""


def die_with_parent():
    """In a child, before exec: SIGKILL when the parent goes, however it goes."""
    import ctypes
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def enter_private_mounts():
    """Run this program again in a mount namespace of its own, once."""
    if os.geteuid() != 0:
        raise Cannot("namespaces and mounts need root")
    if os.environ.get("UCODESYNC_PRIVATE_MOUNTS") == str(os.getpid()):
        return
    probe = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--cgroup", "--uts", "--ipc", "--net", "true"],
                           stderr=subprocess.PIPE, text=True)
    if probe.returncode != 0:
        raise Cannot("no fresh namespaces: " + probe.stderr.strip())
    os.environ["UCODESYNC_PRIVATE_MOUNTS"] = str(os.getpid())
    sys.stdout.flush()
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv])


def wait_for(what, condition, timeout=15, every=0.05):
    """Until the condition is true; its value. The time is a limit for a machine that hangs, never a measurement."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"did not come in {timeout} s: {what}")
        time.sleep(every)


class Guest:
    def __init__(self, keep=False):
        self.keep = keep
        parent = os.environ.get("TMPDIR", "/var/tmp")
        sweep(parent)
        self.work = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        self.alive_lock = open(os.path.join(self.work, "lock"), "w")
        fcntl.flock(self.alive_lock, fcntl.LOCK_EX)
        self.root = os.path.join(self.work, "root")
        self.binds = []
        self.unshare = self.kmsg = self.cgroup = self.lock = None
        self.init = 0
        self.sequence = 0
        atexit.register(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    # ---- the root ------------------------------------------------------------------------------------------------------------

    def mount_root(self, tree, layers=()):
        self.lock = open(tree + ".lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_SH)
        upper, index = os.path.join(self.work, "upper"), os.path.join(self.work, "index")
        for d in (self.root, upper, index):
            os.mkdir(d)
        lower = ":".join([*reversed(layers), tree])
        r = subprocess.run(["mount", "-t", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={index}", "overlay", self.root],
                           stderr=subprocess.DEVNULL)
        if r.returncode != 0:
            # No overlay over what lies below: a copy.
            for d in (tree, *layers):
                subprocess.run(["cp", "-a", "--reflink=auto", d + "/.", self.root], check=True)
        self.write("/etc/machine-id", MACHINE_ID + "\n")
        self.write("/etc/hostname", "ucodesync-guest\n")
        for unit in MASKED:
            self.symlink("/dev/null", "/etc/systemd/system/" + unit)

    def path(self, path):
        """Where a file of the guest's root is, seen from outside. Not for /run, /tmp, /dev, /proc and /sys: they are mounted inside."""
        return self.root + path

    def write(self, path, text, mode=0o644):
        """As an editor saves: a new file beside, then a rename."""
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(text)
            os.fchmod(f.fileno(), mode)
        os.rename(path + ".new", path)

    def symlink(self, target, path):
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)

    def remove(self, path):
        try:
            os.unlink(self.path(path))
        except FileNotFoundError:
            pass

    def bind(self, source, destination):
        """A file or directory of the outside at a place in the guest. Before up()."""
        assert not self.unshare
        self.binds.append((source, destination))

    # ---- up and down ---------------------------------------------------------------------------------------------------------

    def make_cgroup(self):
        """A cgroup2 of its own, through a fresh mount: the machine may have version 1, both, or a read-only mount."""
        at = os.path.join(self.work, "cgroup")
        if not os.path.isdir(at):
            os.mkdir(at)
            r = subprocess.run(["mount", "-t", "cgroup2", "cgroup2", at], stderr=subprocess.PIPE, text=True)
            if r.returncode != 0:
                raise Cannot("no cgroup2: " + r.stderr.strip())
            for name in os.listdir(at):
                pid = name.removeprefix("ucodesync-system.")
                if pid != name and pid.isdigit() and not os.path.exists("/proc/" + pid):
                    remove_cgroup(os.path.join(at, name))
        self.cgroup = os.path.join(at, f"ucodesync-system.{os.getpid()}")
        os.makedirs(self.cgroup, exist_ok=True)

    def up(self):
        """Boot, and wait until all units are started. After down() it is the next boot of the same disk."""
        self.make_cgroup()
        fifo = os.path.join(self.work, "kmsg")
        if self.kmsg is None:
            os.mkfifo(fifo, 0o600)
            self.kmsg = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(os.path.join(self.work, "binds"), "w", encoding="utf-8") as f:
            for source, destination in self.binds:
                f.write(f"{source} {destination}\n")

        def prepare():
            die_with_parent()
            with open(os.path.join(self.cgroup, "cgroup.procs"), "w", encoding="ascii") as procs:
                procs.write("0")

        log = os.path.join(self.work, "init.log")
        with open(log, "w", encoding="utf-8") as f:
            self.unshare = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--cgroup", "--uts", "--ipc", "--net",
                 os.path.join(HERE, "guest-init"), self.work],
                stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, preexec_fn=prepare, start_new_session=True)
        try:
            self.init = wait_for("PID 1", self.find_init)
            wait_for("systemd's socket", lambda: self.alive() and os.path.exists(f"/proc/{self.init}/root/run/systemd/private"))
            state = self.run("systemctl", "is-system-running", "--wait", check=False, timeout=60).stdout.strip()
        except Failed as e:
            with open(log, encoding="utf-8") as f:
                raise Failed(f"{e}; init says: {f.read().strip() or 'nothing'}") from e
        if state != "running":
            raise Failed(f"the guest is '{state}':\n" + self.run("systemctl", "--failed", check=False).stdout)

    def find_init(self):
        self.alive()
        return next(iter(children(self.unshare.pid)), 0)

    def alive(self):
        if self.unshare.poll() is not None:
            raise Failed(f"PID 1 of the guest ended with {self.unshare.returncode}")
        return True

    def down(self):
        """As if the power went: PID 1 dies, and with it all that runs in the guest. The disk stays."""
        if self.unshare:
            if self.unshare.poll() is None:
                self.unshare.kill()  # --kill-child takes PID 1 along
            self.unshare.wait()
            self.unshare = None
        if self.cgroup:
            remove_cgroup(self.cgroup)
            self.cgroup = None

    def release(self):
        """For what a subclass runs outside of the guest: end it, before the disk goes."""

    def close(self):
        atexit.unregister(self.close)
        self.down()
        self.release()
        if self.kmsg is not None:
            os.close(self.kmsg)
            self.kmsg = None
        if self.lock:
            self.lock.close()
        unmount_below(self.work)
        if self.keep:
            os.unlink(os.path.join(self.work, "lock"))  # so that nobody sweeps it away
            print("kept:", self.work, file=sys.stderr)
        else:
            shutil.rmtree(self.work, ignore_errors=True)
        self.alive_lock.close()

    # ---- inside --------------------------------------------------------------------------------------------------------------

    def argv(self, *argv, user=None, timeout=60):
        enter = ["nsenter", "-t", str(self.init), "-a", "env", "-i", "PATH=" + PATH, "LANG=C.UTF-8", "TERM=dumb", "TZ=UTC"]
        if timeout:
            enter += ["timeout", "--kill-after=5", str(timeout)]
        if user:
            enter += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        return enter + list(argv)

    def run(self, *argv, check=True, user=None, timeout=60, stdin=None):
        """A program in the guest, with its output. `check`: that it fails is a Failed."""
        r = subprocess.run(self.argv(*argv, user=user, timeout=timeout), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           stdin=None if stdin is not None else subprocess.DEVNULL, text=True, errors="replace")
        if check and r.returncode != 0:
            raise Failed(f"'{' '.join(argv)}' ended with {r.returncode}: {r.stderr.strip() or r.stdout.strip()}")
        return r

    def out(self, *argv, **kwargs):
        return self.run(*argv, **kwargs).stdout.strip()

    def start(self, *argv):
        """A program in the guest that goes on by itself, until stop()."""
        return subprocess.Popen(self.argv(*argv, timeout=0), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)

    def stop(self, process):
        """nsenter waits for its child; the child is the program."""
        for pid in children(process.pid):
            os.kill(pid, signal.SIGINT)
        process.wait(10)

    def outside_pid(self, pid):
        """The number that a process of the guest has outside."""
        with os.scandir("/proc") as entries:
            for entry in entries:
                if entry.name.isdigit():
                    try:
                        with open(f"/proc/{entry.name}/status", encoding="ascii", errors="replace") as f:
                            ns = next(l for l in f if l.startswith("NSpid:")).split()[1:]
                        if len(ns) > 1 and ns[-1] == str(pid) and \
                           os.readlink(f"/proc/{entry.name}/ns/pid") == os.readlink(f"/proc/{self.init}/ns/pid"):
                            return int(entry.name)
                    except (FileNotFoundError, ProcessLookupError, StopIteration):
                        continue
        raise Failed(f"no process {pid} in the guest")

    def kernel_log(self, text, priority=4):
        """A line of the kernel, as journald reads it."""
        self.sequence += 1
        os.write(self.kmsg, f"{priority},{self.sequence},{time.monotonic_ns() // 1000},-;{text}\n".encode())


def sweep(parent):
    """Disks of guests whose starter was killed before it could remove them: nobody holds their lock. Mounts went with the namespace."""
    for name in os.listdir(parent):
        d = os.path.join(parent, name)
        if not name.startswith(PREFIX):
            continue
        try:
            with open(os.path.join(d, "lock"), "r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(d, ignore_errors=True)
        except OSError:
            continue  # in use, or just being made


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(p) for p in f.read().split()]


def unmount_below(directory):
    """The latest first. Nothing is removed recursively while a mount is in it."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        points = [line.split()[4] for line in f]
    for point in reversed([p for p in points if p.startswith(directory + "/")]):
        subprocess.run(["umount", "--lazy", point], check=True)


def remove_cgroup(path):
    """Its processes are dead or dying; the kernel says EBUSY until they are gone."""
    def gone():
        for d, _, _ in os.walk(path, topdown=False):
            try:
                os.rmdir(d)
            except FileNotFoundError:
                pass
            except OSError:
                return False
        return not os.path.exists(path)
    try:
        wait_for("the cgroup empties", gone, timeout=10)
    except Failed as e:
        print(f"{path}: {e}", file=sys.stderr)

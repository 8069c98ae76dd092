# SPDX-License-Identifier: LGPL-2.1-or-later
"""A world of one case: a scratch root, a private bus, ucodesim as its machine, and the unmodified daemon in between.

Everything is below one temporary directory and made of processes that are started here; worlds do not know of each other, so that
cases run side by side."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("UCODESYNC_BUILD", TOP / "build"))
NAME, OBJECT = "org.ucodesync1", "/org/ucodesync1"
MANAGER, STALL = "org.ucodesync1.Manager", "org.ucodesync1.Stall"
PATIENCE = float(os.environ.get("UCODESYNC_PATIENCE", 30))

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={path}</listen>
  <policy context="default">
    <allow user="*"/><allow send_type="method_call" send_destination="org.freedesktop.DBus"/>
    <allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/><allow receive_type="method_return"/>
    <allow receive_type="error"/><allow receive_type="signal"/>
    <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus" send_member="UpdateActivationEnvironment"/>
  </policy>
  <policy user="root"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/></policy>
  <include>{policy}</include>
</busconfig>
"""


class Failed(Exception):
    """A case did not find what it wanted."""


class BusError(Failed):
    """A call answered with an error; `name` is what the daemon called it, as far as busctl tells, `text` its sentence."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text


def configuration(window="*-*-* 00:00 UTC for 24h", spread="0", settle="1s", quiet="1s", schedule="", load="", apply="", extra=""):
    """A configuration in which waiting is short. A window for the whole day is always open."""
    windows = "" if window is None else "".join(f"Window={w}\n" for w in ([window] if isinstance(window, str) else window))
    if "BootGraceSec=" not in schedule:
        schedule = f"BootGraceSec=0\n{schedule}"
    return (f"[Schedule]\n{windows}SpreadSec={spread}\nSettleSec={settle}\n{schedule}\n[Load]\nQuietSec={quiet}\n{load}\n"
            f"[Apply]\n{apply}\n{extra}\n")


def later(hours):
    """A daily window of one hour that begins so many hours from now."""
    return time.strftime("*-*-* %H:00 UTC for 1h", time.gmtime(time.time() + hours * 3600))


SHUT = later(5)


def scratch():
    """A directory whose files outlive a crash, or nothing would be loaded (state-volatile)."""
    def lasts(path):
        kind = subprocess.run(["stat", "-f", "-c", "%T", path], text=True, capture_output=True).stdout.strip()
        return kind not in ("", "tmpfs", "ramfs") and os.access(path, os.W_OK)
    usual = tempfile.gettempdir()
    return next((d for d in (usual, "/var/tmp", str(BUILD)) if lasts(d)), usual)


SCRATCH = scratch()


class World:
    def __init__(self, name, sim=(), config=None, plain=False, start=True):
        self.top = Path(tempfile.mkdtemp(prefix=f"ucodesync-{name}-", dir=SCRATCH))
        self.root = self.top / "root"
        self.journal_path = self.top / "journal"
        self.processes = []
        self.daemon = None
        self.sim_arguments = list(sim)
        self.plain = plain
        try:
            self.up(config if config is not None else configuration(), start)
        except BaseException:
            self.down()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.down()

    def up(self, config, start):
        for d in ("sys", "proc", "dev", "etc/ucodesync", "lib/firmware/intel-ucode", "lib/firmware/amd-ucode", "var/lib", "run"):
            (self.root / d).mkdir(parents=True)
        self.address = f"unix:path={self.top}/bus"
        self.environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address, ASAN_OPTIONS="detect_leaks=1:exitcode=99",
                                UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
        self.environment.pop("NOTIFY_SOCKET", None)
        (self.top / "bus.conf").write_text(BUS_CONFIGURATION.format(path=self.top / "bus", policy=TOP / "conf/org.ucodesync1.conf"))
        os.chmod(self.top, 0o755)
        self.start(["dbus-daemon", f"--config-file={self.top}/bus.conf", "--nofork", "--nosyslog", "--nopidfile"])
        self.until(lambda: (self.top / "bus").exists(), "the bus to listen")
        if not self.plain:
            with open(self.top / "ready", "w") as ready:
                self.start([BUILD / "tests/sim/ucodesim", f"--mount={self.root}", f"--control={self.top}/control", *self.sim_arguments],
                           stdout=ready)
            self.until(lambda: "READY" in (self.top / "ready").read_text(), "ucodesim to be ready")
        self.configure(config)
        if start:
            self.start_daemon()

    def start(self, command, **keywords):
        keywords.setdefault("stderr", open(self.top / "stderr", "a"))
        p = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, env=self.environment, **keywords)
        self.processes.append(p)
        return p

    def start_daemon(self, wait=True):
        self.daemon = self.start([BUILD / "src/daemon/ucodesyncd", f"--root={self.root}"], stderr=open(self.journal_path, "ab"))
        if wait:
            self.until(lambda: "ucodesyncd " in self.journal() and self.alive() and self.has_name(), "the daemon to own its name")

    def stop_daemon(self, number=signal.SIGTERM):
        """Ends the daemon. Its exit status, which is not 0 after a leak or a fault."""
        self.daemon.send_signal(number)
        status = self.daemon.wait(PATIENCE)
        self.processes.remove(self.daemon)
        self.daemon = None
        return status

    def restart_daemon(self):
        status = self.stop_daemon()
        if status != 0:
            raise Failed(f"the daemon ended with {status}")
        self.start_daemon()

    def alive(self):
        return self.daemon is not None and self.daemon.poll() is None

    def down(self):
        if not self.plain and (self.top / "control").exists():  # a thread in a write that hangs cannot be killed, as with a real kernel
            try:
                self.sim("set", "hang", "no")
            except (Failed, subprocess.TimeoutExpired):
                pass
        for p in reversed(self.processes):
            if p.poll() is None:
                p.terminate()
                try:
                    p.wait(15)
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.wait()
        self.processes = []
        for d in ("sys", "proc", "dev"):  # a simulation that was killed leaves its mounts
            if os.path.ismount(self.root / d):
                subprocess.run(["umount", "-l", self.root / d], check=False)
        if not any(os.path.ismount(self.root / d) for d in ("sys", "proc", "dev")):
            shutil.rmtree(self.top, ignore_errors=True)

    # waiting

    def until(self, condition, what, patience=PATIENCE):
        end = time.monotonic() + patience
        while True:
            r = condition()
            if r:
                return r
            if self.daemon is not None and not self.alive():
                raise Failed(f"the daemon ended with {self.daemon.returncode} while waiting for {what}")
            if time.monotonic() > end:
                raise Failed(f"waited for {what} in vain")
            time.sleep(0.05)

    def until_property(self, name, value, interface=MANAGER):
        self.until(lambda: self.get(name, interface) == value, f"{name} to be {value!r} (it is {self.get(name, interface)!r})")

    def until_says(self, text, count=1):
        self.until(lambda: self.journal().count(text) >= count, f"the journal to say {text!r}")

    # the machine

    def sim(self, *command):
        p = subprocess.run([BUILD / "tests/sim/ucodesim", f"--send={self.top}/control", *map(str, command)], text=True, capture_output=True,
                           env=self.environment, timeout=90, stdin=subprocess.DEVNULL)
        if p.returncode != 0:
            raise Failed(f"ucodesim {' '.join(map(str, command))}: {p.stdout}{p.stderr}")
        return p.stdout.strip()

    def writes(self):
        """What the kernel answered to each write to reload, oldest first."""
        return self.sim("get", "writes").split()[1:]  # the first word is their number

    def fixture(self, path, *options):
        """Make a microcode file and have it arrive by rename, as a package manager installs it."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(target.name + ".dpkg-new")
        subprocess.run([BUILD / "tests/fixtures/mkfixture", *options, f"--output={temporary}"], check=True, env=self.environment)
        temporary.rename(target)
        return target

    def configure(self, text, name="ucodesyncd.conf"):
        path = self.root / "etc/ucodesync" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    # the bus

    def busctl(self, *arguments, prefix=()):
        p = subprocess.run([*prefix, "busctl", "--system", "--json=short", *map(str, arguments)], text=True, capture_output=True,
                           env=self.environment, timeout=60)
        if p.returncode != 0:
            raise BusError(p.stderr.strip())
        return json.loads(p.stdout) if p.stdout.strip() else None

    def has_name(self):
        try:
            return self.busctl("call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", "s",
                               NAME)["data"][0]
        except BusError:
            return False

    def get(self, name, interface=MANAGER):
        return self.busctl("get-property", NAME, OBJECT, interface, name)["data"]

    def call(self, method, *arguments, interface=MANAGER, prefix=()):
        r = self.busctl("call", NAME, OBJECT, interface, method, *arguments, prefix=prefix)
        return r["data"] if r else []

    def refused(self, method, *arguments, says="", prefix=()):
        """The call must fail, with this text in its error."""
        try:
            r = self.call(method, *arguments, prefix=prefix)
        except BusError as e:
            if says not in e.text:
                raise Failed(f"{method} answered '{e.text}', wanted '{says}' in it")
            return e.text
        raise Failed(f"{method} answered {r}, wanted an error with '{says}'")

    def reload(self, text):
        self.configure(text)
        self.call("ReloadConfig")

    def watch(self):
        """Record every signal of the daemon from now on."""
        path = self.top / "signals"
        with open(path, "w") as f:
            self.start(["busctl", "--system", "--json=short", "monitor", NAME], stdout=f)
        self.until(lambda: "NameLost" in path.read_text() or self.monitors(), "the monitor")
        self.signals_path = path

    def monitors(self):
        return "Monitoring" in (self.top / "stderr").read_text()

    def signals(self, member=None):
        out = []
        for line in self.signals_path.read_text().splitlines():
            try:
                m = json.loads(line)
            except ValueError:
                continue
            if m.get("type") == "signal" and (member is None or m.get("member") == member) and str(m.get("interface", "")).startswith(
                    ("org.ucodesync1", "org.freedesktop.DBus.Properties")):
                out.append(m)
        return out

    # what was said

    def journal(self):
        try:
            return self.journal_path.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def entries(self, text):
        """The fields of each entry that says this."""
        out = []
        for line in self.journal().splitlines():
            if text in line:
                m = re.search(r" \[(UCODESYNC_.*)\]$", line)
                out.append(dict(re.findall(r"UCODESYNC_([A-Z_]+)=(.*?)(?= UCODESYNC_[A-Z_]+=|$)", m.group(1))) if m else {})
        return out

    def history(self):
        return [{k: v["data"] for k, v in entry.items()} for entry in self.call("ListHistory", "u", 100)[0]]

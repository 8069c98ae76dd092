# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the cases stand on: a private bus, a fake daemon with a scenario, ucodectl with or without a terminal, and a table of cases."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]

CASES = []
state = {"ucodectl": None, "tmp": None, "address": None}


def case(f):
    CASES.append(f)
    return f


class Wrong(AssertionError):
    pass


def check(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


def equal(found, expected, what=""):
    check(found == expected, f"{what}: " if what else "", f"found {found!r}, expected {expected!r}")


def contains(text, *parts):
    for part in parts:
        check(part in text, f"{part!r} is not in:\n{text}")


def lacks(text, *parts):
    for part in parts:
        check(part not in text, f"{part!r} is in:\n{text}")


BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={path}</listen>
  <servicedir>{tmp}</servicedir>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
  </policy>
</busconfig>
"""


@contextlib.contextmanager
def private_bus(activate=None):
    """A dbus-daemon of our own. Its address is where ucodectl and the fake look. It starts the scenario `activate` when it is called."""
    tmp = Path(tempfile.mkdtemp(dir=state["tmp"]))
    config, path = tmp / "bus.conf", tmp / "bus"
    config.write_text(BUS_CONFIG.format(path=path, tmp=tmp))
    if activate:
        (tmp / "scenario.json").write_text(json.dumps(activate))
        (tmp / "org.ucodesync1.service").write_text(
            f"[D-BUS Service]\nName=org.ucodesync1\nExec=/usr/bin/python3 -B {HERE}/fake_daemon.py {tmp}/scenario.json\nUser=root\n")
    bus = subprocess.Popen(["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address=1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    before, state["address"] = state["address"], bus.stdout.readline().strip()
    try:
        yield bus
    finally:
        state["address"] = before
        bus.terminate()
        bus.wait()
        bus.stdout.close()


class Fake:
    """The fake daemon, from its first word to its end."""

    def __init__(self, scenario):
        self.path = Path(tempfile.mkstemp(dir=state["tmp"], suffix=".json")[1])
        self.path.write_text(json.dumps(scenario), encoding="utf-8")
        self.process = subprocess.Popen(["/usr/bin/python3", "-B", HERE / "fake_daemon.py", self.path], stdout=subprocess.PIPE, text=True, env=environment())
        line = self.process.stdout.readline()
        check(line == "ready\n", f"the fake daemon does not start: {line!r}")

    def stop(self):
        """End it. Returns the calls that it had, without those that only read properties."""
        self.process.terminate()
        rest = self.process.stdout.read()
        self.process.wait()
        self.process.stdout.close()
        return [c for c in map(json.loads, rest.splitlines()) if c["call"] not in ("GetAll", "Run")]

    def run(self, *steps):
        """Have it take steps now, and wait until it has."""
        subprocess.run(["busctl", f"--address={state['address']}", "call", "org.ucodesync1", "/org/ucodesync1", "org.ucodesync1.Fake", "Run", "s",
                        json.dumps(steps)], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def fake(scenario):
    f = Fake(scenario)
    try:
        yield f
    finally:
        if f.process.poll() is None or not f.process.stdout.closed:
            f.stop()


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "TZ", "LC_ALL", "LC_CTYPE", "LANG", "SYSTEMD_COLORS", "TERM")}
    env.update(DBUS_SYSTEM_BUS_ADDRESS=state["address"] or "unix:path=/nowhere", LC_ALL="C.UTF-8", TZ="UTC", TERM="xterm-256color",
               ASAN_OPTIONS="detect_leaks=1:exitcode=99", UBSAN_OPTIONS="halt_on_error=1:exitcode=99")
    env.update({k: v for k, v in more.items() if v is not None})
    for k in [k for k, v in more.items() if v is None]:
        env.pop(k, None)
    return env


class Result:
    def __init__(self, code, out, err=""):
        self.code, self.out, self.err = code, out, err
        check(code >= 0 and code != 99, f"ucodectl died ({code}):\n{out}\n{err}")

    @property
    def json(self):
        """The only thing on stdout, and nothing on stderr."""
        equal(self.err, "", "stderr under --json")
        value, end = json.JSONDecoder().raw_decode(self.out)
        equal(self.out[end:], "\n", "after the JSON value")
        return value


def ctl(*args, stdin=None, timeout=60, **env):
    r = subprocess.run([state["ucodectl"], *args], capture_output=True, text=True, env=environment(**env), timeout=timeout, stdin=subprocess.DEVNULL,
                       errors="surrogateescape")
    return Result(r.returncode, r.stdout, r.stderr)


def error(r, name, code=1):
    """The error object of a --json run."""
    e = r.json["error"]
    equal(sorted(e), ["exit", "message", "name"])
    equal((e["name"], e["exit"], r.code), (name, code, code))
    return e["message"]


def terminal(*args, columns=100, rows=50, timeout=60, **env):
    """The same with a terminal of this size. What it prints, as it is; stderr goes there too."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execve(state["ucodectl"], [state["ucodectl"], *args], environment(**env))
    out, end = b"", time.monotonic() + timeout
    while time.monotonic() < end:
        if select.select([fd], [], [], 1)[0]:
            try:
                more = os.read(fd, 65536)
            except OSError:
                break
            if not more:
                break
            out += more
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    return Result(os.waitstatus_to_exitcode(status), out.decode(errors="surrogateescape").replace("\r\n", "\n"))


ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def plain(text):
    return ESCAPE.sub("", text)


class Started:
    """ucodectl in the background, its output line by line."""

    def __init__(self, *args, **env):
        self.process = subprocess.Popen([state["ucodectl"], *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**env))
        self.lines, self.rest = [], b""

    def read(self, pattern, timeout=30):
        """Lines up to the first that matches: it must come out at once, not when a buffer is full."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                self.lines.append(line.decode())
                if re.search(pattern, self.lines[-1]):
                    return self.lines[-1]
            if select.select([self.process.stdout], [], [], 0.5)[0]:
                more = os.read(self.process.stdout.fileno(), 65536)
                if not more:
                    break
                self.rest += more
        raise Wrong(f"no line {pattern!r} in {self.lines}")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self, timeout=30):
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        self.lines += (self.rest + out).decode().splitlines()
        return Result(self.process.returncode, "\n".join(self.lines) + "\n", err.decode())


def run(names):
    passed = failed = 0
    for f in CASES:
        if names and f.__name__ not in names:
            continue
        try:
            f()
            passed += 1
        except Exception as e:  # whatever it is, the case did not pass
            failed += 1
            print(f"FAILED: {f.__module__}.{f.__name__}\n    {type(e).__name__}: " + str(e).replace("\n", "\n    "))
            sys.stdout.flush()
    return passed, failed

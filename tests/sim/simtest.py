# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated machine in a scratch directory, and the little that tests need to be a list of functions.

A test is a function that takes a Kit; a failed check raises, and a machine that is left behind is stopped and looked at: it must
have ended well, without a word from a sanitizer and without a mount."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

CPU = "sys/devices/system/cpu"
TESTS = []


class Skipped(Exception):
    pass


def test(function):
    TESTS.append((function.__name__.replace("_", "-"), function))
    return function


def rows(table):
    """One test a row; the first column is its name."""

    def decorate(function):
        for row in table:
            name = "%s %s" % (function.__name__.replace("_", "-"), row[0])
            TESTS.append((name, lambda kit, row=row: function(kit, *row[1:])))
        return function

    return decorate


def equal(what, got, wanted):
    if got != wanted:
        raise AssertionError("%s:\n      is     %r\n      should %r" % (what, got, wanted))


def mounts_below(directory):
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        return [w[4] for w in (line.split() for line in f) if w[4].startswith(directory)]


class Sim:
    """One running ucodesim. Everything below `root` but sys, proc and dev is an ordinary directory."""

    def __init__(self, program, scratch, options, mount=None):
        self.program, self.scratch = program, scratch
        self.root = os.path.join(scratch, "root")
        self.socket = os.path.join(scratch, "control")
        os.makedirs(self.root, exist_ok=True)
        self.errors = open(os.path.join(scratch, "stderr"), "a+", encoding="utf-8", errors="replace")
        ready, write_end = os.pipe()
        self.process = subprocess.Popen(
            [program, "--control=" + self.socket, "--ready-fd=%d" % write_end]
            + (mount if mount is not None else ["--mount=" + self.root])
            + list(options),
            stderr=self.errors,
            stdout=subprocess.DEVNULL,
            pass_fds=[write_end],
        )
        os.close(write_end)
        self.ready = os.read(ready, 64) == b"READY\n"
        os.close(ready)
        if not self.ready:
            self.process.wait()

    def path(self, name):
        return os.path.join(self.root, name)

    def cpu(self, name):
        return self.path(os.path.join(CPU, name))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def write_file(self, name, text):
        """The errno's name, or SUCCESS; one write, as echo does it."""
        try:
            fd = os.open(self.path(name), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        except OSError as e:
            return "open:" + errno.errorcode[e.errno]
        try:
            n = os.write(fd, text.encode())
            return "SUCCESS" if n == len(text) else "short write"
        except OSError as e:
            return errno.errorcode[e.errno]
        finally:
            os.close(fd)

    def reload(self, text="1\n"):
        return self.write_file(CPU + "/microcode/reload", text)

    def send(self, *words):
        r = subprocess.run([self.program, "--send=" + self.socket, *words], capture_output=True, text=True, check=False)
        if r.returncode != 0:
            raise AssertionError("%s: %s" % (" ".join(words), r.stderr.strip()))
        return r.stdout.rstrip("\n")

    def revisions(self):
        """As sysfs tells them, CPU by CPU, None for an offline one."""
        found = []
        for cpu in range(len([d for d in os.listdir(self.cpu("")) if d[3:].isdigit()])):
            try:
                found.append(int(self.read("%s/cpu%d/microcode/version" % (CPU, cpu)), 16))
            except FileNotFoundError:
                found.append(None)
        return found

    def log(self, prefix="microcode: "):
        """The kernel log's lines that start so, without that."""
        fd = os.open(self.path("dev/kmsg"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        lines = []
        try:
            while True:
                head, text = os.read(fd, 8192).decode().split(";", 1)
                if text.startswith(prefix):
                    lines.append(text[len(prefix) :].rstrip("\n"))
        except BlockingIOError:
            return lines
        finally:
            os.close(fd)

    def tainted(self):
        return bool(int(self.read("proc/sys/kernel/tainted")) & 4)

    def account(self, cpu):
        nsec, _, runs = self.read("proc/%d/schedstat" % (19 + 6 * cpu)).split()
        return int(nsec), int(runs)

    def nmis(self):
        line = [s for s in self.read("proc/interrupts").splitlines() if "NMI" in s][0]
        return [int(n) for n in line.split()[1:] if n.isdigit()]

    def wait_for_stop(self):
        """Until a load of an Intel machine has begun: its NMIs are counted first."""
        begin = time.monotonic()
        while not self.nmis()[0]:
            equal("a load begins within a minute", time.monotonic() - begin < 60, True)
            time.sleep(0.01)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("ucodesim did not end") from None
        self.errors.seek(0)
        said = self.errors.read()
        self.errors.close()
        left = mounts_below(self.scratch)
        for m in left:
            subprocess.run(["umount", "-l", m], check=False)
        if "Sanitizer" in said or "runtime error" in said:
            raise AssertionError(said)
        equal("mounts left behind", left, [])
        if self.ready:
            equal("exit status", self.process.returncode, 0)


class Kit:
    """What one test has: machines, firmware files, a scratch directory."""

    def __init__(self, program, mkfixture):
        self.program, self.mkfixture = program, mkfixture
        self.scratch = tempfile.mkdtemp(prefix="simtest-")
        self.sims = []

    def sim(self, *options, mount=None):
        scratch = os.path.join(self.scratch, str(len(self.sims)))
        os.mkdir(scratch)
        s = Sim(self.program, scratch, options, mount)
        self.sims.append(s)
        if not s.ready:
            s.errors.seek(0)
            raise AssertionError("did not start: " + s.errors.read())
        return s

    def fixture(self, *options):
        path = os.path.join(self.scratch, "fixture")
        subprocess.run([self.mkfixture, "-o", path, *options], check=True)
        with open(path, "rb") as f:
            return f.read()

    def install(self, sim, name, data):
        """As a package manager does it: written beside, renamed."""
        path = sim.path(os.path.join("lib/firmware", name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as f:
            f.write(data)
        os.rename(path + ".new", path)

    def done(self):
        problems = []
        for s in self.sims:
            try:
                s.stop()
            except AssertionError as e:
                problems.append(str(e))
        shutil.rmtree(self.scratch, ignore_errors=True)
        if problems:
            raise AssertionError("\n".join(problems))


def run_one(name, function, program, mkfixture):
    kit = Kit(program, mkfixture)
    try:
        try:
            function(kit)
        finally:
            kit.done()
    except Skipped as e:
        print("skip  %s: %s" % (name, e))
        return "skipped"
    except Exception as e:  # a failed check, or a test that met what it did not think of
        print("FAIL  %s: %s" % (name, e))
        if not isinstance(e, AssertionError):
            traceback.print_exc(file=sys.stdout)
        return "failed"
    print("ok    %s" % name)
    return "passed"


def run_all(program, mkfixture, patterns):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    begin = time.monotonic()
    for name, function in TESTS:
        if not patterns or any(p in name for p in patterns):
            counts[run_one(name, function, program, mkfixture)] += 1
            sys.stdout.flush()
    print("%d tests in %.0f s" % (sum(counts.values()), time.monotonic() - begin))
    line = "%d passed, %d failed" % (counts["passed"], counts["failed"])
    print(line + (", %d skipped" % counts["skipped"] if counts["skipped"] else ""))
    return 1 if counts["failed"] or not counts["passed"] else 0

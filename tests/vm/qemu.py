# SPDX-License-Identifier: LGPL-2.1-or-later
"""One QEMU: started, watched, snapshots of it, and its power cut.

    vm = Qemu(work, kernel, accel, cpu=…, smp=…, append=…, disk=…)
    vm.start(); vm.script("uname -r"); vm.save("ready"); vm.load("ready"); vm.kill()

A guest that does not reach user space within BOOT_TIMEOUT is killed, and started a second time; the log of its console is kept either way.
Every wait ends: with an answer, with the end of QEMU, or with Failed. Nothing is measured in time here.
"""

import base64
import json
import os
import re
import socket
import subprocess
import threading
import time

from guest import Cannot, Failed, die_with_parent
from image import PORT

PATIENCE = float(os.environ.get("UCODESYNC_PATIENCE", "1"))  # a factor, for machines that do much else
BOOT_TIMEOUT = 240 * PATIENCE
SCRIPT_TIMEOUT = 120 * PATIENCE
BINARY = "qemu-system-x86_64"


class Stuck(Failed):
    """The guest did not reach user space."""


class Gone(Failed):
    """QEMU has ended, or the guest's kernel has."""


def tsc_khz():
    """Rate of this machine's time stamp counter, which TCG hands to the guest as it is; 0: not x86, or not to be measured. A busy machine
    misleads the guest's own calibration by factors, and then its clock runs as fast."""
    import ctypes
    import mmap
    if os.uname().machine != "x86_64":
        return 0
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return 0
    page.write(bytes.fromhex("0f3148c1e2204809d0c3"))  # rdtsc; shl rdx, 32; or rax, rdx; ret
    ticks = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def both():  # the pair that was read closest together
        return min((t1 - t0, t0, c) for t0, c, t1 in ((time.monotonic_ns(), ticks(), time.monotonic_ns()) for _ in range(20)))[1:]
    t0, c0 = both()
    time.sleep(0.3)
    t1, c1 = both()
    return (c1 - c0) * 1000000 // (t1 - t0)


class Lines:
    """A stream socket with lines and counted bytes, and a limit for each wait."""

    def __init__(self, path, alive, timeout=30):
        end = time.monotonic() + timeout * PATIENCE
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(path)
                break
            except OSError as e:
                self.socket.close()
                if not alive() or time.monotonic() > end:
                    raise Gone(f"QEMU does not listen on {path}: {e}") from e
                time.sleep(0.05)
        self.buffer = b""

    def fill(self, deadline):
        self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            piece = self.socket.recv(1 << 16)
        except socket.timeout:
            raise Stuck("no answer in time") from None
        except ConnectionError:
            piece = b""
        if not piece:
            raise Gone("QEMU has ended")
        self.buffer += piece

    def line(self, deadline):
        while b"\n" not in self.buffer:
            self.fill(deadline)
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def take(self, size, deadline):
        while len(self.buffer) < size:
            self.fill(deadline)
        piece, self.buffer = self.buffer[:size], self.buffer[size:]
        return piece

    def send(self, data):
        self.socket.settimeout(60)
        try:
            self.socket.sendall(data)
        except OSError as e:
            raise Gone(f"QEMU does not listen any more: {e}") from e

    def close(self):
        self.socket.close()


class Result:
    def __init__(self, text, status, out, err):
        self.text, self.returncode, self.stdout, self.stderr = text, status, out, err


class Qemu:
    def __init__(self, work, kernel, accel, cpu, smp, append, disk, initrd=None, memory=1024, label="vm"):
        self.work, self.label, self.disk = work, label, disk
        self.gdb_path = os.path.join(work, "gdb")
        self.console = os.path.join(work, "console")
        self.qmp_path, self.port_path = os.path.join(work, "qmp"), os.path.join(work, "port")
        # No detectors of lockups: a busy machine below stops single CPUs for seconds, and their words would be the guest's bad signs.
        if accel == "tcg" and tsc_khz():
            append += f" tsc_early_khz={tsc_khz()}"
        self.argv = [BINARY, "-accel", "tcg,thread=multi" if accel == "tcg" else accel, "-M", "q35", "-cpu", cpu, "-smp", smp, "-m", str(memory),
                     "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-chardev", f"file,id=console,path={self.console},append=on",
                     "-serial", "chardev:console", "-drive", f"if=virtio,format=qcow2,file={disk},cache=writeback",
                     "-device", "virtio-serial", "-chardev", f"socket,id=port,path={self.port_path},server=on,wait=off",
                     "-device", f"virtserialport,chardev=port,name={PORT}", "-qmp", f"unix:{self.qmp_path},server=on,wait=off",
                     "-chardev", f"socket,id=gdb,path={self.gdb_path},server=on,wait=off", "-gdb", "chardev:gdb",
                     "-kernel", kernel, *(["-initrd", initrd] if initrd else []),
                     "-append", f"console=ttyS0 panic=-1 tsc=reliable root=/dev/vda rw rootfstype=ext4 systemd.show_status=0 "
                     f"nowatchdog rcupdate.rcu_cpu_stall_suppress=1 {append}".strip()]
        self.process = self.qmp = self.port = None
        self.ids = 0
        self.answers = {}
        self.lock = threading.Lock()
        self.boots = 0

    # ---- up and down ---------------------------------------------------------------------------------------------------------

    def start(self):
        """Boot; the agent has answered when this returns. A second try for a guest that never reached user space."""
        for last in (False, True):
            try:
                self.boot()
                return
            except (Stuck, Gone) as e:
                self.kill()
                if last:
                    raise Stuck(f"the guest did not reach user space, twice: {e}; {self.words()}\n{self.console_end()}") from e
                print(f"     the guest did not reach user space, once more: {e}; {self.words()}", flush=True)

    def boot(self):
        self.boots += 1
        with open(self.console, "a", encoding="utf-8") as f:
            f.write(f"\n==== boot {self.boots} of {self.label}\n")
        self.launch()
        self.script("true", timeout=BOOT_TIMEOUT)

    def launch(self, *options):
        for path in (self.qmp_path, self.port_path, self.gdb_path):
            if os.path.exists(path):
                os.unlink(path)
        with open(os.path.join(self.work, "qemu.log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([*self.argv, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)
        self.qmp = Lines(self.qmp_path, self.alive)
        self.qmp.line(time.monotonic() + 60 * PATIENCE)
        self.command("qmp_capabilities")
        self.port = Lines(self.port_path, self.alive)
        self.answers = {}

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """The power goes: what the guest had not written out is lost."""
        if self.process:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        for connection in (self.qmp, self.port):
            if connection:
                connection.close()
        self.process = self.qmp = self.port = None

    def wait_end(self, timeout=BOOT_TIMEOUT):
        """After a power-off or reboot from inside."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failed("the guest does not go down\n" + self.console_end()) from None
        self.kill()

    def words(self):
        """QEMU's own last words."""
        try:
            with open(os.path.join(self.work, "qemu.log"), encoding="utf-8", errors="replace") as f:
                lines = [line for line in f.read().splitlines() if "TCG doesn't support" not in line]
            return lines[-1] if lines else "QEMU said nothing"
        except FileNotFoundError:
            return ""

    def console_end(self, lines=25):
        try:
            with open(self.console, encoding="utf-8", errors="replace") as f:
                return "".join("     | " + line for line in f.read().splitlines(True)[-lines:])
        except FileNotFoundError:
            return "     | nothing on the console"

    # ---- QEMU itself ---------------------------------------------------------------------------------------------------------

    def command(self, name, timeout=120, **arguments):
        self.qmp.send(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        deadline = time.monotonic() + timeout * PATIENCE
        while True:
            reply = json.loads(self.qmp.line(deadline))
            if "return" in reply:
                return reply["return"]
            if "error" in reply:
                raise Failed(f"QEMU, {name}: {reply['error']['desc']}")

    def monitor(self, line):
        answer = self.command("human-monitor-command", **{"command-line": line}).strip()
        if answer:
            raise Failed(f"QEMU, {line}: {answer}")

    def save(self, name):
        """A snapshot of the whole machine into its disk: CPUs, memory, disk. No script may be running."""
        self.monitor(f"savevm {name}")

    def load(self, name):
        """Back to the snapshot, in a QEMU of its own: what ran in the guest since then has not happened. (Within one QEMU the time stamp
        counter does not go back.)"""
        try:
            self.qmp.send(b'{"execute": "quit"}\n')
            self.process.wait(30 * PATIENCE)
        except (Gone, AttributeError, subprocess.TimeoutExpired):
            pass
        self.kill()
        self.launch("-loadvm", name)
        self.script("true")

    # ---- inside --------------------------------------------------------------------------------------------------------------

    def send(self, text, timeout=SCRIPT_TIMEOUT):
        """Start a shell script; a number by which wait() finds its answer."""
        data = text.encode()
        with self.lock:
            self.ids += 1
            self.port.send(f"{self.ids} {int(timeout)} {len(data)}\n".encode() + data)
            return self.ids

    def wait(self, number, text="", timeout=SCRIPT_TIMEOUT):
        deadline = time.monotonic() + timeout + 60
        while number not in self.answers:
            try:
                head = self.port.line(deadline).split()
                n, status, n_out, n_err = (int(word) for word in head)
                out, err = self.port.take(n_out, deadline), self.port.take(n_err, deadline)
            except Gone as e:
                raise Gone(f"{e}\n{self.console_end()}") from None
            self.answers[n] = (status, out.decode(errors="replace"), err.decode(errors="replace"))
        return Result(text, *self.answers.pop(number))

    def script(self, text, timeout=SCRIPT_TIMEOUT, check=True):
        """A shell script in the guest, with its output. `check`: that it fails is a Failed."""
        r = self.wait(self.send(text, timeout), text, timeout)
        if check and r.returncode != 0:
            raise Failed(f"'{text.strip()[-300:]}' ended with {r.returncode}: {(r.stderr.strip() or r.stdout.strip())[-1500:]}")
        return r

    def put(self, path, data, mode="644"):
        """A file in the guest, as an editor or a package manager writes: beside, then renamed."""
        text = base64.b64encode(data).decode()
        self.script(f"mkdir -p $(dirname {path}) && base64 -d >{path}.dpkg-new <<'END'\n{text}\nEND\n"
                    f"chmod {mode} {path}.dpkg-new && sync {path}.dpkg-new && mv {path}.dpkg-new {path}")


class Gdb:
    """Just enough of GDB's remote protocol to stop a guest's kernel at an instruction. While one is connected and the guest runs, wait()
    is what it does; close() lets it go on freely."""

    def __init__(self, vm):
        self.vm = vm
        self.io = Lines(vm.gdb_path, vm.alive)
        self.deadline, self.thread = 0, "p1.1"
        # Connecting stops the guest, and some versions tell that unasked: what comes before this answer is not ours.
        self.post("qSupported")
        self.deadline = time.monotonic() + 60 * PATIENCE
        while not self.packet().startswith("PacketSize"):
            pass

    def byte(self):
        return self.io.take(1, self.deadline)

    def packet(self):
        while self.byte() != b"$":
            pass
        body = b""
        while not body.endswith(b"#"):
            body += self.byte()
        self.io.take(2, self.deadline)
        self.io.send(b"+")
        return body[:-1].decode(errors="replace")

    def post(self, text):
        self.io.send(f"${text}#{sum(text.encode()) & 0xff:02x}".encode())

    def ask(self, text, timeout=60):
        self.deadline = time.monotonic() + timeout * PATIENCE
        self.post(text)
        answer = self.packet()
        if re.fullmatch("E[0-9a-f]{2}", answer):
            raise Failed(f"the debugger's stub answers {answer} to {text}")
        return answer

    def add(self, address):
        self.ask(f"Z1,{address:x},1")

    def remove(self, address):
        self.ask(f"z1,{address:x},1")

    def go(self):
        """Let the guest run, until a breakpoint; wait() is for that."""
        self.post("c")

    def wait(self, timeout=BOOT_TIMEOUT):
        self.deadline = time.monotonic() + timeout
        while True:
            answer = self.packet()
            if answer[:1] in "TS":
                thread = re.search(r"thread:([^;]+);", answer)
                self.thread = thread.group(1) if thread else "p1.1"
                self.ask("Hg" + self.thread)
                return

    def registers(self):
        """rax rbx rcx rdx rsi rdi rbp rsp r8-r15 rip, as the stub numbers them."""
        data = bytes.fromhex(self.ask("g")[:17 * 16])
        names = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
        return {n: int.from_bytes(data[8 * i:8 * i + 8], "little") for i, n in enumerate(names)}

    def step(self):
        """One instruction of the CPU that stopped; the others stand still."""
        self.ask("vCont?")  # stubs want it to be asked for first
        self.post("vCont;s:" + self.thread)
        self.wait()

    def memory(self, address, size=8):
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}"))

    def close(self):
        """Leave: the guest goes on."""
        try:
            self.ask("D")
        finally:
            self.io.close()


def probe_kvm(kernel, work):
    """Whether a guest really boots under KVM here: a device node proves little where virtualisation is nested."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    p = subprocess.Popen([BINARY, "-accel", "kvm", "-M", "q35", "-cpu", "Skylake-Server", "-smp", "2", "-m", "256", "-nodefaults", "-no-user-config",
                          "-display", "none", "-no-reboot", "-serial", "stdio", "-kernel", kernel,
                          "-append", "console=ttyS0 panic=-1 tsc=reliable"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent, cwd=work)
    timer = threading.Timer(15, p.kill)
    timer.start()
    try:
        return any(b"Unable to mount root" in line for line in p.stdout)
    finally:
        timer.cancel()
        p.kill()
        p.wait()


def usable():
    from shutil import which
    if not which(BINARY):
        raise Cannot(f"{BINARY} is not installed (Debian: qemu-system-x86, qemu-utils)")

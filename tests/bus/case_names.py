# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of files that are no UTF-8, or would end a line: D-Bus takes no such string, and sd-bus then sends nothing at all, of no property. So each is
shown with '?' for such a byte."""

import os

from case_advice import HERE, advice, image
from case_next_kernel import grubenv
from cases import NEW, OLD, check, equal, intel, table
from world import MANAGER, NAME, OBJECT, SHUT, BusError, Failed, configuration

MID = OLD + 8
HOSTILE = os.fsdecode(b"9.\xff\n\x1b[31m")
BROKEN = os.fsdecode(b"\xc39\xff\xed\xa0")
SHOWN = "9.???[31m"


def everything(w):
    """All properties at once, and signals: one string that D-Bus does not take would spoil them all."""
    check("cannot be signalled" not in w.journal(), "changes cannot be signalled")
    equal("lines that do not begin as an entry does", [s for s in w.journal().splitlines() if not s.startswith("ucodesyncd: ")], [])
    return {k: v["data"] for k, v in w.busctl("call", NAME, OBJECT, "org.freedesktop.DBus.Properties", "GetAll", "s", MANAGER)["data"][0].items()}


def another_kernel(w):
    image(w, MID, path=f"boot/initrd.img-{HOSTILE}")
    (w.root / f"boot/vmlinuz-{HOSTILE}").write_text("")
    return f"Kernel {SHOWN}, should the boot loader take it, brings {MID:#x} (/boot/initrd.img-{SHOWN})"


def an_entry(w):
    image(w, MID, path="boot/" + os.fsdecode(b"\xff\xc3.img"))
    (w.root / "boot/loader/entries").mkdir(parents=True)
    (w.root / "boot/loader/entries/a.conf").write_bytes(b"version 9\ninitrd /\xff\xc3.img\n")
    grubenv(w, saved_entry="a")
    return f"with {MID:#x} in /boot/??.img;"


def a_vendor(w):
    grubenv(w, path=f"boot/efi/EFI/{HOSTILE}/grubenv", saved_entry="1")
    return f"saved_entry in /boot/efi/EFI/{SHOWN}/grubenv is a place in GRUB's menu"


def a_long_vendor(w):
    """Cut off, and not in the midst of a character."""
    grubenv(w, path=f"boot/efi/EFI/x{'é' * 100}/grubenv", saved_entry="1")
    return "saved_entry in /boot/efi/EFI/xé"


def tmpfiles(w):
    (w.root / "etc/tmpfiles.d").mkdir(parents=True)
    (w.root / f"etc/tmpfiles.d/{HOSTILE}.conf").write_text("w /sys/devices/system/cpu/microcode/reload - - - - 1\n")
    return f"A line in /etc/tmpfiles.d/{SHOWN}.conf has the kernel load"


@table([(f.__name__, dict(sim=HERE, config=configuration(window=SHUT)), f) for f in (another_kernel, an_entry, a_vendor, a_long_vendor, tmpfiles)])
def in_advice(w, make):
    image(w, OLD)
    image(w, OLD - 8, path="boot/initrd.img-8.0")
    (w.root / "boot/vmlinuz-8.0").write_text("")
    says = make(w)
    for _ in range(2):  # by an answer and a signal, and by a start
        w.call("Check")
        w.until(lambda: any(says in s for s in advice(w)), f"Advice to say {says!r} (it is {advice(w)})")
        equal("Advice", everything(w)["Advice"], advice(w))
        w.restart_daemon()


@table([("its directory", dict(sim=HERE + [f"--firmware-path=/opt/{BROKEN}"], start=False), f"opt/{BROKEN}/intel-ucode/06-55-04", "/opt/?9???/intel-ucode/06-55-04")])
def of_the_update(w, path, shown):
    """A whole life of it, with the history, before and after a restart."""
    w.configure(configuration(window=SHUT))
    intel(w, path=path)
    w.start_daemon()
    w.until_property("CandidatePath", shown)
    w.watch()
    w.reload(configuration())
    w.until_property("LastResult", "success")
    equal("RunningRevision", everything(w)["RunningRevision"], NEW)
    equal("history", [h["Path"] for h in w.history()], [shown])
    w.restart_daemon()
    equal("history", [h["Path"] for h in w.history()], [shown])
    everything(w)


@table([(p, {}, p) for p in ("LogLevel", "LogTarget")])
def cut_off_in_an_error(w, name):
    """Wherever the cut falls, there is an answer."""
    for n in range(26, 36):
        try:
            w.busctl("set-property", NAME, "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1", name, "s", "x" * n + "é" * 4)
            raise Failed("it was taken")
        except BusError as e:
            check("is not a log" in e.text, f"{n}: {e.text}")

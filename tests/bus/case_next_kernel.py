# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which kernel the next boot takes, as the boot loader's files say it, and what follows for EarlyRevision and Advice. The files change while the daemon runs,
and nobody calls Check."""

from case_advice import HERE, IMAGE, RELEASE, advice, advises, image
from cases import NEW, OLD, case, check, equal, intel, table
from world import SHUT, configuration

NEXT = "6.12.1-amd64"
OTHER = f"boot/initrd.img-{NEXT}"
MID = OLD + 8
WAITING = dict(sim=HERE, config=configuration(window=SHUT))
CFG = 'set default="${next_entry}"\nset default="${saved_entry}"\n'


def grubenv(w, path="boot/grub/grubenv", **variables):
    """As grub-editenv writes it: in place, and always of the same size."""
    text = "# GRUB Environment Block\n" + "".join(f"{k}={v}\n" for k, v in variables.items())
    (w.root / path).parent.mkdir(parents=True, exist_ok=True)
    (w.root / path).write_text(text.ljust(1024, "#"))


def entry(w, name, release, initrds):
    path = w.root / f"boot/loader/entries/{name}.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"title x\nversion {release}\nlinux /vmlinuz-{release}\n" + "".join(f"initrd {i}\n" for i in initrds))


def two_kernels(w):
    """The one that runs, and a newer one with something else; the boot loader's directory is there, and says nothing."""
    image(w, OLD)
    image(w, MID, path=OTHER)
    (w.root / f"boot/vmlinuz-{NEXT}").write_text("")
    grubenv(w)
    w.call("Check")
    equal("EarlyRevision", (w.get("EarlyRevision"), w.get("EarlyPath")), (OLD, "/" + IMAGE))
    advises(w, f"Kernel {NEXT}, should the boot loader take it, brings {MID:#x}")


@case(**WAITING)
def by_the_menus_names(w):
    two_kernels(w)
    w.watch()
    grubenv(w, saved_entry=f"gnulinux-advanced-5b1f>gnulinux-{NEXT}-advanced-5b1f")
    w.until_property("EarlyRevision", MID)
    equal("EarlyPath", w.get("EarlyPath"), "/" + OTHER)
    advises(w, f"The next boot takes another kernel (saved_entry in /boot/grub/grubenv), with {MID:#x} in /{OTHER}; that of the kernel that runs, /{IMAGE}, has {OLD:#x}")
    grubenv(w, saved_entry=f"gnulinux-advanced-5b1f>gnulinux-{NEXT}-advanced-5b1f", next_entry=f"gnulinux-{RELEASE}-advanced-5b1f")
    w.until_property("EarlyRevision", OLD)
    equal("Advice, once it is the kernel that runs", advice(w), [])
    grubenv(w, saved_entry=f"gnulinux-{NEXT}-advanced-5b1f")
    w.until_property("EarlyRevision", MID)
    (w.root / "boot/grub/grubenv").unlink()
    w.until_property("EarlyRevision", OLD)
    changes = [s["payload"]["data"][1]["EarlyRevision"]["data"] for s in w.signals("PropertiesChanged") if "EarlyRevision" in s["payload"]["data"][1]]
    equal("signals", changes, [MID, OLD, MID, OLD])


@case(**WAITING)
def by_an_entry(w):
    """Its own files, in its own order, are what counts, and not those that are called like it."""
    two_kernels(w)
    image(w, NEW, path="boot/early.img")
    entry(w, f"0a1b-{NEXT}", NEXT, ["$tuned_initrd /early.img", f"/initrd.img-{NEXT} $x"])
    grubenv(w, saved_entry=f"0a1b-{NEXT}")
    w.until_property("EarlyRevision", NEW)
    equal("EarlyPath", w.get("EarlyPath"), "/boot/early.img")
    entry(w, f"0a1b-{NEXT}", NEXT, [f"/initrd.img-{NEXT}", "/early.img"])
    w.until_property("EarlyRevision", MID)
    entry(w, f"0a1b-{NEXT}", NEXT, ["/../../etc/shadow"])
    w.until_property("EarlyRevision", OLD)
    advises(w, "cannot be known: saved_entry in /boot/grub/grubenv is the name of no kernel that is known")
    entry(w, f"0a1b-{NEXT}", NEXT, ["/missing.img"])
    w.until_property("EarlyPath", "/boot/missing.img")
    equal("EarlyRevision", w.get("EarlyRevision"), 0)
    advises(w, "The early loader takes nothing from /boot/missing.img")


@table([("a number", WAITING, dict(saved_entry="1>2"), "is a place in GRUB's menu"),
        ("a name of nothing", WAITING, dict(next_entry="Memory test"), "is the name of no kernel that is known"),
        ("a name without end", WAITING, dict(saved_entry="x" * 300), "is no text of at most 255 bytes")])
def it_cannot_be_known(w, variables, says):
    """Said, and then it is as if nobody had said anything."""
    two_kernels(w)
    grubenv(w, **variables)
    advises(w, "whether it does cannot be known: ")
    advises(w, says)
    equal("EarlyRevision", (w.get("EarlyRevision"), w.get("EarlyPath")), (OLD, "/" + IMAGE))


@case(**WAITING)
def grub_cfg_with_a_default_of_its_own(w):
    two_kernels(w)
    (w.root / "boot/grub/grub.cfg").write_text('set default="${next_entry}"\nset default="0"\n')
    grubenv(w, saved_entry=f"gnulinux-{NEXT}-advanced-5b1f")
    w.call("Check")
    equal("EarlyRevision", w.get("EarlyRevision"), OLD)
    (w.root / "boot/grub/grub.cfg").write_text(CFG)
    w.until_property("EarlyRevision", MID)


@case(**WAITING)
def by_systemd_boot(w):
    two_kernels(w)
    entry(w, "old", RELEASE, [f"/initrd.img-{RELEASE}"])
    entry(w, "new", NEXT, [f"/initrd.img-{NEXT}"])
    (w.root / "boot/loader/loader.conf").write_text("timeout 3\ndefault NEW.conf\n")
    w.call("Check")  # directories that were not there before
    equal("EarlyRevision", w.get("EarlyRevision"), MID)
    (w.root / "boot/loader/loader.conf").write_text("default o*\n")
    w.until_property("EarlyRevision", OLD)
    equal("Advice", advice(w), [])
    grubenv(w, saved_entry="new")
    advises(w, "cannot be known: saved_entry in /boot/grub/grubenv and default in /boot/loader/loader.conf differ")


@case(sim=HERE)
def the_next_boot_falls_back(w):
    """The image of the kernel that runs has what was loaded, that of the next one does not."""
    image(w, NEW)
    image(w, OLD, path=OTHER)
    grubenv(w, saved_entry=f"gnulinux-{NEXT}-advanced-5b1f")
    w.call("Check")
    intel(w)
    w.until_property("LastResult", "success")
    advises(w, f"{NEW:#x} was loaded late, and /{OTHER} has {OLD:#x} only: the next boot falls back to {OLD:#x}; rebuild the initramfs (update-initramfs -u -k {NEXT})")
    grubenv(w, saved_entry=f"gnulinux-{RELEASE}-advanced-5b1f")
    w.until_property("EarlyRevision", NEW)
    check(not any("falls back" in s for s in advice(w)), f"still said: {advice(w)}")


@case(sim=HERE, config=configuration(window=SHUT, extra=f"[Early]\nImagePath=/{IMAGE}"))
def named_images_come_first(w):
    """ImagePath= says what the next boot runs: nobody else is asked."""
    image(w, OLD)
    image(w, MID, path=OTHER)
    grubenv(w, saved_entry=f"gnulinux-{NEXT}-advanced-5b1f")
    w.call("Check")
    equal("EarlyRevision", w.get("EarlyRevision"), OLD)
    equal("Advice", advice(w), [])
    w.reload(configuration(window=SHUT))
    equal("EarlyRevision without", w.get("EarlyRevision"), MID)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the kernel looks for the file, in which order, and which bytes it takes."""

import os
import subprocess

from simtest import equal, rows, test
from test_answers import AMD, AMD_FILE, INTEL_FILE, PATCH, SAFE

PLACES = ["own", "lib/firmware/updates/7.3.4", "lib/firmware/updates", "lib/firmware/7.3.4", "lib/firmware"]


def place(sim, directory, data, suffix=""):
    path = sim.path(os.path.join(directory, INTEL_FILE + suffix))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def compress(kit, data, *command):
    """From a file, so that its size is known, or with "-" as the last word from a pipe."""
    if command[-1] == "-":
        return subprocess.run(list(command[:-1]), input=data, stdout=subprocess.PIPE, check=True).stdout
    path = os.path.join(kit.scratch, "plain")
    with open(path, "wb") as f:
        f.write(data)
    return subprocess.run([*command, path], stdout=subprocess.PIPE, check=True).stdout


def loaded(sim):
    answer = sim.reload()
    return sim.revisions()[0] if answer == "SUCCESS" else answer


def machine(kit, *options):
    return kit.sim("--topology=1x1x1", "--cost-usec=100", *options)


@test
def order_of_directories(kit):
    """Each directory wins over those behind it; firmware_class.path first of all."""
    for first in range(len(PLACES)):
        sim = machine(kit, "--firmware-path=/own")
        for i in range(first, len(PLACES)):
            place(sim, PLACES[i], kit.fixture(*SAFE, "--revision=20001%02x" % i))
        equal(PLACES[first], loaded(sim), 0x2000100 + first)


@test
def path_can_be_set_at_run_time(kit):
    sim = machine(kit)
    place(sim, "own", kit.fixture(*SAFE))
    equal("before", loaded(sim), "ENOENT")
    equal("write", sim.write_file("sys/module/firmware_class/parameters/path", "/own\n"), "SUCCESS")
    equal("after", loaded(sim), 0x200005E)


@test
def links_stay_below_the_root(kit):
    sim = machine(kit)
    place(sim, "elsewhere", kit.fixture(*SAFE))
    os.makedirs(sim.path("lib"))
    os.symlink("/elsewhere", sim.path("lib/firmware"))
    equal("by an absolute link", loaded(sim), 0x200005E)


@rows([
    ("empty", b""),
    ("directory", None),
])
def what_is_no_file_is_passed_over(kit, content):
    """An empty file or a directory is an error, and the next directory is tried."""
    sim = machine(kit)
    if content is None:
        os.makedirs(sim.path("lib/firmware/updates/" + INTEL_FILE))
    else:
        place(sim, "lib/firmware/updates", content)
    place(sim, "lib/firmware", kit.fixture(*SAFE))
    equal("loaded", loaded(sim), 0x200005E)


ZST = ("zstd", "-q", "-c")
XZ = ("xz", "-c", "--check=crc32")


# name, options, what lies where: (directory, suffix, command, revision), loaded
@rows([
    ("zst", ("--compress=zst,xz",), [(4, ".zst", "zst", 1)], 0x2000101),
    ("xz", ("--compress=zst,xz",), [(4, ".xz", "xz", 1)], 0x2000101),
    ("zst before xz", ("--compress=zst,xz",), [(1, ".xz", "xz", 1), (4, ".zst", "zst", 2)], 0x2000102),
    ("plain in the last before zst in the first", ("--compress=zst,xz",), [(1, ".zst", "zst", 1), (4, "", None, 2)], 0x2000102),
    ("a kernel that cannot", (), [(4, ".zst", "zst", 1), (4, ".xz", "xz", 1)], "ENOENT"),
    ("a kernel that can xz", ("--compress=xz",), [(4, ".zst", "zst", 1), (4, ".xz", "xz", 2)], 0x2000102),
    ("xz with a check that the kernel lacks", ("--compress=xz",), [(4, ".xz", "xz64", 1)], "ENOENT"),
    ("broken zst", ("--compress=zst",), [(4, ".zst", "broken", 1)], "ENOENT"),
    ("zst without its size", ("--compress=zst",), [(4, ".zst", "zst-stream", 1)], "ENOENT"),
])
def compressed(kit, options, files, wanted):
    commands = {"zst": ZST, "xz": XZ, "xz64": ("xz", "-c", "--check=crc64"), "zst-stream": ("zstd", "-q", "-c", "-")}
    sim = machine(kit, *options)
    for where, suffix, how, revision in files:
        data = kit.fixture(*SAFE, "--revision=20001%02x" % revision)
        if how == "broken":
            data = compress(kit, data, *ZST)[:-10]
        elif how:
            data = compress(kit, data, *commands[how])
        place(sim, PLACES[where], data, suffix)
    equal("loaded", loaded(sim), wanted)


@rows([
    ("intel 06-9e-0b", "intel", "0x906eb", "intel-ucode/06-9e-0b"),
    ("intel 0f-04-0a", "intel", "0xf4a", "intel-ucode/0f-04-0a"),
    ("intel 06-8f-07", "intel", "0x806f7", "intel-ucode/06-8f-07"),
    ("amd 17h", "amd", "0x830f10", "amd-ucode/microcode_amd_fam17h.bin"),
    ("amd 1ah", "amd", "0xb00f21", "amd-ucode/microcode_amd_fam1ah.bin"),
    ("amd 15h", "amd", "0x600f12", "amd-ucode/microcode_amd_fam15h.bin"),
    ("amd 12h", "amd", "0x300f10", "amd-ucode/microcode_amd.bin"),
])
def names(kit, vendor, signature, name):
    """The file that is asked for is the one that decides: garbage in it is EBADFD, anywhere else ENOENT."""
    sim = machine(kit, "--vendor=" + vendor, "--signature=" + signature, "--revision=0x1")
    equal("none", sim.reload(), "ENOENT")
    kit.install(sim, name, b"garbage that is no microcode at all, and long enough")
    equal("garbage", sim.reload(), "EBADFD")




INTEL_BAD = ["truncated", "trailing-zeros", "trailing-text", "stray-byte", "readme", "body-bit", "header-bit", "truncated-header",
             "total-size", "data-size", "ifs", "header-version", "loader-version", "table-checksum", "row-checksum",
             "table-count-more", "table-count-less", "table-count-wraps", "table-ragged"]
AMD_BAD = ["truncated", "trailing-zeros", "trailing-text", "stray-byte", "readme", "magic", "table-large", "no-patch",
           "section-type", "section-header", "patch-small", "patch-large", "second-container"]


@rows([(c, c) for c in INTEL_BAD + ["table-stub"]])
def bad_intel_files(kit, corruption):
    sim = machine(kit)
    table = () if corruption == "table-stub" else ("--also=50657/80",)
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE, *table, "--corrupt=" + corruption))
    equal("answer", sim.reload(), "EBADFD")
    equal("revisions", sim.revisions(), [0x200003A])


@rows([(c, c) for c in AMD_BAD])
def bad_amd_files(kit, corruption):
    sim = machine(kit, *AMD)
    kit.install(sim, AMD_FILE, kit.fixture(*PATCH, "--corrupt=" + corruption))
    equal("answer", sim.reload(), "EBADFD")
    equal("revisions", sim.revisions(), [0xA201010])


@rows([("table-type", "table-type"), ("table-empty", "table-empty")])
def the_table_matters_before_zen(kit, corruption):
    sim = machine(kit, "--vendor=amd", "--signature=0x600f12", "--revision=0x6000001")
    good = ("--vendor=amd", "--signature=600f12", "--revision=600063e", "--equiv=6012")
    kit.install(sim, "amd-ucode/microcode_amd_fam15h.bin", kit.fixture(*good, "--corrupt=" + corruption))
    equal("answer", sim.reload(), "EBADFD")
    kit.install(sim, "amd-ucode/microcode_amd_fam15h.bin", kit.fixture(*good))
    equal("loaded", loaded(sim), 0x600063E)


@test
def the_newest_of_several(kit):
    sim = machine(kit)
    kit.install(sim, INTEL_FILE, kit.fixture(*SAFE, "--next", "--revision=2000070", "--next", "--revision=2000060", "--next",
                                             "--mask=1", "--revision=2000099"))
    equal("loaded", loaded(sim), 0x2000070)

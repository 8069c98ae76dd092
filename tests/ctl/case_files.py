# SPDX-License-Identifier: LGPL-2.1-or-later
"""inspect, cat-config and rules: files, no daemon. Of inspect only what belongs to a verb of ucodectl: its tiers of formats have the rest."""

import os
import struct
import tempfile
from pathlib import Path

from harness import case, check, contains, ctl, equal, error, lacks, state, terminal

INSPECT_KEYS = ["error", "file", "updates", "valid", "vendor"]


def intel(signature=0x50654, mask=0x80, revision=0x200005E, date=0x05142019, size=2048):
    """The smallest update that the kernel accepts: header, data, a sum of 0."""
    words = [1, revision, date, signature, 0, 1, mask, size - 48, size, 0, 0, 0] + [0] * ((size - 48) // 4)
    words[4] = -sum(words) & 0xFFFFFFFF
    return struct.pack(f"<{len(words)}I", *words)


def directory():
    return Path(tempfile.mkdtemp(dir=state["tmp"]))


@case
def inspect_shows_a_file_in_text_and_json():
    d = directory()
    (d / "06-55-04").write_bytes(intel())
    r = ctl("inspect", str(d / "06-55-04"))
    equal((r.code, r.err), (0, ""))
    contains(r.out, "0x00050654", "0x0200005e", "2019-05-14")
    o = ctl("inspect", "--json=short", str(d / "06-55-04")).json
    check(set(INSPECT_KEYS) <= set(o[0]), o)
    equal((len(o), o[0]["vendor"], o[0]["valid"], o[0]["error"]), (1, "intel", True, None))
    u = o[0]["updates"][0]
    equal((u["signature"], u["platform_mask"], u["revision"], u["date"], u["min_revision"], u["size"], u["also"]),
          ("0x00050654", "0x00000080", "0x0200005e", "2019-05-14", None, 2048, []))


@case
def inspect_of_what_is_no_microcode():
    d = directory()
    (d / "bad").write_bytes(intel()[:-4] + b"\x01\0\0\0")
    (d / "empty").write_bytes(b"")
    for name in ("bad", "empty"):
        r = ctl("inspect", "--json=short", str(d / name))
        equal(r.code, 1, name)
        equal((r.json[0]["valid"], r.json[0]["updates"]), (False, []))
        check(r.json[0]["error"], name)
        equal(ctl("inspect", str(d / name)).code, 1, name)
    equal(ctl("inspect", str(d / "absent")).code, 1)
    r = ctl("inspect", "--json=short", "")  # not the working directory
    equal([(o["file"], o["error"]) for o in r.json], [("", "cannot be opened: No such file or directory")])
    equal(r.code, 1)


@case
def inspect_takes_directories_and_a_root():
    d = directory()
    (d / "lib/firmware/intel-ucode").mkdir(parents=True)
    for i in range(5):
        (d / f"lib/firmware/intel-ucode/06-55-0{i}").write_bytes(intel(revision=0x2000050 + i))
    equal(len(ctl("inspect", "--json=short", str(d)).json), 5)
    equal(len(ctl("inspect", "--json=short", f"--root={d}", "/lib/firmware").json), 5)


@case
def inspect_needs_a_file():
    contains(error(ctl("inspect", "--json=short"), "InvalidArgument"), "'inspect' needs FILE|DIR...")
    contains(error(ctl("inspect", "--json=short", "--for=zebra", "x"), "InvalidArgument"), "--for")


@case
def names_of_files_are_harmless():
    d = directory()
    names = [b"\x1b[2J\x1b]0;x\x07", "\u202egnp".encode(), b"\xff\xfe", b"a\nb", "\u009b31m".encode(), b"\xc3\xa9"]
    for name in names:
        Path(os.fsdecode(bytes(d) + b"/" + name)).write_bytes(intel())
        (d / "bad").write_bytes(b"not microcode" * 10)
    out = terminal("inspect", str(d), NO_COLOR="1").out
    equal([c for c in out if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c == "\u202e" or 0xD800 <= ord(c) < 0xE000)], [])
    r = ctl("inspect", "--json=short", str(d))
    check(r.out[:-1].isprintable(), r.out)
    o = r.json
    equal(len(o), len(names) + 1)
    check(f"{d}/a\nb" in [f["file"] for f in o] and f"{d}/\x1b[2J\x1b]0;x\x07" in [f["file"] for f in o], o)


def configuration(text, **dropins):
    d = directory()
    (d / "etc/ucodesync/ucodesyncd.conf.d").mkdir(parents=True)
    (d / "etc/ucodesync/ucodesyncd.conf").write_text(text)
    for name, content in dropins.items():
        (d / f"etc/ucodesync/ucodesyncd.conf.d/{name}.conf").write_text(content)
    return d


@case
def cat_config_says_where_a_value_is_from():
    d = configuration("[Schedule]\nWindow=Sat 02:00 for 2h\n[Load]\nQuietSec=5min\n", z="[Load]\nQuietSec=7min\n")
    r = ctl("cat-config", f"--root={d}")
    equal((r.code, r.err), (0, ""))
    contains(r.out, "[Schedule]", "ucodesyncd.conf:2", "ucodesyncd.conf.d/z.conf:2", "; default")
    o = ctl("cat-config", f"--root={d}", "--json=short").json
    equal(sorted(o), ["settings", "warnings"])
    check(all(sorted(s) == ["key", "origin", "section", "value"] for s in o["settings"]), o)
    quiet = [s for s in o["settings"] if s["key"] == "QuietSec"]
    equal(len(quiet), 1)
    contains(quiet[0]["origin"], "z.conf:2")


@case
def cat_config_of_a_mistake():
    d = configuration("[Load]\nQuietSec=soon\n")
    r = ctl("cat-config", f"--root={d}")
    equal((r.code, r.out), (1, ""))
    contains(r.err, "ucodesyncd.conf:2", "QuietSec")
    contains(error(ctl("cat-config", f"--root={d}", "--json=short"), "Failed"), "QuietSec")
    d = configuration("[Load]\nQuietSec=\x1b[31m\u202e\n")
    lacks(ctl("cat-config", f"--root={d}").err, "\x1b", "\u202e")


@case
def cat_config_of_no_configuration_is_the_defaults():
    r = ctl("cat-config", f"--root={directory()}")
    equal(r.code, 0)
    check(all(line.endswith("; default") for line in r.out.splitlines() if "=" in line), r.out)


def rule_files(**files):
    d = directory()
    (d / "etc/ucodesync/rules.d").mkdir(parents=True)
    for name, content in files.items():
        (d / f"etc/ucodesync/rules.d/{name}.conf").write_text(content)
    return d


@case
def rules_and_where_they_are_from():
    d = rule_files(a="[careful]\nAction=warn\nSignature=0x50654\nFrom=<0x80, 0x90\nReason=spikes\nReference=https://example.org/1\n",
                   b="# two\n[fine]\nAction=approve\n\n[stop]\nAction=block\nReason=not now\n")
    r = ctl("rules", f"--root={d}")
    equal((r.code, r.err), (0, ""))
    contains(r.out, "warn  careful", "Signature=0x50654 From=<0x80, 0x90", "spikes (https://example.org/1)", "rules.d/a.conf:1", "approve  fine", "every update",
             "block  stop", "rules.d/b.conf:5: rule [stop] names nothing")
    o = ctl("rules", f"--root={d}", "--json=short").json
    equal(o["rules"][0], {"name": "careful", "action": "warn", "criteria": "Signature=0x50654 From=<0x80, 0x90", "reason": "spikes",
                          "reference": "https://example.org/1", "origin": "/etc/ucodesync/rules.d/a.conf:1", "local": True})
    equal((o["rules"][1]["reason"], o["rules"][1]["criteria"], len(o["rules"]), len(o["warnings"])), (None, "", 3, 2))


@case
def rules_of_a_mistake_and_none():
    d = rule_files(a="[x]\nAction=\x1b[31mblock\n")
    r = ctl("rules", f"--root={d}")
    equal((r.code, r.out), (1, ""))
    contains(r.err, "rules.d/a.conf:2", "expected approve, block")
    lacks(r.err, "\x1b")
    contains(error(ctl("rules", f"--root={d}", "--json=short"), "Failed"), "rules.d/a.conf:2")
    r = ctl("rules", f"--root={directory()}")
    equal((r.code, r.out, r.err), (2, "", ""))
    equal(ctl("rules", f"--root={directory()}", "--json=short").json, {"rules": [], "warnings": []})

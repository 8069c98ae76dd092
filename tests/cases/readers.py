# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who reads what in a directory: inotify counts each opening and each reading of a file by its name, whoever does it."""

import ctypes
import os
import struct

OPEN, ACCESS = 0x20, 0x1
libc = ctypes.CDLL(None, use_errno=True)


class Readers:
    def __init__(self, directory):
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0 or libc.inotify_add_watch(self.fd, os.fsencode(directory), OPEN | ACCESS) < 0:
            raise OSError(ctypes.get_errno(), f"{directory} cannot be watched")
        self.counts = {}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self.fd)

    def look(self):
        while True:
            try:
                data = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                _, mask, _, n = struct.unpack_from("iIII", data, at)
                name = data[at + 16:at + 16 + n].rstrip(b"\0").decode()
                for bit in (OPEN, ACCESS):
                    if mask & bit:
                        self.counts[name, bit] = self.counts.get((name, bit), 0) + 1
                at += 16 + n

    def opened(self, name):
        self.look()
        return self.counts.get((name, OPEN), 0)

    def read(self):
        """The names of what was read, or opened to be read."""
        self.look()
        return {name for name, bit in self.counts if name and bit == ACCESS}

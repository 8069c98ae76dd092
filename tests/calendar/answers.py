# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the two sides answer: systemd-analyze, and our calendar-oracle."""

import calendar
import os
import re
import subprocess

USEC = 1000000

# How many times are asked for. More when the zone changes soon after the base time.
ITERATIONS = 6


class Systemd:
    """What systemd-analyze says. It prints nothing at all when it fails at one of the times, so it is then asked for fewer."""

    LINE = re.compile(r"^\s*(Next elapse|Iter\. #\d+|\(in UTC\)|Normalized form): (.*)$")
    AFTER_ALL = 7300000000  # beyond 2199

    def __init__(self, question):
        zone, base, text = question
        self.lost = False
        for iterations in range(ITERATIONS, 0, -1):
            self.ask(zone, base, text, iterations)
            if "Failed to determine next elapse" not in self.output:
                break
            self.lost = True
        else:
            self.ask(zone, self.AFTER_ALL, text, 1)
            self.times = []
            self.never = False
        self.accepted = self.normalized is not None
        if not self.accepted and "Failed to parse calendar" not in self.output:
            raise RuntimeError("systemd-analyze says: " + self.output)

    def ask(self, zone, base, text, iterations):
        environment = dict(os.environ, TZ=":" + zone, LC_ALL="C", SYSTEMD_COLORS="0", SYSTEMD_PAGER="", SYSTEMD_LOG_LEVEL="info")
        done = subprocess.run(["systemd-analyze", "calendar", "--base-time=@%d" % base, "--iterations=%d" % iterations, "--", text],
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.output = done.stdout + done.stderr
        self.normalized = None
        self.times = []
        self.never = False
        for line in done.stdout.splitlines():
            match = self.LINE.match(line)
            if not match:
                continue
            key, value = match.groups()
            if key == "Normalized form":
                self.normalized = value
            elif value == "never":
                self.never = True
            elif key == "(in UTC)":
                self.times[-1] = self.moment(value)
            else:
                self.times.append(self.moment(value))

    @staticmethod
    def moment(text):
        match = re.match(r"[A-Z][a-z]{2} (\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)", text)
        return calendar.timegm(tuple(int(x) for x in match.groups()))


class Ours:
    def __init__(self, line):
        kind, first, rest = line.rstrip("\n").split("|", 2)
        self.accepted = kind == "ok"
        self.output = line
        self.normalized = first if self.accepted else None
        words = rest.split() if self.accepted else []
        self.never = words[-1:] == ["never"]
        self.times = [int(w) // USEC for w in words if w != "never"]
        self.whole = all(int(w) % USEC == 0 for w in words if w != "never")
        self.error = "" if self.accepted else rest

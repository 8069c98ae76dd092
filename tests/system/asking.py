# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is asked of the installed product, through what people use: busctl, systemctl, journalctl. A mixin for a machine in which programs can
be run: it has run(*argv, check=True, user=None, timeout=60) and out(), which guest.Guest documents."""

import json

from guest import Failed, wait_for

UNIT = "ucodesyncd.service"
BUS = ("org.ucodesync1", "/org/ucodesync1")
MANAGER, STALL = "org.ucodesync1.Manager", "org.ucodesync1.Stall"


class Asking:
    patience = 20  # seconds after which something will not come any more

    def get(self, name, interface=MANAGER, user=None):
        r = self.out("busctl", "--json=short", "get-property", *BUS, interface, name, user=user)
        return json.loads(r)["data"]

    def call(self, method, *arguments, interface=MANAGER, check=True, user=None, timeout=60):
        r = self.run("busctl", "--json=short", "call", *BUS, interface, method, *arguments, check=check, user=user, timeout=timeout)
        if not check:
            return r
        return json.loads(r.stdout)["data"] if r.stdout.strip() else []

    def until(self, name, wanted, timeout=None):
        """Wait until a property has a value, or satisfies a function."""
        def same():
            value = self.get(name)
            return (value,) if (wanted(value) if callable(wanted) else value == wanted) else None
        try:
            return wait_for(name, same, timeout or self.patience, every=0.1)[0]
        except Failed as e:
            raise Failed(f"{e}: {name} is {self.get(name)!r}, wanted {wanted!r}; State {self.get('State')}, "
                         f"BlockedBy {self.get('BlockedBy')}") from e

    def blocked(self, name):
        """Wait until this blocker is in the set. The load is looked at only when all else is open, so `load` is often there too."""
        self.until("BlockedBy", lambda names: name in names)

    def history(self):
        return self.call("ListHistory", "u", "1000")[0]

    def unit(self, *names, unit=UNIT):
        """Properties of the unit, as systemd has them."""
        text = self.out("systemctl", "show", unit, *(f"--property={n}" for n in names))
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        return values[names[0]] if len(names) == 1 else values

    def cursor(self):
        """Where the journal ends now."""
        self.run("journalctl", "--sync")
        text = self.out("journalctl", "--quiet", "-n0", "--show-cursor")
        return text.rpartition("-- cursor: ")[2].strip()

    def journal(self, *matches, after=None):
        """Entries, oldest first. journalctl 252 loses one where --after-cursor= meets matches, so these are applied here."""
        self.run("journalctl", "--sync")
        text = self.run("journalctl", "--quiet", "--no-pager", "--output=json", "--all", *(["--after-cursor=" + after] if after else matches),
                        check=False).stdout
        entries = [json.loads(line) for line in text.splitlines()]
        return [e for e in entries if all(e.get(k) == v for k, v in (match.split("=", 1) for match in matches))]

    def story(self, after):
        """For a message: what the daemon and systemd said of it since then, without the fields."""
        r = self.run("journalctl", "--quiet", "--no-pager", "--output=short-precise", "--after-cursor=" + after, check=False)
        return [line for line in r.stdout.splitlines() if "ucodesync" in line.partition("ucodesync-guest")[2]]

    def processes(self, name):
        """Numbers of the guest's processes of this name."""
        text = self.run("sh", "-c", f"grep -lx {name} /proc/[0-9]*/comm", check=False).stdout
        return [int(line.split("/")[2]) for line in text.splitlines()]

    # ---- the daemon ----------------------------------------------------------------------------------------------------------

    def enable(self):
        self.run("systemctl", "enable", "--quiet", "--now", UNIT)

    def restart(self):
        self.run("systemctl", "restart", UNIT)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random questions: a zone, a base time, an expression. And what a zone's data say, as a third reader of them."""

import calendar
import datetime
import zoneinfo

# Half-hour changes, changes at midnight, whole days left out, southern summers, rules older and younger than the data's end, none.
ZONES = """UTC Europe/Berlin America/New_York Australia/Lord_Howe Asia/Kolkata Pacific/Apia Africa/Casablanca America/Sao_Paulo
           Europe/Dublin America/St_Johns Asia/Tehran Asia/Gaza Antarctica/Troll Pacific/Chatham America/Havana Africa/Cairo
           Asia/Beirut America/Asuncion Pacific/Kiritimati America/Nuuk Africa/Abidjan Asia/Kathmandu Atlantic/Azores""".split()


class Zone:
    """What the zone's data say, apart from either program."""

    def __init__(self, name):
        self.info = zoneinfo.ZoneInfo(name)

    def offset(self, t):
        return int(datetime.datetime.fromtimestamp(t, self.info).utcoffset().total_seconds())

    def wall(self, t):
        return datetime.datetime.fromtimestamp(t, self.info).replace(tzinfo=None)

    def is_gap(self, t):
        """The clock jumps forward at t."""
        return self.offset(t) > self.offset(t - 1)

    def is_second_pass(self, t):
        return datetime.datetime.fromtimestamp(t, self.info).fold == 1

    def twin(self, t):
        """The moment in the second pass at which the wall clock shows what it shows at t, or t."""
        return int(datetime.datetime.fromtimestamp(t, self.info).replace(fold=1).timestamp())

    def changes(self, first, last):
        """The moments in first..last at which the offset changes, to the second."""
        found = []
        step = 6 * 3600
        t = first
        while t <= last:
            if self.offset(t) != self.offset(t + step):
                low, high = t, t + step
                while high - low > 1:
                    middle = (low + high) // 2
                    if self.offset(middle) == self.offset(low):
                        low = middle
                    else:
                        high = middle
                if high <= last:
                    found.append(high)
            t += step
        return found


class Generator:
    def __init__(self, rng, zones):
        self.rng = rng
        self.zones = zones
        self.known = {z: Zone(z) for z in zones}
        self.near = {}

    def changes(self, zone, year):
        key = zone, year
        if key not in self.near:
            self.near[key] = self.known[zone].changes(calendar.timegm((year, 1, 1, 0, 0, 0)),
                                                      calendar.timegm((year + 1, 1, 1, 0, 0, 0)))
        return self.near[key]

    def base(self, zone):
        """A base time, three times in four within two days before a clock change of the zone."""
        rng = self.rng
        year = rng.choice([rng.randint(1971, 2037), rng.randint(2005, 2030), rng.randint(2038, 2190)])
        changes = self.changes(zone, year)
        if changes and rng.random() < 0.75:
            change = rng.choice(changes)
            return change + rng.choice([-2 * 86400, -86400, -7200, -3600, -1, 0, 1, 600, 1800, 3599, 3600, 7200,
                                        rng.randint(-172800, 7200)])
        return calendar.timegm((year, 1, 1, 0, 0, 0)) + rng.randint(0, 365 * 86400)

    def number(self, low, high):
        """Mostly within the limits, at times at or beyond them."""
        rng = self.rng
        n = rng.randint(low, high) if rng.random() < 0.985 else rng.choice([low - 1, low, high, high + 1, 0])
        return str(max(n, 0)) if rng.random() < 0.6 else "%02d" % max(n, 0)

    def item(self, low, high):
        rng = self.rng
        kind = rng.random()
        if kind < 0.55:
            return self.number(low, high)
        start = rng.randint(low, high)
        if kind < 0.75:
            end = rng.randint(start, high) if rng.random() < 0.96 else rng.randint(low, high)
            text = "%d..%d" % (start, end)
            if rng.random() < 0.4:
                text += "/%d" % rng.randint(1, max(1, (high - low) // 2))
            return text
        room = high - start
        step = rng.randint(1, room) if room > 0 and rng.random() < 0.95 else rng.randint(0, high)
        return "%s/%d" % (self.number(start, start), step)

    def field(self, low, high, star):
        rng = self.rng
        if rng.random() < star:
            return "*"
        return ",".join(self.item(low, high) for _ in range(rng.choice([1, 1, 1, 1, 1, 2, 2, 3, 5])))

    def weekdays(self):
        rng = self.rng
        short = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        full = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

        def name(i):
            text = rng.choice([short, short, full])[i]
            return rng.choice([text, text, text.lower(), text.upper()])

        parts = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if rng.random() < 0.35:
                a, b = rng.randint(0, 6), rng.randint(0, 6)
                if rng.random() < 0.95:
                    a, b = min(a, b), max(a, b)
                parts.append(name(a) + rng.choice(["..", "..", "..", "-"]) + name(b))
            else:
                parts.append(name(rng.randint(0, 6)))
        return ",".join(parts) + ("," if rng.random() < 0.04 else "")

    def year(self, around):
        rng = self.rng
        kind = rng.random()
        if kind < 0.78:
            return "*"
        if kind < 0.83:
            return "%d" % (rng.randint(0, 99))
        if kind < 0.93:
            first = max(1970, around - rng.randint(0, 2))
            return rng.choice(["%d" % around, "%d..%d" % (first, first + 5), "%d/%d" % (first, rng.randint(1, 4)),
                               "%d,%d" % (around, around + 1)])
        return self.field(1970, 2199, 0.0)

    def date(self, around):
        rng = self.rng
        month = self.field(1, 12, 0.55)
        if rng.random() < 0.12:
            day = self.field(1, 28, 0.1)
            text = "%s~%s" % (month, day)
        else:
            text = "%s-%s" % (month, self.field(1, 31, 0.5))
        if rng.random() < 0.8:
            text = "%s-%s" % (self.year(around), text)
        return text

    def time(self, hour):
        rng = self.rng
        # the hours in which clocks change come up often
        text = rng.choice([str(hour), "%02d" % hour, self.field(0, 23, 0.2), self.field(0, 3, 0.1)])
        text += ":" + rng.choice(["00", "30", "15", "59", self.field(0, 59, 0.2)])
        if rng.random() < 0.3:
            text += ":" + rng.choice(["00", "0", self.field(0, 59, 0.1)])
        return text

    def mutate(self, text):
        rng = self.rng
        if not text:
            return text
        i = rng.randrange(len(text))
        kind = rng.random()
        if kind < 0.3:
            return text[:i] + text[i + 1:]
        c = rng.choice("0123456789*/,.-~: @MSaz+")
        if kind < 0.7:
            return text[:i] + c + text[i:]
        return text[:i] + c + text[i + 1:]

    def expression(self, base, zone):
        rng = self.rng
        wall = self.known[zone].wall(base)
        kind = rng.random()
        if kind < 0.06:
            text = rng.choice(["minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "annually", "anually",
                               "semiannually", "semi-annually", "biannually", "bi-annually", "Daily", "HOURLY", "fortnightly"])
        elif kind < 0.08:
            text = "@%d" % rng.choice([base + 5, base, rng.randint(0, 4200000000), 7258118399, 7258118400, 99999999999])
        else:
            parts = []
            if rng.random() < 0.35:
                parts.append(self.weekdays())
            if rng.random() < 0.65 or not parts:
                if rng.random() < 0.75:
                    parts.append(self.date(wall.year))
            if rng.random() < 0.8 or not parts:
                parts.append(self.time(rng.choice([wall.hour, (wall.hour + 1) % 24, 0, 2])))
            text = rng.choice([" "] * 20 + ["  "]).join(parts)
        if rng.random() < 0.25:
            text += " " + rng.choice([rng.choice(self.zones), "UTC", "utc", rng.choice(self.zones)])
        elif rng.random() < 0.02:
            text += " " + rng.choice(["Nope/Zone", "Europe", "Europe/", "CEST", "/etc/localtime", "../UTC", "europe/berlin"])
        if rng.random() < 0.08:
            text = self.mutate(text)
        return text

    def question(self):
        zone = self.rng.choice(self.zones)
        base = self.base(zone)
        return zone, base, self.expression(base, zone)

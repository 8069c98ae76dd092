# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kinds of differences that are explained (docs/windows.md, "Where it differs from systemd"), and how one case is shown to be of its
kind: by the zone's data, and by asking systemd in another way."""

import collections
import re

from answers import ITERATIONS, Systemd
from questions import Zone

GAP = "start in a spring gap: the transition itself, systemd skips it"
SECOND = "second pass of an autumn overlap: no start there, systemd has one when it is asked from within"
TWIN = "autumn overlap: systemd answers with the second pass, from a wrong guess of mktime()"
OVERFLOW = "step without end: systemd counts on beyond the end of its unit and skips times that it gives when the step is spelled out"
SKIPPED = "clock change nearby: systemd skips times, or ends, but gives the time when asked from the second before it"
INVENTED = "clock change nearby: systemd has a time that it does not give when asked from the second before it"
LOST = "systemd fails with 'Infinite loop in calendar calculation'"
MONTH_END = "list of days from the end of the month: systemd takes three days off the limit for each further item"
ABBREVIATION = "abbreviation of the local zone: not taken"
EPOCH = "sign or blank behind '@': not taken"
FRACTION = "fraction of a second: not taken"


class Difference(Exception):
    pass


def own_zone(normalized, zone):
    """The zone in which the expression is read."""
    word = normalized.split(" ")[-1]
    return word if re.match(r"[A-Za-z]", word) and len(normalized.split(" ")) > 2 else zone


def beyond_shrinking_limit(normalized):
    """Whether the days from the end of the month would pass with the limit of 28 for all, but not with 28, 25, 22, …"""
    match = re.search(r"~([\d.,/]+) ", normalized)
    limit = 28
    for item in sorted(match.group(1).split(","), key=lambda i: int(re.match(r"\d+", i).group())) if match else []:
        start, stop, step = re.fullmatch(r"(\d+)(?:\.\.(\d+))?(?:/(\d+))?", item).groups()
        if max(int(start), int(stop or 0)) > limit or int(step or 0) > limit - 1:
            return True
        limit -= 3
    return False


def whole(normalized, zone, base):
    return Systemd((zone, base, normalized))


def one_by_one(normalized, zone, base):
    """What systemd says to each day from the end of the month by itself, put together as one answer."""
    before, items, after = re.fullmatch(r"(.*~)(\S+)( .*)", normalized).groups()
    answers = [Systemd((zone, base, before + item + after)) for item in items.split(",")]
    together = answers[0]
    together.times = sorted({t for answer in answers for t in answer.times})[:ITERATIONS]
    together.never = all(answer.never for answer in answers)
    together.lost = any(answer.lost for answer in answers)
    return together


def spelled_out(normalized):
    """The same expression with each open step (5/20) written as the values it stands for (5,25), as systemd.time(7) defines it."""
    limits = [(1970, 2199), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59)]
    head, date, clock, tail = re.fullmatch(r"((?:[A-Z]\S* )?)(\S+) (\S+)((?: [A-Za-z]\S*)?)", normalized).groups()
    fields = re.split(r"([-~:])", date + ":" + clock)
    for i, (low, high) in enumerate(limits):
        items = []
        for item in fields[2 * i].split(","):
            match = re.fullmatch(r"(\d+)/(\d+)", item)
            if not match:
                items.append(item)
                continue
            start, step = int(match.group(1)), int(match.group(2))
            from_end = i == 2 and fields[2 * i - 1] == "~"
            items += [str(n) for n in (range(start, low - 1, -step) if from_end else range(start, high + 1, step))]
        fields[2 * i] = ",".join(dict.fromkeys(items))
    fields[5] = " "
    return head + "".join(fields) + tail


def starts_in_gap(normalized, data, t, ask):
    """Whether the clock jumps forward at t over a wall-clock time of the expression. systemd is asked, as if wall clocks were UTC."""
    if not data.is_gap(t):
        return False
    bare = re.sub(r" [A-Za-z]\S*$", "", normalized) if own_zone(normalized, "") else normalized
    first, end = data.offset(t - 1) + t, data.offset(t) + t
    return any(first <= x < end for x in ask(first - 1, bare, "UTC").times[:1])


def compare(question, ours, systemd):
    """How many times are the same, and the kinds of explained differences. Raises Difference for one that is not explained."""
    zone, base, text = question
    kinds = collections.Counter()
    same = 0

    def ask(before, spelling, where=zone):
        return (one_by_one if beyond_shrinking_limit(spelling) else whole)(spelling, where, before)

    if ours.accepted != systemd.accepted:
        if systemd.accepted and re.search(r" (?![A-Za-z]+/)[-+A-Za-z0-9]+$", text) and "no time zone" in ours.error \
                and systemd.normalized.split(" ")[-1].upper() == text.split(" ")[-1].upper():
            kinds[ABBREVIATION] += 1
            return same, kinds
        if systemd.accepted and re.search(r"\d\.\d", text) and "fraction" in ours.error:
            kinds[FRACTION] += 1
            return same, kinds
        if systemd.accepted and re.search(r"@[ +]", text) and "since the epoch" in ours.error:
            kinds[EPOCH] += 1
            return same, kinds
        if ours.accepted and beyond_shrinking_limit(ours.normalized):
            kinds[MONTH_END] += 1
            systemd = ask(base, ours.normalized)
        else:
            raise Difference("one accepts, the other does not")
    if not ours.accepted:
        return same, kinds
    if ours.normalized != systemd.normalized and MONTH_END not in kinds:
        raise Difference("normalized forms differ")
    if not ours.whole or any(b <= a for a, b in zip([base] + ours.times, ours.times)):
        raise Difference("our times do not increase")

    data = Zone(own_zone(ours.normalized, zone))
    end = base + 4 * 86400 if len(ours.times) < ITERATIONS else min(base + 4 * 86400, ours.times[-1])
    for t in data.changes(base, end):
        if t > base and t not in ours.times and starts_in_gap(ours.normalized, data, t, ask):
            raise Difference("we skip the start in the gap, %s" % t)

    a, b, lost, last = list(ours.times), list(systemd.times), systemd.lost, base
    while a or b:
        if lost and not b:
            # it has given up: what comes next must show otherwise; then ask it for what is behind
            if not any(ask(before, spelling).times[:1] == a[:1]
                       for before in (a[0] - 1, last) for spelling in (ours.normalized, spelled_out(ours.normalized))) and \
                    not starts_in_gap(ours.normalized, data, a[0], ask):
                raise Difference("systemd fails, and has %s in no other way" % a[0])
            kinds[LOST] += 1
            last = a.pop(0)
            again = ask(last, ours.normalized)
            b, lost = again.times, again.lost
            continue
        if a and b and a[0] == b[0]:
            same += 1
            last = a.pop(0)
            b.pop(0)
        elif a and b and data.twin(a[0]) == b[0]:
            kinds[TWIN] += 1
            last = a.pop(0)
            b.pop(0)
        elif a and (not b or a[0] < b[0]):
            if not b and not systemd.never and (len(systemd.times) == ITERATIONS or a[0] > systemd.times[-1]):
                break  # ours has fallen behind by what it had more of
            if starts_in_gap(ours.normalized, data, a[0], ask):
                kinds[GAP] += 1
            elif spelled_out(ours.normalized) != ours.normalized and \
                    a[0] in ask(last, spelled_out(ours.normalized)).times:
                kinds[OVERFLOW] += 1
                last = a[0]  # what it skips is missing in a row
            elif data.changes(last, a[0] + 31 * 86400) and ask(a[0] - 1, ours.normalized).times[:1] == a[:1]:
                kinds[SKIPPED] += 1
            else:
                raise Difference("systemd does not have %s" % a[0])
            a.pop(0)
        else:
            if not a and len(ours.times) == ITERATIONS:
                break
            if data.is_second_pass(b[0]):
                kinds[SECOND] += 1
            elif data.changes(last, b[0] + 31 * 86400) and ask(b[0] - 1, ours.normalized).times[:1] not in ([], b[:1]):
                kinds[INVENTED] += 1
            else:
                raise Difference("we do not have %s" % b[0])
            last = b.pop(0)
    return same, kinds

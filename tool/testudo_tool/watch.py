"""Testudo: what the library does in a program that runs, a line an interval.

SPDX-License-Identifier: BSD-2-Clause
"""
import collections

from . import events

HEADER = 20       # lines on a terminal between headers
MOST_ARENAS = 20  # that have figures of their own
MIB = 1 << 20
MOST_LINES = 10 ** 6  # for a time in which nothing was told
SECOND = 10 ** 9  # nanoseconds

TITLES = (
    ("time", "coll.", "full", "paused", "longest", "hits", "condemned",
     "survived", "freed", "pools"),
    ("s", "", "", "%", "ms", "", "MiB", "MiB", "MiB/s", "MiB"))
WIDTHS = (7, 5, 4, 7, 8, 7, 9, 8, 7, 8)


class Spread(events.Times):
    """Times, and how they are spread, to an eighth."""

    def __init__(self):
        super().__init__()
        self.upto = collections.Counter()

    def add(self, nanoseconds):
        super().add(nanoseconds)
        shift = max(nanoseconds.bit_length() - 4, 0)
        self.upto[((nanoseconds >> shift) + 1) << shift] += 1

    def join(self, other):
        self.count += other.count
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        self.upto.update(other.upto)

    def within(self, share):
        """A time that at least SHARE of them do not exceed."""
        left = share * self.count
        for upto in sorted(self.upto):
            left -= self.upto[upto]
            if left <= 0:
                return min(upto, self.longest)
        return self.longest


class Figures:
    """What was done in some time."""

    def __init__(self):
        self.sums = collections.Counter()
        self.reasons = collections.Counter()
        self.hits = collections.Counter()  # by kind
        self.pauses, self.hit_times = Spread(), Spread()

    def busy(self):
        return bool(self.sums or self.pauses.count or self.hits)

    def join(self, other):
        self.sums.update(other.sums)
        self.reasons.update(other.reasons)
        self.hits.update(other.hits)
        self.pauses.join(other.pauses)
        self.hit_times.join(other.hit_times)


class Arena:
    """One of the stream: in all, and since the last line."""

    def __init__(self, name, address=None):
        self.name = name
        self.address = address  # None: some arenas
        self.label = None
        self.total, self.now = Figures(), Figures()
        self.running = None  # of a collection under way: is it full?

    def begin(self, arguments, text):
        self.running = arguments.get("full", 0)
        self.now.reasons.update(text.values())

    def end(self, arguments, _):
        self.now.sums.update(collections=1, full=self.running or 0)
        self.now.sums.update({name: arguments.get(name, 0) for name in
                              ("condemned", "survived", "scanned")})
        self.running = None

    def pause(self, arguments, _):
        self.now.pauses.add(arguments.get("time", 0))

    def hit(self, arguments, _):
        self.now.hits[arguments.get("kind", 0)] += 1
        self.now.hit_times.add(arguments.get("time", 0))

    NOTES = {"COLLECT_BEGIN": begin, "COLLECT_END": end, "PAUSE": pause,
             "HIT": hit}

    def __str__(self):
        if self.address is None:
            return self.name
        label = f"({self.label})" if self.label else ""
        return f"{self.name}, {self.address:#x}{label}"

    def turn(self):
        """What it did since the last time."""
        now, self.now = self.now, Figures()
        self.total.join(now)
        return now


def row(cells):
    return " ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS))


def milliseconds(nanoseconds):
    return f"{nanoseconds / 1e6:,.2f}"


def mebibytes(number):
    return f"{number / MIB:,.1f}"


class Watch:
    """The figures of a stream, a line for each INTERVAL (seconds) from BEGAN
    on, nanoseconds of the monotonic clock; None: from the first event. SAY
    prints a line; AGAIN: with headers between, not only above."""

    def __init__(self, interval, say, again=False, began=None):
        self.interval = round(interval * SECOND)
        self.digits = 1 if self.interval % (SECOND // 10) == 0 else 3
        self.say, self.again = say, again
        self.began = began
        self.since = None   # where the next line begins, after the first event
        self.latest = None  # time of an event
        self.lines = self.dropped = 0
        self.arenas = []
        self.strings = {}   # labels
        self.seen = set()   # names of events
        self.renew()

    def renew(self):
        """Another process writes: what there was is not its own."""
        self.of = {}   # arenas by address
        self.held = 0  # bytes that pools have
        for arena in self.arenas:
            arena.running = None

    # What happens.

    def arena(self, address):
        """The arena at ADDRESS. Of many, some are taken together."""
        if address not in self.of:
            number = len(self.arenas) + 1
            if number < MOST_ARENAS:
                self.arenas.append(Arena(str(number), address))
            elif number == MOST_ARENAS:
                self.arenas.append(Arena("others"))
            self.of[address] = self.arenas[-1]
        return self.of[address]

    def note(self, event):
        if self.since is None:
            self.start(event.time)
        self.until(event.time)
        self.latest = max(self.latest, event.time)
        self.seen.add(event.name)
        arguments = event.arguments
        if event.name in Arena.NOTES:
            arena = self.arena(arguments.get("arena", 0))
            Arena.NOTES[event.name](arena, arguments, event.text)
        elif event.name == "SEG_ALLOC":
            self.held += arguments.get("size", 0)
        elif event.name == "SEG_FREE":
            self.held -= arguments.get("size", 0)
        elif event.name == "DROPPED":
            self.dropped += arguments.get("events", 0)
        else:
            self.note_name(event)

    def note_name(self, event):
        """Arenas come, get labels, and go; addresses are used again."""
        arguments = event.arguments
        if event.name in ("ARENA_CREATE", "ARENA_DESTROY"):
            self.of.pop(arguments.get("arena", 0), None)
        if event.name == "ARENA_CREATE":
            self.arena(arguments.get("arena", 0))
        elif event.name == "INTERN":
            self.strings[arguments.get("label")] = "".join(event.text.values())
        elif event.name == "LABEL" and arguments.get("address") in self.of:
            label = self.strings.get(arguments.get("label"), "?")
            self.of[arguments["address"]].label = events.quoted(label)[1:-1]

    def start(self, time):
        """The first event: lines begin with the interval that it is in."""
        self.began = time if self.began is None else self.began
        before = max(time - self.began, 0) // self.interval
        self.since = self.began + before * self.interval
        self.latest = self.since

    def until(self, time):
        """Print the lines that end before TIME. Where it lies far ahead (a
        stopped machine, or a time that is none), one line is for all that."""
        if self.since is None:
            return
        if time >= self.since + MOST_LINES * self.interval:
            self.line(time)
        while time >= self.since + self.interval:
            self.line(self.since + self.interval)

    # What is told.

    def shown(self, text, *names):
        """TEXT, or none if the stream has none of the events NAMES."""
        return text if self.seen.intersection(names) else "-"

    def line(self, end):
        """What was done until END."""
        if self.lines == 0 or self.again and self.lines % HEADER == 0:
            for titles in TITLES:
                self.say(row(titles))
        self.lines += 1
        now, length = Figures(), max(end - self.since, self.interval // 10)
        for arena in self.arenas:
            now.join(arena.turn())
        running = any(arena.running is not None for arena in self.arenas)
        sums = now.sums
        self.say(row((
            f"{(end - self.began) / SECOND:.{self.digits}f}",
            f"{sums['collections']}{'+' if running else ''}",
            str(sums["full"]),
            self.shown(f"{100 * now.pauses.total / length:.1f}", "PAUSE"),
            self.shown(milliseconds(now.pauses.longest), "PAUSE"),
            self.shown(str(sum(now.hits.values())), "HIT", "SEG_ALLOC"),
            mebibytes(sums["condemned"]), mebibytes(sums["survived"]),
            mebibytes((sums["condemned"] - sums["survived"])
                      * SECOND / length),
            self.shown(mebibytes(max(self.held, 0)), "SEG_ALLOC"))))
        self.since = end

    def finish(self, end=None):
        """The last line, and the totals: what was done until END, or until the
        latest event."""
        if self.since is None:
            return
        end = max(self.latest, end or 0)
        self.until(end)
        if (end - self.since > self.interval // 10
                or any(arena.now.busy() for arena in self.arenas)):
            self.line(end)
        whole = Figures()
        for arena in self.arenas:
            arena.turn()
            whole.join(arena.total)
        seconds = (end - self.began) / SECOND
        self.say(f"testudo: in {seconds:.{self.digits}f} s")
        for name, text in self.totals(whole, max(seconds, 1e-9)):
            self.say(f"  {name:<12} {text}")

    def totals(self, whole, seconds):
        """Pairs of a name and a text."""
        sums, pauses, hits = whole.sums, whole.pauses, whole.hits
        yield "collections", (f"{sums['collections']:,}, of everything "
                              f"{sums['full']:,}")
        for reason, number in whole.reasons.most_common():
            yield "", f"{number:,} {reason}"
        yield "condemned", (
            f"{mebibytes(sums['condemned'])} MiB, survived "
            f"{mebibytes(sums['survived'])} MiB, scanned "
            f"{mebibytes(sums['scanned'])} MiB")
        if pauses.count:
            yield "pauses", (
                f"{pauses.count:,}, in all {pauses.total / SECOND:.3f} s, "
                f"{pauses.total / SECOND / seconds:.1%} of the time")
            yield "", (f"half within {milliseconds(pauses.within(0.5))} ms, "
                       f"99 % within {milliseconds(pauses.within(0.99))} ms, "
                       f"longest {milliseconds(pauses.longest)} ms")
        if hits:
            kinds = ", ".join(f"{hits[kind]:,} {name}" for kind, name in
                              enumerate(("not known", "read", "write"))
                              if hits[kind])
            yield "hits", (f"{kinds}, in all "
                           f"{whole.hit_times.total / SECOND:.3f} s")
        if self.dropped:
            yield "dropped", (f"{self.dropped:,} events: the figures are too "
                              "low")
        if len(self.arenas) > 1:
            for arena in self.arenas:
                total = arena.total
                yield "arena", (
                    f"{arena}: {total.sums['collections']:,} collections, "
                    f"{total.pauses.count:,} pauses, in all "
                    f"{total.pauses.total / SECOND:.3f} s")

"""Testudo: reading telemetry. The format is in the manual, "Telemetry".

SPDX-License-Identifier: BSD-2-Clause
"""
import collections
import json
import struct

from . import kernel

MAGIC = b"TDOEVT1\n"
ORDER = 0x0102030405060708
DEFINE, DROPPED, INTERN, LABEL = 1, 2, 3, 4
HEAD = 16            # bytes that the file, and each record, begins with
MOST_TEXT = 1 << 20  # bytes; the library's are less than 256
PIECE = 1 << 16      # bytes that are read at once
ADDRESSES = {"arena", "pool", "ap", "base", "address", "reference"}

Kind = collections.namedtuple("Kind", "name arguments text")
Event = collections.namedtuple("Event", "time name arguments text")


class Broken(kernel.Failure):
    """What a file has from some byte on is no record; what comes before it is
    good."""

    def __init__(self, path, why, at):
        super().__init__(f"{path} {why}, at byte {at}", 2)


def define(text):
    """NAME ARGUMENT... [: TEXT] as a Kind; None if it is not that."""
    head, _, tail = text.partition(":")
    name, *arguments = head.split() or [None]
    return name and Kind(name, arguments, tail.strip())


def words_order(data, path):
    """The struct prefix for the file's byte order."""
    if data[:8] != MAGIC:
        raise kernel.Failure(f"{path} is not a file of events", 2)
    for order in "<>":
        if struct.unpack(order + "Q", data[8:16].ljust(8, b"\0"))[0] == ORDER:
            return order
    raise kernel.Failure(f"{path} has a byte order unknown here", 2)


class Stream:
    """What a file says whose bytes come in pieces."""

    def __init__(self, path):
        self.path = path
        self.rest = b""    # of the pieces, what was no whole record yet
        self.at = 0        # the offset of that
        self.order = None  # once it is known
        self.kinds = {}

    def feed(self, data):
        """Every Event but the definitions that is whole with the piece DATA.
        Raises Broken."""
        data, at = self.rest + data, 0
        if self.order is None and len(data) >= HEAD:
            self.order, at = words_order(data, self.path), HEAD
        try:
            while self.order and len(data) - at >= HEAD:
                head, time = struct.unpack_from(self.order + "QQ", data, at)
                count, size = head >> 16 & 0xFFFF, head >> 32
                if size > MOST_TEXT:
                    raise self.broken("has a text that is too long", at)
                start = at + HEAD + 8 * count
                end = start + (size + 7) // 8 * 8
                if end > len(data):
                    break
                values = struct.unpack_from(f"{self.order}{count}Q", data,
                                            at + HEAD)
                text = data[start:start + size].decode(errors="replace") \
                    if size else ""
                if head & 0xFFFF != DEFINE:
                    yield self.event(head & 0xFFFF, time, values, text)
                elif not self.define(values, text):
                    raise self.broken("defines an event without a name or "
                                      "code", at)
                at = end
        finally:
            self.rest, self.at = data[at:], self.at + at

    def broken(self, why, at):
        return Broken(self.path, why, self.at + at)

    def define(self, values, text):
        """Note what a definition says; False if it is none."""
        kind = define(text)
        if kind is None or not values:
            return False
        self.kinds[values[0]] = kind
        return True

    def event(self, code, time, values, text):
        kind = self.kinds.get(code) or Kind(f"EVENT_{code}", [], "text")
        arguments = dict(zip(kind.arguments, values))
        for i in range(len(kind.arguments), len(values)):
            arguments[str(i)] = values[i]
        return Event(time, kind.name, arguments,
                     {kind.text: text} if text else {})

    def end(self):
        """There are no more pieces. Raises Broken if another record begins."""
        if self.order is None:
            words_order(self.rest, self.path)
        if self.rest:
            raise self.broken("ends within a record", len(self.rest))


def events(path):
    """Every Event of a file but the definitions, in order; then raises Broken
    if another record begins."""
    stream = Stream(path)
    try:
        with open(path, "rb") as file:
            data = file.read(HEAD)
            while data:
                yield from stream.feed(data)
                data = file.read(PIECE)
    except OSError as error:
        raise kernel.Failure(f"{path}: {error.strerror}", 2) from error
    stream.end()


class Names:
    """What the client called things, by mps_telemetry_label."""

    def __init__(self):
        self.strings, self.of = {}, {}

    def learn(self, event):
        label = event.arguments.get("label")
        if event.name == "INTERN":
            self.strings[label] = next(iter(event.text.values()), "")
        elif event.name == "LABEL":
            self.of[event.arguments.get("address")] = \
                self.strings.get(label, "?")

    def show(self, name, value):
        if name not in ADDRESSES:
            return str(value)
        label = self.of.get(value)
        return f"{value:#x}" + (f"({quoted(label)[1:-1]})" if label else "")


def quoted(text):
    """TEXT between quotes, on one line, whatever characters it has."""
    return json.dumps(text, ensure_ascii=False)


def listing(path):
    """A line for each event."""
    names, began = Names(), None
    for event in events(path):
        began = event.time if began is None else began
        names.learn(event)
        fields = [f"{name}={names.show(name, value)}"
                  for name, value in event.arguments.items()]
        fields += [f"{name}={quoted(value)}"
                   for name, value in event.text.items()]
        seconds = (event.time - began) / 1e9
        yield f"{seconds:.6f} {event.name} {' '.join(fields)}"


class Times:
    """How long things took: no more than their number, total and longest."""

    def __init__(self):
        self.count = self.total = self.longest = 0

    def add(self, nanoseconds):
        self.count += 1
        self.total += nanoseconds
        self.longest = max(self.longest, nanoseconds)

    def milliseconds(self):
        return {"count": self.count, "total": self.total / 1e6,
                "longest": self.longest / 1e6}


def summary(path):
    """How many events of each name there are, and the collections; and what
    Broken has to say, if the file is."""
    counts, reasons = collections.Counter(), collections.Counter()
    times = collections.defaultdict(Times)
    survived, broken = 0, None
    try:
        for event in events(path):
            dropped = event.name == "DROPPED"
            counts[event.name] += \
                event.arguments.get("events", 0) if dropped else 1
            if "time" in event.arguments:
                times[event.name].add(event.arguments["time"])
            if event.name == "COLLECT_BEGIN":
                reasons.update(event.text.values())
            if event.name == "COLLECT_END":
                survived += event.arguments.get("survived", 0)
    except Broken as failure:
        broken = failure
    return {
        "events": dict(sorted(counts.items())),
        "collections": dict(reasons),
        "survived_bytes": survived,
        "milliseconds": {name: t.milliseconds()
                         for name, t in sorted(times.items())},
    }, broken


def summary_text(result):
    lines = [f"{count:>10,} {name}"
             for name, count in result["events"].items()]
    lines += [f"{count:>10,} collections: {why}"
              for why, count in result["collections"].items()]
    lines += [f"{t['total']:>10.3f} ms in {t['count']:,} {name}, "
              f"longest {t['longest']:.3f} ms"
              for name, t in result["milliseconds"].items()]
    return "\n".join(lines)

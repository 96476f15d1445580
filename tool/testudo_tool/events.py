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


def records(path):
    """(offset, code, nanoseconds, arguments, text) of every whole record; then
    raises Broken if another begins."""
    try:
        with open(path, "rb") as file:
            data, at = file.read(16), 16
            order = words_order(data, path)
            data += file.read()
    except OSError as error:
        raise kernel.Failure(f"{path}: {error.strerror}", 2) from error
    while at < len(data):
        if at + 16 > len(data):
            raise Broken(path, "ends within a record", len(data))
        head, time = struct.unpack_from(order + "QQ", data, at)
        count, size = head >> 16 & 0xFFFF, head >> 32
        end = at + 16 + 8 * count + (size + 7) // 8 * 8
        if end > len(data):
            raise Broken(path, "ends within a record", len(data))
        arguments = struct.unpack_from(f"{order}{count}Q", data, at + 16)
        start = at + 16 + 8 * count
        yield at, head & 0xFFFF, time, arguments, \
            data[start:start + size].decode(errors="replace")
        at = end


def events(path):
    """Every Event but the definitions, in order; times in seconds since the
    first of them."""
    kinds, began = {}, None
    for at, code, time, values, text in records(path):
        if code == DEFINE:
            kind = define(text)
            if kind is None or not values:
                raise Broken(path, "defines an event without a name or code",
                             at)
            kinds[values[0]] = kind
            continue
        began = time if began is None else began
        kind = kinds.get(code, Kind(f"EVENT_{code}", [], "text"))
        arguments = {name: value for name, value
                     in zip(kind.arguments, values)}
        for i in range(len(kind.arguments), len(values)):
            arguments[str(i)] = values[i]
        yield Event((time - began) / 1e9, kind.name, arguments,
                    {kind.text: text} if text else {})


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
    names = Names()
    for event in events(path):
        names.learn(event)
        fields = [f"{name}={names.show(name, value)}"
                  for name, value in event.arguments.items()]
        fields += [f"{name}={quoted(value)}"
                   for name, value in event.text.items()]
        yield f"{event.time:.6f} {event.name} {' '.join(fields)}"


def summary(path):
    """How many events of each name there are, and the collections; and what
    Broken has to say, if the file is."""
    counts, reasons = collections.Counter(), collections.Counter()
    times = collections.defaultdict(list)
    survived, broken = 0, None
    try:
        for event in events(path):
            dropped = event.name == "DROPPED"
            counts[event.name] += \
                event.arguments.get("events", 0) if dropped else 1
            if "time" in event.arguments:
                times[event.name].append(event.arguments["time"] / 1e6)
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
        "milliseconds": {
            name: {"count": len(t), "total": sum(t), "longest": max(t)}
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

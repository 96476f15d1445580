"""Testudo: the statistics that the library prints at exit.

SPDX-License-Identifier: BSD-2-Clause
"""
import re

HEAD = re.compile(r"testudo: shield (\w+)")
LINE = re.compile(r"  (\S+(?: \S+)*?)  +(.*)")


class Sorter:
    """Tells the library's lines from those of a program, one by one."""

    def __init__(self):
        self.arenas = []  # a dictionary for each
        self.inside = False

    def takes(self, line):
        """True if LINE is the library's."""
        head, item = HEAD.fullmatch(line.rstrip()), LINE.match(line)
        if head:
            self.arenas.append({"mode": head.group(1)})
            self.inside = True
        elif self.inside and item:
            self.arenas[-1][item.group(1)] = item.group(2).strip()
        else:
            self.inside = False
        return self.inside


def split(text):
    """What a program wrote to standard error, without the library's lines;
    and those, one dictionary for each arena."""
    sorter = Sorter()
    rest = [line for line in text.splitlines(keepends=True)
            if not sorter.takes(line)]
    return "".join(rest), sorter.arenas


def text(arenas):
    """The statistics of all arenas, for people."""
    lines = []
    for arena in arenas:
        lines += ["", f"shield {arena['mode']}"]
        lines += [f"  {name:<12} {value}" for name, value in arena.items()
                  if name != "mode"]
    return "\n".join(lines)

"""Testudo: the statistics that the library prints at exit.

SPDX-License-Identifier: BSD-2-Clause
"""
import re

HEAD = re.compile(r"testudo: shield (\w+)")
LINE = re.compile(r"  (\S+(?: \S+)*?)  +(.*)")


def split(text):
    """What a program wrote to standard error, without the library's lines;
    and those, one dictionary for each arena."""
    rest, arenas, inside = [], [], False
    for line in text.splitlines(keepends=True):
        head, item = HEAD.fullmatch(line.rstrip()), LINE.match(line)
        if head:
            arenas.append({"mode": head.group(1)})
            inside = True
        elif inside and item:
            arenas[-1][item.group(1)] = item.group(2).strip()
        else:
            inside = False
            rest.append(line)
    return "".join(rest), arenas


def text(arenas):
    """The statistics of all arenas, for people."""
    lines = []
    for arena in arenas:
        lines += ["", f"shield {arena['mode']}"]
        lines += [f"  {name:<12} {value}" for name, value in arena.items()
                  if name != "mode"]
    return "\n".join(lines)

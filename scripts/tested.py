#!/usr/bin/env python3
"""Testudo: which test covers which public symbol.

Usage: tested.py            print the table, as reStructuredText
       tested.py --missing  print the symbols that no test names; exit
                            status 1 if there are any

A test covers a symbol if its source, comments left out, names it, or names a
macro of a public header or of the tests' own headers that does. The list of
symbols is test/symbols.txt.

SPDX-License-Identifier: BSD-2-Clause
"""
import collections
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Keys that MPS_ARGS_ADD is given without their prefix by the tests' macros.
KEY = re.compile(r"MPS_KEY_(\w+)")

Symbol = collections.namedtuple("Symbol", "section kind name")


def symbols():
    for line in (TOP / "test/symbols.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield Symbol(*line.split())


def words(path):
    return set(WORD.findall(COMMENT.sub(" ", path.read_text())))


def macros(paths):
    """Macro name -> words of its definition."""
    found = {}
    for path in paths:
        text = COMMENT.sub(" ", path.read_text()).replace("\\\n", " ")
        for line in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(.*)$", text,
                               re.MULTILINE):
            name, *rest = WORD.findall(line)
            found.setdefault(name, set()).update(rest)
    return found


def spread(names, defined):
    """NAMES and all that the macros among them name."""
    todo = list(names)
    seen = set(names)
    while todo:
        for name in defined.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def covers():
    """Symbol name -> names of the tests that cover it."""
    headers = sorted((TOP / "include").glob("*.h"))
    own = sorted((TOP / "test").glob("*.h"))
    defined = macros(headers + own)
    helpers = {path.name: words(path) for path in own}
    table = collections.defaultdict(list)
    for path in sorted((TOP / "test").glob("test_*.c")):
        names = words(path)
        for included in re.findall(r'#include "test/(\w+\.h)"',
                                   path.read_text()):
            names |= helpers.get(included, set())
        names = spread(names, defined)
        for name in names:
            table[name].append(path.stem)
            table["MPS_KEY_" + name].append(path.stem)
    return table


def missing():
    table = covers()
    return [s for s in symbols() if not table.get(s.name)]


def rst():
    table = covers()
    yield ".. list-table::"
    yield "   :header-rows: 1"
    yield "   :widths: 10 40 50"
    yield ""
    yield "   * - Section"
    yield "     - Symbol"
    yield "     - Tests"
    for s in symbols():
        tests = sorted(set(table.get(s.name, ())))
        shown = ", ".join(f"``{t}``" for t in tests[:4])
        if len(tests) > 4:
            shown += f" and {len(tests) - 4} more"
        yield f"   * - {s.section}"
        yield f"     - ``{s.name}``"
        yield f"     - {shown or '**none**'}"


def main(arguments):
    if arguments[1:] == ["--missing"]:
        lost = missing()
        for s in lost:
            print(f"{s.name} (section {s.section}): no test")
        return 1 if lost else 0
    print("\n".join(rst()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

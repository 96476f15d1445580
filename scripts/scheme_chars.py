#!/usr/bin/env python3
"""Testudo: what the Scheme interpreter knows about characters besides what the
C library does.

Usage: scheme_chars.py          write example/scheme/char_table.h

Python's copy of the Unicode database is asked. Case mapping is the C
library's; the table says where simple folding is not to lower case, which
letters are titlecase, and where decimal digits begin.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import unicodedata

TOP = pathlib.Path(__file__).resolve().parent.parent
TABLE = TOP / "example/scheme/char_table.h"
ALL = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]


def lower(c):
    """One to one: of the capital I with a dot the first character."""
    return ord(chr(c).lower()[0])


def fold(c):
    """Where full folding makes several characters, simple folding is to the
    lower case that has one, if any."""
    for text in (chr(c).casefold(), chr(c).lower()):
        if len(text) == 1:
            return ord(text)
    return c


def runs(pairs):
    """[first, last, value] of neighbours with the same value."""
    result = []
    for c, value in pairs:
        if result and result[-1][1:] == [c - 1, value]:
            result[-1][1] = c
        else:
            result.append([c, c, value])
    return result


def lines(items):
    line = "   "
    for item in items:
        if len(line) + len(item) > 76:
            yield line
            line = "   "
        line += " " + item + ","
    yield line


def array(head, items):
    yield f"static const {head}[] = {{"
    yield from lines(items)
    yield "};"


def text():
    folds = runs((c, fold(c) - c) for c in ALL if fold(c) != lower(c))
    titles = runs((c, 0) for c in ALL if unicodedata.category(chr(c)) == "Lt")
    zeros = [c for c in ALL if unicodedata.decimal(chr(c), -1) == 0]
    digits = [c for c in ALL if unicodedata.decimal(chr(c), -1) >= 0]
    assert digits == [z + i for z in zeros for i in range(10)]
    version = unicodedata.unidata_version
    yield "/* Testudo: characters, where the C library does not say it."
    yield "   SPDX-License-Identifier: BSD-2-Clause"
    yield ""
    yield f"   Made by scripts/scheme_chars.py from Unicode {version}. All"
    yield "   tables are in ascending order. */"
    yield "#ifndef SCHEME_CHAR_TABLE_H"
    yield "#define SCHEME_CHAR_TABLE_H"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield "/* Simple case folding that is not lower case: what is to be added. */"
    yield from array("struct {\n  uint32_t first, last;\n  int32_t add;\n"
                     "} char_folds",
                     (f"{{{a:#x}, {b:#x}, {d}}}" for a, b, d in folds))
    yield ""
    yield "/* Letters that are neither upper nor lower case. */"
    yield from array("struct {\n  uint32_t first, last;\n} char_titles",
                     (f"{{{a:#x}, {b:#x}}}" for a, b, _ in titles))
    yield ""
    yield "/* The zeros of the decimal digits; the others follow each. */"
    yield from array("uint32_t char_zeros", (f"{z:#x}" for z in zeros))
    yield ""
    yield "#endif /* SCHEME_CHAR_TABLE_H */"


if __name__ == "__main__":
    TABLE.write_text("\n".join(text()) + "\n")

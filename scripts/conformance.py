#!/usr/bin/env python3
"""Testudo: the manual's record of what the interface promises and which test
shows it (manual/conformance.rst).

Usage: conformance.py    print what is wrong with it; exit status 1 if
                         anything is

A row of its tables is `statement | tests`. A test is `test_x:case`, a
START_TEST of test/test_x.c that its suite runs, or the name of another file
in test/. Instead of tests a row may give a reason, after `not tested:`.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "manual/conformance.rst"
REASON = "not tested: "


def rows(text):
    """Line number, statement and tests of every row of every table."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(".. csv-table::"):
            inside = True
        elif line and not line.startswith("   "):
            inside = False
        elif inside and line and not line.lstrip().startswith(":"):
            statement, _, tests = line.strip().partition(" | ")
            yield number, statement, tests.strip()


def wrong_test(name):
    """What is wrong with the name of a test, or None."""
    source, _, case = name.partition(":")
    if not case:
        return None if (TOP / "test" / source).is_file() else "no such file"
    path = TOP / "test" / f"{source}.c"
    if not path.is_file():
        return f"no file test/{source}.c"
    text = path.read_text()
    if f"START_TEST({case})" not in text:
        return "no such case"
    if len(re.findall(rf"\b{case}\b", text)) < 2:
        return "not in its suite"
    return None


def faults(text):
    """What is wrong, a line for each."""
    for number, statement, tests in rows(text):
        where = f"{PAGE.name}:{number}: "
        if not statement or not tests:
            yield where + "a statement, a bar and tests, or a reason"
        elif "|" in tests:
            yield where + "more than one bar"
        elif tests.startswith(REASON):
            if len(tests) < len(REASON) + 10:
                yield where + "no reason"
        else:
            for name in tests.split():
                wrong = wrong_test(name)
                if wrong:
                    yield where + f"{name}: {wrong}"


def main():
    found = list(faults(PAGE.read_text()))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

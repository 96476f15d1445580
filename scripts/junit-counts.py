#!/usr/bin/env python3
"""Testudo: the counts in a JUnit file written by ctest.

Usage: junit-counts.py FILE. Prints "passed failed skipped".

SPDX-License-Identifier: BSD-2-Clause
"""
import sys
import xml.etree.ElementTree

if len(sys.argv) != 2:
    sys.exit(__doc__)
try:
    SUITE = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
except (OSError, xml.etree.ElementTree.ParseError) as error:
    sys.exit(f"{sys.argv[1]}: {error}")
TESTS, FAILED, SKIPPED, DISABLED = (
    int(SUITE.get(name, "0"))
    for name in ("tests", "failures", "skipped", "disabled"))
print(TESTS - FAILED - SKIPPED - DISABLED, FAILED, SKIPPED + DISABLED)

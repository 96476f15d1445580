#!/usr/bin/env python3
"""Testudo: each public header stands alone, twice, in C90, C11 and C++.

Usage: test_headers.py COMPILER

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import subprocess
import sys
import unittest

COMPILER = sys.argv[1]
INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
LANGUAGES = [["-xc", "-std=c90"], ["-xc", "-std=c11"], ["-xc++", "-std=c++11"]]
FOREIGN = {"mpswin.h"}  # includes windows.h


def complaints(name, language):
    """What the compiler says of a source that includes NAME twice."""
    source = f'#include "{name}"\n#include "{name}"\nextern int unused;\n'
    done = subprocess.run(
        [COMPILER, *language, *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only",
         "-"],
        input=source, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


class Headers(unittest.TestCase):
    def test_alone(self):
        names = {path.name for path in INCLUDE.glob("*.h")}
        self.assertIn("mps.h", names)
        for name in sorted(names - FOREIGN):
            for language in LANGUAGES:
                with self.subTest(header=name, language=language[1]):
                    self.assertEqual(complaints(name, language), "")

    def test_can_complain(self):
        for language in LANGUAGES:
            self.assertNotEqual(complaints("no such header", language), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

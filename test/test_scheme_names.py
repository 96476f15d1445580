"""Testudo: the Scheme interpreter has every name of the standard, the manual
says so truly, and the checker would notice if not.

Usage: test_scheme_names.py INTERPRETER

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import scheme_names  # noqa: E402

INTERPRETER = sys.argv[1]
# What Guile's libraries export besides what the standard says.
GUILE_MORE = {"inexact": {"exact", "inexact"}}


def guile_exports(library):
    program = ("(for-each (lambda (n) (display n) (newline)) (module-map"
               " (lambda (n v) n) (resolve-interface '(scheme %s))))")
    done = subprocess.run(["guile", "--no-auto-compile", "-c",
                           program % library], text=True, timeout=120,
                          capture_output=True, check=True)
    return set(done.stdout.split())


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = scheme_names.bound(INTERPRETER)

    def test_nothing_missing(self):
        self.assertGreater(len(self.names), 400)
        self.assertEqual(scheme_names.missing(self.names), [])

    def test_manual_is_true(self):
        for path, text in scheme_names.texts(self.names).items():
            self.assertEqual(path.read_text(), text,
                             f"{path.name}: run scripts/scheme_names.py")

    def test_list_is_whole(self):
        """Another implementation has the same names in its libraries."""
        for library, names in scheme_names.standard().items():
            if library != "program":
                self.assertEqual(
                    set(names),
                    guile_exports(library) - GUILE_MORE.get(library, set()),
                    library)

    def test_checker(self):
        fewer = dict(self.names)
        del fewer["vector-map"], fewer["guard"]
        self.assertEqual(scheme_names.missing(fewer), ["guard", "vector-map"])
        text = scheme_names.texts(fewer)[scheme_names.STANDARD]
        self.assertIn("- ``guard`` ``vector-map``\n", text)
        more = dict(self.names, frobnicate="procedure")
        self.assertIn("``frobnicate``",
                      scheme_names.texts(more)[scheme_names.MORE])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

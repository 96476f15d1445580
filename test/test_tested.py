"""Testudo: every public symbol is in the libraries and has a test, and the
checker would notice one that is not.

Usage: test_tested.py LIBRARY...

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import symbols  # noqa: E402
import tested  # noqa: E402

LIBRARIES = sys.argv[1:]


class Tested(unittest.TestCase):
    def test_nothing_missing_in_libraries(self):
        wanted = {s.name for s in tested.symbols() if s.kind == "f"}
        self.assertGreater(len(wanted), 150)
        for library in LIBRARIES:
            have = {name for name, _ in symbols.defined(library)}
            self.assertEqual(sorted(wanted - have), [], library)

    def test_list_has_what_libraries_have(self):
        """No public function is left out of the list."""
        listed = {s.name for s in tested.symbols()}
        for library in LIBRARIES:
            have = {name for name, _ in symbols.defined(library)
                    if name.startswith("mps_")}
            self.assertEqual(sorted(have - listed), [], library)

    def test_types_are_in_headers(self):
        text = "".join(path.read_text()
                       for path in sorted((TOP / "include").glob("*.h")))
        names = set(re.findall(r"\w+", text))
        lost = [s.name for s in tested.symbols() if s.name not in names
                and s.name != "ArenaDescribe"]
        self.assertEqual(lost, [])

    def test_every_symbol_has_a_test(self):
        self.assertEqual([s.name for s in tested.missing()], [])

    def test_checker(self):
        table = tested.covers()
        self.assertIn("test_arena", table["mps_arena_park"])
        self.assertNotIn("mps_arena_no_such_function", table)
        # What only a comment names is not covered.
        self.assertNotIn("mlevel_word", table)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

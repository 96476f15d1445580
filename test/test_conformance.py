"""Testudo: the tests that the manual's record of the interface names exist,
and the checker would notice one that does not.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import conformance  # noqa: E402

TABLE = """
.. csv-table::
   :delim: |

   {}

"""


class Conformance(unittest.TestCase):
    def test_the_page(self):
        text = conformance.PAGE.read_text()
        self.assertEqual(list(conformance.faults(text)), [])
        self.assertGreater(len(list(conformance.rows(text))), 20)

    def test_good_rows(self):
        for tests in ("test_arena:test_defaults", "test_umbrella.py",
                      "test_arena:test_grain test_args:empty_list",
                      "not tested: Windows only"):
            text = TABLE.format(f"what it does | {tests}")
            self.assertEqual(list(conformance.faults(text)), [], tests)

    def test_bad_rows(self):
        for row in ("no tests", "a | test_arena:no_such_case",
                    "a | test_nothing:x", "a | test_nothing.py",
                    "a | test_arena:test_grain | b", "a | not tested: no",
                    "a | test_suite:suite_run"):
            text = TABLE.format(row)
            self.assertEqual(len(list(conformance.faults(text))), 1, row)


if __name__ == "__main__":
    unittest.main()

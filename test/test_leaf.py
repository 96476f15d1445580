"""Testudo: the main job stays within its system calls.

Usage: test_leaf.py INTERPRETER

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "tool"), str(TOP / "scripts")]

import demo  # noqa: E402
from testudo_tool import kernel  # noqa: E402

INTERPRETER = sys.argv[1]
LEAF = [INTERPRETER, *demo.SETTINGS,
        str(TOP / "example/scheme/workload/leaf.scm")]


class Leaf(unittest.TestCase):
    def test_deferred(self):
        calls = kernel.count(LEAF, demo.environment("deferred"))
        for name, most in demo.MOST_CALLS.items():
            self.assertLessEqual(calls.get(name, 0), most, calls)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Testudo: the calls that testudo tune predicts are those that are counted.

Usage: test_prediction.py INTERPRETER

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
INTERPRETER = sys.argv[1]
PROGRAM = [INTERPRETER, "--arena=256M", "--gen=2000:0.8", "--gen=2000:0.4",
           "--pause=10"]
MOST = 0.02  # of the calls, or
MOST_CALLS = 4
TIMES = 2


class Prediction(unittest.TestCase):
    def check(self, workload, *arguments):
        done = subprocess.run(
            [sys.executable, str(TOP / "tool/testudo"), "tune", "--json",
             "--verify=2", "--grain=0,16384", "--quantum=0", "--", *PROGRAM,
             str(TOP / "example/scheme/workload" / workload), *arguments],
            env={**os.environ, "TESTUDO_SMALL": "0", "TESTUDO_ADAPT": "off"},
            check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in json.loads(done.stdout)["rows"]
                if "counted" in row]
        self.assertGreaterEqual({row["mode"] for row in rows},
                                {"naive", "ranged", "deferred"})
        for row in rows:
            self.assertLessEqual(abs(row["predicted"] - row["counted"]),
                                 max(MOST * row["counted"], MOST_CALLS), row)
        self.least(json.loads(done.stdout)["rows"])

    def least(self, rows):
        """The default makes at most twice the calls that it cannot do
        without."""
        defaults = [row for row in rows if row["mode"] == "deferred" and
                    (row["fresh"], row["hit"]) == (4, 16)]
        self.assertTrue(defaults)
        for row in defaults:
            self.assertLessEqual(row["calls"], max(TIMES * row["bound"], 4),
                                 row)

    def test_leaf(self):
        self.check("leaf.scm", "1")

    def test_matrix(self):
        self.check("matrix.scm", "60")

    def test_table(self):
        """Keys are hashed by address, and objects must stay alike."""
        self.check("table.scm", "100")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

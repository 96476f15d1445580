"""Testudo: whole programs when the process has hardly any mappings left.

Usage: test_mappings.py INTERPRETER LIBRARY

The library uses up the process's mappings but for some, before the program
begins; the heap checker runs around collections.

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = TOP / "example/scheme/workload"
INTERPRETER, LIBRARY = sys.argv[1:3]
GENERATIONS = ["--gen=1000:0.8", "--gen=2000:0.4"]
PROGRAMS = {"leaf": ["1"], "storm": ["1", "3000"]}
MODES = ["naive", "ranged", "deferred", "dirty", "off"]
LEFT = [100, 40]


def run(name, left, mode):
    """Output and statistics of a workload with LEFT mappings; 0: with all."""
    env = dict(os.environ, TESTUDO_CHECK="1", TESTUDO_STATISTICS="1",
               TESTUDO_SHIELD=mode, TESTUDO_SMALL="0")
    if left > 0:
        env.update(LD_PRELOAD=LIBRARY, TEST_MAPPINGS_LEFT=str(left))
    done = subprocess.run(
        [INTERPRETER, *GENERATIONS, str(WORKLOADS / (name + ".scm")),
         *PROGRAMS[name]], env=env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def number(pattern, text):
    return int(re.search(pattern, text).group(1).replace(",", ""))


class Mappings(unittest.TestCase):
    def test_answers(self):
        for name in PROGRAMS:
            status, expected, _ = run(name, 0, "off")
            self.assertEqual(status, 0)
            for mode in MODES:
                for left in LEFT:
                    with self.subTest(name=name, mode=mode, left=left):
                        status, output, errors = run(name, left, mode)
                        self.assertEqual((status, output), (0, expected),
                                         errors)
                        self.assertIn("mappings", errors)
                        most = number(r"now, ([\d,]+) at most", errors)
                        self.assertLess(most, left)

    def test_refused(self):
        """What the test is about does happen."""
        _, _, errors = run("storm", LEFT[0], "naive")
        self.assertGreater(number(r"calls \(([\d,]+) refused", errors), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

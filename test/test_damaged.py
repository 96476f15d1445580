#!/usr/bin/env python3
"""Testudo: a recording that was cut, or has a wrong byte, anywhere.

Usage: test_damaged.py SCHEME REPLAY

SPDX-License-Identifier: BSD-2-Clause
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import unittest

SCHEME, REPLAY = sys.argv[1:3]

# Young pairs are stored in an old vector.
STORES = """(let ((v (make-vector 100 '())))
  (do ((n 800 (- n 1))) ((= n 0))
    (vector-set! v (modulo (* n 37) 100) (list n))))"""

LENGTH = 2500  # of a recording with nearly all kinds of requests


def record(path):
    """The beginning of a recording; any beginning is one, but perhaps for its
    last request."""
    subprocess.run(
        [SCHEME, "--gen=8:0.5", "--gen=16:0.5", "-e", STORES], check=True,
        capture_output=True,
        env={**os.environ, "TESTUDO_SHIELD": "ranged",
             "TESTUDO_RECORD": path})
    with open(path, "rb") as file:
        return file.read(LENGTH)


class Damaged(unittest.TestCase):
    def reported(self, room, place, text):
        """Replay TEXT, in which the byte at PLACE is wrong or missing. True if
        that was reported, with an offset; else it is another recording."""
        path = os.path.join(room, f"{place}-{len(text)}")
        with open(path, "wb") as file:
            file.write(text)
        done = subprocess.run(
            [REPLAY, path], input="deferred 16 1 2\ndirty 16 1 2\n",
            text=True, capture_output=True, check=False, timeout=60)
        os.remove(path)
        self.assertIn(done.returncode, (0, 2), (place, done.stderr))
        if done.returncode == 2:
            self.assertRegex(done.stderr, r"byte \d+: ")
        else:
            self.assertEqual(len(done.stdout.splitlines()), 2)
        return done.returncode == 2

    def test_anywhere(self):
        """It is reported with the offset, or it is another recording; nothing
        crashes or hangs."""
        step = 61 if os.environ.get("TEST_SANITIZED") else 1
        jobs = []
        with tempfile.TemporaryDirectory() as room:
            good = record(os.path.join(room, "good"))
            self.assertEqual(len(good), LENGTH)
            for place in range(0, LENGTH, step):
                wrong = bytes([good[place] ^ (1 << place % 8)])
                jobs += [(place, good[:place]),
                         (place, good[:place] + wrong + good[place + 1:])]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                found = sum(pool.map(
                    lambda job: self.reported(room, *job), jobs))
        self.assertGreater(found, len(jobs) // 4)
        self.assertLess(found, len(jobs))


if __name__ == "__main__":
    unittest.main(argv=[__file__])

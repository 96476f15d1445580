"""Testudo: a recording that was cut, or has a wrong byte, anywhere.

Usage: test_damaged.py SCHEME REPLAY

SPDX-License-Identifier: BSD-2-Clause
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

SCHEME, REPLAY = sys.argv[1:3]

# Young pairs are stored in an old vector.
STORES = """(let ((v (make-vector %d '())))
  (do ((n %d (- n 1))) ((= n 0))
    (vector-set! v (modulo (* n 37) %d) (list n))))"""

LENGTH = 2500  # of a recording with nearly all kinds of requests


def stores(path, nursery, size, number):
    """Record NUMBER stores in a vector of SIZE."""
    subprocess.run(
        [SCHEME, f"--gen={nursery}:0.5", f"--gen={2 * nursery}:0.5", "-e",
         STORES % (size, number, size)], check=True, capture_output=True,
        env={**os.environ, "TESTUDO_SHIELD": "ranged",
             "TESTUDO_RECORD": path})


def record(path):
    """The beginning of a recording; any beginning is one, but perhaps for its
    last request."""
    stores(path, 8, 100, 800)
    with open(path, "rb") as file:
        return file.read(LENGTH)


SOURCE = os.environ["TESTUDO_SOURCE_DIR"]
WRITE = 1  # the argument of requests for write bars


def requests():
    """The numbers of requests by name."""
    with open(os.path.join(SOURCE, "shield", "record.h"),
              encoding="ascii") as file:
        table = file.read().partition("define TDO_REQUESTS(X)")[2]
    names = re.findall(r"X\((\w+),", table.partition("\n\n")[0])
    return {name: number for number, name in enumerate(names)}


REQUESTS = requests()


def step(request, first=None, last=0, length=4, argument=0):
    """A step of a recording, about LENGTH pages from FIRST on, where that
    before it ended with page LAST."""
    text = bytes([REQUESTS[request] | argument << 5])
    if first is None:
        return text
    move = 2 * (first - last) if first >= last else 2 * (last - first) - 1
    return text + bytes([move, length])


def replay(path):
    """The tool's run over a recording, in two modes."""
    return subprocess.run(
        [REPLAY, path], input="deferred 16 1 2\ndirty 16 1 2\n",
        text=True, capture_output=True, check=False, timeout=60)


class Damaged(unittest.TestCase):
    def reported(self, room, place, text):
        """Replay TEXT, in which the byte at PLACE is wrong or missing. True if
        that was reported, with an offset; else it is another recording."""
        path = os.path.join(room, f"{place}-{len(text)}")
        with open(path, "wb") as file:
            file.write(text)
        done = replay(path)
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

    def test_too_large(self):
        """More pages than there is memory for their tables are refused."""
        with open("/proc/meminfo", encoding="ascii") as file:
            left = int(re.search(r"MemAvailable: +(\d+)", file.read())[1])
        last = left * 1024 // 30
        number = bytes(2 * last >> shift & 127 | 128 * (shift < 35)
                       for shift in range(0, 42, 7))
        with tempfile.TemporaryDirectory() as room:
            path = os.path.join(room, "large")
            stores(path, 8, 100, 800)
            with open(path, "rb") as file:
                header = file.read(40)
            with open(path, "wb") as file:
                file.write(header[:16] + (1 << 40).to_bytes(8, "little")
                           + header[24:] + bytes([REQUESTS["COMMITTED"]])
                           + number + b"\1")
            done = replay(path)
        self.assertEqual((done.returncode, done.stderr), (
            2, f"testudo-replay: {path}: damaged at byte 40: its pages are "
            "too many to replay\n"))

    def test_whole(self):
        """A recording in which the library needs memory of its own while it
        looks at pages is none that is damaged."""
        with tempfile.TemporaryDirectory() as room:
            path = os.path.join(room, "whole")
            stores(path, 64, 20000, 60000)
            done = replay(path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_hit_and_more(self):
        """A session that begins with a hit of a write bar may do more: what
        becomes of pages is not left out with it."""
        with tempfile.TemporaryDirectory() as room:
            header = record(os.path.join(room, "good"))[:40]
            path = os.path.join(room, "hit")
            with open(path, "wb") as file:
                file.write(
                    header + step("COMMITTED", 0, 0, 8) + step("ADOPT", 0, 8)
                    + step("HIT", 0, 4, 1, WRITE) + step("ADOPT", 4, 1)
                    + step("EXPOSE", 4, 8) + step("LEAVE")
                    + step("RAISE", 4, 8, 4, WRITE) + step("COVER", 4, 8)
                    + step("FLUSH") + step("LEAVE"))
            done = replay(path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 2)


if __name__ == "__main__":
    unittest.main(argv=[__file__])

"""Testudo: the library's own count of protection, mapping and unmapping calls
equals the kernel's exactly, in each mode of the shield.

Usage: test_counts.py CLIENT

The client (counts_client.c) marks begin and end by getppid, and prints what
the library counted between the two: lines of a system call and a number.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tool"))

from testudo_tool import modes  # noqa: E402

CLIENT = sys.argv[1]
MARK = "getppid"
COUNTED = ["mmap", "munmap", "mprotect", "madvise", "mremap"]


def kernel_counts(log):
    """Calls begun between the two marks in the output of strace."""
    counts = dict.fromkeys(COUNTED, 0)
    marks = 0
    for line in log.splitlines():
        match = re.match(r"(?:\d+\s+)?(\w+)\(", line)
        if match is None:
            continue
        if match.group(1) == MARK:
            marks += 1
        elif marks == 1:
            counts[match.group(1)] += 1
    return counts, marks


def observe(mode):
    """The library's counts, the kernel's, and the number of marks."""
    with tempfile.NamedTemporaryFile("r") as log:
        done = subprocess.run(
            ["strace", "-f", "-o", log.name,
             "-e", "trace=" + ",".join([MARK, *COUNTED]), CLIENT],
            env=modes.environment(mode), capture_output=True, text=True,
            check=False)
        assert done.returncode == 0, done.stderr
        library = {name: int(number) for name, number in
                   (line.split() for line in done.stdout.splitlines())}
        return library, *kernel_counts(log.read())


class Counts(unittest.TestCase):
    def test_equal(self):
        for mode in modes.MODES:
            with self.subTest(mode=mode):
                library, kernel, marks = observe(mode)
                self.assertEqual(marks, 2)
                self.assertEqual(library, kernel)
                for name in ("mmap", "munmap", "mprotect"):
                    self.assertGreater(kernel[name], 0, name)

    def test_parser(self):
        log = ("10 mmap(NULL, 8192, PROT_NONE) = 0x7f0000000000\n"
               "10 getppid() = 9\n"
               "10 mprotect(0x7f0000000000, 4096, PROT_READ) = 0\n"
               "10 --- SIGSEGV {si_signo=SIGSEGV} ---\n"
               "11 munmap(0x7f0000000000, 4096 <unfinished ...>\n"
               "10 mprotect(0x7f0000000000, 4096, PROT_NONE) = -1 ENOMEM\n"
               "11 <... munmap resumed>) = 0\n"
               "10 getppid() = 9\n"
               "10 munmap(0x7f0000000000, 4096) = 0\n")
        self.assertEqual(kernel_counts(log), (
            {"mmap": 0, "munmap": 1, "mprotect": 2, "madvise": 0,
             "mremap": 0}, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

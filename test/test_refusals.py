"""Testudo: programs go on, and their heaps stay right, where the kernel
refuses to track writes or to change protection; the statistics say why.

Usage: test_refusals.py INTERPRETER LIBRARY TEST...

The library makes the system refuse (see refuse_calls.c); each TEST is a
program that ends with status 0.

SPDX-License-Identifier: BSD-2-Clause
"""
import errno
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
STORM = TOP / "example/scheme/workload/storm.scm"
INTERPRETER, LIBRARY = sys.argv[1:3]
TESTS = sys.argv[3:]
NOBODY = 65534
REFUSALS = {
    f"userfaultfd={errno.EPERM}": "userfaultfd was refused",
    f"userfaultfd={errno.ENOSYS}": "userfaultfd was refused",
    f"scan={errno.ENOTTY}": "PAGEMAP_SCAN is missing",
    f"scan={errno.EPERM}": "PAGEMAP_SCAN is missing",
    "later=12": "a harvest was refused",
}
WHY = re.compile(r"not dirty: (.*)")
REFUSED = re.compile(r"calls \(([\d,]+) refused")


def start(command, refuse, mode="dirty", library=LIBRARY, **options):
    """Run a program; its result. REFUSE may be empty."""
    env = {**os.environ, "TESTUDO_SHIELD": mode, "TESTUDO_CHECK": "1",
           "TESTUDO_STATISTICS": "1"}
    if refuse:
        env.update(LD_PRELOAD=library, TEST_REFUSE=refuse)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300,
                          check=False, **options)
    if done.returncode == 77:
        raise unittest.SkipTest("not permitted here: " + done.stderr.strip())
    return done


def storm(refuse, mode="dirty", interpreter=INTERPRETER, program=STORM,
          **options):
    """Output of a workload, and why it was not in mode dirty, or None."""
    done = start([interpreter, "--gen=1000:0.8", "--gen=2000:0.4",
                  str(program), "1", "500"], refuse, mode, **options)
    if done.returncode != 0:
        raise AssertionError(f"{refuse}: {done.returncode} {done.stderr}")
    why = WHY.search(done.stderr)
    return done.stdout, why and why.group(1), done.stderr


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.expected, _, _ = storm("", "off")
        _, cls.lacks, _ = storm("")

    def needs_tracking(self):
        if self.lacks:
            self.skipTest(f"this machine tracks no writes: {self.lacks}")

    def test_tracking(self):
        self.needs_tracking()
        for refuse, reason in REFUSALS.items():
            with self.subTest(refuse=refuse):
                output, why, _ = storm(refuse)
                self.assertEqual(output, self.expected)
                self.assertEqual(why, reason)

    @staticmethod
    def protected(mode):
        """Where calls that commit memory are refused in a row, the program is
        told so, and ends, and rightly: then others are."""
        for seed in range(10):
            os.environ["TEST_REFUSE_SEED"] = str(seed)
            try:
                output, _, errors = storm("protect=3", mode)
                return output, errors
            except AssertionError as ended:
                if not re.search(": 1 (out of memory|.*no address space)",
                                 str(ended)):
                    raise
        raise AssertionError("no memory each time")

    def test_protection(self):
        for mode in ("naive", "ranged", "deferred", "dirty"):
            with self.subTest(mode=mode):
                output, errors = self.protected(mode)
                self.assertEqual(output, self.expected)
                number = REFUSED.search(errors).group(1)
                if mode != "dirty":  # that protects nothing here
                    self.assertGreater(int(number.replace(",", "")), 0)

    def test_programs(self):
        """The library's own tests."""
        for refuse in ("later=12", f"scan={errno.ENOTTY},close=10"):
            for program in TESTS:
                with self.subTest(refuse=refuse, program=program):
                    done = start([program], refuse)
                    self.assertEqual(done.returncode, 0,
                                     done.stdout + done.stderr)

    def as_nobody(self, refuse):
        """The workload run by a user without privileges, from a folder that
        he may enter."""
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        with tempfile.TemporaryDirectory() as room:
            os.chmod(room, 0o755)
            files = [shutil.copy(file, room)
                     for file in (INTERPRETER, STORM, LIBRARY)]
            os.chmod(files[0], 0o755)
            return storm(refuse, interpreter=files[0], program=files[1],
                         library=files[2], cwd=room, user=NOBODY,
                         group=NOBODY, extra_groups=[])

    def test_unprivileged(self):
        """User mode only is granted to everybody, whatever
        vm.unprivileged_userfaultfd says."""
        self.needs_tracking()
        output, why, _ = self.as_nobody("")
        self.assertEqual((output, why), (self.expected, None))

    def test_unprivileged_undumpable(self):
        self.needs_tracking()
        output, why, _ = self.as_nobody("undumpable=1")
        self.assertEqual((output, why),
                         (self.expected, "/proc/self/pagemap cannot be "
                          "opened"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

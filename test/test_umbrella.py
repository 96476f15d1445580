"""Testudo: mps.c has every source, and works in a client's file in each
variety and with each switch of the build.

Usage: test_umbrella.py COMPILER

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import umbrella  # noqa: E402

COMPILER = sys.argv[1]
SWITCHES = [[], ["CONFIG_VAR_COOL"], ["CONFIG_VAR_RASH"], ["CONFIG_PF_ANSI"],
            ["TDO_FRAME_SETJMP"], ["CONFIG_PROBES_NONE"],
            ["CONFIG_THREAD_SINGLE"], ["CONFIG_POLL_NONE"],
            ["CONFIG_PTHREADEXT_SIGSUSPEND=SIGUSR1",
             "CONFIG_PTHREADEXT_SIGRESUME=SIGUSR2", "TEST_SIGNALS"]]


class Umbrella(unittest.TestCase):
    def test_every_source(self):
        self.assertEqual((TOP / "mps.c").read_text(), umbrella.text(),
                         "run scripts/umbrella.py")

    def test_client(self):
        for switches in SWITCHES:
            with self.subTest(switches), \
                 tempfile.TemporaryDirectory() as room:
                program = pathlib.Path(room) / "client"
                subprocess.run(
                    [COMPILER, "-std=gnu11", "-O0", "-Wall", "-Wextra",
                     "-Werror", *(f"-D{s}" for s in switches), "-I", TOP,
                     "-I", TOP / "include", TOP / "test/umbrella_client.c",
                     "-o", program, "-lpthread", "-lm"], check=True)
                done = subprocess.run([program], check=True, text=True,
                                      capture_output=True)
                self.assertEqual(done.stdout, "fine\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

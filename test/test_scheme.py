#!/usr/bin/env python3
"""Testudo: Scheme programs give the same output as on Guile, in each mode of
the shield, with small generations too.

Usage: test_scheme.py INTERPRETER [PROGRAM.scm ...]
Programs are those in test/scheme and the workloads, if none are given.

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tool"))

from testudo_tool import modes  # noqa: E402

INTERPRETER, *GIVEN = sys.argv[1:]
WORKLOADS = TOP / "example/scheme/workload"
# Sizes at which a workload is a test. Those not named run as they are.
SIZES = {"trees": ["10"], "lists": ["2000"], "storm": ["2"]}
LIMIT = 100  # seconds for one run

SETTINGS = {mode: (mode, []) for mode in modes.MODES}
SETTINGS["small generations"] = (
    modes.MODES[-1], ["--gen=100:0.8", "--gen=300:0.4"])


def programs():
    """Paths of the programs to run."""
    if GIVEN:
        return [pathlib.Path(path) for path in GIVEN]
    return sorted([*(TOP / "test/scheme").glob("*.scm"),
                   *WORKLOADS.glob("*.scm")])


def run(command, environment):
    """Status, output and errors of a command."""
    done = subprocess.run(command, env=environment, cwd=TOP, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def guile(path, arguments):
    """What Guile makes of a program."""
    return run(["guile", "--no-auto-compile", "--r7rs", "-s", str(path),
                *arguments], dict(os.environ))


def ours(path, arguments, setting):
    """What the interpreter makes of a program in a setting."""
    mode, options = SETTINGS[setting]
    return run([INTERPRETER, *options, str(path), *arguments],
               modes.environment(mode))


class Programs(unittest.TestCase):
    maxDiff = 2000

    def test_there_are_some(self):
        self.assertGreater(len(programs()), 0)

    def test_same_as_guile(self):
        self.assertIsNotNone(shutil.which("guile"))
        for path in programs():
            arguments = SIZES.get(path.stem, [])
            status, wanted, complaint = guile(path, arguments)
            self.assertEqual(status, 0, f"{path.name}: {complaint}")
            for setting in SETTINGS:
                with self.subTest(program=path.name, setting=setting):
                    result = ours(path, arguments, setting)
                    self.assertEqual(result, (0, wanted, b""))


class Errors(unittest.TestCase):
    def ask(self, text, *options):
        """What the prompt says to TEXT on standard input."""
        done = subprocess.run([INTERPRETER, *options], input=text, text=True,
                              timeout=LIMIT, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_no_such_file(self):
        status, _, err = ours(TOP / "no such file.scm", [], "deferred")
        self.assertEqual(status, 1)
        self.assertIn(b"no such file.scm", err)

    def test_bad_option(self):
        for option in ("--gen=0", "--gen=x:0.5", "--arena=", "--nonsense"):
            status, _, err = self.ask("", option)
            self.assertNotEqual(status, 0, option)
            self.assertIn(option.split("=")[0], err)

    def test_prompt_goes_on_after_an_error(self):
        status, out, err = self.ask("(car 5)\n(* 6 7)\n")
        self.assertEqual(status, 0)
        self.assertIn("car", err + out)
        self.assertIn("42", out)

    def test_unknown_mode(self):
        done = subprocess.run([INTERPRETER], input="(* 6 7)\n", text=True,
                              env=modes.environment("nonsense"),
                              timeout=LIMIT, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("42", done.stdout)
        self.assertIn("nonsense", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

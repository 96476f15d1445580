"""Testudo: what the demo prints and saves, with a stand-in interpreter.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import demo  # noqa: E402

# Makes more calls when the shield is naive; the answer is always the same,
# unless SICK says that a mode is broken.
STAND_IN = """#!/bin/sh
case $TESTUDO_SHIELD in naive) n=1 ;; *) n=8 ;; esac
while [ $n -lt 9 ]; do n=$((n + 1)); cd /; done
if [ "$TESTUDO_SHIELD" = "$SICK" ]; then echo wrong; else echo right; fi
"""


class Demo(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.room = pathlib.Path(self.holder.name)
        self.interpreter = self.room / "stand-in"
        self.interpreter.write_text(STAND_IN)
        self.interpreter.chmod(0o755)

    def tearDown(self):
        self.holder.cleanup()

    def run_demo(self, *options, sick=""):
        return subprocess.run(
            [sys.executable, TOP / "scripts/demo.py", *options,
             self.interpreter, self.room, self.room / "out"],
            env={"PATH": "/usr/bin:/bin", "SICK": sick, "HOME": "/nowhere"},
            capture_output=True, text=True, check=False)

    def check_profile(self, profile):
        self.assertEqual(set(profile), {"syscalls", "seconds", "peak_kib"})
        self.assertEqual(set(profile["seconds"]), {"wall", "user", "sys"})
        calls = dict(profile["syscalls"])
        self.assertEqual(calls.pop("total"), sum(calls.values()))

    def test_json(self):
        done = self.run_demo("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        workloads = json.loads(done.stdout)
        self.assertEqual(list(workloads), ["leaf", "storm64"])
        for profiles in workloads.values():
            self.assertEqual(list(profiles), demo.modes.MODES)
            for profile in profiles.values():
                self.check_profile(profile)
            self.assertEqual(profiles["naive"]["syscalls"]["chdir"], 8)
            self.assertEqual(profiles["ranged"]["syscalls"]["chdir"], 1)

    def test_text_and_picture(self):
        done = self.run_demo()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^chdir +8( +1 +1/8\.00)+$")
        self.assertRegex(done.stdout,
                         r"(?m)^pass  leaf, deferred: \d+ mprotect")
        self.assertEqual((self.room / "out/tables.txt").read_text(),
                         done.stdout)
        if "no picture" not in done.stderr:
            self.assertIn("<svg", (self.room / "out/testudo.svg").read_text())
            self.assertTrue((self.room / "out/testudo.png").read_bytes()
                            .startswith(b"\x89PNG"))

    def test_what_cannot_be_written(self):
        """It is told in a sentence, and takes nothing else with it."""
        out = self.room / "out"
        out.mkdir()
        (out / "testudo.svg").symlink_to("/dev/full")
        done = self.run_demo("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)), 2)
        self.assertIn("demo: no picture: ", done.stderr)
        (out / "tables.txt").unlink()
        (out / "tables.txt").symlink_to("/dev/full")
        done = self.run_demo()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"demo: .*: No space left on device\n$")
        self.assertNotIn("Traceback", done.stderr)

    def test_different_answers(self):
        done = self.run_demo(sick="ranged")
        self.assertEqual(done.returncode, 1)
        self.assertIn("different answers", done.stderr)

    def test_wrong_arguments(self):
        for command in (["demo", "all"], ["demo", "--json", "all"],
                        ["check", "all"], ["check", "quick", "all"]):
            done = subprocess.run([TOP / command[0], *command[1:]],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, command)
            self.assertIn(f"usage: ./{command[0]} ", done.stderr)

    def test_targets_can_be_missed(self):
        seconds = {"wall": 1.0, "user": 0.9, "sys": 0.1}
        calls = {"mprotect": 301, "total": 1001}
        leaf = {"deferred": {"syscalls": calls, "seconds": seconds}}
        self.assertEqual([ok for _, ok in demo.targets(leaf)], [False] * 3)
        calls.update(mprotect=300, total=1000)
        seconds["sys"] = 0.04
        self.assertEqual([ok for _, ok in demo.targets(leaf)], [True] * 3)


if __name__ == "__main__":
    unittest.main()

"""Testudo: every benchmark workload finds its heap right in every mode of the
shield, and over the Boehm collector; wrong options are refused.

Usage: test_bench.py LIBRARY

SPDX-License-Identifier: BSD-2-Clause
"""
import dataclasses
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "bench"))
sys.path.insert(0, str(TOP / "tool"))

import builds  # noqa: E402
import cases  # noqa: E402
import growth  # noqa: E402
import runs  # noqa: E402
import shield_tables  # noqa: E402
import tables  # noqa: E402
import yardsticks  # noqa: E402
from testudo_tool import pictures  # noqa: E402

LIBRARY = sys.argv[1]


class Workloads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        names = builds.workloads()
        cls.ours = builds.build(
            builds.interface("testudo", TOP / "include", LIBRARY), names,
            cls.folder.name)
        cls.base = builds.build(builds.boehm(), names, cls.folder.name)
        cls.floor = builds.build(builds.none(), builds.MEMORY_ONLY,
                                 cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_each_has_a_tiny_size(self):
        self.assertEqual(set(cases.TINY), set(builds.workloads()))
        for case in cases.CASES:
            self.assertIn(case.workload, cases.TINY)

    def right(self, report, name, options):
        self.assertEqual(report["workload"], name)
        self.assertGreaterEqual(report["operations"], options["ops"])
        self.assertGreater(report["batches"], 0)
        self.assertGreater(report["peak"], 0)
        threads = 1 + options.get("threads", 0)
        for lost in ("waited", "stolen"):
            self.assertGreaterEqual(report[lost], 0)
            self.assertLessEqual(report[lost], threads * report["seconds"])

    def test_modes(self):
        for mode in cases.MODES:
            for name, options in cases.TINY.items():
                with self.subTest(mode=mode, workload=name):
                    # A small nursery, so that something is collected.
                    report = runs.run(self.ours[name],
                                      {**options, "nursery": 256},
                                      {"TESTUDO_SHIELD": mode})
                    self.right(report, name, options)

    def test_kinds_of_blocks(self):
        for kind in (1, 2):
            options = {**cases.TINY["manual"], "kind": kind}
            self.right(runs.run(self.ours["manual"], options), "manual",
                       options)

    def test_tracing_is_told(self):
        library = runs.run(self.ours["trees"],
                           cases.TINY["trees"] | {"survivors": 1})["library"]
        self.assertGreater(library["survived"], 0)
        self.assertGreater(library["traced"], 0)

    def test_collections_happen(self):
        for name in ("churn", "trees", "deep", "bigheap", "weak"):
            options = {**cases.TINY[name], "nursery": 256}
            report = runs.run(self.ours[name], options)
            self.assertGreater(report["library"]["collections"], 1, name)

    def test_base(self):
        for name, options in cases.TINY.items():
            with self.subTest(workload=name):
                self.right(runs.run(self.base[name], options), name, options)

    def test_without_a_collector(self):
        for name, program in self.floor.items():
            with self.subTest(workload=name):
                options = cases.TINY[name]
                report = runs.run(program, options)
                self.right(report, name, options)
                self.assertEqual(report["collector"], "none")
                self.assertEqual(report["library"]["collections"], 0)
        with self.assertRaisesRegex(builds.Failure, "no memory"):
            runs.run(self.floor["churn"], {"ops": 4_000_000, "limit": 1 << 26})

    def refused(self, *arguments):
        done = subprocess.run([self.ours["churn"], *arguments],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, arguments)
        self.assertIn("unknown option", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_unknown_options(self):
        self.refused("--nonsense=1")
        self.refused("--ops")
        self.refused("--ops=many")
        self.refused("--ops=1T")
        self.refused("--ops=")
        self.refused("churn")

    def test_a_failure_is_told(self):
        with self.assertRaises(builds.Failure):
            runs.run(self.ours["churn"], {"nonsense": 1})


class Command(unittest.TestCase):
    def command(self, *arguments):
        return subprocess.run([TOP / "bench/bench", *arguments],
                              capture_output=True, text=True, check=False)

    def test_unknown(self):
        for arguments in (["nonsense"], ["--nonsense"], ["--shield=none"],
                          ["--repeat=0"], ["--other", "x", "/no", LIBRARY],
                          ["--other", "x", TOP, "/no"],
                          ["--other", "testudo", TOP, LIBRARY],
                          ["--other", "x", TOP, LIBRARY, "--other", "x", TOP,
                           LIBRARY], ["--other", "../x", TOP, LIBRARY],
                          ["--library=/no"]):
            done = self.command(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("error", done.stderr)

    def test_help(self):
        """What the command itself gives is not asked for."""
        for name in ("bench", "shields"):
            done = subprocess.run([TOP / "bench" / name, "--help"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("[--library LIBRARY]", done.stdout)
        # Names with commas, as of cases, are not in braces with commas.
        self.assertIn("[--case CASE]", done.stdout)
        self.assertIn("; bigheap 64 MiB, fixed;",
                      " ".join(done.stdout.split()))

    def test_scheme_speed_refuses(self):
        speed = [sys.executable, TOP / "bench/scheme_speed.py"]
        for arguments in (["/no"], ["--read=/no"], [f"--read={__file__}"],
                          [sys.executable, "--runs=0"],
                          [sys.executable, "--only=nonsense"]):
            done = subprocess.run([*speed, *arguments], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("error", done.stderr)

    def test_scheme_speed_without(self):
        """Guile, or a place to print to."""
        speed = [sys.executable, TOP / "bench/scheme_speed.py"]
        done = subprocess.run([*speed, sys.executable], capture_output=True,
                              env={"PATH": "/nowhere"}, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (
            1, "scheme_speed.py: Guile is not installed\n"))
        with open("/dev/full", "w", encoding="ascii") as full, \
                tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("[]")
            file.flush()
            done = subprocess.run([*speed, f"--read={file.name}", "--json"],
                                  stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            3, "bench: standard output: No space left on device\n"))

    def test_usage(self):
        """Of programs that print what their source begins with."""
        for name in ("bench/scheme_speed.py", "test/scheme/long.py",
                     "test/scheme/random_programs.py"):
            done = subprocess.run([sys.executable, TOP / name, "--help"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(
                f"usage: {os.path.basename(name)} INTERPRETER"), done.stdout)

    def test_list(self):
        done = self.command("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bigheap 1 GiB", done.stdout)

    def test_options_between_names(self):
        """They may stand anywhere."""
        done = self.command("--list", "full", "--output", "X", "churn",
                            "--repeat=2", "trees")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = subprocess.run(
            [sys.executable, TOP / "bench/shields.py", "--dry", "writes",
             "--repeat=2", "forks"], capture_output=True, text=True,
            check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_paths_are_the_callers(self):
        """The commands are copies; what they build and run are stand-ins."""
        with tempfile.TemporaryDirectory() as room:
            top = pathlib.Path(room) / "a top"
            for name in ("bench", "scripts", "bin"):
                (top / name).mkdir(parents=True)
            for name in ("scripts/ensure-packages", "bin/cmake",
                         "bin/python3"):
                (top / name).write_text('#!/bin/sh\necho "$PWD: $*"\n')
                (top / name).chmod(0o755)
            for name in ("bench", "shields"):
                shutil.copy(TOP / "bench" / name, top / "bench")
                done = subprocess.run(
                    [top / "bench" / name, "--output=here"], cwd=room,
                    env={"PATH": f"{top}/bin:/usr/bin:/bin", "PWD": room},
                    capture_output=True, text=True, check=True)
                self.assertIn(f"{top}: --preset release\n", done.stderr)
                last = done.stdout.splitlines()[-1]
                self.assertTrue(last.startswith(f"{room}: "), last)
                self.assertIn(f"--library={top}/build/release/", last)

    def test_what_keeps_it_from_its_end(self):
        """It is told in a sentence."""
        with tempfile.TemporaryDirectory() as folder:
            one = [TOP / "bench/bench", "manual mfs", "--repeat=1",
                   "--no-base", f"--output={folder}", f"--library={LIBRARY}"]
            with open("/dev/full", "w", encoding="ascii") as full:
                for given, output, words in (
                        ([], full, "standard output: No space left"),
                        (["--output=/dev/null/x"], None, "/dev/null/x: Not a"),
                        (["CC=/no/cc"], None, "/no/cc: No such file")):
                    settings = dict(v.split("=") for v in given
                                    if not v.startswith("-"))
                    done = subprocess.run(
                        [*one, *(v for v in given if v.startswith("-"))],
                        stdout=output or subprocess.DEVNULL,
                        stderr=subprocess.PIPE, text=True, check=False,
                        env={**os.environ, **settings})
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn("bench: " + words, done.stderr)
                    self.assertNotIn("Traceback", done.stderr)
        done = subprocess.run(
            ["bash", "-c", '"$0" --list | true; exit ${PIPESTATUS[0]}',
             TOP / "bench/bench"], capture_output=True, text=True,
            check=False)
        self.assertIn(done.returncode, (0, 141))
        self.assertEqual(done.stderr, "")

    def test_without_strace_and_matplotlib(self):
        """What needs neither is measured."""
        with tempfile.TemporaryDirectory() as folder:
            room = pathlib.Path(folder)
            (room / "bin").mkdir()
            for name in ("bash", "dirname", "ar", "cc", "as", "ld"):
                (room / "bin" / name).symlink_to(shutil.which(name))
            (room / "bin/python3").symlink_to(sys.executable)
            (room / "matplotlib.py").write_text("raise ImportError\n")
            done = subprocess.run(
                [TOP / "bench/bench", "manual mfs", "--repeat=1", "--no-base",
                 "--strace", f"--output={folder}/out",
                 f"--library={LIBRARY}"], capture_output=True, text=True,
                check=False, env={"PATH": f"{room}/bin",
                                  "PYTHONPATH": folder})
            drawn = subprocess.run(
                [sys.executable, TOP / "bench/pictures.py", "x", "y"],
                capture_output=True, text=True, check=False,
                env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("strace is not installed", done.stderr)
        self.assertIn("matplotlib is not installed", done.stderr)
        self.assertRegex(done.stdout, r"\nmanual mfs +testudo ")
        self.assertEqual(drawn.stderr,
                         "pictures.py: matplotlib is not installed\n")

    def test_bits(self):
        """The passes over bit tables want nothing of the library's inside."""
        with tempfile.TemporaryDirectory() as folder:
            passes = growth.bits(folder)
        self.assertGreater(len(passes["passes"]), 3)

    def test_floor(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.command("deep", "fork", "--repeat=1", "--no-base",
                                "--floor", f"--output={folder}",
                                f"--library={LIBRARY}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\ndeep +none ")
            self.assertNotRegex(done.stdout, r"\nfork +none ")

    def test_one_case(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.command("fork", "--repeat=1", "--no-base",
                                f"--output={folder}",
                                f"--library={LIBRARY}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("fork and exec", done.stdout)
            lines = done.stdout.splitlines()
            head = next(x for x in lines if x.startswith("case "))
            row = next(x for x in lines if x.startswith("fork and exec"))
            self.assertEqual(len(head.rstrip()), len(row.rstrip()))
            self.assertTrue(os.path.exists(f"{folder}/quick.json"))


class Sums(unittest.TestCase):
    def test_exponent(self):
        points = [(x, 3 * x**1.5) for x in (1, 2, 4, 8)]
        self.assertTrue(math.isclose(growth.exponent(points), 1.5))
        self.assertIsNone(growth.exponent([(1, 1)]))

    def test_ratio(self):
        case = cases.case("churn", 0.5, 0.1)
        series = runs.Series(case, ["a", "b"])
        for ours, base, peak in ((1, 2, 5), (3, 4, 5), (8, 10, 5)):
            for name, own in (("a", ours), ("b", base)):
                series.reports[name].append(
                    {"own": own, "peak": peak, "pause": {"own": 0.05}})
        self.assertEqual(series.ratio("a", "b"), 0.75)
        found = list(tables.goals([series], "a", "b"))
        text, missed = tables.verdicts(found)
        self.assertEqual(missed, 1)
        self.assertEqual(text.count("FAIL"), 1)
        self.assertEqual(text.count("pass"), 2)

    def test_pictured_time(self):
        """By the clock of the case: threads wait longer than a run takes."""
        python = pictures.interpreter()
        if python is None:
            self.skipTest("matplotlib is not installed")
        report = {"own": -3, "seconds": 2, "operations": 4}
        program = ("import pictures; print(*(pictures.operation_time("
                   f"{{'clock': clock}}, {report}) / 1e9"
                   " for clock in ('seconds', 'own')))")
        done = subprocess.run([python, "-c", program], cwd=builds.BENCH,
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["0.5", "-0.75"])


class Copying(unittest.TestCase):
    FOUND = yardsticks.Copying(1.1e9, 1.6e9, {"1 M": 4.5e9, "8 M": 3.2e9},
                               {"1 M": 1.7e9, "8 M": 1.5e9})

    def test_goal(self):
        """Of copying itself, against the larger yardstick."""
        (name, value, most), = yardsticks.goals({"copying": self.FOUND})
        self.assertIn("copying", name)
        self.assertAlmostEqual(value, 2.0)
        self.assertAlmostEqual(most, 1 / 0.6)

    def test_report(self):
        text = yardsticks.report({"copying": self.FOUND})
        for figure in ("1.10", "1.60", "4.50", "3.20", "1.70", "1.50"):
            self.assertIn(figure, text)

    def test_another_library(self):
        """One that does not tell how long it traced misses no goal."""
        found = dataclasses.replace(self.FOUND, tracing=None)
        self.assertEqual(list(yardsticks.goals({"copying": found})), [])
        self.assertIn("unknown", yardsticks.report({"copying": found}))

    def test_file(self):
        text = json.dumps(yardsticks.as_json({"copying": self.FOUND}))
        self.assertEqual(json.loads(text)["copying"]["least"]["8 M"], 3.2e9)


class Shields(unittest.TestCase):
    """bench/shields, small."""

    def command(self, folder, *arguments):
        return subprocess.run(
            [TOP / "bench/shields", f"--output={folder}",
             f"--library={LIBRARY}", *arguments],
            capture_output=True, text=True, check=False)

    def test_unknown(self):
        for arguments in (["nonsense"], ["--mode=none"], ["--case=none"],
                          ["--repeat=0"]):
            done = self.command("/nowhere", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("error", done.stderr)

    def test_strange_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "shields.json").write_text("{")
            done = self.command(folder, "writes")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no figures of earlier runs", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_keeps_what_was_measured(self):
        """All tables, in two commands; speeds are not judged here."""
        small = ["--mib=4", "--writes=40000", "--repeat=1", "--no-strace"]
        with tempfile.TemporaryDirectory() as folder:
            for arguments in (["forks", "--mode=off"],
                              ["writes", "--mode=dirty", "--mode=naive"]):
                done = self.command(folder, *small, *arguments)
                self.assertIn(done.returncode, (0, 1), done.stderr)
            figures = json.loads(
                pathlib.Path(folder, "shields.json").read_text())
            drawn = pathlib.Path(folder, "shields.svg").exists()
        self.assertEqual(set(figures["writes"]["scatter"]),
                         {"dirty", "naive"})
        self.assertEqual(figures["writes"]["random"]["naive"]["wrong"], 0)
        self.assertGreater(figures["forks"]["off"]["exit"], 0)
        self.assertGreater(figures["forks"]["off"]["together"], 0)
        for word in ("random:", "scatter:", "fork+exit"):
            self.assertIn(word, done.stdout)
        self.assertEqual(drawn, "no pictures" not in done.stderr)

    def test_choice(self):
        times = {"deferred": (2, 4), "dirty": (4, 4), "off": (1, 2)}
        case = {mode: [{"processor": t, "seconds": t, "pause": 0.1}
                       for t in both] for mode, both in times.items()}
        text, = shield_tables.choice({"one": case, "two": case})
        self.assertRegex(text, r"geometric mean +1.50 +1.50 +1.00 +"
                         r"0.50 +0.50 +1.00")

    def test_goals(self):
        figures = {
            "writes": {"random": {
                "dirty": {"kernel": {"ioctl": 19_000, "mprotect": 1_001}},
                "deferred": {"kernel": {"mprotect": 20_001}}}},
            "forks": {"dirty": {"exit": 8, "exit_ratio": 0.95,
                                "exec": 8, "exec_ratio": 0.8}}}
        _, missed = tables.verdicts(shield_tables.goals(figures))
        self.assertEqual(missed, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""Testudo: the speed of the Scheme interpreter's workloads, beside Guile.

usage: scheme_speed.py INTERPRETER [--only=NAME...] [--runs=N] [--rst] [--json]
       scheme_speed.py --read=FILE... [--rst]

Runs every workload of example/scheme at a size that takes some seconds: on
INTERPRETER, on Guile's evaluator (nothing compiled in reach) and on Guile
with the program compiled in advance. The runs of the three take turns; the
answers must be equal. Printed are the median of the real seconds on
INTERPRETER, the medians of the ratios of Guile's time to that (above 1: Guile
takes longer), and what (gc-statistics) says of the collector. With --rst all
comes as the tables of the manual (manual/scheme_speed.inc), with --json the
single runs too; --read takes what --json has printed.

Exits with 1 if answers differ, or Guile's evaluator is faster on a workload.

SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from suite import guarded

WORKLOADS = (pathlib.Path(__file__).resolve().parent.parent /
             "example/scheme/workload")
SIZES = {
    "leaf": ["40"], "trees": ["17"], "lists": ["200000", "4"],
    "storm": ["64", "1000000"], "table": ["1000"], "matrix": ["160", "5"],
    "text": ["40000"], "puzzle": ["11"], "bignum": ["8000"],
    "continuations": ["1000", "100"], "rewrite": ["30"],
}
SYSTEMS = ["testudo", "evaluator", "compiled"]


def run(command, **environment):
    """Real seconds, processor seconds, output and errors of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(command, env=dict(os.environ, **environment),
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=1800, check=False)
    real = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: "
                 f"{done.stderr.decode()}")
    busy = (after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime)
    return {"real": real, "processor": busy, "output": done.stdout.decode(),
            "errors": done.stderr.decode()}


class Systems:
    """How each of the three runs a program; Guile with a cache of our own."""

    def __init__(self, interpreter, folder):
        self.interpreter = interpreter
        self.cache = os.path.join(folder, "cache")
        self.empty = os.path.join(folder, "empty")

    def prepare(self, path):
        """Has Guile compile the program, and makes sure that it did. Then
        Guile runs it at a size that it may not be meant for."""
        shutil.rmtree(self.cache, ignore_errors=True)
        subprocess.run(["guile", "--auto-compile", "--r7rs", path, "1"],
                       env=dict(os.environ, XDG_CACHE_HOME=self.cache),
                       stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=600, check=False)
        if not list(pathlib.Path(self.cache).rglob("*.go")):
            sys.exit(f"Guile did not compile {path}")

    def testudo(self, path, arguments):
        result = run([self.interpreter, "--statistics", path] + arguments)
        for key, value in re.findall(r"\(([a-z-]+) \. ([0-9.e-]+)\)",
                                     result["errors"]):
            result[key] = float(value)
        return result

    def evaluator(self, path, arguments):
        result = run(["guile", "--no-auto-compile", "--r7rs", path] +
                     arguments, XDG_CACHE_HOME=self.empty,
                     GUILE_AUTO_COMPILE="0")
        if list(pathlib.Path(self.empty).rglob("*.go")):
            sys.exit("Guile's evaluator has compiled something")
        return result

    def compiled(self, path, arguments):
        return run(["guile", "--auto-compile", "--r7rs", path] + arguments,
                   XDG_CACHE_HOME=self.cache)


def measure(systems, name, runs):
    """All runs of a workload, and what comes out."""
    path = str(WORKLOADS / (name + ".scm"))
    systems.prepare(path)
    results = [{s: getattr(systems, s)(path, SIZES[name]) for s in SYSTEMS}
               for _ in range(runs)]

    def median(of):
        return statistics.median(of(result) for result in results)

    def ratio(system, clock):
        return median(lambda r: r[system][clock] / r["testudo"][clock])

    return {
        "workload": name, "size": " ".join(SIZES[name]),
        "seconds": median(lambda r: r["testudo"]["real"]),
        "evaluator": ratio("evaluator", "real"),
        "compiled": ratio("compiled", "real"),
        "evaluator-processor": ratio("evaluator", "processor"),
        "compiled-processor": ratio("compiled", "processor"),
        "share": median(lambda r: r["testudo"]["collector-share"]),
        "collections": median(lambda r: r["testudo"]["collections"]),
        "pause": median(lambda r: r["testudo"]["longest-pause"]),
        "same": len({r[s]["output"] for r in results for s in SYSTEMS}) == 1,
        "runs": [{s: {"real": r[s]["real"], "processor": r[s]["processor"]}
                  for s in SYSTEMS} for r in results],
    }


SPEED = [
    ("workload", lambda r: r["workload"]),
    ("size", lambda r: r["size"]),
    ("seconds", lambda r: f"{r['seconds']:.1f}"),
    ("evaluator", lambda r: f"{r['evaluator']:.1f}"),
    ("compiled", lambda r: f"{r['compiled']:.2f}"),
]
COLLECTOR = [
    ("collector", lambda r: f"{100 * r['share']:.0f} %"),
    ("collections", lambda r: f"{r['collections']:,.0f}"),
    ("longest pause", lambda r: f"{1000 * r['pause']:.0f} ms"),
]
WIDTHS = [14, 14, 8, 10, 9, 10, 12, 14]


def show(row=None):
    """A line of the table, or its head."""
    texts = [of(row) if row else head for head, of in SPEED + COLLECTOR]
    print("".join(f"{t:<{w}}" if i < 2 else f"{t:>{w}}"
                  for i, (t, w) in enumerate(zip(texts, WIDTHS))) +
          ("" if not row or row["same"] else "  ANSWERS DIFFER"), flush=True)


def rst(columns, rows):
    print(".. list-table::\n   :header-rows: 1\n")
    for texts in [[head for head, _ in columns]] + [
            [of(row) for _, of in columns] for row in rows]:
        print("   * - " + "\n     - ".join(texts))
    print()


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", info)
    guile = subprocess.run(["guile", "--version"], capture_output=True,
                           text=True, check=True).stdout
    version = re.search(r"\d+\.\d+\.\d+", guile)[0]
    return (f"{model[1] if model else platform.machine()}, {os.cpu_count()} "
            f"processors{', virtual' if ' hypervisor ' in info else ''}, "
            f"Linux {platform.release().split('-')[0]}, Guile {version}")


def manual(rows):
    print(f"Measured by ``bench/scheme_speed.py`` on {machine()}:\n"
          "real seconds of the Scheme here, and how many times as long\n"
          "Guile takes, by its evaluator and compiled in advance; "
          f"medians of {len(rows[0]['runs'])} runs that "
          "took turns.\n")
    rst(SPEED, rows)
    print("What ``(gc-statistics)`` says of the same runs:\n")
    rst(SPEED[:2] + COLLECTOR, rows)


def measured(options):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        systems = Systems(options.interpreter, folder)
        for name in options.only or sorted(SIZES):
            rows.append(measure(systems, name, options.runs))
            if not options.rst and not options.json:
                show(rows[-1])
    return rows


def main():
    _, usage, description = __doc__.rpartition("\n\n")[0].split("\n\n", 2)
    parser = argparse.ArgumentParser(
        usage=usage.removeprefix("usage: "), description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interpreter", nargs="?")
    parser.add_argument("--only", action="append", choices=sorted(SIZES))
    parser.add_argument("--read", action="append")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rst", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.interpreter and not options.read:
        parser.error("which interpreter?")
    if options.interpreter and not os.access(options.interpreter, os.X_OK):
        parser.error(f"cannot be run: {options.interpreter}")
    for name in options.read or []:
        if not os.access(name, os.R_OK):
            parser.error(f"cannot be read: {name}")
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if not options.read and shutil.which("guile") is None:
        sys.exit("scheme_speed.py: Guile is not installed")
    try:
        rows = [row for name in options.read or []
                for row in json.loads(pathlib.Path(name).read_text())]
    except ValueError:
        parser.error("what is to be read was not written by --json")
    if not options.rst and not options.json:
        show()
    if options.read:
        if not options.rst:
            for row in rows:
                show(row)
    else:
        rows = measured(options)
    if options.rst:
        manual(rows)
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0 if all(r["same"] and r["evaluator"] >= 1 for r in rows) else 1


if __name__ == "__main__":
    sys.exit(guarded(lambda _: main()))

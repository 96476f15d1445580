#!/usr/bin/env python3
"""Testudo: the benchmark suite. bench/bench builds the library and calls
this; run it with --help for what it can do.

SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

import builds
import cases
import growth
import runs
import tables
import yardsticks

sys.path.insert(0, str(builds.TOP / "tool"))
from testudo_tool import ending, pictures  # noqa: E402

OURS, BASE = "testudo", "boehm"
NEED = 1.3  # bytes that a live byte takes at least
ALLOWED = 0.95  # of the available memory


def log(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench/bench", description="Compare "
                                     "collectors; the figures of all runs are "
                                     "written as JSON, with pictures.")
    parser.add_argument("cases", nargs="*", metavar="WHAT",
                        help="quick (the default) or full, and cases or "
                        "workloads, if not all of the set")
    parser.add_argument("--library",
                        help="the library to measure, if not the one that "
                        "bench/bench builds")
    parser.add_argument("--include", default=str(builds.TOP / "include"),
                        help="the folder of its mps.h")
    parser.add_argument("--rash", help="the same library without checks")
    parser.add_argument("--scheme", help="the Scheme interpreter")
    parser.add_argument("--other", nargs=3, action="append", default=[],
                        metavar=("NAME", "INCLUDE", "LIBRARY"),
                        help="another implementation of the interface")
    parser.add_argument("--floor", action="store_true",
                        help="and a heap that is never collected, for what "
                        "the workloads take themselves")
    parser.add_argument("--shield", choices=cases.MODES,
                        help="the mode of the shield")
    parser.add_argument("--repeat", type=int, help="runs of each case")
    parser.add_argument("--strace", action="store_true",
                        help="count system calls in a run of their own")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--no-base", action="store_true",
                        help="leave out the Boehm collector")
    parser.add_argument("--list", action="store_true",
                        help="print the names of the cases")
    parser.add_argument("--output", type=pathlib.Path,
                        default=builds.TOP / "build/bench")
    options = parser.parse_intermixed_args(arguments)
    if not options.library and not options.list:
        parser.error("which library?")
    options.set = "quick"
    if options.cases and options.cases[0] in ("quick", "full"):
        options.set = options.cases.pop(0)
    known = {c.name for c in cases.CASES} | {c.workload for c in cases.CASES}
    for name in options.cases:
        if name not in known:
            parser.error(f"no such case: {name}")
    if options.repeat is not None and options.repeat < 1:
        parser.error("--repeat must be at least 1")
    taken = {OURS, BASE, "none", "rash", "shields"}  # also as folders
    for name, include, library in options.other:
        if name in taken or pathlib.Path(name).name != name:
            parser.error(f"no name for another collector: {name}")
        taken.add(name)
        if not os.path.isdir(include):
            parser.error(f"no such folder: {include}")
        require_file(parser, "library", library)
    require_file(parser, "library", options.library)
    require_file(parser, "library", options.rash)
    require_file(parser, "interpreter", options.scheme)
    return options


def require_file(parser, what, path):
    """An error unless PATH is a file, or not given."""
    if path and not os.path.isfile(path):
        parser.error(f"no such {what}: {path}")


def fits(heap):
    """Whether to try a heap of so many bytes."""
    return heap * NEED <= ALLOWED * runs.available()


def limited(options):
    """The options of a workload, with a limit on memory if it needs one so as
    not to take what the machine has not got."""
    if options.get("heap", 0) * 3 <= ALLOWED * runs.available():
        return options
    return {**options, "limit": int(ALLOWED * runs.available())}


def collectors(options):
    found = [builds.interface(OURS, options.include, options.library)]
    if not options.no_base:
        found.append(builds.boehm())
    found += [builds.interface(*other) for other in options.other]
    if options.floor:
        found.append(builds.none())
    return found


def counting(wanted):
    """Are system calls counted, if that is WANTED? Where they cannot be, it is
    told."""
    if wanted and shutil.which("strace") is None:
        log("system calls are not counted: strace is not installed")
        return False
    return wanted


def measure_cases(options, programs, environments):
    found = []
    strace = counting(options.strace or options.set == "full")
    for case in cases.select(options.set, options.cases):
        if not fits(case.options.get("heap", 0)):
            log(f"{case.name}: left out, no memory for it")
            continue
        case = dataclasses.replace(case, options=limited(case.options))
        found.append(runs.series(
            case, programs, environments, options.repeat or case.repeat, log,
            strace))
    return found


def measure_yardsticks(options, programs):
    found = {"copying": yardsticks.copying(programs[OURS]["trees"],
                                           options.output, log)}
    if options.rash:
        rash = builds.build(
            builds.interface("rash", options.include, options.rash),
            yardsticks.CHECKED, options.output)
        found["checks"] = yardsticks.checks(programs[OURS], rash, log)
    if options.scheme:
        found["scheme"] = yardsticks.scheme(options.scheme, log)
    return found


def draw(file, folder):
    """Draw the pictures with an interpreter that can."""
    python = pictures.interpreter()
    if python is None:
        log("no pictures: matplotlib is not installed")
        return
    done = subprocess.run([python, builds.BENCH / "pictures.py", file, folder],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        log(f"no pictures: {(done.stderr.splitlines() or ['unknown'])[-1]}")
        return
    log(f"pictures: {os.path.relpath(folder)}/*.svg")


def publish(file, text, missed):
    """Print the tables of the figures in FILE, and draw them, into files
    beside it. The exit status, which says whether goals were MISSED."""
    file.with_suffix(".txt").write_text(text + "\n")
    print(text)
    log(f"figures: {os.path.relpath(file)}")
    draw(file, file.parent)
    return 1 if missed else 0


def measure(options):
    """Everything; the figures, the tables and the goals."""
    options.output.mkdir(parents=True, exist_ok=True)
    environments = {}
    if options.shield:
        environments[OURS] = {"TESTUDO_SHIELD": options.shield}
    programs = {}
    for collector in collectors(options):
        log(f"compiling for {collector.name}")
        programs[collector.name] = builds.build(
            collector, collector.only or builds.workloads(), options.output)
    series = measure_cases(options, programs, environments)
    figures = {"machine": tables.machine(), "collectors": list(programs),
               "series": [one.as_json() for one in series]}
    parts = [tables.figures(series, BASE), tables.counters(series),
             tables.synchronisations(series)]
    goals = list(tables.goals(series, OURS, BASE))
    if not options.cases:
        found = measure_yardsticks(options, programs)
        parts.append(yardsticks.report(found))
        goals += yardsticks.goals(found)
        figures["yardsticks"] = yardsticks.as_json(found)
    if not options.cases and not options.no_growth:
        minor = {name: built for name, built in programs.items()
                 if "minor" in built}
        grown = growth.measure(minor, options.set, fits, limited, log)
        passes = growth.bits(options.output)
        parts.append(growth.report(grown, passes))
        goals += growth.goals(grown, passes, OURS)
        figures |= {"growth": grown, "bits": passes,
                    "growth_titles": growth.NAMES}
    text, missed = tables.verdicts(goals)
    figures["goals"] = goals
    parts.append(text)
    return figures, "\n\n".join([figures["machine"], *parts]), missed


def main(arguments):
    options = parse(arguments)
    if options.list:
        print("\n".join(case.name for case in cases.CASES))
        return 0
    figures, text, missed = measure(options)
    file = options.output / f"{options.set}.json"
    file.write_text(json.dumps(figures, indent=1))
    return publish(file, text, missed)


def guarded(program):
    """The exit status of PROGRAM, which gets the arguments."""
    return ending.told(lambda: program(sys.argv[1:]), "bench", builds.Failure,
                       3)


if __name__ == "__main__":
    sys.exit(guarded(main))

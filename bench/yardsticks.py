"""Testudo: comparisons with other things than a collector: the least copier,
the library without checks, the Scheme workloads in time.

SPDX-License-Identifier: BSD-2-Clause
"""
import dataclasses
import json
import pathlib
import resource
import statistics
import subprocess
import time

import builds
import runs
import tables

LEAST_COPYING = 0.6  # of the yardstick's speed
MOST_FOR_CHECKS = 1.05
YARDSTICKS = ("cheney.c", "cheney_format.c")
SIZES = {"1 M": 19, "8 M": 22}  # nodes of their trees, and how deep these are
YARDSTICK = "8 M"  # the size that the goal is about
COPY_OPTIONS = {"ops": 40_000_000, "depth": 16, "survivors": 1}
CHECKED = ("churn", "trees", "deep")
CHECK_ROUNDS = 21
CHECK_OPTIONS = {"ops": 10_000_000, "depth": 16}
SCHEME = (["leaf.scm"], ["lists.scm"], ["storm.scm", "64"], ["trees.scm"])
SCHEME_SETTINGS = ["--arena=1G", "--gen=6400:0.85", "--gen=6400:0.45"]


@dataclasses.dataclass(frozen=True)
class Copying:
    """Bytes a second in trees: of what survived, in all the time that the
    program did not get on, and in that of scanning and copying alone (None
    where the library does not say); and of the yardsticks, for each size of
    what they copy."""
    stopped: float
    tracing: float
    least: dict
    by_format: dict


def copying(trees, output, log):
    """As Copying says; medians of three."""
    log("copying: the yardsticks")
    programs = [builds.build_plain(builds.BENCH / name, output)
                for name in YARDSTICKS]
    stopped, tracing = [], []
    speeds = [{size: [] for size in SIZES} for _ in programs]
    for _ in range(3):
        for program, found in zip(programs, speeds):
            for size, depth in SIZES.items():
                done = subprocess.run([program, str(depth)],
                                      capture_output=True, text=True,
                                      check=True)
                found[size].append(speed(done.stdout))
        log("copying: trees")
        report = runs.run(trees, COPY_OPTIONS)
        library = report["library"]
        if report["work_lost"] > 0 and library["survived"] > 0:
            stopped.append(library["survived"] / report["work_lost"])
        if library["traced"] > 0 and library["survived"] > 0:
            tracing.append(library["survived"] / library["traced"])
    return Copying(median(stopped), median(tracing),
                   *({size: median(values) for size, values in found.items()}
                     for found in speeds))


def median(values):
    return statistics.median(values) if values else None


def speed(text):
    """Bytes a second from the yardstick's report."""
    report = json.loads(text)
    return report["bytes"] / report["least_seconds"]


def checks(hot, rash, log):
    """Ratios of times with checks to times without, by workload. What is looked
    for is less than the machine's own doubt: many short runs, and neither of
    two is always the first."""
    ratios = {}
    for name in CHECKED:
        log(f"checks: {name}")
        found = []
        for turn in range(CHECK_ROUNDS):
            pair = [hot[name], rash[name]][::1 if turn % 2 else -1]
            times = {program: runs.run(program, CHECK_OPTIONS)["own"]
                     for program in pair}
            found.append(times[hot[name]] / times[rash[name]])
        ratios[name] = statistics.median(found)
    return ratios


def scheme(interpreter, log):
    """Rows of workload, seconds and seconds in the system."""
    folder = builds.TOP / "example/scheme/workload"
    rows = []
    for program, *arguments in SCHEME:
        log(f"scheme: {program}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.monotonic()
        done = subprocess.run(
            [interpreter, *SCHEME_SETTINGS, folder / program, *arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False)
        took = time.monotonic() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise builds.Failure(f"{program}: {done.stderr}")
        rows.append((pathlib.Path(program).stem, took,
                     after.ru_utime - before.ru_utime,
                     after.ru_stime - before.ru_stime))
    return rows


def report_copying(found):
    rows = [["copying", "GB/s"]]
    for name, value in (
            ("trees: in all the time that the program stood still",
             found.stopped),
            ("trees: in scanning and copying alone", found.tracing),
            *((f"the least copier, {size} nodes", value)
              for size, value in found.least.items()),
            *((f"the least that calls a format's methods, {size} nodes", value)
              for size, value in found.by_format.items())):
        rows.append([name, "unknown" if value is None
                     else f"{value / 1e9:.2f}"])
    return tables.align(rows)


def report(found):
    """What was measured, as text. FOUND has members copying, checks and
    scheme, each of which may be missing."""
    lines = []
    if "copying" in found:
        lines += report_copying(found["copying"])
    for name, ratio in found.get("checks", {}).items():
        lines.append(f"with checks against without: {name} {ratio:.3f}")
    if found.get("scheme"):
        rows = [["Scheme workload", "seconds", "user", "system"]]
        rows += [[name, *(f"{value:.2f}" for value in values)]
                 for name, *values in found["scheme"]]
        lines += tables.align(rows)
    return "\n".join(lines)


def as_json(found):
    """What was measured, for a file."""
    return found | {"copying": dataclasses.asdict(found["copying"])}


def goals(found):
    """As tables.goals."""
    found_copying = found.get("copying")
    if found_copying is not None and found_copying.tracing is not None:
        yield "copying in trees: the least copier against it", \
            found_copying.least[YARDSTICK] / found_copying.tracing, \
            1 / LEAST_COPYING
    for name, ratio in found.get("checks", {}).items():
        yield f"{name}: with checks against without", ratio, MOST_FOR_CHECKS

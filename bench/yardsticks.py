"""Testudo: comparisons with other things than a collector: the least copier,
the library without checks, the Scheme workloads in time.

SPDX-License-Identifier: BSD-2-Clause
"""
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
CHECKED = ("churn", "trees", "deep")
CHECK_ROUNDS = 21
CHECK_OPTIONS = {"ops": 10_000_000, "depth": 16}
SCHEME = (["leaf.scm"], ["lists.scm"], ["storm.scm", "64"], ["trees.scm"])
SCHEME_SETTINGS = ["--arena=1G", "--gen=6400:0.85", "--gen=6400:0.45"]


def copying(trees, output, log):
    """Bytes a second that the library copies, in all the time that the program
    did not get on; None if it does not say. And the yardsticks, at their
    best: the least copier, and the least that calls a format's methods."""
    log("copying: the yardsticks")
    programs = [builds.build_plain(builds.BENCH / name, output)
                for name in YARDSTICKS]
    ours, least = [], [[] for _ in programs]
    for _ in range(3):
        for program, speeds in zip(programs, least):
            done = subprocess.run([program, "19"], capture_output=True,
                                  text=True, check=True)
            speeds.append(speed(done.stdout))
        log("copying: trees")
        report = runs.run(trees, {"ops": 10_000_000, "survivors": 1})
        survived = report["library"]["survived"]
        if report["work_lost"] > 0 and survived > 0:
            ours.append(survived / report["work_lost"])
    return (statistics.median(ours) if ours else None,
            *(statistics.median(speeds) for speeds in least))


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


def report(found):
    """What was measured, as text. FOUND has members copying, checks and
    scheme, each of which may be missing."""
    lines = []
    if "copying" in found:
        ours, least, by_format = found["copying"]
        text = "unknown" if ours is None else f"{ours / 1e9:.2f} GB/s"
        lines.append(f"copying in trees: {text}; the least copier: "
                     f"{least / 1e9:.2f} GB/s; the least that calls a "
                     f"format's methods: {by_format / 1e9:.2f} GB/s")
    for name, ratio in found.get("checks", {}).items():
        lines.append(f"with checks against without: {name} {ratio:.3f}")
    if found.get("scheme"):
        rows = [["Scheme workload", "seconds", "user", "system"]]
        rows += [[name, *(f"{value:.2f}" for value in values)]
                 for name, *values in found["scheme"]]
        lines += tables.align(rows)
    return "\n".join(lines)


def goals(found):
    """As tables.goals."""
    ours, least, _ = found.get("copying", (None, None, None))
    if ours is not None:
        yield "copying in trees: the least copier against it", least / ours, \
            1 / LEAST_COPYING
    for name, ratio in found.get("checks", {}).items():
        yield f"{name}: with checks against without", ratio, MOST_FOR_CHECKS

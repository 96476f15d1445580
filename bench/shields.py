"""Testudo: the modes of the shield compared. bench/shields builds the library
and calls this; run it with --help for what it can do.

SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import builds
import cases
import runs
import shield_tables
from suite import counting, guarded, log, publish, require_file
from tables import machine

PARTS = ("writes", "forks", "choice")
CHOICE = ("deferred", "dirty", "ranged", "off")
COLLECTED = [c for c in cases.CASES
             if "quick" in c.sets and c.workload != "manual"]
ROUNDS = 5  # of shield_scatter
FORKS = 10  # children for one figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench/shields", description="Compare the modes of the shield. "
        "Figures of earlier runs that are not measured again are kept.")
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="writes, forks or choice; all if none is given")
    parser.add_argument("--library",
                        help="the library to measure, if not the one that "
                        "bench/shields builds")
    parser.add_argument("--mode", choices=cases.MODES, action="append",
                        help="in writes and forks only these modes")
    parser.add_argument("--case", action="append", metavar="CASE",
                        choices=[c.name for c in COLLECTED],
                        help="in choice only this case, and others that are "
                        "given so: " + "; ".join(c.name for c in COLLECTED))
    parser.add_argument("--mib", type=int, default=1024,
                        help="of old vectors, in writes and forks")
    parser.add_argument("--writes", type=int, default=5_000_000,
                        help="so many, in writes and forks")
    parser.add_argument("--repeat", type=int, default=5,
                        help="turns, in forks and choice")
    parser.add_argument("--no-strace", action="store_true",
                        help="do not let the kernel count system calls")
    parser.add_argument("--no-times", action="store_true",
                        help="in writes, do nothing else")
    parser.add_argument("--dry", action="store_true",
                        help="look at the arguments only")
    parser.add_argument("--output", type=pathlib.Path,
                        default=builds.TOP / "build/bench",
                        help="the folder for figures, pictures and programs")
    options = parser.parse_intermixed_args(arguments)
    if not options.library and not options.dry:
        parser.error("which library?")
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no such part: {part}")
    if min(options.repeat, options.mib, options.writes) < 1:
        parser.error("numbers must be at least 1")
    require_file(parser, "library", options.library)
    options.parts = options.parts or list(PARTS)
    options.modes = options.mode or list(cases.MODES)
    options.case = options.case or [c.name for c in COLLECTED]
    return options


def environment(mode):
    return {**os.environ, "TESTUDO_SHIELD": mode}


def program(name, options):
    return builds.build_plain(
        builds.BENCH / f"{name}.c", options.output / "shields",
        [f"-I{builds.TOP / 'include'}"], [options.library, "-pthread"])


# Writes: the benchmarks' own figures, and the calls that the kernel counts.

def numbers(text):
    """What such a program printed: numbers, each after its name."""
    return {name: float(value)
            for name, value in re.findall(r"([a-z]+) ([\d.]+)", text)}


def run_once(command, mode):
    """A run of one of the programs; it fails if it finds its heap wrong."""
    before = time.monotonic()
    done = subprocess.run(command, env=environment(mode), text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise builds.Failure(f"{' '.join(map(str, command))} in {mode}: "
                             f"{done.stdout}{done.stderr}")
    return {**numbers(done.stdout), "real": time.monotonic() - before}


def strace(command, mode, output):
    """Calls by name, as the kernel counts them."""
    file = output / "shields/calls"
    run_once(["strace", "-f", "-c", "-o", file, *command], mode)
    calls = {}
    for line in file.read_text().splitlines():
        match = runs.LINE.match(line.rstrip())
        if match and match.group(2) != "total":
            calls[match.group(2)] = int(match.group(1))
    return calls


def measure_writes(options, figures, save):
    """The two programs in every mode."""
    commands = {
        "random": [program("shield_random", options), options.mib,
                   options.writes],
        "scatter": [program("shield_scatter", options), options.mib, ROUNDS]}
    for name, command in commands.items():
        command = [str(word) for word in command]
        found = figures.setdefault(name, {})
        for mode in options.modes:
            log(f"{name}: {mode}")
            report = found.setdefault(mode, {})
            if not options.no_times:
                report.update(run_once(command, mode))
            if not options.no_strace:
                report["kernel"] = strace(command, mode, options.output)
            save()


# Forks: processes of all modes and one with protection off, one after the
# other, in turns, because processes of one mode differ, too, according to
# where their memory lies; and what a second thread costs.

class Forker(contextlib.AbstractContextManager):
    """A process with a large heap that forks when told to."""

    def __init__(self, command, mode):
        self.process = subprocess.Popen(
            [str(word) for word in command], env=environment(mode), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.mappings = self.answer("mappings")

    def answer(self, name):
        line = self.process.stdout.readline()
        if not line.startswith(name + " "):
            raise builds.Failure(f"{self.process.args[0]} failed")
        return float(line.split()[1])

    def rate(self, what, count):
        self.process.stdin.write(f"{what} {count}\n")
        self.process.stdin.flush()
        return self.answer("rate")

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def fork_rates(command, mode):
    """What one process reaches."""
    with Forker(command, mode) as forker:
        return {"mappings": forker.mappings,
                "exit": forker.rate("exit", FORKS),
                "exec": forker.rate("exec", FORKS)}


def note_forks(report, rates, bases):
    """Medians of the RATES of some processes, and of their ratios to those of
    BASES, processes of the same turns with protection off."""
    report["mappings"] = statistics.median(r["mappings"] for r in rates)
    for what in ("exit", "exec"):
        ratios = [r[what] / base[what] for r, base in zip(rates, bases)]
        report[what] = statistics.median(r[what] for r in rates)
        report[what + "_ratio"] = statistics.median(ratios)
        report[what + "_ratios"] = ratios


def measure_forks(options, figures, save):
    command = [program("shield_fork", options), options.mib, options.writes]
    modes = [mode for mode in options.modes if mode != "off"]
    found = {mode: [] for mode in ["off", *modes]}
    for turn in range(options.repeat):
        for mode in found:
            log(f"forks: {mode}, {turn + 1} of {options.repeat}")
            found[mode].append(fork_rates(command, mode))
    for mode, rates in found.items():
        note_forks(figures.setdefault(mode, {}), rates, found["off"])
    save()


def measure_threads(options, figures, save):
    """Writes into a quarter, with another thread at work and without."""
    command = [str(word) for word in (program("shield_random", options),
                                      options.mib // 4 or 1,
                                      options.writes // 4)]
    found = {mode: ([], []) for mode in options.modes}
    for turn in range(options.repeat):
        for mode in options.modes:
            log(f"a second thread: {mode}, {turn + 1} of {options.repeat}")
            for threads in (0, 1):
                found[mode][threads].append(
                    run_once([*command, str(threads)], mode))
    for mode, reports in found.items():
        report = figures.setdefault(mode, {})
        for label, some in zip(("alone", "together"), reports):
            report[label] = statistics.median(
                r["processor"] / r["writes"] for r in some)
            report[label + "_calls"] = statistics.median(
                r["calls"] / r["writes"] for r in some)
    save()


# Choice: the benchmark suite in the modes that could be the default.

def choose(case, built, options):
    """The reports of one case by mode, modes in turns."""
    found = {mode: [] for mode in CHOICE}
    for turn in range(options.repeat):
        for mode in CHOICE:
            log(f"{case.name}: {mode}, {turn + 1} of {options.repeat}")
            report = runs.run(built[case.workload], case.options,
                              {"TESTUDO_SHIELD": mode})
            found[mode].append(
                {"processor": report["user"] + report["system"],
                 "seconds": report[case.clock],
                 "pause": report["pause"]["own"]})
    return found


def measure_choice(options, figures, save):
    chosen = [c for c in COLLECTED if c.name in options.case]
    built = builds.build(
        builds.interface("testudo", builds.TOP / "include", options.library),
        sorted({c.workload for c in chosen}), options.output)
    for case in chosen:
        figures[case.name] = choose(case, built, options)
        save()


MEASURES = {"writes": (measure_writes,),
            "forks": (measure_forks, measure_threads),
            "choice": (measure_choice,)}


def earlier(file):
    """The figures of earlier runs."""
    try:
        return json.loads(file.read_text()) if file.exists() else {}
    except ValueError:
        raise builds.Failure(f"{file}: these are no figures of earlier runs; "
                             "remove it") from None


def main(arguments):
    options = parse(arguments)
    if options.dry:
        return 0
    options.no_strace = not counting(not options.no_strace)
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / "shields.json"
    figures = earlier(file)
    figures["machine"] = machine()
    save = lambda: file.write_text(json.dumps(figures, indent=1))
    for part in PARTS:
        for measure in MEASURES[part] if part in options.parts else ():
            measure(options, figures.setdefault(part, {}), save)
    text, missed = shield_tables.report(figures)
    return publish(file, text, missed)


if __name__ == "__main__":
    sys.exit(guarded(main))

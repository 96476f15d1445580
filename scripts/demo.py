#!/usr/bin/env python3
"""Testudo: the main job: two Scheme workloads in four modes of the shield.

Usage: demo.py [--json] INTERPRETER WORKLOADS OUTPUT
WORKLOADS is the folder of the .scm files; OUTPUT a folder for the picture,
the tables and the figures.

SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tool"))

from testudo_tool import ending, kernel, modes, pictures, tally  # noqa: E402

# The report's settings: two generations of 6,400 KB, an arena of 1 GiB.
SETTINGS = ["--arena=1G", "--gen=6400:0.85", "--gen=6400:0.45"]
# The heaps are small, so that they would be collected as a whole, which needs
# no barriers: nothing would be seen of the shield. And where a mode is slow,
# generations would grow.
GENERATIONS = {"TESTUDO_SMALL": "0", "TESTUDO_ADAPT": "off"}
WORKLOADS = {
    "leaf": ["leaf.scm"],
    "storm64": ["storm.scm", "64", "500000"],
}
# The same workload on other systems, measured on such a machine.
REFERENCES = {
    "leaf": [
        {"label": "reference, per page",
         "calls": {"mprotect": 527014, "total": 573000}},
        {"label": "best known system",
         "calls": {"mprotect": 3110, "mmap": 7799, "total": 102000}},
    ],
}
# What the deferred mode must reach in leaf.
MOST_CALLS = {"mprotect": 300, "total": 1000}
MOST_SYSTEM_SHARE = 0.05
PARTS = ["syscalls", "seconds", "peak_kib"]  # of a profile that are shown


def log(text=""):
    print(text, file=sys.stderr, flush=True)


def environment(mode):
    return {**modes.environment(mode), **GENERATIONS}


def profiles(options, name):
    """The workload NAME in each mode. Raises kernel.Failure, also if the
    answers differ."""
    program, *arguments = WORKLOADS[name]
    command = [options.interpreter, *SETTINGS,
               os.path.join(options.workloads, program), *arguments]
    words = [f"{name}={value}" for name, value in GENERATIONS.items()]
    log(f"demo: {' '.join(words + command)}")
    found = {}
    answers = set()
    for mode in modes.MODES:
        log(f"demo: {name}, {mode}")
        with tempfile.TemporaryFile("w+") as output:
            profile = kernel.profile(command, environment(mode), output,
                                     repeat=3)
            found[mode] = {part: profile[part] for part in PARTS}
            output.seek(0)
            answers.add(output.read())
    if len(answers) != 1:
        raise kernel.Failure(f"{name}: the modes give different answers")
    log(answers.pop().strip())
    return found


def targets(leaf):
    """Pairs of a target in words and whether it was reached."""
    deferred = leaf["deferred"]
    for name, most in MOST_CALLS.items():
        number = deferred["syscalls"].get(name, 0)
        what = "system calls" if name == "total" else name
        yield (f"leaf, deferred: {number:,} {what} (at most {most:,})",
               number <= most)
    share = tally.system_share(deferred)
    yield (f"leaf, deferred: {share:.1%} system time "
           f"(below {MOST_SYSTEM_SHARE:.0%})", share < MOST_SYSTEM_SHARE)


def references(name):
    """Lines that say what other systems need for the workload NAME."""
    for reference in REFERENCES.get(name, []):
        calls = ", ".join(f"{number:,} {call}"
                          for call, number in reference["calls"].items())
        yield f"{name}, {reference['label']}: {calls}"


def report(workloads):
    """All tables, the references and the targets, as text."""
    parts = []
    for name, found in workloads.items():
        lines = [tally.comparison(name, found), *references(name)]
        parts.append("\n".join(lines))
    checks = [f"{'pass' if reached else 'FAIL'}  {text}"
              for text, reached in targets(workloads["leaf"])]
    return "\n\n".join([*parts, "\n".join(checks)])


def marks():
    """References and targets, for the picture."""
    target = {"label": "target of deferred", "calls": MOST_CALLS}
    return {"leaf": [*REFERENCES["leaf"], target]}


def draw(workloads, output):
    """Draw the picture; returns the files made, of which there need be none."""
    if pictures.interpreter() is None:
        log("demo: no picture: matplotlib is not installed")
        return []
    files = [output / "testudo.svg", output / "testudo.png"]
    try:
        pictures.draw("chart.py", {"workloads": workloads, "marks": marks()},
                      *files)
    except kernel.Failure as failure:
        log(f"demo: {failure}")
        return []
    return files


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("interpreter")
    parser.add_argument("workloads")
    parser.add_argument("output", type=pathlib.Path)
    return parser.parse_args()


def run(options):
    options.output.mkdir(parents=True, exist_ok=True)
    workloads = {name: profiles(options, name) for name in WORKLOADS}
    text = report(workloads)
    (options.output / "figures.json").write_text(json.dumps(workloads))
    (options.output / "tables.txt").write_text(text + "\n")
    print(text, file=sys.stderr if options.json else sys.stdout)
    if options.json:
        print(json.dumps(workloads))
    print(end="", flush=True)
    for file in draw(workloads, options.output):
        log(f"demo: picture: {os.path.relpath(file)}")


def main():
    options = parse()
    return ending.told(lambda: run(options), "demo", kernel.Failure)


if __name__ == "__main__":
    sys.exit(main())

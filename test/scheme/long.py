#!/usr/bin/env python3
# Testudo: the workloads at full size in every mode of the shield.
# SPDX-License-Identifier: BSD-2-Clause
"""usage: long.py INTERPRETER [--only=NAME...] [--kept=FILE] [--rst]

Runs each workload, at a size that takes 5 to 10 seconds on a quiet machine,
in each mode of the shield, and prints a table of processor seconds, with
the collector's share of the real time as (gc-statistics) says. What it prints
itself must be the same in all modes, or the exit status is 1. With --kept
results are read from FILE and added to it, so that a run can be made in
pieces; with --rst the table is for the manual (manual/scheme_modes.inc).

Small sizes, with a collection at every chance, are among the tests: see
scheme_every in test/programs.cmake.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = os.path.join(HERE, "..", "..", "example", "scheme", "workload")
SIZES = {
    "leaf": ["150"], "trees": ["20"], "lists": ["400000", "5"],
    "storm": ["64", "5000000"], "table": ["2000"], "matrix": ["430", "40"],
    "text": ["80000"], "puzzle": ["12"], "bignum": ["20000"],
    "continuations": ["2000", "1200"], "rewrite": ["200"],
}
MODES = ["naive", "ranged", "deferred", "dirty", "off"]
SECONDS = 900


def run(interpreter, name, mode):
    """Processor seconds, the collector's share, and the output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [interpreter, "--statistics", os.path.join(WORKLOADS, name + ".scm")] +
        SIZES[name], env=dict(os.environ, TESTUDO_SHIELD=mode),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    errors = done.stderr.decode(errors="replace")
    share = re.search(r"\(collector-share \. ([\d.e+-]+)\)", errors)
    if done.returncode != 0 or share is None:
        sys.exit("%s in mode %s: status %d: %s" % (
            name, mode, done.returncode, errors.strip()[-500:]))
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - \
        before.ru_stime
    return {"seconds": seconds, "share": float(share.group(1)),
            "output": done.stdout.decode()}


def results(interpreter, names, kept):
    """By workload and mode; those of the file are not run again."""
    found = {}
    if kept and os.path.exists(kept):
        with open(kept) as f:
            found = json.load(f)
    for name in names:
        for mode in MODES:
            if mode in found.setdefault(name, {}):
                continue
            found[name][mode] = run(interpreter, name, mode)
            print("%s %s: %.1f s" % (name, mode, found[name][mode]["seconds"]),
                  file=sys.stderr, flush=True)
            if kept:
                with open(kept, "w") as f:
                    json.dump(found, f, indent=1)
    return {name: found[name] for name in names}


def equal(modes):
    return len({result["output"] for result in modes.values()}) == 1


def row(name, modes):
    cells = ["%.1f (%.0f %%)" % (modes[m]["seconds"], 100 * modes[m]["share"])
             for m in MODES]
    return [" ".join([name] + SIZES[name])] + cells + \
        ["equal" if equal(modes) else "DIFFERENT"]


def plain(rows):
    for cells in rows:
        print(cells[0].ljust(24) + "".join(c.rjust(13) for c in cells[1:]))


def restructured(rows):
    print(".. Made by test/scheme/long.py INTERPRETER --rst.\n")
    print(".. list-table::\n   :header-rows: 1\n")
    for cells in rows:
        print("   * - " + "\n     - ".join(cells))


def main():
    usage, description = __doc__.removeprefix("usage: ").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        usage=usage, description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interpreter")
    parser.add_argument("--only", action="append", choices=sorted(SIZES))
    parser.add_argument("--kept")
    parser.add_argument("--rst", action="store_true")
    options = parser.parse_args()
    if not os.access(options.interpreter, os.X_OK):
        parser.error(f"cannot be run: {options.interpreter}")
    found = results(options.interpreter, options.only or list(SIZES),
                    options.kept)
    rows = [["workload"] + MODES + ["answers"]]
    rows += [row(name, modes) for name, modes in found.items()]
    (restructured if options.rst else plain)(rows)
    return 0 if all(map(equal, found.values())) else 1


if __name__ == "__main__":
    sys.exit(main())

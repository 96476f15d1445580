#!/usr/bin/env python3
# Testudo: random Scheme programs on the interpreter and on Guile, compared.
# SPDX-License-Identifier: BSD-2-Clause
"""usage: random_programs.py INTERPRETER [SETTING...] [--seed=N] [--count=N]
                          [--option=OPTION...] [--reports=N] [--wild]
                          [--keep=FOLDER]

Makes COUNT cases (200), several in a program, from a seed that is printed (N,
or TDO_SEED, or 1; "random" for a new one), and compares what the interpreter
prints with what Guile prints. A SETTING is NAME=VALUE for the environment, or
several joined by commas; the interpreter runs once with each; "plain" stands
for none. An option is given to the interpreter every time.

Case K is made from seed N + K alone. One that differs is made smaller as long
as it does, printed with the command that makes it again, and kept in FOLDER;
after --reports (5) of them the rest are only counted.

--wild puts parts in wrong places. Then nothing is compared with Guile: all
settings must print the same, and end well; what never ends is let be.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "generate"))

import programs  # noqa: E402

BATCH = 40
SECONDS = 120
WILD_SECONDS = 10
GUILE = ["guile", "--no-auto-compile", "--r7rs"]


def parse_setting(text):
    if text == "plain":
        return {}
    return dict(pair.split("=", 1) for pair in text.split(","))


def lines(command, environment, seconds=SECONDS):
    """Status, and lines by the number of the case."""
    environment = dict(os.environ, GUILE_AUTO_COMPILE="0", **environment)
    try:
        done = subprocess.run(command, env=environment, timeout=seconds,
                              stdin=subprocess.DEVNULL, capture_output=True)
        status, output = done.returncode, done.stdout
        if status != 0:
            status = "%d: %s" % (status, done.stderr.decode(
                errors="replace").strip()[-300:])
    except subprocess.TimeoutExpired as late:
        status, output = "timed out", late.stdout or b""
    found = {}
    for line in output.decode(errors="replace").splitlines():
        number, _, rest = line.partition(" ")
        if number.isdigit():
            found[int(number)] = rest
    return status, found


class Systems:
    """The interpreter with each setting, and what it is compared with."""

    def __init__(self, options, folder):
        self.path = os.path.join(folder, "case.scm")
        self.ours = [options.interpreter] + options.option + [self.path]
        self.settings = options.settings or ["plain"]
        self.wild = options.wild
        self.other = self.settings[0] if self.wild else "Guile"

    def here(self, setting):
        return lines(self.ours, parse_setting(setting),
                     WILD_SECONDS if self.wild else SECONDS)

    def expected(self):
        if self.wild:
            return self.here(self.settings[0])
        return lines(GUILE + [self.path], {})

    def run(self, cases):
        """The cases that differ: number, setting, both outputs."""
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(programs.program(cases))
        there = self.expected()
        different = []
        for setting in self.settings:
            here = there if self.wild and setting == self.other else \
                self.here(setting)
            different += self.differing(cases, setting, here, there)
        return different

    @staticmethod
    def may_end(status):
        """A wild case may run for ever, or take from those that follow what
        they need, by set!; then they end in an error that has a place."""
        return status == "timed out" or \
            re.match(r"1: \S*case\.scm:\d+:\d+: [^\n]*$", str(status))

    def differing(self, cases, setting, here, there):
        different = []
        for n, _ in cases:
            a, b = here[1].get(n), there[1].get(n)
            if a is None:
                # The first that is missing is to blame for all that are.
                if self.wild and self.may_end(here[0]):
                    pass
                elif here[0] != 0 or b is not None:
                    different.append((n, setting, "status %s" % here[0], b))
                break
            if b is not None and a != b:
                different.append((n, setting, a, b))
        return different


def smaller(form):
    """Forms with one part less, or one part simpler."""
    if isinstance(form, str):
        for simple in ("0", "'()", "#f"):
            if form != simple and not form.isalpha() and \
                    form not in ("0", "'()", "#f"):
                yield simple
        return
    for i, part in enumerate(form):
        if isinstance(part, list) or i > 0:
            yield part
    for i in range(len(form)):
        if len(form) > 1:
            yield form[:i] + form[i + 1:]
    for i, part in enumerate(form):
        for other in smaller(part):
            yield form[:i] + [other] + form[i + 1:]


def kind_of(difference):
    """Which of the two ended in an error: it shall stay the same problem."""
    return ["error" in str(text) for text in difference[2:]]


def shrink(systems, form, tries=60):
    found = True
    kind = [kind_of(d) for d in systems.run([(0, form)])]
    while found and tries > 0:
        found = False
        for other in sorted(smaller(form), key=lambda f: len(programs.text(f))):
            tries -= 1
            if tries <= 0:
                break
            if len(programs.text(other)) < len(programs.text(form)) and \
                    [kind_of(d) for d in systems.run([(0, other)])] == kind:
                form, found = other, True
                break
    return form


def report(systems, options, seed, first):
    form = programs.case(seed, options.wild)
    if systems.run([(0, form)]):
        form = shrink(systems, form)
        first = systems.run([(0, form)])[0][1:]
    else:
        print("(only together with the cases before it)")
    print("FAILED seed %d, %s\n  %s\n  here:  %s\n  %s: %s"
          % (seed, first[0], programs.text(form), first[1], systems.other,
             first[2]))
    print("  again: %s %s %s %s--seed=%d --count=1" % (
        sys.argv[0], options.interpreter, first[0],
        "--wild " if options.wild else "", seed), flush=True)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        path = os.path.join(options.keep, "random-%d.scm" % seed)
        with open(path, "w", encoding="utf-8") as f:
            f.write(programs.program([(0, form)]))
        print("  kept in %s" % path, flush=True)


def compare(options, folder):
    systems = Systems(options, folder)
    failed = set()
    done = 0
    while done < options.count:
        n = min(BATCH, options.count - done)
        cases = [(i, programs.case(options.seed + i, options.wild))
                 for i in range(done, done + n)]
        done += n
        for number, *difference in systems.run(cases):
            if number not in failed and len(failed) < options.reports:
                report(systems, options, options.seed + number, difference)
            failed.add(number)
    print("%d passed, %d failed" % (done - len(failed), len(failed)))
    return 1 if failed else 0


def main():
    usage, description = __doc__.removeprefix("usage: ").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        usage=usage, description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interpreter")
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--seed", default=os.environ.get("TDO_SEED", "1"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--reports", type=int, default=5)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--wild", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_intermixed_args()
    options.seed = random.SystemRandom().randrange(10 ** 8) \
        if options.seed == "random" else int(options.seed)
    print("seed %d" % options.seed, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        return compare(options, folder)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Testudo: Scheme programs on the interpreter and on Guile, compared.
# SPDX-License-Identifier: BSD-2-Clause
"""usage: run.py INTERPRETER [SETTING...] [--option=OPTION...] [--only=NAME...]
              [--size=NAME:ARGUMENT,...] [--workloads]

Runs every program of this directory on the interpreter and on Guile, and
compares what they print byte for byte. Programs in errors/ run on the
interpreter alone: they must end with status 1 and print a message that
matches their first line, ";; expect: REGEX". Workloads run at a small size.

A SETTING is NAME=VALUE for the environment, or several joined by commas; the
interpreter runs once with each. "plain" stands for none. An option is given
to the interpreter every time. --size gives a workload other arguments;
--workloads leaves out everything else.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = os.path.join(HERE, "..", "..", "example", "scheme", "workload")
SMALL = {
    "leaf": ["1"], "trees": ["8"], "lists": ["2000", "1"],
    "storm": ["1", "3000"], "table": ["40"], "matrix": ["12"],
    "text": ["20"], "puzzle": ["5"], "bignum": ["50"],
    "continuations": ["200"], "rewrite": ["1"],
}
SECONDS = 300


def run(command, environment=None):
    """Status, output and errors of a program that may not run for ever, and
    has a folder of its own for its files."""
    env = dict(os.environ, GUILE_AUTO_COMPILE="0")
    env.update(environment or {})
    try:
        with tempfile.TemporaryDirectory() as room:
            done = subprocess.run(command, env=env, cwd=room,
                                  stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=SECONDS)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return -1, b"", b"timed out"


def reference(path, arguments):
    """What Guile does, or what a file of the name says where Guile has not
    got what the standard asks for."""
    written = path[:-4] + ".out"
    if os.path.exists(written):
        with open(written, "rb") as f:
            return 0, f.read(), b""
    return run(["guile", "--no-auto-compile", "--r7rs", path] + arguments)


def parse_setting(text):
    if text == "plain":
        return {}
    return dict(pair.split("=", 1) for pair in text.split(","))


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a.splitlines(), b.splitlines())):
        if x != y:
            return "line %d: %r, Guile: %r" % (i + 1, x[:200], y[:200])
    return "outputs of %d and %d bytes" % (len(a), len(b))


class Runner:
    def __init__(self, interpreter, settings, options):
        self.interpreter = [interpreter] + options
        self.settings = settings
        self.passed = self.failed = 0

    def note(self, name, setting, problem):
        if problem is None:
            self.passed += 1
            print("ok     %-24s %s" % (name, setting), flush=True)
        else:
            self.failed += 1
            print("FAILED %-24s %s: %s" % (name, setting, problem),
                  flush=True)

    def compare(self, name, path, arguments):
        expected = reference(path, arguments)
        if expected[0] != 0:
            self.note(name, "guile", expected[2].decode(errors="replace"))
            return
        for setting in self.settings:
            got = run(self.interpreter + [path] + arguments,
                      parse_setting(setting))
            problem = None
            if got[1] != expected[1]:
                problem = first_difference(got[1], expected[1])
            if got[0] != 0:
                problem = "status %d: %s" % (
                    got[0], got[2].decode(errors="replace").strip())
            self.note(name, setting, problem)

    def error(self, name, path):
        with open(path) as f:
            expected = f.readline().split("expect:", 1)[1].strip()
        for setting in self.settings:
            status, _, errors = run(self.interpreter + [path],
                                    parse_setting(setting))
            text = errors.decode(errors="replace")
            problem = None
            if status != 1:
                problem = "status %d: %s" % (status, text.strip())
            elif not re.search(expected, text):
                problem = "%r does not match %r" % (text, expected)
            self.note("errors/" + name, setting, problem)


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    options = [a[9:] for a in arguments[1:] if a.startswith("--option=")]
    only = [a[7:] for a in arguments[1:] if a.startswith("--only=")]
    settings = [a for a in arguments[1:] if not a.startswith("--")]
    for size in (a[7:] for a in arguments[1:] if a.startswith("--size=")):
        name, _, given = size.partition(":")
        SMALL[name] = given.split(",")
    if "--workloads" in arguments:
        only = only or list(SMALL)
    runner = Runner(os.path.abspath(arguments[0]), settings or ["plain"],
                    options)

    def wanted(path):
        return not only or name_of(path) in only

    programs = [] if "--workloads" in arguments else glob.glob(
        os.path.join(HERE, "*.scm"))
    for path in sorted(programs):
        if wanted(path):
            runner.compare(name_of(path), path, [])
    for path in sorted(glob.glob(os.path.join(HERE, "errors", "*.scm"))):
        if wanted(path):
            runner.error(name_of(path), path)
    for path in sorted(glob.glob(os.path.join(WORKLOADS, "*.scm"))):
        if wanted(path):
            runner.compare("workload/" + name_of(path), path,
                           SMALL.get(name_of(path), []))
    print("%d passed, %d failed" % (runner.passed, runner.failed))
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

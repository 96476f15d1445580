"""Testudo: the command line of the testudo command.

SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import json
import os
import sys

from . import kernel, modes, tally

DESCRIPTION = """\
Count the system calls that a program makes, and time it. The program runs
twice: once under strace, which counts every call of all its threads and
children, and once without, for the times.
"""


def add_program(parser):
    """Arguments that every subcommand has."""
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object on standard output")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="time N runs and give the median")
    parser.add_argument("program", nargs=argparse.REMAINDER,
                        metavar="-- PROGRAM ...", help="what to run")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="testudo", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="one run, as it is")
    add_program(run)
    compare = commands.add_parser(
        "compare", help="one run in each mode of the shield, side by side")
    compare.add_argument("--modes", default=",".join(modes.MODES),
                         help="which, first the one to compare with "
                              "(default: %(default)s)")
    add_program(compare)
    options = parser.parse_args(arguments)
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program:
        parser.error("no program to run")
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")
    return options


def command_run(options):
    profile = kernel.profile(options.program, dict(os.environ), sys.stderr,
                             options.repeat)
    if options.json:
        print(json.dumps(profile))
    else:
        print(tally.tally(profile))


def command_compare(options):
    profiles = {}
    for mode in options.modes.split(","):
        print(f"testudo: {mode}", file=sys.stderr)
        profiles[mode] = kernel.profile(
            options.program, modes.environment(mode), sys.stderr,
            options.repeat)
    if options.json:
        print(json.dumps(profiles))
    else:
        title = os.path.basename(options.program[0])
        print(tally.comparison(title, profiles))


def main(arguments=None):
    options = parse(arguments)
    command = {"run": command_run, "compare": command_compare}
    try:
        command[options.command](options)
    except kernel.Failure as failure:
        print(f"testudo: {failure}", file=sys.stderr)
        return failure.status
    return 0

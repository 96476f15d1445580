"""Testudo: the command line of the testudo command.

SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import json
import os
import sys

from . import (ending, events, follow, kernel, modes, pictures, statistics,
               tally, tune, version)

DESCRIPTION = """\
What a program that uses Testudo asks of the system, what its collector does,
and which settings would suit it. "testudo COMMAND --help" describes the
arguments of a command.
"""
TWICE = """\
The program runs twice: once under strace, which counts every call of all its
threads and children, and once without, for the times.
"""
PROGRAM = "[--] PROGRAM [ARGUMENT ...]"


def add_command(commands, name, arguments, text, more=""):
    """The parser of a command, which does what TEXT, a clause, says."""
    parser = commands.add_parser(
        name, help=text, usage=f"testudo {name} [OPTION ...] {arguments}",
        description=f"{text[0].upper()}{text[1:]}. {more}")
    parser.set_defaults(parser=parser)
    return parser


def add_program(parser):
    parser.add_argument("program", nargs=argparse.REMAINDER,
                        metavar="PROGRAM", help="what to run, and with which "
                                                "arguments")


def add_json(parser):
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object on standard output")


def add_repeat(parser):
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="time N runs and give the median")


def size(text):
    """A size of at least 4 KiB, or 0."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper())
    try:
        number = int(text[:-1]) * factor if factor else int(text)
    except ValueError:
        number = -1
    if number != 0 and number < 4096:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a size from 4K on nor 0")
    return number


def sizes(text, most):
    """Sizes with commas between, up to MOST GiB."""
    numbers = [size(part) for part in text.split(",")]
    for number in numbers:
        if number > most << 30:
            raise argparse.ArgumentTypeError(f"{number} is more than {most}G")
    return numbers


def grains(text):
    """What TESTUDO_GRAIN accepts (code/settings.h), with commas between."""
    numbers = sizes(text, 1)
    for number in numbers:
        if number & (number - 1):
            raise argparse.ArgumentTypeError(
                f"{number} is not a power of two")
    return numbers


def quanta(text):
    """The same of TESTUDO_QUANTUM."""
    return sizes(text, 1024)


def best(text):
    """How many settings --verify runs."""
    if not text.isdecimal() or not 1 <= int(text) <= 99:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number from 1 to 99")
    return int(text)


def add_tune(commands):
    parser = add_command(
        commands, "tune", PROGRAM,
        "tell which setting of the shield would save how much",
        "The program is recorded once for each grain and each quantum; other "
        "settings are predicted from that.")
    parser.add_argument("--modes", default=",".join(modes.MODES),
                        metavar="MODE,...",
                        help="which to consider (default: %(default)s)")
    parser.add_argument("--recording", metavar="FILE",
                        help="replay this one (TESTUDO_RECORD) instead of "
                             "running a program")
    parser.add_argument("--picture", metavar="FILE",
                        help="draw a heat map into this SVG, PNG or PDF file")
    for name, kind, values in (("grain", grains, tune.GRAINS),
                               ("quantum", quanta, tune.QUANTA)):
        parser.add_argument(
            f"--{name}", type=kind, metavar="BYTES,...",
            help=f"values of the {name}, 0: the program's own "
                 f"(default: {','.join(map(str, values))})")
    parser.add_argument("--verify", type=best, nargs="?", const=3, default=0,
                        metavar="N",
                        help="run the program with the N (3) best settings, "
                             "and the best of each mode, and count")
    add_json(parser)
    add_program(parser)


def add_events(commands):
    parser = add_command(
        commands, "events", "[FILE]",
        "print the telemetry in a file, an event a line",
        "A program writes it if MPS_TELEMETRY_CONTROL says which kinds.")
    parser.add_argument("--summary", action="store_true",
                        help="how many of each, and how long they took")
    parser.add_argument("--json", action="store_true",
                        help="the summary as one JSON object")
    parser.add_argument("file", nargs="?", default="mpsio.log",
                        metavar="FILE",
                        help="which (default: %(default)s)")


def seconds(text):
    """The interval of --interval."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0.1 <= number <= 86400:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of seconds from 0.1 to 86400")
    return number


def add_watch(commands):
    parser = add_command(
        commands, "watch", PROGRAM,
        "tell what the collector does while a program runs",
        "A line for each interval, and totals at the end.")
    parser.add_argument("--interval", type=seconds, default=1, metavar="S",
                        help="seconds between lines (default: %(default)s)")
    parser.add_argument("--file", metavar="FILE",
                        help="follow this one (MPS_TELEMETRY_FILENAME), which "
                             "another process writes, instead of running a "
                             "program")
    parser.add_argument("--output", metavar="FILE",
                        help="where lines go (default: standard error, with "
                             "--file standard output)")
    add_program(parser)


def add_counts(commands):
    run = add_command(commands, "run", PROGRAM,
                      "count the system calls of a program, and time it",
                      TWICE)
    compare = add_command(
        commands, "compare", PROGRAM,
        "count and time a program in each mode of the shield, side by side",
        f"{TWICE} So it does in each mode.")
    compare.add_argument("--modes", default=",".join(modes.ALL),
                         metavar="MODE,...",
                         help="which, first the one to compare with "
                              "(default: %(default)s)")
    compare.add_argument("--picture", metavar="FILE",
                         help="draw the comparison into this SVG, PNG or PDF "
                              "file")
    for parser in (run, compare):
        add_repeat(parser)
        add_json(parser)
        add_program(parser)


def parser():
    """The parser of the command line."""
    whole = argparse.ArgumentParser(
        prog="testudo", description=DESCRIPTION,
        usage="testudo COMMAND [OPTION ...] [ARGUMENT ...]")
    whole.add_argument("--version", action="version",
                       version=f"testudo {version.text()}",
                       help="print the version")
    commands = whole.add_subparsers(dest="command", required=True,
                                    prog="testudo", metavar="COMMAND",
                                    title="commands")
    add_counts(commands)
    add_watch(commands)
    add_tune(commands)
    add_events(commands)
    calibrate = commands.add_parser(
        "calibrate", help="print what protection costs on this machine",
        description="Print what protection costs on this machine.")
    calibrate.add_argument("--json", action="store_true",
                           help="nanoseconds, as one JSON object")
    return whole


def mistake(options):
    """What is wrong with the arguments together, or None."""
    if options.command in ("calibrate", "events"):
        return None
    instead = {"watch": "file", "tune": "recording"}.get(options.command)
    if instead and getattr(options, instead):
        if options.program or options.command == "tune" and options.verify:
            return f"--{instead} is instead of a program"
        if options.command == "tune" and (options.grain or options.quantum):
            return ("--recording has the grain and the quantum of its run: "
                    "--grain and --quantum are for a program")
        return None
    if not options.program:
        return "no program to run"
    if options.command in ("run", "compare") and options.repeat < 1:
        return "--repeat must be at least 1"
    return None


def parse(arguments):
    options = parser().parse_args(arguments)
    if getattr(options, "program", [])[:1] == ["--"]:
        del options.program[0]
    if what := mistake(options):
        options.parser.error(what)
    return options


def command_run(options):
    profile = kernel.profile(options.program, dict(os.environ), sys.stderr,
                             options.repeat)
    if options.json:
        print(json.dumps(profile))
    else:
        print(tally.tally(profile))
        print(statistics.text(profile["shield"]))


def command_compare(options):
    profiles = {}
    chosen = modes.chosen(options.modes, modes.ALL)
    if options.picture:
        pictures.require(options.picture)
    for mode in chosen:
        print(f"testudo: {mode}", file=sys.stderr)
        profiles[mode] = kernel.profile(
            options.program, modes.environment(mode), sys.stderr,
            options.repeat)
    title = os.fsencode(os.path.basename(options.program[0])).decode(
        errors="replace")
    if options.json:
        print(json.dumps(profiles))
    else:
        print(tally.comparison(title, profiles))
    if options.picture:
        pictures.draw("chart.py", {"workloads": {title: profiles}},
                      options.picture)


def command_tune(options):
    chosen = modes.chosen(options.modes, modes.MODES)
    if options.picture:
        pictures.require(options.picture)
        if not {"ranged", "deferred"} & set(chosen):
            raise kernel.Failure("no mode with a queue to draw", 2)
    if options.recording:
        result = tune.tune_recording(options.recording, chosen)
    else:
        result = tune.tune(options.program, chosen, sys.stderr,
                           options.grain or tune.GRAINS,
                           options.quantum or tune.QUANTA)
        tune.verify(result, options.program, options.verify, sys.stderr)
    if options.json:
        print(json.dumps(result))
    else:
        print(tune.report(result))
        if options.verify and not options.recording:
            print("\n" + tune.verification(result))
    if options.picture:
        tune.heat_map(result, options.picture)


def command_watch(options):
    if options.file:
        return follow.file(options.file, options.interval, options.output)
    return follow.program(options.program, options.interval, options.output)


def command_calibrate(options):
    costs = tune.calibrate()
    print(json.dumps(costs, indent=1) if options.json else tune.prices(costs))


def command_events(options):
    if options.json or options.summary:
        result, broken = events.summary(options.file)
        print(json.dumps(result) if options.json
              else events.summary_text(result))
        if broken:
            raise broken
    else:
        for line in events.listing(options.file):
            print(line)


COMMANDS = {"run": command_run, "compare": command_compare,
            "watch": command_watch, "tune": command_tune,
            "events": command_events, "calibrate": command_calibrate}


def perform(arguments):
    """Do what the arguments say; returns the exit status, or None. What is
    printed is out at the end, or the error is raised that keeps it."""
    try:
        options = parse(arguments)
        if getattr(options, "program", None) and options.command != "watch":
            kernel.take_input()
        return COMMANDS[options.command](options)
    finally:
        print(end="", flush=True)


def main(arguments=None):
    """The exit status. Characters that the locale does not have are printed as
    escapes."""
    if sys.stdout is not None:  # it is not closed
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    return ending.told(lambda: perform(arguments), "testudo", kernel.Failure)

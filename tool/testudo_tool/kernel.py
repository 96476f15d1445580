"""Testudo: what the kernel says about one run of a program.

A run is counted by strace (every system call of every thread and child)
and timed in another, untraced, run.

SPDX-License-Identifier: BSD-2-Clause
"""
import ctypes
import errno
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from . import statistics

STATISTICS = "TESTUDO_STATISTICS"


class Failure(Exception):
    """A program could not be run, or did not succeed."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


def describe_status(returncode):
    """How a process ended, in words, from subprocess's return code."""
    if returncode < 0:
        return f"was killed by signal {-returncode}"
    return f"ended with status {returncode}"


def require(command, returncode):
    """Raise Failure unless the return code says success."""
    if returncode != 0:
        status = 128 - returncode if returncode < 0 else returncode
        raise Failure(f"{command[0]} {describe_status(returncode)}", status)


# The summary has all calls that return; those that do not (exit, exit_group)
# are printed one by one.
STRACE = ["strace", "-f", "-C", "-U", "name,calls", "-e", "signal=none",
          "--status=unfinished"]
SUMMARY = re.compile(r"(\w+)\s+(\d+)\s*")
UNFINISHED = re.compile(r"(?:\d+\s+)?(exit|exit_group)\(.*")


def parse_summary(text):
    """The counts in the output of STRACE, by name."""
    counts = {}
    for line in text.splitlines():
        summary = SUMMARY.fullmatch(line)
        unfinished = UNFINISHED.fullmatch(line)
        if summary and summary.group(1) != "total":
            counts[summary.group(1)] = int(summary.group(2))
        elif unfinished:
            name = unfinished.group(1)
            counts[name] = counts.get(name, 0) + 1
    return counts


def with_total(counts):
    """Counts in falling order, with their total at the end."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {**dict(ordered), "total": sum(counts.values())}


INPUT = None  # what take_input took


def take_input():
    """Let every run read the same: what this process has as its standard
    input, which is read to its end. A terminal is not read: there the runs
    find nothing."""
    global INPUT
    INPUT = tempfile.TemporaryFile()
    try:
        if os.isatty(0):
            return
        if not select.select([0], [], [], 2)[0]:
            print("testudo: reading standard input to its end",
                  file=sys.stderr)
        while data := os.read(0, 1 << 16):
            INPUT.write(data)
        INPUT.flush()
    except OSError as error:
        if error.errno != errno.EBADF:  # it is not closed
            raise Failure(f"standard input: {error.strerror}") from error


def run_input():
    """What a run reads: from its beginning what take_input took, else
    nothing."""
    if INPUT is None:
        return subprocess.DEVNULL
    INPUT.seek(0)
    return INPUT


def count(command, environment, output=None):
    """System calls of a run of COMMAND, by name, and their total.

    OUTPUT is where its standard output goes, as for subprocess; nowhere if
    None. What it writes to standard error is shown if it fails: that of the
    timed run has been. Raises Failure.
    """
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as summary, \
            Errors(shown=False) as errors:
        done = errors.follow(
            [*STRACE, "-o", summary.name, "--", *command], env=environment,
            stdin=run_input(),
            stdout=subprocess.DEVNULL if output is None else output).process
        counts = parse_summary(summary.read())
        if not counts or done.returncode != 0:
            errors.show()
    if not counts:
        raise Failure("strace counted nothing: it "
                      + describe_status(done.returncode))
    require(command, done.returncode)
    return with_total(counts)


MOST_LINE = 1 << 16  # bytes of a line that are kept until it ends
MOST_PIPE = 1 << 20  # bytes that a pipe has at most, unless it is told to


class Errors:
    """What a program writes to standard error, a pipe: passed on to this
    one's line by line, if it is SHOWN, or else kept until it shall be; but for
    the library's statistics, which SORTER has."""

    def __init__(self, shown=True):
        self.shown = shown
        self.kept = tempfile.TemporaryFile()
        self.sorter = statistics.Sorter()
        self.rest = b""  # the beginning of a line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kept.close()

    def follow(self, command, **options):
        """Run COMMAND, with OPTIONS as for subprocess.Popen, to its end, also
        if something that it leaves behind has the pipe open. Returns its
        Waiter; raises Failure."""
        ours, its = os.pipe()
        try:
            with open(its, "wb"):
                run = Waiter(start(command, stderr=its, **options))
            os.set_blocking(ours, False)
            while not run.ended.is_set():
                select.select([ours], [], [], READ_SECONDS)
                if not self.read(ours):
                    run.ended.wait()
            self.read(ours)
            self.take_rest()
        finally:
            os.close(ours)
        return run

    def read(self, pipe):
        """Read what has come, once. False if no more will."""
        try:
            data = os.read(pipe, MOST_PIPE)
        except BlockingIOError:
            return True
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.take(line + b"\n")
        if len(self.rest) > MOST_LINE:
            self.take_rest()
        sys.stderr.flush()
        return bool(data)

    def take_rest(self):
        rest, self.rest = self.rest, b""
        self.take(rest)

    def take(self, line):
        text = line.decode(errors="replace")
        if not text or self.sorter.takes(text):
            return
        if self.shown:
            sys.stderr.write(text)
        else:
            self.kept.write(line)

    def show(self):
        """Pass on what was kept."""
        self.kept.seek(0)
        for line in self.kept:
            sys.stderr.write(line.decode(errors="replace"))


class Waiter(threading.Thread):
    """Notes when PROCESS ends, how, and what it used."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process = process
        self.ended = threading.Event()
        self.start()

    def run(self):
        _, status, self.usage = os.wait4(self.process.pid, 0)
        self.at = time.monotonic()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.ended.set()


def start(command, **options):
    """The process of COMMAND, with OPTIONS as for subprocess.Popen. Raises
    Failure."""
    try:
        return subprocess.Popen(command, **options)
    except OSError as error:
        raise Failure(f"{command[0]}: {error.strerror}", 127) from error


READ_SECONDS = 0.1  # between looks whether a run has ended


ADDR_NO_RANDOMIZE = 0x0040000


def fix_addresses():
    """Let a program find the same addresses in each run, if that can be."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def measure(command, environment, output=None, fixed=False, shown=True):
    """Seconds and peak memory of one untraced run of COMMAND, and what the
    library says about it. FIXED: with the same addresses each time. SHOWN:
    what it writes to standard error is passed on as it comes, not only if it
    fails.

    The peak is the largest resident set of any process of the run; it is
    never less than this tool's own, some 16 MiB. Raises Failure.
    """
    with Errors(shown) as errors:
        began = time.monotonic()
        run = errors.follow(command, env={STATISTICS: "on", **environment},
                            stdin=run_input(), stdout=output,
                            preexec_fn=fix_addresses if fixed else None)
        if run.process.returncode != 0:
            errors.show()
    require(command, run.process.returncode)
    return {
        "shield": errors.sorter.arenas,
        "seconds": {"wall": round(run.at - began, 3),
                    "user": round(run.usage.ru_utime, 3),
                    "sys": round(run.usage.ru_stime, 3)},
        "peak_kib": run.usage.ru_maxrss,
    }


def profile(command, environment, output=None, repeat=1):
    """Counts of one run of COMMAND and the median by wall time of others.

    The standard output of the first run goes to OUTPUT, what it writes to
    standard error to this one's; that of the others goes nowhere. Raises
    Failure.
    """
    if shutil.which(STRACE[0]) is None:  # before a run that may be long
        raise Failure("no system calls can be counted: strace is not "
                      "installed")
    runs = [measure(command, environment, output)]
    runs += [measure(command, environment, subprocess.DEVNULL, shown=False)
             for _ in range(repeat - 1)]
    runs.sort(key=lambda run: run["seconds"]["wall"])
    return {"syscalls": count(command, environment),
            **runs[(len(runs) - 1) // 2]}

"""Testudo: following telemetry that is being written.

SPDX-License-Identifier: BSD-2-Clause
"""
import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import sys
import tempfile
import time

from . import events, kernel, watch

KINDS = "arena trace seg"  # of events that are needed, and no more
STEP = 0.1          # seconds between looks at the file
GRACE = 200000000   # nanoseconds that a line waits for events: the library may
                    # have them for 100 ms, and a look is every 100 ms
HELD = 1 << 20      # bytes that were read, before their memory is given back
KEPT = 4096         # of the file's beginning
FIRST = 32          # bytes from which two streams can be told


def give_back(file, begin, end):
    """Let that part of FILE be a hole; False if the system cannot."""
    keep_size, punch_hole = 1, 2
    fallocate = ctypes.CDLL(None).fallocate
    fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64,
                          ctypes.c_int64]
    return fallocate(file, keep_size | punch_hole, begin, end - begin) == 0


class Follower:
    """Reads a file of events while it is written. OWN: nobody else reads it,
    and what was read may go."""

    def __init__(self, path, own=False):
        self.path, self.own = path, own
        self.file = None
        self.failure = None  # what is no stream of events is read no further
        self.begin()

    def begin(self):
        self.stream = events.Stream(self.path)
        self.at, self.gone = 0, KEPT
        self.first = b""

    def close(self):
        if self.file is not None:
            os.close(self.file)

    def there(self):
        """Is there such a file?"""
        if self.file is None:
            with contextlib.suppress(FileNotFoundError):
                self.file = os.open(self.path, os.O_RDWR if self.own
                                    else os.O_RDONLY)
        return self.file is not None

    def written(self):
        """Does a process write the file, or will one? The library has a lock
        while it does."""
        if not self.there():
            return True
        lock = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        found = fcntl.fcntl(self.file, fcntl.F_GETLK, lock)
        return (struct.unpack("hhqqi", found)[0] != fcntl.F_UNLCK
                or os.fstat(self.file).st_size == 0)

    def anew(self):
        """Has another process begun it anew?"""
        first = os.pread(self.file, FIRST, 0)
        other = (os.fstat(self.file).st_size < self.at
                 or first[:len(self.first)] != self.first)
        if other:
            self.begin()
        self.first = first
        return other

    def pieces(self):
        while data := os.pread(self.file, events.PIECE, self.at):
            self.at += len(data)
            yield data
            if self.own and self.at - self.gone > HELD:
                give_back(self.file, self.gone, self.at // KEPT * KEPT)
                self.gone = self.at // KEPT * KEPT

    def read(self, figures):
        """Let FIGURES note the events that have come."""
        if self.failure or not self.there():
            return
        try:
            if self.anew():
                figures.renew()
            for data in self.pieces():
                for event in self.stream.feed(data):
                    figures.note(event)
        except kernel.Failure as failure:
            self.failure = failure
        except OSError as error:
            self.failure = kernel.Failure(f"{self.path}: {error.strerror}", 2)


class Printer:
    """Prints lines into the file PATH, or else on FILE. What keeps it from
    that is kept, and raised at the end."""

    def __init__(self, file, path=None):
        self.file = open(path, "w", encoding="utf-8") if path else file
        self.error = None
        self.terminal = self.file is not None and self.file.isatty()

    def say(self, line):
        try:
            if self.error is None:
                print(line, file=self.file, flush=True)
        except OSError as error:
            self.error = error


@contextlib.contextmanager
def passing_on(process):
    """Signals that are to end this process go to PROCESS, a list of it once it
    runs; those of the terminal's keys have gone there already. Yields what to
    call when it does: one may have come before."""
    early = []

    def pass_on(number, _):
        if not process:
            early.append(number)
        for one in process:
            if one.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, number)

    def begun():
        for number in early:
            pass_on(number, None)

    handlers = {signal.SIGINT: lambda *_: None,
                signal.SIGQUIT: lambda *_: None,
                signal.SIGTERM: pass_on, signal.SIGHUP: pass_on}
    before = {}
    for number, handler in handlers.items():
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    try:
        yield begun
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def program(command, interval, output):
    """Run COMMAND and tell what it does; returns its exit status."""
    printer, process = Printer(sys.stderr, output), []
    with tempfile.TemporaryDirectory(prefix="testudo-") as room, \
            passing_on(process) as begun:
        path = os.path.join(room, "events")
        began = time.monotonic_ns()
        process.append(kernel.start(command, env={
            **os.environ, "MPS_TELEMETRY_CONTROL": KINDS,
            "MPS_TELEMETRY_FILENAME": path}))
        begun()
        run = kernel.Waiter(process[0])
        figures = watch.Watch(interval, printer.say, printer.terminal,
                              began)
        with contextlib.closing(Follower(path, own=True)) as follower:
            over = False
            while not over:
                over = run.ended.wait(STEP)
                follower.read(figures)
                if not over:
                    figures.until(time.monotonic_ns() - GRACE)
        figures.finish(round(run.at * watch.SECOND))
    if follower.failure or figures.since is None:
        Printer(sys.stderr).say("testudo: " + str(follower.failure or (
            f"{command[0]} wrote no events: it made no arena, or the library "
            "is of the rash variety")))
    status = process[0].returncode
    if status == 0 and printer.error:
        raise printer.error
    return 128 - status if status < 0 else status


def file(path, interval, output):
    """Tell what the process does that writes the file PATH, until it ends."""
    printer = Printer(sys.stdout, output)
    figures = watch.Watch(interval, printer.say, printer.terminal)
    with contextlib.closing(Follower(path)) as follower:
        if not follower.there():
            print(f"testudo: waiting for {path}", file=sys.stderr)
        try:
            over = False
            while not over and not printer.error and not follower.failure:
                over = not follower.written()
                follower.read(figures)
                if not over:
                    figures.until(time.monotonic_ns() - GRACE)
                    time.sleep(STEP)
        finally:
            figures.finish()
        if printer.error or follower.failure:
            raise printer.error or follower.failure
        follower.stream.end()
    return 0

"""Testudo: testudo watch: a line an interval, and the program as if alone.

Usage: test_watch.py COMPILER

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
TOOL = str(TOP / "tool/testudo")
sys.path.insert(0, str(TOP / "tool"))

from testudo_tool import events, follow, watch  # noqa: E402

COMPILER = sys.argv[1]
BINARY = os.environ.get("TESTUDO_BINARY_DIR", "")
SECOND = 10 ** 9
HEAD = b"TDOEVT1\n" + struct.pack("<Q", 0x0102030405060708)
NAMES = {2: "DROPPED events", 3: "INTERN label : string",
         4: "LABEL address label", 10: "ARENA_CREATE arena reserved grain",
         11: "ARENA_DESTROY arena",
         14: "COLLECT_BEGIN arena condemned full : why",
         15: "COLLECT_END arena condemned survived scanned time",
         31: "PAUSE arena time", 40: "SEG_ALLOC pool base size",
         41: "SEG_FREE pool base size", 42: "HIT arena address kind time"}


def record(code, at, *arguments, text=b""):
    return struct.pack(f"<{2 + len(arguments)}Q",
                       code | len(arguments) << 16 | len(text) << 32, at,
                       *arguments) + text + bytes(-len(text) % 8)


def beginning(at=0):
    """What a stream begins with."""
    return HEAD + b"".join(record(1, at, code, 0, text=name.encode())
                           for code, name in NAMES.items())


MIB = 1 << 20


def collection(at, arena=0xA0, full=0, pause=250000000):
    """One that ends AT, and its pause, by default a quarter of a second."""
    return (record(14, at, arena, 8 * MIB, full, text=b"It was due.")
            + record(15, at, arena, 8 * MIB, 2 * MIB, 3 * MIB, pause)
            + record(31, at, arena, pause))


# Writes a stream, as the library does, and ends with status 3.
WRITER = f"""
import os, sys, time
sys.path.insert(0, {str(TOP / "test")!r})
sys.argv[1:] = ["cc"]
import test_watch as t
assert os.environ["MPS_TELEMETRY_CONTROL"] == "arena trace seg"
print("answer", sys.stdin.read(), end="", flush=True)
print("complaint", file=sys.stderr, flush=True)
with open(os.environ["MPS_TELEMETRY_FILENAME"], "wb", 0) as file:
    file.write(t.beginning() + t.collection(time.monotonic_ns()))
    time.sleep(0.7)
    file.write(t.collection(time.monotonic_ns(), full=1)[:-8])
sys.exit(3)
"""

# Two arenas, a collection in each, one with much that survives; then it is
# quiet until it is told to go on.
CLIENT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mps.h"
#include "mpsavm.h"
#include "mpscamc.h"
static mps_addr_t skip(mps_addr_t p) { return (char *)p + *(size_t *)p; }
static void pad(mps_addr_t p, size_t n) { *(size_t *)p = n; }
static void move(mps_addr_t p, mps_addr_t q) { (void)p, (void)q; }
static mps_addr_t moved(mps_addr_t p) { (void)p; return NULL; }
int main(void) {
  mps_arena_t arena[2];
  for (int i = 0; i < 2; ++i) {
    mps_fmt_t format;
    mps_pool_t pool;
    mps_ap_t ap;
    mps_addr_t p;
    if (mps_arena_create_k(&arena[i], mps_arena_class_vm(),
                           mps_args_none) != 0)
      return 1;
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, skip);
      MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, move);
      MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, moved);
      MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, pad);
      if (mps_fmt_create_k(&format, arena[i], args) != 0)
        return 1;
    } MPS_ARGS_END(args);
    MPS_ARGS_BEGIN(args) {
      MPS_ARGS_ADD(args, MPS_KEY_FORMAT, format);
      if (mps_pool_create_k(&pool, arena[i], mps_class_amcz(), args) != 0)
        return 1;
    } MPS_ARGS_END(args);
    if (mps_ap_create_k(&ap, pool, mps_args_none) != 0)
      return 1;
    do {
      if (mps_reserve(&p, ap, 64) != 0)
        return 1;
      pad(p, 64);
    } while (!mps_commit(ap, p, 64));
    mps_arena_collect(arena[i]);
    mps_ap_destroy(ap);
    mps_pool_destroy(pool);
    mps_fmt_destroy(format);
  }
  puts("quiet");
  fflush(stdout);
  return getchar() == EOF;
}
"""


class Figures(unittest.TestCase):
    """What lines say, from streams with made-up times."""

    def lines(self, interval, *records, began=None, end=None, again=False):
        lines = []
        figures = watch.Watch(interval, lines.append, again, began)
        for event in events.Stream("stream").feed(
                beginning() + b"".join(records)):
            figures.note(event)
        figures.finish(end)
        return lines

    def test_lines(self):
        lines = self.lines(
            1, record(40, SECOND, 1, 2, 32 * MIB), collection(SECOND),
            record(42, SECOND, 0xA0, 5, 2, 1000),
            record(42, SECOND, 0xA0, 5, 1, 3000),
            record(41, 3 * SECOND, 1, 2, 16 * MIB),
            collection(3 * SECOND, full=1),
            record(14, 3500000000, 0xA0, MIB, 0, text=b"It was due."),
            began=0, end=3800000000)
        self.assertEqual([line.split() for line in lines[2:5]], [
            ["2.0", "1", "0", "25.0", "250.00", "2", "8.0", "2.0", "6.0",
             "32.0"],
            ["3.0", "0", "0", "0.0", "0.00", "0", "0.0", "0.0", "0.0",
             "32.0"],
            ["3.8", "1+", "1", "31.2", "250.00", "0", "8.0", "2.0", "7.5",
             "16.0"]])
        self.assertEqual(lines[5:], [
            "testudo: in 3.8 s",
            "  collections  2, of everything 1",
            "               3 It was due.",
            "  condemned    16.0 MiB, survived 4.0 MiB, scanned 6.0 MiB",
            "  pauses       2, in all 0.500 s, 13.2% of the time",
            "               half within 250.00 ms, 99 % within 250.00 ms, "
            "longest 250.00 ms",
            "  hits         1 read, 1 write, in all 0.000 s"])
        self.assertTrue(all(len(line) <= 79 for line in lines))

    def test_headers(self):
        records = [collection(i * SECOND) for i in range(50)]
        for again, number in ((False, 1), (True, 3)):
            lines = self.lines(1, *records, again=again)
            self.assertEqual(
                sum("condemned survived" in line for line in lines), number)

    def test_what_comes_late(self):
        """It is in the next line, and in the totals."""
        lines = self.lines(1, collection(0), collection(2 * SECOND),
                           collection(SECOND // 2))
        self.assertEqual([line.split()[1] for line in lines[2:5]],
                         ["1", "0", "2"])

    def test_kinds_that_are_off(self):
        lines = self.lines(1, record(14, 0, 0xA0, MIB, 0), record(
            15, 0, 0xA0, MIB, 0, 0, 5))
        self.assertEqual(lines[2].split(), [
            "0.0", "1", "0", "-", "-", "-", "1.0", "0.0", "10.0", "-"])
        self.assertNotIn("pauses", "".join(lines))

    def test_arenas(self):
        """Lines sum them up; the totals have each, and labels."""
        lines = self.lines(
            1, record(10, 0, 0xA0, 1, 1), record(10, 0, 0xB0, 1, 1),
            record(3, 0, 7, text=b"my\narena"), record(4, 0, 0xB0, 7),
            record(2, 0, 5), collection(0, 0xA0), collection(0, 0xB0),
            record(11, 0, 0xB0), record(10, 0, 0xB0, 1, 1),
            collection(SECOND // 2, 0xB0))
        self.assertEqual(lines[2].split()[1:5], ["3", "0", "150.0", "250.00"])
        self.assertEqual(lines[-4:], [
            "  dropped      5 events: the figures are too low",
            "  arena        1, 0xa0: 1 collections, 1 pauses, in all 0.250 s",
            "  arena        2, 0xb0(my\\narena): 1 collections, 1 pauses, "
            "in all 0.250 s",
            "  arena        3, 0xb0: 1 collections, 1 pauses, in all 0.250 s"])
        lines = self.lines(1, *(collection(0, arena) for arena in range(99)))
        self.assertEqual(lines[-1], "  arena        others: 80 collections, "
                         "80 pauses, in all 20.000 s")
        self.assertEqual(len(lines), 3 + 6 + 20)

    def test_spread(self):
        spread = watch.Spread()
        for microseconds in range(1, 1001):
            spread.add(microseconds * 1000)
        self.assertLess(abs(spread.within(0.5) / 500000 - 1), 0.125)
        self.assertEqual(spread.within(1), 1000000)
        self.assertLess(len(spread.upto), 100)


class Following(unittest.TestCase):
    """Files that grow, and begin anew."""

    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.addCleanup(self.room.cleanup)
        self.path = os.path.join(self.room.name, "events")

    def follower(self, **options):
        follower = follow.Follower(self.path, **options)
        self.addCleanup(follower.close)
        return follower

    def test_pieces(self):
        whole = beginning() + collection(5)
        figures = watch.Watch(1, lambda line: None)
        follower = self.follower()
        follower.read(figures)
        self.assertTrue(follower.written())
        with open(self.path, "wb", 0) as file:
            self.assertTrue(follower.written())
            for at in range(0, len(whole), 7):
                file.write(whole[at:at + 7])
                follower.read(figures)
            self.assertEqual(figures.arenas[0].now.sums["collections"], 1)
            self.assertFalse(follower.written())
            follower.stream.end()
            # Another process, whose stream is longer when it is looked at.
            file.truncate(0)
            file.seek(0)
            file.write(beginning(9) + collection(9, 0xB0) * 2)
            follower.read(figures)
        self.assertEqual([arena.now.sums["collections"]
                          for arena in figures.arenas], [1, 2])

    def test_gives_back(self):
        """What was read takes no room, however long the program runs."""
        figures = watch.Watch(1, lambda line: None)
        follower = self.follower(own=True)
        with open(self.path, "wb", 0) as file:
            file.write(bytes(8192))
            if not follow.give_back(file.fileno(), 4096, 8192):
                self.skipTest("the file system has no holes")
            file.truncate(0)
            file.seek(0)
            file.write(beginning())
            for _ in range(4):
                file.write(record(31, 5, 0xA0, 1) * (MIB // 32))
                follower.read(figures)
            self.assertLess(os.fstat(file.fileno()).st_blocks * 512, 2 * MIB)
        self.assertEqual(figures.arenas[0].now.pauses.count, 4 * MIB // 32)

    def test_no_stream(self):
        """A message, and the status of such."""
        for text, message in ((b"something else", "is not a file of events"),
                              (beginning() + collection(5)[:-1],
                               "ends within a record"),
                              (beginning() + record(1, 0), "defines an ev")):
            pathlib.Path(self.path).write_bytes(text)
            done = subprocess.run(
                [sys.executable, TOOL, "watch", "--file", self.path],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"^testudo: .*{message}")
        done = subprocess.run(
            [sys.executable, TOOL, "watch", "--file", self.room.name],
            capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            2, f"testudo: {self.room.name}: Is a directory\n"))

    def test_waits(self):
        """For a file that is not there yet; ends with Ctrl-C, or with the
        process that writes it."""
        with subprocess.Popen(
                [sys.executable, TOOL, "watch", "--file", self.path],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) as process:
            self.assertEqual(process.stderr.readline(),
                             f"testudo: waiting for {self.path}\n")
            pathlib.Path(self.path).write_bytes(beginning() + collection(5))
            out, _ = process.communicate()
            self.assertEqual(process.returncode, 0)
        self.assertIn("collections  1, of everything 0", out)
        os.remove(self.path)
        with subprocess.Popen(
                [sys.executable, TOOL, "watch", "--file", self.path],
                stderr=subprocess.PIPE, text=True) as process:
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.returncode, 130)


class Program(unittest.TestCase):
    """One that runs under the tool has what it has without."""

    def watch(self, *command, given="", options=()):
        return subprocess.run(
            [sys.executable, TOOL, "watch", *options, "--", *command],
            input=given, capture_output=True, text=True, check=False)

    def test_as_if_alone(self):
        done = self.watch(sys.executable, "-c", WRITER, given="given\n",
                          options=["--interval=0.5"])
        self.assertEqual((done.returncode, done.stdout),
                         (3, "answer given\n"))
        lines = done.stderr.splitlines()
        self.assertIn("complaint", lines)
        self.assertIn("  collections  2, of everything 1", lines)
        rows = [line.split() for line in lines
                if line.startswith("  ") and line.strip()[0].isdigit()
                and len(line.split()) == 10]
        self.assertEqual(sum(int(row[1].strip("+")) for row in rows), 2)
        self.assertEqual(sum(int(row[2]) for row in rows), 1)

    def test_output(self):
        with tempfile.TemporaryDirectory() as room:
            path = os.path.join(room, "lines")
            done = self.watch(sys.executable, "-c", WRITER,
                              options=["--output", path])
            self.assertEqual((done.returncode, done.stderr),
                             (3, "complaint\n"))
            self.assertIn("collections  2", pathlib.Path(path).read_text())
            done = self.watch("true", options=["--output", f"{room}/a/b"])
            self.assertEqual((done.returncode, done.stderr), (
                1, f"testudo: {room}/a/b: No such file or directory\n"))

    def test_lines_that_cannot_be_written(self):
        """The program runs on, and its status is kept."""
        for status in (0, 3):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [sys.executable, TOOL, "watch", "--", "sh", "-c",
                     f"exec 2>&-; sleep 0.2; echo done; exit {status}"],
                    stderr=full, stdout=subprocess.PIPE, text=True,
                    check=False)
            self.assertEqual((done.returncode, done.stdout),
                             (status, "done\n"))

    def test_without_arena(self):
        done = self.watch("sh", "-c", "exit 5")
        self.assertEqual((done.returncode, done.stderr), (
            5, "testudo: sh wrote no events: it made no arena, or the library "
            "is of the rash variety\n"))
        self.assertEqual(self.watch("sh", "-c", "kill -9 $$").returncode, 137)
        done = self.watch("/nonexistent")
        self.assertEqual((done.returncode, done.stderr), (
            127, "testudo: /nonexistent: No such file or directory\n"))

    def interrupted(self, script, number, group):
        """What comes of a signal to the tool, or to all of its GROUP, once the
        program is ready."""
        with subprocess.Popen(
                [sys.executable, TOOL, "watch", "--", sys.executable, "-c",
                 script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, start_new_session=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            if group:
                os.killpg(process.pid, number)
            else:
                os.kill(process.pid, number)
            out, err = process.communicate()
        return process.returncode, out, err

    def test_interrupted(self):
        """The program decides what Ctrl-C does; its figures are told."""
        handles = ("import signal, sys, time\n"
                   "def stop(*_):\n"
                   "    print('stopped')\n"
                   "    sys.exit(4)\n"
                   "signal.signal(signal.SIGINT, stop)\n"
                   "print('ready', flush=True)\n"
                   "time.sleep(60)\n")
        status, out, err = self.interrupted(handles, signal.SIGINT, True)
        self.assertEqual((status, out), (4, "stopped\n"), err)
        self.assertNotIn("Traceback", err)
        waits = "import time; print('ready', flush=True); time.sleep(60)"
        status, out, _ = self.interrupted(waits, signal.SIGTERM, False)
        self.assertEqual((status, out), (143, ""))

    def test_arguments(self):
        for arguments, message in (
                ([], "no program to run"),
                (["--file", "a", "--", "true"], "instead of a program"),
                (["--interval", "0", "--", "true"], "no number of seconds"),
                (["--interval", "nan", "--", "true"], "no number of seconds"),
                (["--interval", "often", "--", "true"], "'often' is no")):
            done = subprocess.run([sys.executable, TOOL, "watch", *arguments],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    @unittest.skipIf(os.environ.get("TEST_SANITIZED"),
                     "the client is not sanitized")
    @unittest.skipUnless(os.path.isfile(os.path.join(BINARY, "libtestudo.a")),
                         "not built")
    def test_quiet_program(self):
        """A collection is told soon, though nothing comes after it."""
        with tempfile.TemporaryDirectory() as room:
            client = os.path.join(room, "client")
            source = pathlib.Path(client + ".c")
            source.write_text(CLIENT)
            subprocess.run(
                [COMPILER, "-I", str(TOP / "include"), "-o", client,
                 str(source), os.path.join(BINARY, "libtestudo.a"),
                 "-lpthread", "-lm"], check=True)
            with subprocess.Popen(
                    [sys.executable, TOOL, "watch", "--interval=0.5", "--",
                     client], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True) as process:
                self.assertEqual(process.stdout.readline(), "quiet\n")
                found = [0, 0]
                while found[0] < 2:
                    line = process.stderr.readline()
                    self.assertNotEqual(line, "")
                    cells = line.split()
                    if len(cells) == 10 and cells[0] not in ("time", "s"):
                        found[0] += int(cells[1].strip("+"))
                        found[1] += int(cells[2])
                self.assertEqual(found, [2, 2])
                process.stdin.write("\n")
                process.stdin.close()
                err = process.stderr.read()
                process.wait()
        self.assertEqual(process.returncode, 0)
        self.assertIn("2, of everything 2", err)
        self.assertRegex(err, r"(?m)^  arena +2, 0x\w+: 1 collections, ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

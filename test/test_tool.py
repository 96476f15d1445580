"""Testudo: the testudo command counts exactly, and says so when it cannot.

Usage: test_tool.py COMPILER

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parent.parent
TOOL = str(TOP / "tool/testudo")
sys.path.insert(0, str(TOP / "tool"))

from testudo_tool import (  # noqa: E402
    events, kernel, main, pictures, statistics, tally, tune)

COMPILER = sys.argv[1]

# Calls of the main thread, of another thread and of a child; more of them
# when the shield is naive; and 64 MiB of memory.
CLIENT = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *calls(void *p) {
  for (int i = 0; i < *(int *)p; ++i)
    getppid();
  return p;
}
int main(void) {
  const char *mode = getenv("TESTUDO_SHIELD");
  int n = mode != NULL && strcmp(mode, "naive") == 0 ? 1000 : 10;
  int status;
  pthread_t thread;
  void *memory = malloc((size_t)64 << 20);
  memset(memory, 1, (size_t)64 << 20);
  printf("answer\n");
  fflush(stdout);
  calls(&n);
  if (pthread_create(&thread, NULL, calls, &n) != 0)
    return 1;
  pthread_join(thread, NULL);
  if (fork() == 0)
    _exit(calls(&n) == NULL);
  wait(&status);
  free(memory);
  return status;
}
"""

# Two arenas: the one made first is destroyed last.
ARENAS = r"""
#include "mps.h"
#include "mpsavm.h"
int main(void) {
  mps_arena_t first, second;
  if (mps_arena_create_k(&first, mps_arena_class_vm(), mps_args_none) != 0 ||
      mps_arena_create_k(&second, mps_arena_class_vm(), mps_args_none) != 0)
    return 1;
  mps_arena_destroy(second);
  mps_arena_destroy(first);
  return 0;
}
"""


def record(code, arguments, text=b""):
    """An event, as the telemetry has it."""
    return struct.pack(f"<{2 + len(arguments)}Q",
                       code | len(arguments) << 16 | len(text) << 32,
                       0, *arguments) + text + bytes(-len(text) % 8)


def compile_client(client, source, *flags):
    """The program CLIENT, linked with the archive of this build."""
    subprocess.run(
        [COMPILER, *flags, "-I", str(TOP / "include"), "-o", client,
         str(source), os.path.join(BINARY, "libtestudo.a"), "-lpthread",
         "-lm"], check=True)


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.client = os.path.join(cls.room.name, "client")
        source = pathlib.Path(cls.client + ".c")
        source.write_text(CLIENT)
        subprocess.run([COMPILER, "-pthread", "-o", cls.client, str(source)],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def invoke(self, *arguments, status=0, given=""):
        environment = {name: value for name, value in os.environ.items()
                       if name != "TESTUDO_SHIELD"}
        done = subprocess.run([sys.executable, TOOL, *arguments],
                              env=environment, capture_output=True,
                              input=given, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def test_run_counts_exactly(self):
        out, err = self.invoke("run", "--json", "--", self.client)
        profile = json.loads(out)
        calls = profile["syscalls"]
        self.assertEqual(calls["getppid"], 30)
        self.assertEqual((calls["exit"], calls["exit_group"]), (1, 2))
        self.assertEqual(calls["total"],
                         sum(calls.values()) - calls["total"])
        self.assertGreaterEqual(profile["peak_kib"], 64 << 10)
        self.assertLess(profile["peak_kib"], 96 << 10)
        self.assertEqual(set(profile["seconds"]), {"wall", "user", "sys"})
        self.assertEqual(err, "answer\n")

    def test_standard_error(self):
        """That of the first run is passed on, as it comes, and no other; that
        of a run that fails is."""
        says = ["sh", "-c", "echo a >&2; cd /; printf b >&2; exit $STATUS"]
        for command in (["run", "--repeat=2"], ["compare", "--modes=off"]):
            with unittest.mock.patch.dict(os.environ, STATUS="0"):
                _, err = self.invoke(*command, "--", *says)
            self.assertEqual(err.removeprefix("testudo: off\n"), "a\nb")
        again = ["sh", "-c", f"echo a >&2; mkdir {self.room.name}/again"]
        _, err = self.invoke("run", "--", *again, status=1)
        self.assertRegex(err, "^a\na\n.*File exists\ntestudo: sh ended with ")
        sign = pathlib.Path(self.room.name) / "sign"
        waits = ("echo a >&2; for i in $(seq 100); do if [ -e sign ]; "
                 "then exit 0; fi; sleep 0.1; done; exit 1")
        with subprocess.Popen(
                [sys.executable, TOOL, "run", "--json", "--", "sh", "-c",
                 waits], cwd=self.room.name, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True) as process:
            self.assertEqual(process.stderr.readline(), "a\n")
            sign.touch()
            self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.returncode, 0)

    def test_standard_error_by_name(self):
        """To open it empties nothing, and loses no statistics."""
        writes = ("echo a >/dev/stderr; echo b >&2; echo c >/dev/stderr;"
                  "printf 'testudo: shield off\\n  hits  7\\n' >&2;"
                  "echo d >/dev/stderr; exit $0")
        out, err = self.invoke("run", "--", "sh", "-c", writes, "0")
        self.assertEqual(err, "a\nb\nc\nd\n")
        self.assertRegex(out, "\nshield off\n  hits +7\n")
        _, err = self.invoke("compare", "--modes=off", "--", "sh", "-c",
                             writes, "3", status=3)
        self.assertEqual(err, "testudo: off\na\nb\nc\nd\n"
                              "testudo: sh ended with status 3\n")

    def test_run_prints_the_shape_of_the_report(self):
        out, _ = self.invoke("run", "--", self.client)
        self.assertRegex(out, r"(?m)^ *30 getppid$")
        self.assertRegex(out, r"(?m)^real 0m\d\.\d{3}s$")

    def test_every_run_reads_the_same(self):
        reads = ["sh", "-c", "while read line; do echo $line; cd /; done"]
        out, err = self.invoke("run", "--json", "--repeat=2", "--", *reads,
                               given="a\nb\nc\n")
        self.assertEqual(json.loads(out)["syscalls"]["chdir"], 3)
        self.assertEqual(err, "a\nb\nc\n")
        out, err = self.invoke("compare", "--json", "--modes=naive,off", "--",
                               *reads, given="a\nb\n")
        counts = [p["syscalls"]["chdir"] for p in json.loads(out).values()]
        self.assertEqual(counts, [2, 2])
        self.assertEqual(err, "testudo: naive\na\nb\n"
                              "testudo: off\na\nb\n")

    def test_closed_input(self):
        """Also one that cannot be read, as nohup gives."""
        for redirection in ("0<&-", "0>/dev/null"):
            done = subprocess.run(
                ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable,
                 TOOL, "run", "--", "cat"], capture_output=True, text=True,
                check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_closed_standard_error(self):
        """What is meant for it is lost, nothing else."""
        done = subprocess.run(
            ["sh", "-c", '"$@" 2>&-', "sh", sys.executable, TOOL, "run",
             "--json", "--", self.client], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["syscalls"]["getppid"], 30)

    def test_compare(self):
        out, _ = self.invoke("compare", "--json", "--", self.client)
        profiles = json.loads(out)
        self.assertEqual(list(profiles),
                         ["naive", "ranged", "deferred", "dirty", "off"])
        counts = [p["syscalls"]["getppid"] for p in profiles.values()]
        self.assertEqual(counts, [3000, 30, 30, 30, 30])
        out, _ = self.invoke("compare", "--modes=ranged,naive", "--",
                              self.client)
        self.assertRegex(out, r"(?m)^client +ranged +naive$")
        self.assertRegex(out, r"(?m)^getppid +30 +3,000 +100x$")

    @unittest.skipUnless(pictures.interpreter(), "matplotlib is not installed")
    def test_compare_draws(self):
        picture = pathlib.Path(self.room.name) / "modes.PNG"
        out, _ = self.invoke("compare", "--modes=naive,off", "--picture",
                             str(picture), "--", self.client)
        self.assertIn("getppid", out)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))
        picture = picture.with_suffix(".svg")
        self.invoke("compare", "--modes=naive,off", "--json", "--picture",
                    str(picture), "--", self.client)
        self.assertIn("getppid", picture.read_text())

    def test_events(self):
        """A stream that another byte order could have, cut off at its end."""
        def record(code, time, arguments, text=b""):
            size = len(text)
            head = code | len(arguments) << 16 | size << 32
            return struct.pack(f">{2 + len(arguments)}Q", head, time,
                               *arguments) + text + bytes(-size % 8)
        path = pathlib.Path(self.room.name) / "log"
        path.write_bytes(
            b"TDOEVT1\n" + struct.pack(">Q", 0x0102030405060708)
            + record(1, 1000, [1, 6], b"DEFINE code kind : name")
            + record(1, 1000, [3, 6], b"INTERN label : string")
            + record(1, 1000, [4, 6], b"LABEL address label")
            + record(1, 1000, [14, 0], b"COLLECT_BEGIN arena full : why")
            + record(1, 1000, [15, 0], b"COLLECT_END arena survived time")
            + record(3, 2000, [7], b"my arena")
            + record(4, 3000, [0xA0, 7])
            + record(14, 4000, [0xA0, 1], b"It was due.")
            + record(15, 2001000, [0xA0, 64, 1500000])
            + record(99, 3001000, [5])
            + record(15, 4001000, [0xA0, 64, 1])[:-1])
        out, err = self.invoke("events", str(path), status=2)
        self.assertIn("ends within a record, at byte ", err)
        self.assertEqual(out.splitlines(), [
            '0.000000 INTERN label=7 string="my arena"',
            "0.000001 LABEL address=0xa0(my arena) label=7",
            '0.000002 COLLECT_BEGIN arena=0xa0(my arena) full=1 '
            'why="It was due."',
            "0.001999 COLLECT_END arena=0xa0(my arena) survived=64 "
            "time=1500000",
            "0.002999 EVENT_99 0=5"])
        out, err = self.invoke("events", "--json", str(path), status=2)
        self.assertIn("ends within a record, at byte ", err)
        result = json.loads(out)
        self.assertEqual(result["events"]["COLLECT_BEGIN"], 1)
        self.assertEqual(result["collections"], {"It was due.": 1})
        self.assertEqual(result["survived_bytes"], 64)
        self.assertEqual(result["milliseconds"]["COLLECT_END"],
                         {"count": 1, "total": 1.5, "longest": 1.5})
        whole = path.read_bytes()[:1 - 8 * 5]
        path.write_bytes(whole)
        out, _ = self.invoke("events", "--summary", str(path))
        self.assertRegex(out, r"(?m)^ *1 collections: It was due\.$")
        path.write_bytes(whole[:100])
        _, err = self.invoke("events", str(path), status=2)
        self.assertIn("ends within a record, at byte 100", err)
        path.write_bytes(b"something else")
        _, err = self.invoke("events", str(path), status=2)
        self.assertIn("not a file of events", err)
        _, err = self.invoke("events", "/dev/zero", status=2)
        self.assertIn("not a file of events", err)
        _, err = self.invoke("events", "/nonexistent", status=2)
        self.assertIn("/nonexistent: No such file", err)

    def test_damaged_events(self):
        """A definition that is none ends it, with a message; arguments that are
        missing do not."""
        path = pathlib.Path(self.room.name) / "log"
        head = b"TDOEVT1\n" + struct.pack("<Q", 0x0102030405060708)
        intern = record(1, [3, 6], b"INTERN label : string")
        for damaged in (record(1, [], b"NAME"), record(1, [9, 0]),
                        record(1, [9, 0], b" : why")):
            path.write_bytes(head + intern + record(3, [7], b"a") + damaged)
            for arguments, shown in ((["--json"], '"INTERN": 1'),
                                     ([], 'INTERN label=7 string="a"')):
                out, err = self.invoke("events", *arguments, str(path),
                                       status=2)
                self.assertIn(shown, out)
                self.assertIn("defines an event without a name or code, "
                              f"at byte {len(head + intern) + 32}", err)
        few = (record(3, []) + record(4, []) + record(14, [])
               + record(15, []) + record(2, []))
        names = (b"DROPPED events", b"INTERN label : string",
                 b"LABEL address label", b"COLLECT_END arena survived")
        path.write_bytes(head + b"".join(
            record(1, [code, 0], name)
            for code, name in zip((2, 3, 4, 15), names)) + few)
        out, _ = self.invoke("events", str(path))
        self.assertEqual(len(out.splitlines()), 5)
        self.invoke("events", "--summary", str(path))

    def test_many_events(self):
        """However many there are, they are not kept, and no text is read
        for ever."""
        path = pathlib.Path(self.room.name) / "log"
        head = (b"TDOEVT1\n" + struct.pack("<Q", 0x0102030405060708)
                + record(1, [31, 2], b"PAUSE arena time"))
        path.write_bytes(head + record(31, [0xA0, 2000000]) * 30000
                         + record(31, [0xA0, 3000000]))
        tracemalloc.start()
        result, broken = events.summary(str(path))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertEqual((result["milliseconds"], broken), (
            {"PAUSE": {"count": 30001, "total": 60003, "longest": 3}}, None))
        self.assertLess(most, 1 << 20)
        path.write_bytes(head + struct.pack("<QQ", 31 | 1 << 62, 0)
                         + bytes(100))
        _, broken = events.summary(str(path))
        self.assertIn("has a text that is too long, at byte "
                      f"{len(head)}", str(broken))

    def test_labels_of_any_characters(self):
        """Each event is a line, whatever the client calls its things."""
        path = pathlib.Path(self.room.name) / "log"
        path.write_bytes(
            b"TDOEVT1\n" + struct.pack("<Q", 0x0102030405060708)
            + record(1, [3, 6], b"INTERN label : string")
            + record(1, [4, 6], b"LABEL address label")
            + record(3, [7], b'a "b"\nc\x1b') + record(4, [0xA0, 7]))
        out, _ = self.invoke("events", str(path))
        self.assertEqual(out.splitlines(), [
            '0.000000 INTERN label=7 string="a \\"b\\"\\nc\\u001b"',
            '0.000000 LABEL address=0xa0(a \\"b\\"\\nc\\u001b) label=7'])

    def test_characters_that_the_locale_lacks(self):
        """They are printed as escapes, or another stands for them."""
        path = pathlib.Path(self.room.name) / "log"
        path.write_bytes(
            b"TDOEVT1\n" + struct.pack("<Q", 0x0102030405060708)
            + record(1, [3, 6], b"INTERN label : string")
            + record(3, [7], "n\u00e9 \u2603".encode()))
        name = os.path.join(self.room.name.encode(), b"\xff")
        shutil.copy(self.client, name)
        for arguments, encoding, shown in (
                (["events", str(path)], "ascii", 'string="n\\xe9 \\u2603"'),
                (["events", str(path)], "latin-1", 'string="n\xe9 \\u2603"'),
                (["compare", "--modes=off", "--", name], "utf-8", "\ufffd")):
            done = subprocess.run(
                [sys.executable, TOOL, *arguments], capture_output=True,
                env={**os.environ, "PYTHONIOENCODING": encoding},
                stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(shown, done.stdout.decode(encoding))

    @unittest.skipUnless(pictures.interpreter(), "matplotlib is not installed")
    def test_no_picture(self):
        """One that cannot be drawn takes nothing with it."""
        picture = os.path.join(self.room.name, "full.svg")
        os.symlink("/dev/full", picture)
        out, err = self.invoke("compare", "--modes=off", "--picture", picture,
                               "--", self.client, status=1)
        self.assertIn("getppid", out)
        self.assertIn(f"testudo: no picture: {picture}: No space left on "
                      "device\n", err)

    @unittest.skipUnless(pictures.interpreter(), "matplotlib is not installed")
    def test_picture_that_cannot_be(self):
        """It is told before any run, in the system's words; the attempt leaves
        nothing."""
        room = pathlib.Path(self.room.name)
        (room / "folder.svg").mkdir()
        (room / "link.svg").symlink_to(room / "none" / "a.svg")
        for name, message in (("folder.svg", "Is a directory"),
                              ("link.svg", "No such file or directory"),
                              ("a" * 300 + ".svg", "File name too long")):
            out, err = self.invoke("compare", f"--picture={room / name}",
                                   "--", self.client, status=2)
            self.assertEqual((out, err),
                             ("", f"testudo: {room / name}: {message}\n"))
        for text in (None, "old"):
            picture = room / "new.svg"
            if text:
                picture.write_text(text)
            self.invoke("compare", "--modes=off", "--picture", str(picture),
                        "--", "false", status=1)
            self.assertEqual(picture.read_text() if picture.exists() else None,
                             text)

    def test_nothing_to_tune(self):
        """Of the modes that are to be considered none is possible here."""
        calibrate = pathlib.Path(self.room.name) / "testudo-calibrate"
        calibrate.write_text(
            "#!/bin/sh\necho '{\"call\": 1, \"page\": 1, \"hit\": 1}'\n")
        calibrate.chmod(0o755)
        done = subprocess.run(
            [sys.executable, TOOL, "tune", "--modes=dirty", "--recording=a"],
            env={**os.environ, "TESTUDO_BINARY_DIR": self.room.name},
            capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            1, "", "testudo: no mode to consider: the kernel does not track "
            "writes here\n"))

    def test_replay_that_is_killed(self):
        """By the system that has no memory left, say."""
        room = pathlib.Path(self.room.name) / "killed"
        room.mkdir()
        for name, does in (
                ("testudo-calibrate",
                 "echo '{\"call\": 1, \"page\": 1, \"hit\": 1}'"),
                ("testudo-replay", "kill -9 $$")):
            (room / name).write_text(f"#!/bin/sh\n{does}\n")
            (room / name).chmod(0o755)
        done = subprocess.run(
            [sys.executable, TOOL, "tune", "--recording=a"],
            env={**os.environ, "TESTUDO_BINARY_DIR": str(room)},
            capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            137, "testudo: testudo-replay was killed by signal 9\n"))

    def test_output_that_cannot_be_written(self):
        """As of other commands: no more than a message, and the status."""
        environment = {name: value for name, value in os.environ.items()
                       if name != "PYTHONUNBUFFERED"}
        for command, status, message in (
                (["run", "--json", "--", "true"], 1, "No space left"),
                (["run", "--", "true"], 141, ""),
                (["--help"], 1, "No space left"),
                (["--help"], 141, "")):
            if status == 1:
                where = open("/dev/full", "wb")
            else:
                end, pipe = os.pipe()
                os.close(end)
                where = open(pipe, "wb")
            with where:
                done = subprocess.run(
                    [sys.executable, TOOL, *command], env=environment,
                    stdout=where, stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr,
                             f"^testudo: standard output: {message}.*\n$"
                             if message else "^$")

    def test_without_strace(self):
        """It is told before the program runs; one that cannot trace is not
        taken for the program."""
        room = pathlib.Path(self.room.name) / "bin"
        room.mkdir()
        for expected, strace in (
                ("testudo: no system calls can be counted: strace is not "
                 "installed\n", None),
                ("answer\ntestudo: strace counted nothing: it ended with "
                 "status 1\n", "#!/bin/sh\nexit 1\n")):
            if strace:
                (room / "strace").write_text(strace)
                (room / "strace").chmod(0o755)
            done = subprocess.run(
                [sys.executable, TOOL, "run", "--", self.client],
                env={"PATH": f"{room}:/bin" if strace else str(room)},
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", expected))

    def test_of_equals(self):
        """The setting that the library has is the best."""
        rows = [{"mode": mode, "queue": 1024, "fresh": 4, "hit": 16,
                 "grain": 0, "quantum": 0}
                for mode in ("naive", "ranged", "deferred", "dirty")]
        self.assertEqual(min(rows, key=tune.strangeness)["mode"], "deferred")

    def test_drawing_programs(self):
        """They tell what is missing."""
        room = pathlib.Path(self.room.name)
        (room / "matplotlib.py").write_text("raise ImportError\n")
        for name in ("chart.py", "heat.py"):
            done = subprocess.run(
                [sys.executable, TOP / "tool/testudo_tool" / name],
                env={**os.environ, "PYTHONPATH": str(room)},
                capture_output=True, text=True, check=False)
            self.assertEqual(
                (done.returncode, done.stderr),
                (1, f"{name}: matplotlib is not installed\n"))

    def test_help(self):
        """Every command is described, and every argument."""
        commands, = (action for action in main.parser()._actions
                     if action.choices)
        self.assertEqual(
            {action.dest for action in commands._choices_actions
             if action.help}, set(commands.choices))
        for name, parser in commands.choices.items():
            self.assertTrue(parser.description, name)
            self.assertTrue(all(action.help for action in parser._actions))
            self.assertRegex(parser.format_usage(), r"[^.]\n$")
        out, _ = self.invoke("--help")
        self.assertNotIn("...\n", out)
        out, _ = self.invoke("watch", "--help")
        self.assertTrue(out.startswith("usage: testudo watch [OPTION ...] "
                                       "[--] PROGRAM [ARGUMENT ...]\n"), out)

    def test_version(self):
        out, _ = self.invoke("--version")
        self.assertRegex(out, r"^testudo \d+\.\d+\.\d+\n$")

    def test_failures(self):
        _, err = self.invoke("run", "--", "/nonexistent", status=127)
        self.assertIn("No such file", err)
        _, err = self.invoke("run", "--", "false", status=1)
        self.assertIn("false ended with status 1", err)
        _, err = self.invoke("run", "--", "sh", "-c", "kill -9 $$",
                              status=137)
        self.assertIn("sh was killed by signal 9", err)
        for arguments, message in (
                (["compare", "--modes=ranged,foo"], "no mode 'foo'"),
                (["compare", "--modes="], "no mode ''"),
                (["compare", "--picture=a.gif"], "ends with .svg"),
                (["compare", "--picture=/nonexistent/a.svg"],
                 "/nonexistent/a.svg: No such file or directory"),
                (["tune", "--modes=off"], "no mode 'off'"),
                (["tune", "--modes=naive", "--picture=/tmp/a.svg"],
                 "no mode with a queue"),
                (["tune", "--grain=5000"], "not a power of two"),
                (["tune", "--grain=0,1K"], "neither a size from 4K on nor 0"),
                (["tune", "--grain=2G"], "more than 1G"),
                (["tune", "--quantum=much"], "'much' is neither"),
                (["tune", "--quantum=0,1025G"], "more than 1024G"),
                (["tune", "--repeat=2"], "unrecognized arguments"),
                (["tune", "--verify=0"], "'0' is no number from 1 to 99"),
                (["tune", "--verify=-1"], "--verify"),
                (["tune", "--recording=a"], "instead of a program"),
                (["tune", "--recording=a", "--verify"], "of a program"),
                (["watch", "--file=a"], "instead of a program")):
            _, err = self.invoke(*arguments, "--", "true", status=2)
            self.assertIn(message, err)
        for name in ("grain", "quantum"):
            _, err = self.invoke("tune", "--recording=a", f"--{name}=0",
                                 status=2)
            self.assertIn("--recording has the grain and the quantum of its "
                          "run", err)
        self.invoke("run", status=2)
        self.invoke("walk", "--", "true", status=2)


BINARY = os.environ.get("TESTUDO_BINARY_DIR", "")


@unittest.skipUnless(
    os.path.isfile(os.path.join(BINARY, "testudo-replay")), "not built")
class Tune(unittest.TestCase):
    """A recording predicts the calls of its own setting exactly."""

    def replay(self, path, settings):
        return subprocess.run([os.path.join(BINARY, "testudo-replay"), path],
                              input=settings, capture_output=True, text=True,
                              check=False)

    def record(self, room, mode):
        client = os.path.join(room, "client")
        path = os.path.join(room, mode)
        compile_client(client, TOP / "bench/shield_random.c", "-O2")
        done = subprocess.run(
            [client, "8", "60000"], check=True, capture_output=True,
            text=True, env={**os.environ, "TESTUDO_SHIELD": mode,
                            "TESTUDO_STATISTICS": "on",
                            "TESTUDO_RECORD": path})
        _, arenas = statistics.split(done.stderr)
        return path, int(arenas[0]["protection"].split()[0])

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    def test_predicts(self):
        with tempfile.TemporaryDirectory() as room:
            for mode in ("naive", "ranged", "deferred"):
                path, calls = self.record(room, mode)
                done = self.replay(path, f"{mode} 1024 2 6\n")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout)["calls"], calls)
            with open(path, "rb") as file:
                good = file.read()
            # A cut may fall between records: then it is a shorter recording.
            for text, message in ((good[:2000], "byte 1999|byte 2000"),
                                  (b"foreign" * 100, "byte 0"),
                                  (good[:40] + b"\x1f", "byte 40")):
                with open(path, "wb") as file:
                    file.write(text)
                done = self.replay(path, "")
                if text != good[:2000] or done.returncode != 0:
                    self.assertEqual(done.returncode, 2)
                    self.assertRegex(done.stderr, message)

    def test_names_the_recording(self):
        """In what is wrong with it."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"something else")
            file.flush()
            done = subprocess.run(
                [sys.executable, TOOL, "tune", "--recording", file.name],
                capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            2, f"testudo: {file.name}: damaged at byte 0: this is no "
            "recording\n"))

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    def test_nothing_to_gain(self):
        """It is told why, and not recommended."""
        with tempfile.TemporaryDirectory() as room:
            client = os.path.join(room, "lists")
            compile_client(client, TOP / "example/lists.c", "-O2")
            done = subprocess.run(
                [sys.executable, TOOL, "tune", "--json", "--grain=0",
                 "--quantum=0", "--", client], capture_output=True,
                stdin=subprocess.DEVNULL, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertGreater(result["run_seconds"], 0)
        self.assertEqual([row for row in result["rows"]
                          if row == result["default"]], [result["default"]])

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    def test_verifies_without_statistics(self):
        """The calls are counted, whatever the user wants to see."""
        with tempfile.TemporaryDirectory() as room:
            _, calls = self.record(room, "ranged")
            row = {"mode": "ranged", "queue": 1024}
            with unittest.mock.patch.dict(os.environ,
                                          TESTUDO_STATISTICS="off"):
                counted = tune.counted(
                    [os.path.join(room, "client"), "8", "60000"], row,
                    subprocess.DEVNULL)
            self.assertEqual(counted, calls)

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    def test_counts_what_is_recorded(self):
        """The first arena, which need not be the first that ends."""
        with tempfile.TemporaryDirectory() as room:
            client = os.path.join(room, "arenas")
            source = pathlib.Path(client + ".c")
            source.write_text(ARENAS)
            compile_client(client, source)
            done = subprocess.run(
                [client], check=True, capture_output=True, text=True,
                env={**os.environ, "TESTUDO_STATISTICS": "on"})
        _, arenas = statistics.split(done.stderr)
        self.assertEqual(len(arenas), 2)
        self.assertEqual(["arena" in arena for arena in arenas],
                         [False, True])
        self.assertEqual(tune.recorded(arenas), [arenas[1]])
        self.assertEqual(tune.recorded(arenas[:1]), [])

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    def test_settings_to_replay(self):
        """Each line is replayed, or the first that cannot be is named."""
        with tempfile.TemporaryDirectory() as room:
            path, _ = self.record(room, "ranged")
            for text, number, message in (
                    ("", 0, ""),
                    ("naive 1 0 0\nranged 16 0 0", 2, ""),
                    ("naive 1 0 0\nranged 16 0\n", 1, "setting 2 cannot be"),
                    ("foo\n", 0, "setting 1 cannot be"),
                    ("off 1 0 0\nranged 0 0 0\n", 1, "setting 2 cannot be"),
                    ("ranged 1048577 0 0\n", 0, "setting 1 cannot be"),
                    ("ranged -1 0 0\n", 0, "setting 1 cannot be"),
                    ("deferred 1 4294967296 0\n", 0, "setting 1 cannot be"),
                    ("deferred 1 0 1000001\n", 0, "setting 1 cannot be"),
                    ("foo 1 2 3\n", 0, "no mode foo")):
                done = self.replay(path, text)
                self.assertEqual(done.returncode, 2 if message else 0)
                self.assertIn(message, done.stderr)
                self.assertEqual(len(done.stdout.splitlines()), number)
        for path in ("/dev/zero", "/dev/null"):
            done = self.replay(path, "")
            self.assertEqual(done.returncode, 2)
            self.assertIn("byte 0: this is no recording", done.stderr)
        done = self.replay("--help", "")
        self.assertEqual(done.returncode, 0)
        self.assertIn("MODE QUEUE FRESH HIT", done.stdout)

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    @unittest.skipUnless(pictures.interpreter(), "matplotlib is not installed")
    def test_draws(self):
        """A heat map of both modes that have a queue."""
        with tempfile.TemporaryDirectory() as room:
            path, _ = self.record(room, "ranged")
            picture = os.path.join(room, "heat.svg")
            done = subprocess.run(
                [sys.executable, TOOL, "tune", "--recording", path,
                 "--picture", picture], capture_output=True, text=True,
                check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(picture, encoding="utf-8") as file:
                drawn = file.read()
            self.assertIn("</svg>", drawn)

    @unittest.skipIf("san" in BINARY, "the client is not sanitized")
    def test_full_disk(self):
        """What cannot be written is no success."""
        with tempfile.TemporaryDirectory() as room:
            path, _ = self.record(room, "ranged")
            for program, given in ((["testudo-replay", path], "off 1 0 0\n"),
                                   (["testudo-replay", "--help"], ""),
                                   (["testudo-calibrate", "--help"], ""),
                                   (["testudo-calibrate"], "")):
                with open("/dev/full", "w") as full:
                    done = subprocess.run(
                        [os.path.join(BINARY, program[0]), *program[1:]],
                        input=given, stdout=full, stderr=subprocess.PIPE,
                        text=True, check=False)
                self.assertEqual(
                    (done.returncode, done.stderr),
                    (1, f"{program[0]}: standard output: it cannot be "
                        "written\n"))

    def test_calibrates(self):
        done = subprocess.run([os.path.join(BINARY, "testudo-calibrate")],
                              check=True, capture_output=True, text=True)
        costs = json.loads(done.stdout)
        self.assertGreater(costs["call"], costs["page"])
        self.assertGreater(costs["page"], 0)
        self.assertLessEqual(set(costs), set(tune.PRICES))
        for arguments, status in ((["--help"], 0), (["--json"], 2),
                                  (["--help", "now"], 2), ([""], 2)):
            done = subprocess.run(
                [os.path.join(BINARY, "testudo-calibrate"), *arguments],
                check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, status)
            said, other = done.stdout, done.stderr
            if status == 2:
                said, other = other, said
            self.assertTrue(said.startswith("usage: testudo-calibrate\n"))
            self.assertEqual(other, "")
        lines = tune.prices({"call": 1000.5, "page": 0.25}).splitlines()
        self.assertRegex(lines[0], "^ *1,000.500 ns +call +a call that")
        self.assertRegex(lines[1], "^ *0.250 ns +page ")
        self.assertIn("does not track", lines[2])


class Parts(unittest.TestCase):
    def test_parse_summary(self):
        text = ("12 exit(0)         = ?\n"
                "12 +++ exited with 0 +++\n"
                "11 exit_group(0)   = ?\n"
                "13 exit_group(1)   = ?\n"
                "syscall              calls\n"
                "---------------- ---------\n"
                "read                     1\n"
                "rt_sigreturn       5270149\n"
                "---------------- ---------\n"
                "total              5270150\n")
        self.assertEqual(kernel.parse_summary(text),
                         {"read": 1, "rt_sigreturn": 5270149, "exit": 1,
                          "exit_group": 2})

    def test_what_a_program_leaves_behind(self):
        """It has the program's standard error open, and is not waited for."""
        with tempfile.NamedTemporaryFile("r") as file:
            kernel.measure(
                ["sh", "-c", "sleep 1000 & echo $! >$0", file.name],
                os.environ)
            os.kill(int(file.read()), signal.SIGKILL)  # it is still there

    def advice(self, best, default, run=None):
        """What is said of a ranking with these seconds."""
        names = (*tune.WORK, "bound", "alike", "grain", "quantum")
        row = {**dict.fromkeys(names, 0), "mode": "naive", "queue": 1024,
               "fresh": 4, "hit": 16, "calls": 9, "seconds": best}
        if default is not None:
            default = {**row, "mode": "deferred", "seconds": default}
        result = {"rows": [row], "default": default}
        if run is not None:
            result["run_seconds"] = run
        return tune.report(result).partition("lead to the same\n")[2]

    def test_advice(self):
        """It tells what is saved, and nothing below a hundredth of the
        run."""
        naive = "recommended: TESTUDO_SHIELD=naive TESTUDO_QUEUE=1024\n"
        self.assertEqual(self.advice(1.0, 1.5, 10.0), naive
                         + "It takes 0.5000 s less than the default, 5.0% of "
                         "the run's processor time.")
        self.assertEqual(self.advice(1.0, 1.5),
                         naive + "It takes 0.5000 s less than the default.")
        self.assertTrue(self.advice(1.0, None).startswith(naive + "(What"))
        self.assertEqual(self.advice(1.0, 1.5, 51.0),
                         "nothing to gain: the best takes 0.5000 s less than "
                         "the default, 1.0% of the run's processor time")
        self.assertEqual(self.advice(1.5, 1.0, 2.0), "nothing to gain: no "
                         "setting is better than the default")

    def test_nothing_protected(self):
        """There is no table of zeros, but the reason."""
        idle = {**dict.fromkeys(tune.WORK, 0), "mode": "deferred"}
        for shield, why in (
                ([], "a heap that is collected as a whole, as small ones are, "
                 "needs no barriers (TESTUDO_SMALL)"),
                ([{"mode": "off"}], "the program has its shield off"),
                ([{"mode": "ranged", "collections": "0, of everything 0"}],
                 "there was no collection"),
                ([{"mode": "ranged", "collections": "7, of everything 7"}],
                 "each collection was of the whole heap, at once, as those of "
                 "small heaps are (TESTUDO_SMALL)"),
                ([{"mode": "ranged", "collections": "7, of everything 0"}],
                 "what was collected needed no barriers")):
            result = {"rows": [{**idle, "mode": "naive", "calls": 5}],
                      "default": idle,
                      "why": tune.unprotected({"shield": shield})}
            self.assertEqual(
                tune.report(result),
                f"nothing to gain: by default nothing is protected; {why}")

    def test_ratio(self):
        self.assertEqual(tally.ratio(3110, 527014), "1/169")
        self.assertEqual(tally.ratio(2, 3), "1/1.50")
        self.assertEqual(tally.ratio(2010, 2000), "1.00x")
        self.assertEqual(tally.ratio(3, 2), "1.50x")
        self.assertEqual(tally.ratio(3, 200), "1/66.7")
        self.assertEqual(tally.ratio(5, 5), "1")
        self.assertEqual(tally.ratio(0, 5), "-")
        self.assertEqual(tally.ratio(5, 0), "-")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

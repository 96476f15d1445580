"""Testudo: each event has its probe in the libraries, with its arguments,
whatever compiled them; and gdb stops there and finds what telemetry writes.

Usage: test_probes.py COMPILER WANTED CLIENT ARCHIVE SHARED

WANTED is OFF if the libraries were built without probes. CLIENT is linked with
the archive.

SPDX-License-Identifier: BSD-2-Clause
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tool"))

from testudo_tool import events  # noqa: E402

COMPILER, WANTED, CLIENT, ARCHIVE, SHARED = sys.argv[1:]

# Words of telemetry's own, which no place in the library stands for.
STREAM = {"DEFINE", "DROPPED"}
NOPS = {62: b"\x90", 183: b"\x1f\x20\x03\xd5"}  # by the machine's number
# What tracers can read: a constant, a register, memory beside a register.
OPERAND = r"8@(?:-?\d*\(%\w+(?:,%\w+(?:,\d)?)?\)|\[\w+(?:, -?\d+)?\]" \
          r"|\$?-?\d+|%?[a-z]\w+)(?= |$)"

STOPS = 50  # at each probe
ROWS = re.findall(r'X\(\d+, (\w+), \w+, "([^"]*)"\)',
                  (TOP / "code/event.h").read_text())

Probe = collections.namedtuple("Probe", "name place base semaphore arguments")

# The numbers of its arguments, by the name.
SNIPPET_PROBES = {"ARENA_DESTROY": {1}, "ARENA_CREATE": {3},
                  "COLLECT_BEGIN": {4}, "COLLECT_END": {5}}
SNIPPET = """
#include "code/event.h"
void tdo_snippet(tdo_word_t a, void **p, const char *text);
void tdo_snippet(tdo_word_t a, void **p, const char *text) {
  tdo_word_t b = a * 3;
  TDO_EVENT(ARENA, ARENA_DESTROY, 5);
  TDO_EVENT(ARENA, ARENA_CREATE, a, (tdo_word_t)p[2], (tdo_word_t)-1);
  TDO_EVENT_TEXT(ARENA, COLLECT_BEGIN, text, b, (tdo_word_t)p[a], a > b);
  TDO_EVENT(ARENA, COLLECT_END, a, a + 1, a + 2, a + 3, a + 4);
}
"""
FLAGS = ["-O0", "-O2", "-O2 -fPIC", "-Os -fno-omit-frame-pointer",
         "-O1 -DCONFIG_VAR_COOL", "-O1 -DCONFIG_VAR_RASH", "-O1 -g -pg"]
SANITIZERS = ["-O1 -fsanitize=address,undefined", "-O1 -fsanitize=thread"]
NO_PROBES = ["-DCONFIG_PROBES_NONE", "-DCONFIG_PROBES_NONE -DCONFIG_VAR_RASH",
             "-DCONFIG_PF_ANSI"]


def output(*command, **options):
    """What COMMAND prints, which must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          **options).stdout


def readelf(*arguments):
    return output("readelf", *arguments,
                  env={**os.environ, "LC_ALL": "C"})


def probes(path):
    """The probes of Testudo in an object, an archive, a library, a program."""
    notes = re.findall(r"Provider: testudo\n\s+Name: (\w+)\n"
                       r"\s+Location: (\w+), Base: (\w+), Semaphore: (\w+)\n"
                       r"\s+Arguments: (.*)\n", readelf("-n", str(path)))
    return [Probe(name, int(place, 16), int(base, 16), int(semaphore, 16),
                  arguments.strip())
            for name, place, base, semaphore, arguments in notes]


def count(probe):
    """The number of its arguments; None if one cannot be read."""
    found = re.findall(OPERAND, probe.arguments)
    return len(found) if " ".join(found) == probe.arguments else None


def counts(path):
    """Numbers of arguments of the probes in a file, by their names."""
    result = {}
    for probe in probes(path):
        result.setdefault(probe.name, set()).add(count(probe))
    return result


def expected():
    """Of the library: what TDO_EVENTS says, without what is critical."""
    hot = set()
    for source in TOP.glob("*/*.c"):
        hot |= set(re.findall(r"TDO_EVENT_CRITICAL\(\w+, (\w+),",
                              source.read_text()))
    assert len(ROWS) > 20 and len(hot) > 2
    return {name: {len(words.replace(":", "").split())}
            for name, words in ROWS if name not in STREAM | hot}


def machine(path):
    """The number of the machine that a file is for."""
    with open(path, "rb") as file:
        return int.from_bytes(file.read(20)[18:], "little")


def sections(path):
    """Name, address, offset and size of each that is loaded."""
    found = [(name, *(int(number, 16) for number in numbers))
             for name, *numbers in re.findall(
                 r"\] (\S+) +PROGBITS +(\w+) (\w+) (\w+)",
                 readelf("-SW", str(path)))]
    return [section for section in found if section[1] != 0]


@unittest.skipUnless(machine(SHARED) in NOPS, "no probes on this processor")
class Libraries(unittest.TestCase):
    def test_every_event(self):
        wanted = {} if WANTED == "OFF" else expected()
        for library in (ARCHIVE, SHARED):
            self.assertEqual(counts(library), wanted, library)

    def test_places(self):
        """Each is a nop, and the base is where tracers look for it."""
        found = sections(SHARED)
        with open(SHARED, "rb") as file:
            content = file.read()
        nop = NOPS[machine(SHARED)]
        for probe in probes(SHARED):
            offset, = (offset + probe.place - address
                       for _, address, offset, size in found
                       if address <= probe.place < address + size)
            self.assertEqual(content[offset:offset + len(nop)], nop, probe)
            self.assertEqual(probe.semaphore, 0)
            self.assertIn((".stapsdt.base", probe.base),
                          [section[:2] for section in found])


class Compilers(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.source = self.room / "snippet.c"
        self.source.write_text(SNIPPET)

    def compiled(self, compiler, flags, *arguments):
        """The file made of the snippet."""
        made = self.room / "made"
        output(compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I",
               TOP, "-I", TOP / "include", *flags.split(), *arguments,
               self.source, "-o", made)
        return made

    def test_all_that_are_here(self):
        for compiler in {COMPILER, "gcc", "clang", "aarch64-linux-gnu-gcc"}:
            if not shutil.which(compiler):
                continue
            crossed = "aarch64" in compiler
            for flags in FLAGS + ([] if crossed else SANITIZERS):
                with self.subTest(compiler=compiler, flags=flags):
                    made = self.compiled(compiler, flags, "-c")
                    self.assertEqual(counts(made), SNIPPET_PROBES)
            for flags in NO_PROBES:
                with self.subTest(compiler=compiler, flags=flags):
                    made = self.compiled(compiler, flags, "-c")
                    self.assertNotIn("stapsdt", readelf("-SW", str(made)))

    def linked(self, flags):
        """The snippet twice, under two names, in one shared object."""
        other = self.room / "other.o"
        self.compiled(COMPILER, flags, "-c", "-Dtdo_snippet=tdo_other"
                      ).rename(other)
        return self.compiled(COMPILER, flags, "-shared", "-Wl,--gc-sections",
                             other)

    def test_links(self):
        """They are in what the linker and strip make, with one base."""
        strip = output(COMPILER, "-print-prog-name=strip").strip()
        for flags in ("-O2 -fPIC", "-O2 -fPIC -ffunction-sections",
                      "-O2 -fPIC -flto"):
            with self.subTest(flags=flags):
                try:
                    made = self.linked(flags)
                except subprocess.CalledProcessError:
                    if "-flto" not in flags:
                        raise
                    self.skipTest("this compiler cannot optimize in linking")
                for _ in range(2):
                    self.assertEqual(counts(made), SNIPPET_PROBES)
                    found = probes(made)
                    self.assertEqual(len(found), 2 * len(SNIPPET_PROBES))
                    self.assertEqual({(".stapsdt.base", p.base)
                                      for p in found},
                                     {s[:2] for s in sections(made)
                                      if s[0] == ".stapsdt.base"})
                    output(strip, made)


def gdb(*arguments):
    """What gdb prints; the program's output, too."""
    environment = {**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C"}
    return subprocess.run(
        ["gdb", "-nx", "-batch", *arguments], check=False, text=True,
        capture_output=True, stdin=subprocess.DEVNULL, env=environment).stdout


def gdb_works():
    """It is here, and may run programs."""
    return shutil.which("gdb") is not None and "$1 = 0" in gdb(
        "-ex", "run", "-ex", "print $_exitcode", shutil.which("true"))


def watch(name, arguments):
    """Commands of gdb: print a line at each of the first stops at a probe."""
    text = ":" in dict(ROWS)[name]
    shown = "".join(f", $_probe_arg{i}" for i in range(arguments))
    return (f"break -probe-stap testudo:{name}\n"
            f"enable count {STOPS} $bpnum\ncommands\nsilent\n"
            f'printf "@{name} %d{" %lu" * (arguments - text)}'
            f'{" %s" if text else ""}\\n", $_probe_argc{shown}\n'
            "continue\nend\n")


@unittest.skipIf(WANTED == "OFF" or machine(SHARED) not in NOPS,
                 "there are no probes")
@unittest.skipIf(os.environ.get("TEST_SANITIZED") or
                 "TEST_EMULATED" in os.environ,
                 "gdb reads ordinary programs of this machine")
@unittest.skipUnless(gdb_works(), "there is no gdb, or it may run nothing")
class Debugger(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def test_list(self):
        lines = gdb("-ex", "info probes stap testudo", CLIENT).splitlines()
        self.assertEqual({line.split()[2] for line in lines
                          if line.startswith("stap")}, set(counts(CLIENT)))

    def stops(self, names):
        """Words of each stop at the probes of some names, by the name; and
        those of telemetry."""
        log, script = self.room / "log", self.room / "script"
        script.write_text(
            "handle SIGSEGV nostop noprint pass\n"
            f"set environment MPS_TELEMETRY_FILENAME {log}\n"
            "set environment MPS_TELEMETRY_CONTROL "
            "arena pool trace seg object user\n"
            "set environment TESTUDO_SMALL 0\n"  # barriers, and hits
            "set environment TESTUDO_SHIELD ranged\n" +
            "".join(watch(name, min(expected()[name])) for name in names) +
            "run\n")
        said = gdb("-x", str(script), CLIENT)
        self.assertIn("exited normally", said)
        stops, written = {}, {}
        for name, words in re.findall(r"^@(\w+) \d+ (.*)$", said, re.M):
            stops.setdefault(name, []).append(words)
        for event in events.events(log) if log.exists() else []:
            words = [*event.arguments.values(), *event.text.values()]
            if event.name in names:
                written.setdefault(event.name, []).append(
                    " ".join(map(str, words)))
        return stops, written

    def test_stops(self):
        """Where telemetry writes an event, and with the same words."""
        names = sorted(counts(CLIENT))
        stops, written = self.stops(names)
        self.assertLessEqual({"COLLECT_BEGIN", "COLLECT_END", "FILL", "HIT",
                              "SEG_ALLOC", "SEG_FREE"}, set(stops))
        self.assertEqual(set(stops["ARENA_DESTROY"]),
                         {words.split()[0] for words in stops["ARENA_CREATE"]})
        self.assertRegex(stops["POOL_CREATE"][0], r"^\d+ \d+ AMC$")
        if written:  # not by the rash variety
            self.assertEqual(stops, {name: words[:STOPS] for name, words
                                     in written.items()})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Testudo: a client replaces the plinth, or parts of it, over the archive,
the shared object and the sources, where CONFIG_PLINTH_NONE leaves it out.

Usage: test_plinth_client.py COMPILER ARCHIVE SHARED

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import symbols  # noqa: E402

COMPILER, ARCHIVE, SHARED = sys.argv[1:]
PLINTH = """mps_lib_get_EOF mps_lib_get_stderr mps_lib_get_stdout mps_lib_fputc
    mps_lib_fputs mps_lib_memset mps_lib_memcpy mps_lib_memcmp
    mps_lib_assert_fail mps_clock mps_clocks_per_sec mps_lib_telemetry_control
    mps_io_create mps_io_destroy mps_io_write mps_io_flush""".split()


class PlinthClient(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.addCleanup(self.room.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.room.name) / name)

    def compile(self, *arguments):
        subprocess.run([COMPILER, "-std=gnu11", "-Wall", "-Wextra", "-Werror",
                        "-I", str(TOP / "include"), *arguments], check=True)

    def fine(self, *arguments):
        program = self.path("client")
        self.compile(str(TOP / "test/plinth_client.c"), *arguments,
                     "-o", program, "-lpthread", "-lm")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("MPS_")}
        environment["LD_LIBRARY_PATH"] = str(pathlib.Path(SHARED).parent)
        done = subprocess.run([program], text=True, capture_output=True,
                              env=environment, cwd=self.room.name)
        self.assertEqual((done.stdout, done.stderr, done.returncode),
                         ("fine\n", "", 0), arguments)
        self.assertFalse(pathlib.Path(self.path("mpsio.log")).exists())

    def test_all_of_it(self):
        for library in (ARCHIVE, SHARED):
            self.fine(library)

    def test_a_part(self):
        for library in (ARCHIVE, SHARED):
            self.fine("-DPART", library)

    def test_none_left(self):
        library = self.path("mps.o")
        self.compile("-DCONFIG_PLINTH_NONE", "-I", str(TOP), "-c",
                     str(TOP / "mps.c"), "-o", library)
        have = {name for name, _ in symbols.defined(library)}
        self.assertIn("mps_arena_create_k", have)
        self.assertEqual(have & {*PLINTH, "mps_lib_assert_fail_install"},
                         set())
        self.fine(library)

    def test_default_has_all(self):
        for library in (ARCHIVE, SHARED):
            have = {name for name, _ in symbols.defined(library)}
            self.assertEqual(set(PLINTH) - have, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

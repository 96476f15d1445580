"""Testudo: the libraries define mps_, _mps_ and tdo_ names only, and the
checker would notice others; the shared one shows what the header declares.

Usage: test_symbols.py COMPILER LIBRARY... [-- unittest arguments]

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import symbols  # noqa: E402

COMPILER, *LIBRARIES = sys.argv[1:]

GOOD = """
int mps_one(void) { return 1; }
int tdo_two, _mps_three;
static int four(void) { return mps_one(); }
int tdo_five(void) { return four(); }
__attribute__((weak)) int ArenaDescribe(void) { return 6; }
"""


class Symbols(unittest.TestCase):
    def test_libraries(self):
        self.assertEqual(len(LIBRARIES), 2)
        for library in LIBRARIES:
            bad, total = symbols.strangers(library)
            self.assertEqual(bad, [], library)
            self.assertGreater(total, 0, library)

    def test_what_is_shown(self):
        header = (TOP / "include/testudo.h").read_text()
        declared = re.findall(r"\b(tdo_key_[A-Z_]+);", header)
        declared += re.findall(r"^[a-z].*\b(tdo_[a-z_]+)\(", header, re.M)
        self.assertGreater(len(declared), 7)
        library = next(name for name in LIBRARIES if ".so" in name)
        shown = subprocess.run(["nm", "-D", "--defined-only", library],
                               capture_output=True, text=True, check=True)
        names = [line.split()[-1] for line in shown.stdout.splitlines()]
        self.assertEqual({n for n in names if n.startswith("tdo_")},
                         set(declared))
        self.assertIn("mps_arena_create_k", names)
        self.assertIn("_mps_fix2", names)

    def test_stays(self):
        """One that was opened and closed again still handles its signals."""
        library = next(name for name in LIBRARIES if ".so" in name)
        program = (
            "import ctypes, os, signal, sys, _ctypes\n"
            "lib = ctypes.CDLL(sys.argv[1])\n"
            "arena, thread = ctypes.c_void_p(), ctypes.c_void_p()\n"
            "vm = lib.mps_arena_class_vm\n"
            "vm.restype = ctypes.c_void_p\n"
            "none = ctypes.c_char.in_dll(lib, 'mps_args_none')\n"
            "assert lib.mps_arena_create_k(ctypes.byref(arena),\n"
            "                              ctypes.c_void_p(vm()),\n"
            "                              ctypes.byref(none)) == 0\n"
            "assert lib.mps_thread_reg(ctypes.byref(thread), arena) == 0\n"
            "lib.mps_thread_dereg(thread)\n"
            "lib.mps_arena_destroy(arena)\n"
            "_ctypes.dlclose(lib._handle)\n"
            "os.kill(os.getpid(), signal.SIGXCPU)\n"
            "print('here')\n")
        done = subprocess.run([sys.executable, "-c", program, library],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "here\n"))

    def verdict(self, text, shared):
        """The strangers in a library made of the source TEXT."""
        with tempfile.TemporaryDirectory() as room:
            source = pathlib.Path(room) / "a.c"
            source.write_text(text)
            made = str(pathlib.Path(room) / ("a.so" if shared else "a.o"))
            kind = ["-shared", "-fPIC"] if shared else ["-c"]
            subprocess.run([COMPILER, *kind, "-o", made, str(source)],
                           check=True)
            return symbols.strangers(made)[0]

    def test_checker(self):
        for shared in (False, True):
            self.assertEqual(self.verdict(GOOD, shared), [])
            bad = self.verdict(GOOD + "int helper(void) { return 7; }\n"
                               "int my_mps_x;\n", shared)
            self.assertEqual(bad, ["helper", "my_mps_x"])

    def test_checker_wants_weak_alias(self):
        strong = GOOD.replace("__attribute__((weak)) ", "")
        self.assertEqual(self.verdict(strong, True), ["ArenaDescribe"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Testudo: what mpstd.h says on each platform of the interface's table
(section 2.28), and that it refuses others.

Usage: test_platform.py COMPILER

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
COMPILER = sys.argv[1]

SYSTEMS = {"li": ["__linux__"], "fr": ["__FreeBSD__"],
           "xc": ["__APPLE__", "__MACH__"], "w3": ["_WIN32"]}
ARCHITECTURES = {"i6": ["__x86_64", "__x86_64__"], "i3": ["__i386__"],
                 "a6": ["__aarch64__"]}
COMPILERS = {"gc": ["__GNUC__=12"], "ll": ["__GNUC__=4", "__clang__=1"],
             "mv": ["_MSC_VER=1900"], "pc": ["__POCC__=900"]}
CODES = """lii6gc lii6ll lia6gc lia6ll lii3gc fri6gc fri6ll fri3gc fri3ll
    xca6ll xci6ll xci6gc xci3ll xci3gc w3i6mv w3i6pc w3i3mv w3i3pc""".split()


def predefined(code):
    """What the compiler of the platform CODE predefines."""
    system, machine, compiler = code[:2], code[2:4], code[4:]
    found = SYSTEMS[system] + COMPILERS[compiler]
    if system == "w3":
        return found + (["_WIN64", "_M_X64"] if machine == "i6"
                        else ["_M_IX86"])
    if code.startswith("xca6"):
        return found + ["__arm64__"]
    return found + ARCHITECTURES[machine]


def expected(code):
    """Word, width, shift and alignment."""
    windows = code.startswith("w3")
    if code[2:4] == "i3":
        return "unsigned long", "32", "5", "8" if windows else "4"
    return ("unsigned __int64" if windows else "unsigned long", "64", "6",
            "16" if windows else "8")


def preprocess(macros):
    """Macros that mpstd.h defines under these; None if it refuses."""
    command = [COMPILER, "-undef", "-E", "-dM", "-x", "c",
               *(f"-D{macro}" for macro in macros),
               str(TOP / "include/mpstd.h")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return dict(re.findall(r"^#define (\w+) ?(.*)$", done.stdout, re.M))


class Platform(unittest.TestCase):
    def test_table(self):
        for code in CODES:
            with self.subTest(code):
                found = preprocess(predefined(code))
                self.assertIsNotNone(found)
                word, width, shift, align = expected(code)
                self.assertEqual(found["MPS_PF_STRING"], f'"{code}"')
                self.assertEqual(found[f"MPS_PF_{code.upper()}"], "")
                for macro in (f"MPS_OS_{code[:2]}", f"MPS_ARCH_{code[2:4]}",
                              f"MPS_BUILD_{code[4:]}"):
                    self.assertIn(macro.upper(), found)
                self.assertEqual(found["MPS_T_WORD"], word)
                self.assertIn(found["MPS_T_ULONGEST"], (word, "MPS_T_WORD"))
                self.assertEqual(found["MPS_WORD_WIDTH"], width)
                self.assertEqual(found["MPS_WORD_SHIFT"], shift)
                self.assertEqual(found["MPS_PF_ALIGN"], align)

    def test_one_platform_only(self):
        for code in CODES:
            found = preprocess(predefined(code))
            for kind, count in (("PF", 3), ("OS", 1), ("ARCH", 1),
                                ("BUILD", 1)):
                names = [n for n in found if n.startswith(f"MPS_{kind}_")]
                self.assertEqual(len(names), count, names)  # STRING, ALIGN

    def test_unknown(self):
        self.assertIsNone(preprocess([]))
        self.assertIsNone(preprocess(["__linux__", "__riscv",
                                      "__GNUC__=12"]))
        self.assertIsNone(preprocess(["__linux__", "__i386__", "__GNUC__=4",
                                      "__clang__=1"]))

    def test_configured(self):
        for code in CODES:
            given = ['CONFIG_PF_STRING="x"']
            right = [f"CONFIG_PF_{code.upper()}"]
            self.assertIsNotNone(preprocess(predefined(code) + given + right))
            self.assertIsNone(preprocess(predefined(code) + given))

    def test_needs_no_header(self):
        text = (TOP / "include/mpstd.h").read_text()
        self.assertNotIn("#include", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Testudo: which headers each public header includes, and that they define no
names but ours (interface, section 1.1).

Usage: test_header_names.py COMPILER

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = TOP / "include"
COMPILER = sys.argv[1]

WITH_MPS = """mpsavm mpsacl mpscamc mpscams mpscawl mpsclo mpscmfs mpscmvff
    mpscmvt mpscsnc mpsio""".split()
INCLUDES = {"mps.h": {"stddef.h", "stdarg.h", "limits.h"},
            "mpscmv2.h": {"mpscmvt.h"}, "mpslib.h": {"stddef.h", "mps.h"},
            "mpstd.h": set(), "mpswin.h": {"windows.h"},
            **{f"{name}.h": {"mps.h"} for name in WITH_MPS}}
OURS = re.compile(r"(mps|_mps|MPS)(_\w+|[a-z0-9]*_h)$")


def own_text(header):
    """What the preprocessor makes of HEADER itself, definitions kept."""
    done = subprocess.run([COMPILER, "-E", "-dD", "-x", "c", "-I",
                           str(INCLUDE), str(INCLUDE / header)],
                          check=True, capture_output=True, text=True)
    inside, lines = False, []
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            inside = marker.group(1).startswith(str(INCLUDE))
        elif inside:
            lines.append(line)
    return "\n".join(lines)


class HeaderNames(unittest.TestCase):
    def test_includes(self):
        for header, wanted in INCLUDES.items():
            text = (INCLUDE / header).read_text()
            found = re.findall(r"^\s*#\s*include\s*[<\"](.+?)[>\"]", text,
                               re.MULTILINE)
            self.assertEqual(set(found), wanted, header)

    def test_every_header(self):
        have = {path.name for path in INCLUDE.glob("*.h")}
        self.assertEqual(have - {"testudo.h"}, set(INCLUDES))

    def test_names(self):
        for header in INCLUDES:
            text = own_text(header)
            macros = re.findall(r"^#define (\w+)", text, re.MULTILINE)
            text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
            tags = re.findall(r"\b(?:struct|union|enum)\s+(\w+)", text)
            types = re.findall(r"\}\s*(\w+)|\(\*(\w+)\)\(|(\w+);", text)
            types = ["".join(names) for names in types
                     if names[0] or names[1]]
            functions = re.findall(r"^(?!typedef)\w[\w\s*]*?\b(\w+)\s*\(",
                                   text, re.MULTILINE)
            bad = [name for name in macros + tags + types + functions
                   if not OURS.match(name)
                   and name not in ("val", "addr_method", "typedef",
                                    "__attribute__")]
            self.assertEqual(bad, [], header)
        self.assertGreater(len(re.findall("#define", own_text("mps.h"))), 100)

    def test_guards(self):
        for header in INCLUDES:
            text = (INCLUDE / header).read_text()
            guard = header.replace(".", "_")
            self.assertRegex(text, rf"#ifndef {guard}\n#define {guard}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

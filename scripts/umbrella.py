#!/usr/bin/env python3
"""Testudo: write mps.c, the file that includes every source of the library;
doubles of the platform are none.

Usage: umbrella.py          write it
       umbrella.py --check  exit status 1 if it is not what would be written

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
FLOORS = ["code", "arena", "shield", "trace", "pool", "interface"]
HEAD = """\
/* Testudo: the whole library as one source file, for clients that compile it
   by itself or include it in a file of their own, with the top of this tree
   and include/ in the include path:

     cc -c -fno-strict-aliasing -I TOP -I TOP/include TOP/mps.c

   It wants to come first: it asks for the system's extensions. Made by
   scripts/umbrella.py. SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
"""


def text():
    lines = [HEAD]
    for floor in FLOORS:
        lines += [f'#include "{floor}/{path.name}"\n'
                  for path in sorted((TOP / floor).glob("*.c"))
                  if not path.stem.endswith("_double")]
    return "".join(lines)


def main(arguments):
    path = TOP / "mps.c"
    if arguments[1:] == ["--check"]:
        return 0 if path.exists() and path.read_text() == text() else 1
    path.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

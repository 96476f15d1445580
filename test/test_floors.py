"""Testudo: nothing includes upwards, and the checker would notice; what looks
like a command is one.

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import floors  # noqa: E402

HEADERS = ["include/mps.h", "code/bits.h", "shield/shield.h", "trace/gen.h",
           "pool/amc.h", "pool/lo.h", "pool/runs.h", "interface/args.h",
           "example/scheme/heap.h"]


class Tree(unittest.TestCase):
    def test_this_tree(self):
        self.assertEqual(list(floors.breaches(TOP)), [])

    def test_this_tree_is_read(self):
        read = [p for f in floors.FLOORS for p in floors.sources(TOP / f)]
        self.assertGreater(sum(len(list(floors.includes(p))) for p in read),
                           20)


class Commands(unittest.TestCase):
    def test_execute_bits(self):
        """A file names its interpreter if, and only if, it may be executed."""
        for folder in ("bench", "scripts", "test", "tool"):
            for path in (TOP / folder).rglob("*"):
                if path.suffix in (".py", ".sh", "") and path.is_file():
                    with self.subTest(path), open(path, "rb") as file:
                        self.assertEqual(file.read(2) == b"#!",
                                         os.access(path, os.X_OK))


class Checker(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.top = pathlib.Path(self.room.name).resolve()
        for name in HEADERS:
            self.write(name, "")
        self.write("pool/lo.c", "static const tdo_pool_class_t lo = {0};\n")

    def tearDown(self):
        self.room.cleanup()

    def write(self, name, text):
        path = self.top / name
        os.makedirs(path.parent, exist_ok=True)
        path.write_text(text)

    def verdict(self, name, header):
        """The breaches when the file NAME includes HEADER."""
        self.write(name, f"/* one */\n#include {header}\n")
        found = list(floors.breaches(self.top))
        (self.top / name).unlink()
        return found

    def good(self, name, header):
        self.assertEqual(self.verdict(name, header), [])

    def bad(self, name, header, rule):
        found = self.verdict(name, header)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{name}:2: "), found)
        self.assertIn(f": {rule}: ", found[0])

    def test_floor(self):
        self.good("trace/scan.c", '"shield/shield.h"')
        self.good("trace/scan.c", '"trace/gen.h"')
        self.good("trace/scan.c", '"mps.h"')
        self.good("code/x.c", "<stddef.h>")
        self.bad("shield/queue.c", '"trace/gen.h"', "floor")
        self.bad("code/x.c", '"interface/args.h"', "floor")
        self.bad("code/x.c", "<arena/args.h>", "found")
        self.bad("code/x.h", '"shield/shield.h"', "floor")

    def test_found(self):
        self.bad("code/x.c", '"code/none.h"', "found")
        self.bad("code/x.c", '"bits.h"', "found")
        self.bad("code/x.c", '"../code/bits.h"', "found")

    def test_pool(self):
        self.good("pool/amc.c", '"pool/amc.h"')
        self.good("pool/amc_fix.c", '"pool/amc.h"')
        self.good("pool/amc.c", '"pool/runs.h"')
        self.bad("pool/amc.c", '"pool/lo.h"', "pool")
        self.bad("pool/runs.c", '"pool/lo.h"', "pool")

    def test_public(self):
        self.good("include/testudo.h", '"mps.h"')
        self.bad("include/testudo.h", '"code/bits.h"', "public")

    def test_client(self):
        self.good("example/scheme/read.c", '"heap.h"')
        self.good("example/scheme/read.c", '"mps.h"')
        self.bad("example/scheme/read.c", '"code/bits.h"', "client")
        self.bad("example/scheme/read.c", '"../../code/bits.h"', "client")
        self.bad("bench/speed.c", '"trace/gen.h"', "client")


if __name__ == "__main__":
    unittest.main()

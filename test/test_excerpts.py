"""Testudo: the excerpts of the manual are what the sources say, and one that
is lost would be noticed; and what is written there in C compiles.

Usage: test_excerpts.py

SPDX-License-Identifier: BSD-2-Clause
"""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
MANUAL = TOP / "manual"
DIRECTIVE = re.compile(r"^\.\. excerpt:: (\S+)\n((?:   \S.*\n)+)", re.M)


def load():
    """manual/_ext/excerpt.py, where there is no Sphinx, too."""
    try:
        import docutils  # noqa: F401
    except ImportError:
        for name in ("docutils", "docutils.nodes", "docutils.parsers",
                     "docutils.parsers.rst"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["docutils"].nodes = sys.modules["docutils.nodes"]
        sys.modules["docutils.parsers.rst"].Directive = object
    sys.path.insert(0, str(MANUAL / "_ext"))
    import excerpt
    return excerpt


EXCERPT = load()


CODE = re.compile(r"^\.\. code-block:: c\n\n((?:    .*\n|\n)+)", re.M)
AT_FILE_SCOPE = re.compile(r"(static|void|typedef|#|mps_res_t \w+\(|__attr)")

# What the text around the code takes for granted.
BEFORE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "testudo.h"
#include "mpsavm.h"
#include "mpscmvff.h"
typedef enum kind { PAIR } kind_t;
typedef struct object { size_t kind, size; struct object *next; } object_t;
static mps_arena_t arena;
static mps_pool_t pool;
mps_addr_t skip(mps_addr_t);
void require(mps_res_t), finish(mps_addr_t), work(mps_ap_t);
void compile_file(void), evaluate(void);
"""
INSIDE = """\
  mps_res_t res;
  mps_ap_t ap = NULL;
  mps_thr_t thr = NULL;
  mps_root_t root;
  mps_addr_t ref = NULL;
  mps_word_t mask = 0, pattern = 0;
  object_t *object = NULL;
  void *cold = NULL;
"""
LATER = {"roots.rst": "  static values_t values;\n"}


def page_as_program(name, text):
    """The C code of a page: definitions, and statements in functions."""
    outside, inside = [BEFORE], []
    for number, code in enumerate(CODE.findall(text)):
        code = "".join(line[4:] + "\n" for line in code.split("\n"))
        if AT_FILE_SCOPE.match(code):
            outside.append(code)
        else:
            inside.append(f"int part_{number}(void) {{\n{INSIDE}"
                          f"{LATER.get(name, '')}  {{\n{code}}}\n"
                          "  return res;\n}\n")
    return "".join(outside + inside)


def wanted():
    """Chapter, source and names of each excerpt."""
    for path in sorted(MANUAL.glob("*.rst")):
        for source, names in DIRECTIVE.findall(path.read_text()):
            yield path.name, source, names.split()


# An extension: the files that the page was made from, and the pages that are
# made again each time.
NOTED = """
import pathlib
def noted(app, _):
    lines = [*app.env.dependencies.get("index", ()), *app.env.reread_always]
    pathlib.Path(app.srcdir, "noted").write_text("\\n".join(lines))
def setup(app):
    app.connect("build-finished", noted)
"""


def built(room, extension, page):
    """Make a manual of one page in ROOM, or raise CalledProcessError. What was
    noted."""
    pathlib.Path(room, "index.rst").write_text(page)
    pathlib.Path(room, "note.py").write_text(NOTED)
    environment = {"PYTHONPATH": f"{MANUAL / '_ext'}:{room}",
                   "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    subprocess.run(["sphinx-build", "-q", "-W", "-C", "-b", "html", "-D",
                    f"extensions={extension},note", "-D", "root_doc=index", room,
                    room + "/html"], env=environment, check=True, timeout=120,
                   capture_output=True)
    return pathlib.Path(room, "noted").read_text().splitlines()


class Excerpts(unittest.TestCase):
    def test_all_are_there(self):
        found = list(wanted())
        self.assertGreater(sum(len(names) for _, _, names in found), 40)
        for chapter, source, names in found:
            with self.subTest(chapter=chapter, source=source):
                text = EXCERPT.excerpt(source, names)
                whole = (TOP / source).read_text()
                for name in names:
                    part = "\n".join(EXCERPT.definition(whole, name)) + "\n"
                    self.assertRegex(part, rf"\b{name}\b")
                    self.assertTrue("\n" + part in whole, name)
                    self.assertTrue(part in text + "\n", name)

    def test_definitions_are_whole(self):
        text = ("int no(void);\n\n/* Says so. */\nint f(int a,\n      int b) {"
                "\n  if (a) {\n  }\n  return b;\n}\n\nint f2(void) {\n}\n\n"
                "#define M(a) \\\n  (a)\n#define N 1\n\n"
                "static const struct s t[] = {\n  {1},\n};\n\nenum e {\n  A,\n};"
                "\n\nvoid f(int, int);\n")

        def of(name):
            return "\n".join(EXCERPT.definition(text, name))

        self.assertEqual(of("f"), text[text.index("/*"):text.index("\n\nint f2")])
        self.assertEqual(of("M"), "#define M(a) \\\n  (a)")
        self.assertEqual(of("N"), "#define N 1")
        self.assertEqual(of("t"), "static const struct s t[] = {\n  {1},\n};")
        self.assertEqual(of("e"), "enum e {\n  A,\n};")
        self.assertEqual(of("no"), "int no(void);")

    def test_a_lost_one_is_noticed(self):
        with self.assertRaisesRegex(ValueError, "not defined"):
            EXCERPT.excerpt("example/scheme/memory.c", ["format_skipped"])
        with self.assertRaises(OSError):
            EXCERPT.excerpt("example/scheme/no.c", ["format_skip"])
        with self.assertRaisesRegex(ValueError, "lines"):
            EXCERPT.excerpt("example/scheme/run.c", ["run"])

    def compiled(self, program):
        """What the compiler says; nothing, if it takes it."""
        command = [os.environ.get("CC", "cc"), "-std=gnu11", "-Wall",
                   "-Wextra", "-Wno-unused", "-Wno-uninitialized",
                   "-fsyntax-only", f"-I{TOP}/include", "-xc", "-"]
        return subprocess.run(command, input=program, text=True, check=False,
                              capture_output=True, timeout=60).stderr

    @unittest.skipUnless(shutil.which(os.environ.get("CC", "cc")),
                         "there is no C compiler")
    def test_code_compiles(self):
        pages = 0
        for path in sorted(MANUAL.glob("*.rst")):
            text = path.read_text()
            if CODE.search(text):
                pages += 1
                with self.subTest(page=path.name):
                    program = page_as_program(path.name, text)
                    self.assertEqual(self.compiled(program), "")
        self.assertGreater(pages, 8)
        self.assertIn("mps_no_such", self.compiled(page_as_program(
            "", ".. code-block:: c\n\n    res = mps_no_such();\n")))

    @unittest.skipUnless(shutil.which("sphinx-build"), "there is no Sphinx")
    def test_the_manual_shows_them(self):
        """In a small manual of one page, as the real one does."""
        with tempfile.TemporaryDirectory() as room:
            page = "Page\n====\n\n.. excerpt:: %s\n   %s\n"
            source, names = "example/scheme/memory.c", ["format_pad"]
            built(room, "excerpt", page % (source, " ".join(names)))
            shown = pathlib.Path(room, "html/index.html").read_text()
            text = html.unescape(re.sub(r"<[^>]+>", "", shown))
            self.assertIn(EXCERPT.excerpt(source, names), text)
            with self.assertRaises(subprocess.CalledProcessError):
                built(room, "excerpt", page % (source, "no_such_name"))

    @unittest.skipUnless(shutil.which("sphinx-build"), "there is no Sphinx")
    def test_pages_follow_their_sources(self):
        """What is made from a source is made again when that changes."""
        for extension, directive, source in (
                ("excerpt", "excerpt:: code/table.h tdo_table_set",
                 TOP / "code/table.h"),
                ("settings", "settings-table::", TOP / "code/settings.h"),
                ("tested_table", "symbol-table::", "index")):
            with self.subTest(directive=directive), \
                    tempfile.TemporaryDirectory() as room:
                noted = built(room, extension,
                              f"Page\n====\n\n.. {directive}\n")
                if source != "index":
                    noted = [pathlib.Path(room, file).resolve()
                             for file in noted]
                self.assertIn(source, noted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

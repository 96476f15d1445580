"""Testudo: the excerpts of the manual are what the sources say, and one that
is lost would be noticed.

Usage: test_excerpts.py

SPDX-License-Identifier: BSD-2-Clause
"""
import html
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


def wanted():
    """Chapter, source and names of each excerpt."""
    for path in sorted(MANUAL.glob("*.rst")):
        for source, names in DIRECTIVE.findall(path.read_text()):
            yield path.name, source, names.split()


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

    @unittest.skipUnless(shutil.which("sphinx-build"), "there is no Sphinx")
    def test_the_manual_shows_them(self):
        """In a small manual of one page, as the real one does."""
        with tempfile.TemporaryDirectory() as room:
            page = "Page\n====\n\n.. excerpt:: %s\n   %s\n"
            source, names = "example/scheme/memory.c", ["format_pad"]
            pathlib.Path(room, "index.rst").write_text(
                page % (source, " ".join(names)))
            command = ["sphinx-build", "-q", "-W", "-C", "-b", "html", "-D",
                       "extensions=excerpt", "-D", "root_doc=index", room,
                       room + "/html"]
            environment = {"PYTHONPATH": str(MANUAL / "_ext"),
                           "PATH": "/usr/local/bin:/usr/bin:/bin",
                           "LANG": "C.UTF-8"}
            subprocess.run(command, env=environment, check=True, timeout=120)
            shown = pathlib.Path(room, "html/index.html").read_text()
            text = html.unescape(re.sub(r"<[^>]+>", "", shown))
            self.assertIn(EXCERPT.excerpt(source, names), text)
            pathlib.Path(room, "index.rst").write_text(
                page % (source, "no_such_name"))
            done = subprocess.run(command, env=environment, check=False,
                                  timeout=120, capture_output=True)
            self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

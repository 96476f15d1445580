"""Testudo: the directive excerpt: definitions out of a C source, by name, so
that the manual shows what is there.

    .. excerpt:: example/scheme/memory.c
       format_skip format_pad

An excerpt is the definition of each name with the comment right above it. A
name that is not there, or a definition that has grown long, is an error.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive

TOP = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 45  # lines: what does not fit on a page is no excerpt


def end_of(lines, first):
    """Index after the last line of what begins at FIRST, and whether it has
    a body. It ends with a brace in the first column, or with a semicolon
    before any brace; a macro with a line that is not continued."""
    if lines[first].startswith("#"):
        at = first
        while lines[at].endswith("\\"):
            at += 1
        return at + 1, True
    body = False
    for at in range(first, len(lines)):
        body = body or "{" in lines[at]
        if body and (lines[at].startswith("}") or
                     (at == first and lines[at].rstrip().endswith("};"))):
            return at + 1, True
        if not body and lines[at].rstrip().endswith(";"):
            return at + 1, False
    raise ValueError(f"no end: {lines[first]}")


def begin_of(lines, first):
    """Index of the comment that ends right above FIRST, or FIRST."""
    if first == 0 or not lines[first - 1].rstrip().endswith("*/"):
        return first
    at = first - 1
    while "/*" not in lines[at]:
        at -= 1
    return at if lines[at].startswith("/*") else first


def definition(text, name):
    """The lines of TEXT that define NAME."""
    lines = text.splitlines()
    starts = re.compile(rf"(?:#\s*define\s+{name}\b|[A-Za-z][^;={{]*"
                        rf"\b{name}\b\s*(?:[({{=;]|\[))")
    found = [(end_of(lines, i), i) for i, line in enumerate(lines)
             if starts.match(line) and not line.startswith(("typedef ",
                                                            "return "))]
    if not found:
        raise ValueError(f"{name} is not defined there")
    (end, _), first = max(found, key=lambda f: (f[0][1], -f[1]))
    return lines[begin_of(lines, first):end]


def excerpt(path, names):
    """The definitions of NAMES in the file PATH, as one text."""
    text = (TOP / path).read_text()
    parts = []
    for name in names:
        lines = definition(text, name)
        if len(lines) > LONGEST:
            raise ValueError(f"{name} has {len(lines)} lines")
        macro = lines[-1].startswith("#")
        gap = "" if macro and parts and parts[-1][0] else "\n"
        parts.append((macro, (gap if parts else "") + "\n".join(lines)))
    return "\n".join(part for _, part in parts)


class Excerpt(Directive):
    """Definitions of a C source, with the name of the file above them."""
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        path, *names = self.arguments[0].split()
        env = self.state.document.settings.env
        env.note_dependency(str(TOP / path))
        try:
            text = excerpt(path, names)
        except (OSError, ValueError) as why:
            raise self.error(f"{path}: {why}")
        block = nodes.literal_block(text, text, language="c")
        name = nodes.paragraph(classes=["excerpt"])
        name += nodes.literal(path, path)
        return [name, block]


def setup(app):
    app.add_directive("excerpt", Excerpt)
    return {"version": "1", "parallel_read_safe": True}

#!/usr/bin/env python3
"""Testudo: which names of the standard the Scheme interpreter has.

Usage: scheme_names.py INTERPRETER          write the manual's two tables
       scheme_names.py INTERPRETER --check  exit status 1 if they are stale,
                                            or a name is missing

The interpreter is asked what is bound; test/scheme/r7rs.txt lists what the
standard has. The tables are manual/scheme_standard.inc and
manual/scheme_more.inc.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LIST = TOP / "test/scheme/r7rs.txt"
STANDARD = TOP / "manual/scheme_standard.inc"
MORE = TOP / "manual/scheme_more.inc"
LEFT_OUT = "complex"  # the library whose names may be missing

# Which row of the second table a name is in: the first that matches.
GROUPS = [
    ("collector, finalization", r"^gc|guardian|^object-address"),
    ("weak tables", r"weak|ephemeron"),
    ("hash tables", r"hash"),
    ("streams", r"stream|lazy"),
    ("errors", r"^error|condition|^assert$"),
    ("ports, files", r"^(?!scheme-).*port|file|^write|^fresh|with-output|"
                     r"with-input|force-output"),
    ("strings, characters", r"^string|^char|^bytevector"),
    ("vectors", r"^vector|^subvector|^make-initialized-vector"),
    ("numbers", r"1\+|1-|^-1|^random|^cube|^exact|^inexact|^bit|^arith|^ash$|"
                r"^log|^boolean="),
    ("lists", r"list|^fold|^reduce|^filter|^remove|^del|^any$|^every$|^find|"
              r"^append|^last|^first|^second|^third|^count|^partition|sort|"
              r"^iota|^cons|^reverse"),
    ("programs", r""),
]


def bound(interpreter):
    """Name -> syntax, procedure or value."""
    program = ("(for-each (lambda (p) (write (cdr p)) (write-char #\\space)"
               " (display (car p)) (newline)) (%globals))")
    done = subprocess.run([interpreter, "-e", program], text=True,
                          capture_output=True, timeout=120, check=True)
    return {name: kind for kind, name in
            (line.split(" ", 1) for line in done.stdout.splitlines())}


def standard():
    """Library -> names."""
    libraries = {}
    for line in LIST.read_text().splitlines():
        if not line.startswith("#"):
            library, name = line.split()
            libraries.setdefault(library, []).append(name)
    return libraries


def literals(names):
    return " ".join(f"``{name}``" for name in sorted(names)) or "none"


def table(widths, rows):
    yield ".. list-table::"
    yield "   :header-rows: 1"
    yield f"   :widths: {widths}"
    yield ""
    for row in rows:
        yield "   * - " + row[0]
        for cell in row[1:]:
            yield "     - " + cell


def standard_rows(names):
    yield ["library", "bound", "syntax", "procedures", "missing"]
    for library, wanted in standard().items():
        have = [n for n in wanted if n in names]
        syntax = [n for n in have if names[n] == "syntax"]
        title = (f"``(scheme {library})``" if library != "program"
                 else "programs, libraries")
        yield [title, f"{len(have)} of {len(wanted)}", literals(syntax),
               literals(set(have) - set(syntax)),
               literals(set(wanted) - set(have))]


def standard_text(names):
    wanted = [n for ns in standard().values() for n in ns]
    have = [n for n in wanted if n in names]
    lines = [f"Of the standard's {len(wanted)} names {len(have)} are bound.",
             "", *table("14 8 26 42 10", standard_rows(names))]
    return "\n".join(lines) + "\n"


def more_text(names):
    known = {n for ns in standard().values() for n in ns}
    groups = {title: [] for title, _ in GROUPS}
    for name in names:
        if name not in known and not name.startswith("%"):
            title = next(t for t, r in GROUPS if re.search(r, name))
            groups[title].append(name)
    rows = [["for", "names"]] + [[title, literals(found)]
                                 for title, found in groups.items() if found]
    return "\n".join(table("15 85", rows)) + "\n"


def missing(names):
    return [n for library, ns in standard().items() for n in ns
            if n not in names and library != LEFT_OUT]


def texts(names):
    return {STANDARD: standard_text(names), MORE: more_text(names)}


def main(arguments):
    if len(arguments) < 2 or arguments[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    names = bound(arguments[1])
    wrong = [f"not bound: {n}" for n in missing(names)]
    for path, text in texts(names).items():
        if "--check" not in arguments:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"stale: {path.name}; run scripts/scheme_names.py")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

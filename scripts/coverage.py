#!/usr/bin/env python3
"""Testudo: what the tests reach of the library.

Usage: coverage.py BUILD            measure, report and judge
       coverage.py BUILD --page     bring the manual's page up to date
       coverage.py BUILD --left     print every line that has something left

BUILD was made by the preset "coverage", and its tests have run. Prints lines
and branches of each file and folder, and what no test reached. Fails when a
goal is missed; when something is left whose reason manual/coverage.rst does
not give, or something there is no longer left; and when the manual's figures
are not those measured, within a point. The page names functions and their
folders, so that lines and files may move. --page writes the figures measured,
leaves out what is reached now, and adds what needs a reason, unexplained.

The branches of an assertion (TDO_CHECK and its like, and what stands between
their parentheses) are left out of the goal, because a correct library takes
only one of them; they are counted by themselves.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["code", "arena", "shield", "trace", "pool", "interface"]
JUDGED = FOLDERS[1:]
LEAST_LINES, LEAST_BRANCHES = 92.0, 80.0
ASSERTION = re.compile(r"\bTDO_(CHECK|ASSERT|CRITICAL|CHECK_ALWAYS)\(")
FUNCTION = re.compile(r"^[A-Za-z_].*?\(?\b(\w+)\)?\([^;]*$")
PAGE = TOP / "manual/coverage.rst"
ROW = re.compile(r"^   \* - ``(\w+)/`` ``(\w+)``$")
PATTERN = re.compile(r"^   \* - ``/(.*)/``$")
FIGURES = re.compile(
    r"^   \* - (all|``\w+/``)\n     - ([\d.]+)\n     - ([\d.]+)\n",
    re.MULTILINE)
VARIES = "(varies)"
UNEXPLAINED = "     - Unexplained."
FIGURES_HEAD = "   * - folder\n     - lines\n     - branches\n"


def measure(build):
    """What gcov counted, as gcovr reads it."""
    output = pathlib.Path(build) / "coverage.json"
    command = ["gcovr", "--root", str(TOP), "--object-directory", build,
               "--json", str(output), "--exclude-throw-branches"]
    for folder in FOLDERS:
        command += ["--filter", str(TOP / folder) + "/"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    with open(output) as f:
        return json.load(f)["files"]


def functions(text):
    """For each line of TEXT, the function that it lies in."""
    name, names = "?", []
    for line in text:
        found = FUNCTION.match(line)
        if found and not line.startswith(("typedef", "struct")):
            name = found.group(1)
        names.append(name)
    return names


def assertions(text):
    """For each line of TEXT, whether it is part of an assertion."""
    depth, parts = 0, []
    for line in text:
        begin = 0
        if depth == 0:
            found = ASSERTION.search(line)
            if found is None or line.startswith("#"):
                parts.append(False)
                continue
            begin = found.start()
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line[begin:])
        depth += code.count("(") - code.count(")")
        parts.append(True)
    return parts


class Count:
    """Lines, branches and assertions: how many there are, how many met."""

    def __init__(self):
        self.lines = self.lines_met = 0
        self.branches = self.branches_met = 0
        self.asserts = self.asserts_met = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def shares(self):
        return (share(self.lines_met, self.lines),
                share(self.branches_met, self.branches))

    def row(self, name):
        return "%-30s %6d %6.1f %%  %6d %6.1f %%  %6d %6.1f %%" % (
            name, self.lines, share(self.lines_met, self.lines),
            self.branches, share(self.branches_met, self.branches),
            self.asserts, share(self.asserts_met, self.asserts))


def share(part, whole):
    return 100.0 if whole == 0 else 100.0 * part / whole


class Left:
    """A line that was not reached, or not in all directions."""

    def __init__(self, file, function, number, text, line):
        self.place = file.split("/")[0], function
        self.file = file
        self.number = number
        self.text = text.strip()
        self.line = line  # not even reached

    def __str__(self):
        return "%s:%d: %s: %s %s" % (
            self.file, self.number, self.place[1],
            "line" if self.line else "branch of", self.text)


def count(file, left):
    """Count FILE; LEFT gets what was not reached."""
    result = Count()
    name = file["file"]
    text = (TOP / name).read_text().splitlines()
    inside, asserted = functions(text), assertions(text)
    for line in file["lines"]:
        if line.get("gcovr/noncode"):
            continue
        number = line["line_number"]
        met = [branch["count"] > 0 for branch in line["branches"]]
        result.lines += 1
        result.lines_met += line["count"] > 0
        if asserted[number - 1]:
            result.asserts += len(met)
            result.asserts_met += sum(met)
            met = []
        result.branches += len(met)
        result.branches_met += sum(met)
        if line["count"] == 0 or not all(met):
            left.append(Left(name, inside[number - 1], number,
                             text[number - 1], line["count"] == 0))
    return result


def totals(files):
    """Rows of the files, folder -> Count, and what is left."""
    folders = {name: Count() for name in FOLDERS + ["all"]}
    rows, left = [], []
    for file in files:
        missed = []
        one = count(file, missed)
        folder = file["file"].split("/")[0]
        folders[folder].add(one)
        rows.append(one.row("  " + file["file"]))
        if folder in JUDGED:
            folders["all"].add(one)
            left += missed
    return rows, folders, left


def reasons(page):
    """(folder, function) and patterns -> reason, of the page's tables."""
    places, patterns = {}, {}
    lines = page.splitlines()
    for i, line in enumerate(lines):
        row, pattern = ROW.match(line), PATTERN.match(line)
        if row:
            places[row.groups()] = lines[i + 1]
        elif pattern:
            patterns[pattern.group(1)] = lines[i + 1]
    return places, patterns


def match(page, left):
    """The keys of the reasons that are needed, and what has none. The patterns
    are for branches; what they do not explain is for its function's row."""
    places, patterns = reasons(page)
    used, rest = set(), []
    for one in left:
        keys = [p for p in patterns if not one.line and re.search(p, one.text)]
        if not keys and places.get(one.place, UNEXPLAINED) != UNEXPLAINED:
            keys = [one.place]
        used.update(keys)
        if not keys:
            rest.append(one)
    return used, rest


def judge_reasons(page, left):
    """Problems: what is left without a reason, and reasons for nothing."""
    places, patterns = reasons(page)
    used, rest = match(page, left)
    problems = ["no reason is given for " + str(one) for one in rest]
    for key, reason in list(places.items()) + list(patterns.items()):
        if key not in used and VARIES not in reason:
            problems.append("all is reached, but the manual gives a reason: "
                            + (key if isinstance(key, str) else "/".join(key)))
    return problems


def rewritten(page, folders, left):
    """The page with the figures measured and the rows that are needed."""
    places, _ = reasons(page)
    used, rest = match(page, left)
    kept = {place for place in places
            if place in used or VARIES in places[place]}
    rows = ["   * - ``%s/`` ``%s``\n%s\n" % (
        *place, places.get(place, UNEXPLAINED))
        for place in sorted(kept | {one.place for one in rest})]
    page = FIGURES.sub("", page)
    old = [m for m in re.finditer(ROW.pattern + r"\n.*\n", page, re.MULTILINE)]
    page = page[:old[0].start()] + "".join(rows) + page[old[-1].end():]
    return page.replace(FIGURES_HEAD, FIGURES_HEAD + table(folders))


def judge(page, folders, left):
    """Problems, as sentences."""
    problems = judge_reasons(page, left)
    lines, branches = folders["all"].shares()
    if lines < LEAST_LINES:
        problems.append("lines: %.1f %%, goal %.0f %%" % (lines, LEAST_LINES))
    if branches < LEAST_BRANCHES:
        problems.append("branches: %.1f %%, goal %.0f %%"
                        % (branches, LEAST_BRANCHES))
    stated = {name.strip("`/"): (float(a), float(b))
              for name, a, b in FIGURES.findall(page)}
    for name, one in folders.items():
        measured = one.shares()
        if name not in stated or any(
                abs(a - b) > 1 for a, b in zip(stated[name], measured)):
            problems.append("the manual's figures for %s are old: %.1f, %.1f"
                            % (name, *measured))
    return problems


def table(folders):
    return "".join("   * - %s\n     - %.1f\n     - %.1f\n" % (
        name if name == "all" else "``%s/``" % name, *one.shares())
        for name, one in folders.items())


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-") or \
            arguments[1:] not in ([], ["--page"], ["--left"]):
        print(__doc__)
        return 2
    rows, folders, left = totals(measure(arguments[0]))
    if "--page" in arguments:
        PAGE.write_text(rewritten(PAGE.read_text(), folders, left))
        return 0
    if "--left" in arguments:
        print("\n".join(map(str, left)))
        return 0
    print("%-30s %15s  %15s  %15s" % ("", "lines", "branches",
                                      "of assertions"))
    print("\n".join(sorted(rows)))
    for name in FOLDERS:
        print(folders[name].row(name))
    print(folders["all"].row("all but code"))
    problems = judge(PAGE.read_text(), folders, left)
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

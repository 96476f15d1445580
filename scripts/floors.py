#!/usr/bin/env python3
"""Testudo: check that no file includes upwards.

Usage: floors.py [TOP]. Prints each breach; exit status 1 if there is any.

Rules:
  floor    a file on one floor includes its own floor and lower ones, and
           public headers;
  public   a public header includes public headers and the system's;
  pool     a pool class does not include the header of another (amc.h is a
           class's if amc.c defines a tdo_pool_class_t; a file amc_fix.c
           belongs to the class amc);
  client   examples, tools and benchmarks include public headers and those
           beside them; the replayer and the calibrator, which run the
           library's own code, those of code/ and shield/ as well;
  found    a quoted header exists.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re
import sys

FLOORS = ["code", "arena", "shield", "trace", "pool", "interface"]
CLIENTS = ["example", "tool", "bench"]
INSIDERS = {"tool/replay.c", "tool/recording.c", "tool/recording.h",
            "tool/bound.c", "tool/bound.h", "tool/looks.c", "tool/looks.h",
            "tool/calibrate.c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)

POOL_CLASS = re.compile(r"^(?:static |const )*tdo_pool_class_t \w+ = ", re.M)


def sources(folder):
    """All C sources and headers under a folder."""
    return sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h"))


def includes(path):
    """Triples of line number, quote and name for each #include of a file."""
    text = path.read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        yield line, match.group(1), match.group(2)


def is_public(top, name):
    return "/" not in name and (top / "include" / name).is_file()


def is_pool_class(top, name):
    """True if the header NAME is that of a pool class."""
    source = (top / name).with_suffix(".c")
    return source.is_file() and bool(POOL_CLASS.search(source.read_text()))


def check_floor(top, path, name):
    """Why a floor's file may not include NAME, or None."""
    if is_public(top, name):
        return None
    mine = path.relative_to(top).parts[0]
    theirs = name.split("/")[0]
    if theirs not in FLOORS:
        return "found: neither a public header nor on a floor"
    if not (top / name).is_file():
        return "found: there is no such file"
    if FLOORS.index(theirs) > FLOORS.index(mine):
        return f"floor: {mine}/ stands below {theirs}/"
    if mine == theirs == "pool" and is_pool_class(top, name):
        stem = pathlib.PurePath(name).stem
        if path.stem != stem and not path.stem.startswith(stem + "_"):
            return "pool: the header of another pool class"
    return None


def check_public(top, path, name):
    """Why a public header may not include NAME, or None."""
    if is_public(top, name):
        return None
    return "public: not a public header"


def check_client(top, path, name):
    """Why a client's file may not include NAME, or None."""
    if is_public(top, name):
        return None
    if str(path.relative_to(top)) in INSIDERS and \
            name.split("/")[0] in ("code", "shield"):
        return None
    beside = (path.parent / name).resolve()
    room = top.joinpath(*path.relative_to(top).parts[:2])
    room = room if room.is_dir() else room.parent
    if beside.is_file() and room.resolve() in beside.parents:
        return None
    return "client: neither a public header nor beside it"


def breaches(top):
    """Messages for all breaches in the tree at TOP."""
    rooms = [(folder, check_floor) for folder in FLOORS]
    rooms += [(folder, check_client) for folder in CLIENTS]
    rooms.append(("include", check_public))
    for folder, check in rooms:
        for path in sources(top / folder):
            for line, quote, name in includes(path):
                if quote == "<" and name.split("/")[0] not in FLOORS:
                    continue
                reason = check(top, path, name)
                if reason:
                    where = path.relative_to(top)
                    yield f"{where}:{line}: {name}: {reason}"


def main(arguments):
    top = pathlib.Path(arguments[1] if len(arguments) > 1 else ".")
    found = list(breaches(top.resolve()))
    for message in found:
        print(message)
    print(f"floors: {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

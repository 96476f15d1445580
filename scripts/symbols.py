#!/usr/bin/env python3
"""Testudo: check the names that a library defines for everyone to see.

Usage: symbols.py LIBRARY... (archives or shared objects). Prints each name
outside mps_, _mps_ and tdo_; exit status 1 if there is any.

SPDX-License-Identifier: BSD-2-Clause
"""
import re
import subprocess
import sys

OURS = re.compile(r"(mps_|_mps_|tdo_)")
# One name of the reference system that a client declares by hand, weak; and
# one that all share who have static probes (code/probe.h): weak and hidden, so
# that it is in archives only.
ALIASES = {("ArenaDescribe", "W"), ("_.stapsdt.base", "W")}


def defined(library):
    """Pairs of name and type letter of all global symbols defined."""
    command = ["nm", "--defined-only", "--extern-only", "--format=posix"]
    if ".so" in library:
        command.append("--dynamic")
    listing = subprocess.run(command + [library], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) >= 2 and len(fields[1]) == 1:
            yield fields[0].split("@")[0], fields[1]


def strangers(library):
    """Names that should not be visible, and how many names there are."""
    symbols = set(defined(library))
    bad = {name for name, kind in symbols
           if not OURS.match(name) and (name, kind) not in ALIASES}
    return sorted(bad), len(symbols)


def main(arguments):
    status = 0
    for library in arguments[1:]:
        bad, total = strangers(library)
        for name in bad:
            print(f"{library}: {name}: not mps_, _mps_ or tdo_")
        print(f"symbols: {library}: {total} names, {len(bad)} strangers")
        if bad or not total:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv))

"""Testudo: drawing, by an interpreter that has matplotlib: the one that runs
this tool may not.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import os
import subprocess
import sys
import tempfile

from . import kernel

HERE = os.path.dirname(os.path.realpath(__file__))
KINDS = (".svg", ".png", ".pdf")


def interpreter():
    """The interpreter that can draw, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        probe = [python, "-c", "import matplotlib"]
        if os.access(python, os.X_OK) and subprocess.run(
                probe, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return None


def require(path):
    """Raise Failure unless a picture can be drawn into the file PATH: before
    work that takes long."""
    if os.path.splitext(path)[1].lower() not in KINDS:
        raise kernel.Failure(f"{path}: the name of a picture ends with "
                             f"{', '.join(KINDS[:-1])} or {KINDS[-1]}", 2)
    file = os.path.realpath(path)
    there = os.path.exists(file)
    try:
        with open(file, "ab"):
            pass
    except OSError as error:
        raise kernel.Failure(f"{path}: {error.strerror}", 2) from error
    if not there:
        os.remove(file)
    if interpreter() is None:
        raise kernel.Failure("no picture: matplotlib is not installed")


def draw(program, data, *paths):
    """Let PROGRAM, one of this folder, draw DATA into the files PATHS."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(data, file)
        file.flush()
        done = subprocess.run(
            [interpreter(), os.path.join(HERE, program), file.name, *paths],
            stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["unknown"]
        raise kernel.Failure(f"no picture: {lines[-1]}")

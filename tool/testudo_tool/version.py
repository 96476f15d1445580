"""Testudo: which version this is.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def text():
    """The version: of an install as it was configured, of the source tree as
    CMakeLists.txt has it."""
    try:
        return (HERE.parent / "VERSION").read_text().strip()
    except FileNotFoundError:
        pass
    try:
        lists = (HERE.parent.parent / "CMakeLists.txt").read_text()
    except FileNotFoundError:
        return "of an unknown version"
    return re.search(r"project\(\w+ VERSION (\S+)", lists).group(1)

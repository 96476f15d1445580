"""Testudo: the modes of the shield, as a program's environment.

SPDX-License-Identifier: BSD-2-Clause
"""
import os

from . import kernel

VARIABLE = "TESTUDO_SHIELD"
MODES = ["naive", "ranged", "deferred", "dirty"]
ALL = [*MODES, "off"]


def chosen(text, known):
    """The modes in TEXT, with commas between; each must be one of KNOWN."""
    names = text.split(",")
    for name in names:
        if name not in known:
            raise kernel.Failure(f"no mode {name!r}: there are "
                                 + ", ".join(known), 2)
    return list(dict.fromkeys(names))


def environment(mode):
    """This process's environment with the shield in MODE."""
    return {**os.environ, VARIABLE: mode}

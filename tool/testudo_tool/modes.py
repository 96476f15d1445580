"""Testudo: the modes of the shield, as a program's environment.

SPDX-License-Identifier: BSD-2-Clause
"""
import os

VARIABLE = "TESTUDO_SHIELD"
MODES = ["naive", "ranged", "deferred", "dirty"]


def environment(mode):
    """This process's environment with the shield in MODE."""
    return {**os.environ, VARIABLE: mode}

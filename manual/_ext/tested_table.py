"""Testudo: the directive symbol-table: each public symbol and the tests that
cover it, made from the tests' sources by scripts/tested.py.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import sys

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))

import tested  # noqa: E402


class SymbolTable(Directive):
    """A table of the public symbols."""

    def run(self):
        # Made of all tests, and of those that are yet to come.
        self.state.document.settings.env.note_reread()
        holder = nodes.container()
        self.state.nested_parse(StringList(list(tested.rst()), "tested.py"),
                                0, holder)
        return holder.children


def setup(app):
    app.add_directive("symbol-table", SymbolTable)
    return {"version": "1", "parallel_read_safe": True}

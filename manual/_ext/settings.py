"""Testudo: the directive settings-table, made from code/settings.h, so that
the manual says what the library does.

SPDX-License-Identifier: BSD-2-Clause
"""
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

HEADER = pathlib.Path(__file__).resolve().parents[2] / "code/settings.h"
STRING = re.compile(r'"([^"]*)"')


def rows():
    """Variable, default, what is accepted, and help of each setting."""
    text = HEADER.read_text().replace("\\\n", " ")
    table = re.search(r"#define TDO_SETTINGS\(X\)(.*)", text).group(1)
    for row in re.split(r"\bX\(", table)[1:]:
        joined = re.sub(r'"\s+"', "", row)
        variable, default, accepts, meaning = STRING.findall(joined)
        yield variable, default, accepts, meaning


class SettingsTable(Directive):
    """A table of the environment variables."""

    def run(self):
        self.state.document.settings.env.note_dependency(str(HEADER))
        lines = [".. list-table::", "   :header-rows: 1",
                 "   :widths: 26 34 22 18", "",
                 "   * - variable", "     - meaning", "     - value",
                 "     - default"]
        for variable, default, accepts, meaning in rows():
            lines += [f"   * - ``{variable}``", f"     - {meaning}",
                      f"     - {accepts}", f"     - {default}"]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, str(HEADER)), 0, holder)
        return holder.children


def setup(app):
    app.add_directive("settings-table", SettingsTable)
    return {"version": "1", "parallel_read_safe": True}

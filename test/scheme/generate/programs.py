# Testudo: random Scheme programs. SPDX-License-Identifier: BSD-2-Clause
"""A case is an expression, made from a seed; a program shows many cases."""

import os

from control import Control
from data import Data
from expressions import KINDS, Scope, text
from kinds import Kinds

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "prelude.scm"), encoding="utf-8") as prelude:
    PRELUDE = prelude.read()


class Generator(Control, Kinds, Data):
    pass


def muddle(g, form, parts):
    """The form with some of its parts in each other's places."""
    if g.random.random() < 0.08:
        return g.pick(parts)
    if isinstance(form, str):
        return form
    form = [muddle(g, part, parts) for part in form]
    way = g.random.random()
    if way < 0.03 and form:
        del form[g.random.randrange(len(form))]
    elif way < 0.06:
        form.insert(g.random.randint(0, len(form)), g.pick(parts))
    return form


def parts_of(form):
    yield form
    if isinstance(form, list):
        for part in form:
            yield from parts_of(part)


def case(seed, wild=False):
    """The expression of one case."""
    g = Generator(seed)
    kind = g.pick(KINDS)
    form = g.make(kind, Scope([], g.random.randint(2, 5)))
    if wild:
        parts = list(parts_of(form))
        # Read and evaluated, so that bad syntax is an error of this case.
        source = text(muddle(g, form, parts))
        source = source.replace("\\", "\\\\").replace('"', '\\"')
        # In a body, so that what it defines is gone afterwards.
        form = ["eval", ["list", "'let", "'()",
                         ["read", ["open-input-string", '"%s"' % source]]],
                "(interaction-environment)"]
    return form


def program(cases):
    """The text of a program; cases are pairs of a number and a form."""
    return PRELUDE + "".join("(show %d (lambda () %s))\n" % (n, text(form))
                             for n, form in cases)

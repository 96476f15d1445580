# Testudo: random Scheme programs that say what they mean on every system.
# SPDX-License-Identifier: BSD-2-Clause
"""Expressions are nested lists of strings. Each comes with the kind of its
value, so that most do not end in errors. The order in which operands are
evaluated is not specified, so those with effects are bound in a let* first.

What Guile does otherwise than the standard is left out: handlers that a
handler installs (extra.scm has them), 0 to a negative power, remainders of
large flonums. So is what the standard calls an error without saying which."""

import math
import random

INTS = ["0", "1", "-1", "2", "3", "7", "-5", "10", "100", "255", "256",
        "-129", "1000003", "536870911", "536870912", "-536870913",
        "2305843009213693951", "2305843009213693952",
        "-2305843009213693953", "4611686018427387903",
        "4611686018427387904", "-4611686018427387904",
        "-4611686018427387905", "9223372036854775807",
        "-9223372036854775808", "18446744073709551616",
        "340282366920938463463374607431768211455",
        "-123456789012345678901234567890"]
REALS = ["0.0", "1.0", "-1.0", "0.5", "-2.5", "1.5", "3.25", "0.1", "1e10",
         "123456.789", "-0.001", "1e21", "1e22", "1e-7", "123456789.0",
         "4503599627370496.5", "1e100", "-1e-10", "6.02e23"]
RATIOS = ["1/2", "-1/3", "22/7", "5/4", "-7/2", "123456789/1000",
          "1/18446744073709551616"]
WHOLE = ["0.0", "1.0", "-1.0", "1e10", "1e21", "-123456789.0",
         "4503599627370497.0", "6.02e23"]
CHARS = ["#\\a", "#\\Z", "#\\0", "#\\space", "#\\newline", "#\\~", "#\\(",
         "#\\λ", "#\\Ω", "#\\é", "#\\x41"]
STRINGS = ['""', '"a"', '"hello"', '"Hello, World"', '"x y z"', '"λάμδα"',
           '"tab\\there"', '"quo\\"te"', '"12"', '"-7/3"', '"abcabc"']
SYMBOLS = ["'a", "'b", "'foo", "'|two words|", "'else*", "'lambda"]
NUMERIC = ("int", "rat", "real")
KINDS = ["int", "int", "int", "rat", "real", "bool", "char", "str", "sym",
         "list", "vec", "any"]


def text(form):
    if isinstance(form, str):
        return form
    return "(" + " ".join(map(text, form)) + ")"


EFFECTS = {"log!", "raise", "raise-continuable", "set!", "error", "call/cc",
           "call-with-current-continuation", "dynamic-wind"}


HANDLERS = {"guard", "with-exception-handler"}


def mentions(form, names):
    if isinstance(form, str):
        return form in names
    return any(mentions(part, names) for part in form)


def has_effects(form):
    return mentions(form, EFFECTS)


class Scope:
    """What is bound: names by kind, and the depth that is left."""

    def __init__(self, names, depth):
        self.names, self.depth = names, depth

    def bind(self, *pairs):
        return Scope(self.names + list(pairs), self.depth)

    def deeper(self):
        return Scope(self.names, self.depth - 1)

    def of(self, kind):
        seen, found = set(), []
        for name, k in reversed(self.names):
            if name not in seen and k == kind:
                found.append(name)
            seen.add(name)
        return found


class Expressions:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counter = 0

    def name(self, stem="v"):
        self.counter += 1
        return "%s%d" % (stem, self.counter)

    def pick(self, things):
        return self.random.choice(things)

    # ---- whole expressions

    def make(self, kind, scope):
        """An expression."""
        if scope.depth <= 0 or self.random.random() < 0.12:
            return self.leaf(kind, scope)
        scope = scope.deeper()
        if self.random.random() < 0.3:
            return self.control(kind, scope)
        if kind in ("any",):
            kind = self.pick(KINDS[:-1])
        if self.random.random() < 0.2 and hasattr(self, "data_" + kind):
            return getattr(self, "data_" + kind)(scope)
        return getattr(self, "make_" + kind)(scope)

    def pure(self, kind, scope):
        """An expression with no effects, for places without an order."""
        for _ in range(4):
            form = self.make(kind, scope)
            if not has_effects(form):
                return form
        return self.leaf(kind, scope)

    def in_handler(self, kind, scope):
        form = self.pure(kind, scope)
        return self.leaf(kind, scope) if mentions(form, HANDLERS) else form

    def call(self, operator, scope, *kinds):
        """A call; operands with effects are bound in order."""
        forms = [kind[1:] if kind.startswith("=") and len(kind) > 1 else
                 self.make(kind, scope) for kind in kinds]
        head = operator if isinstance(operator, list) else [operator]
        if not has_effects(forms):
            return head + forms
        names = [self.name("t") for _ in forms]
        return ["let*", [[n, f] for n, f in zip(names, forms)], head + names]

    def leaf(self, kind, scope):
        if kind == "any":
            kind = self.pick(KINDS[:-1])
        names = scope.of(kind)
        if names and self.random.random() < 0.6:
            return self.pick(names)
        return getattr(self, "leaf_" + kind)()

    def leaf_int(self):
        if self.random.random() < 0.5:
            return str(self.random.randint(-20, 20))
        return self.pick(INTS)

    def leaf_rat(self):
        return self.pick(RATIOS + INTS[:6])

    def leaf_real(self):
        if self.random.random() < 0.3:
            x = self.random.uniform(-100, 100)
            return repr(math.ldexp(math.frexp(x)[0],
                                   self.random.randint(-40, 60)))
        return self.pick(REALS)

    def leaf_bool(self):
        return self.pick(["#t", "#f"])

    def leaf_char(self):
        return self.pick(CHARS)

    def leaf_str(self):
        return self.pick(STRINGS)

    def leaf_sym(self):
        return self.pick(SYMBOLS)

    def leaf_list(self):
        return self.pick(["'()", "'(1 2 3)", "'(3 1 2)", "'(a b (c d) \"e\")",
                          "(list 1 2.5 'x)", "'(#\\a 1/2 #t)",
                          "'((a . 1) (b . 2) (3 . c))", "(iota* 5)"])

    def leaf_vec(self):
        return self.pick(["#()", "#(1 2 3)", "(vector 1 'a \"s\")",
                          "(make-vector 3 7)", "#(#(1) (2) 3.5)"])

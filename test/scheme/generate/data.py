# Testudo: expressions on numbers of all sizes, ports, and old structures.
# SPDX-License-Identifier: BSD-2-Clause
"""Left out are conversions that Guile rounds otherwise than the nearest, and
numbers in radixes other than ten that are not exact."""

import struct

from expressions import Expressions


class Data(Expressions):
    def big(self):
        """Any size, often near a power of two."""
        n = self.random.getrandbits(self.random.choice([8, 30, 62, 64, 130,
                                                        300, 700]))
        if self.random.random() < 0.3:
            n = (1 << self.random.randint(1, 200)) + self.random.randint(-2, 2)
        return n if self.random.random() < 0.5 else -n

    def any_real(self):
        """Any flonum that is a number."""
        while True:
            x = struct.unpack("<d", struct.pack(
                "<Q", self.random.getrandbits(64)))[0]
            if x == x and abs(x) != float("inf"):
                return repr(x)

    def any_ratio(self):
        return "%d/%d" % (self.big(), abs(self.big()) + 1)

    def data_int(self, scope):
        a, b = str(self.big()), str(self.big() or 1)
        op = self.pick(["+", "-", "*", "quotient", "remainder", "modulo",
                        "gcd", "lcm", "floor-quotient", "max", "min"])
        return self.pick([
            [op, a, b], [op, a, b if b != "0" else "7"],
            ["exact-integer-sqrt*", a], ["floor", self.any_ratio()],
            ["round", self.any_ratio()], ["numerator", self.any_ratio()],
            ["string->number", '"%s"' % a],
            ["exact", ["truncate", self.any_real()]],
            ["exact", ["round", self.pick(["0.5", "1.5", "-2.5", "3.49",
                                           "4503599627370495.5"])]],
            ["square", ["+", a, self.make("int", scope)]]])

    def data_rat(self, scope):
        op = self.pick(["+", "-", "*", "/"])
        return self.pick([
            [op, self.any_ratio(), self.any_ratio()],
            [op, self.any_ratio(), str(self.big() or 1)],
            ["exact", self.any_real()],
            ["expt", self.pick(["2/3", "-5/7", "10", "3"]),
             str(self.random.randint(-30, 60))],
            ["string->number", '"%s"' % self.any_ratio()],
            ["exact", ["string->number", '"%s"' % self.any_real()]],
            ["+", self.any_ratio(), self.make("rat", scope)]])

    def data_real(self, scope):
        return self.pick([
            [self.pick(["+", "-", "*", "/"]), self.any_real(),
             self.any_real()],
            ["inexact", str(self.big())], ["inexact", self.any_ratio()],
            ["string->number*", self.any_real()],
            [self.pick(["max", "min"]), self.any_real(), self.make(
                "real", scope)],
            [self.pick(["floor", "ceiling", "truncate", "abs"]),
             self.any_real()]])

    def data_bool(self, scope):
        numbers = [self.any_real(), self.any_ratio(), str(self.big()),
                   ["inexact", str(self.big())]]
        return [self.pick(["<", ">", "=", "<=", ">=", "eqv?", "equal?"]),
                self.pick(numbers), self.pick(numbers)]

    def data_str(self, scope):
        k = str(self.random.randint(0, 3))
        return self.pick([
            ["number->string", str(self.big()),
             self.pick(["2", "3", "8", "10", "16", "36"])],
            ["number->string", self.any_ratio(), self.pick(["2", "10", "16"])],
            ["read-string*", k, self.pure("str", scope)],
            ["peeked", self.pure("str", scope)],
            ["port-of", ["quote", self.pick(["chars", "string", "both"])],
             self.pure("str", scope), k],
            ["apply", "string-append", ["map", "symbol->string",
                                        "'(a b c)"]]])

    def data_list(self, scope):
        k = self.random.randint(0, 3)
        return self.pick([
            ["bytes-of", self.pure("bytes", scope), str(k)],
            ["read-all", '"%s"' % self.pick([
                "1 2 (a . b) #t", "#;x y #|c|# z", "'a `(b ,c ,@d)",
                "#(1 #\\\\a \\\"s\\\") |x y|", "; c\\n 5 -7/3 1e3 .5",
                "#!fold-case ABC #!no-fold-case ABC", "#\\\\x41 #\\\\space",
                "\\\"a\\\\n\\\\x41;b\\\\\\n   c\\\" ()",
                "#u8(1 2 255) #true #false", "(1 . (2 . (3 . ())))"])],
            ["sorted", ["list"] + [str(self.big()) for _ in range(k + 1)]],
            ["churned", str(self.random.randint(1, 400)),
             str(self.random.randint(1, 10 ** 6))],
            ["deep-list", str(self.random.randint(0, 3000))],
            ["assoc", self.pure("int", scope), "'((1.0 a) (2 b) (3.0 c))",
             "="],
            ["let*-values", [["(q r)", ["truncate/", str(self.big()),
                                        str(self.big() or 3)]]],
             "(list q r)"]])

    def data_vec(self, scope):
        return ["list->vector", self.data_list(scope)]

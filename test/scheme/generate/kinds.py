# Testudo: expressions by the kind of their value.
# SPDX-License-Identifier: BSD-2-Clause
from expressions import KINDS, NUMERIC, REALS, WHOLE, RATIOS, Expressions, Scope


class Kinds(Expressions):
    def rows(self, scope, rows):
        row = self.pick(rows)
        return self.call(row[0], scope, *row[1:])

    def make_int(self, scope):
        return self.rows(scope, [
            ("+", "int", "int"), ("-", "int", "int"), ("*", "int", "int"),
            ("+", "int", "int", "int"), ("-", "int"), ("abs", "int"),
            ("quotient", "int", "int"), ("remainder", "int", "int"),
            ("modulo", "int", "int"), ("floor-quotient", "int", "int"),
            ("floor-remainder", "int", "int"), ("gcd", "int", "int"),
            ("truncate-quotient", "int", "int"), ("lcm", "int", "int"),
            ("truncate-remainder", "int", "int"),
            ("max", "int", "int"), ("min", "int", "int"),
            ("square", "int"), ("numerator", "rat"), ("denominator", "rat"),
            ("expt", "int", "=" + str(self.random.randint(0, 20))),
            ("floor", "rat"), ("round", "rat"), ("ceiling", "rat"),
            ("truncate", "rat"), ("exact", "=" + self.pick(WHOLE)),
            (["sum-of", "exact-integer-sqrt"], "int"),
            (["sum-of", "floor/"], "int", "int"),
            (["sum-of", "truncate/"], "int", "int"),
            ("string-length", "str"), ("length", "list"),
            ("vector-length", "vec"), ("char->integer", "char"),
            (["safe", "string->number"], "str"), (["safe", "digit-value"], "char"),
            (["apply", "+"], "ints"), (["apply", "max", "0"], "ints"),
            (["list-ref"], "ints", "=0"), ("car", "ints"),
            ("exact", "int"), ("bytevector-length", "bytes"),
            (["sum-bytes"], "bytes"), ("exact-integer-sqrt*", "int"),
        ])

    def make_ints(self, scope):
        return self.rows(scope, [
            ("list", "int", "int"), ("iota*", "=" + str(
                self.random.randint(0, 9))),
            ("cons", "int", "ints"), ("reverse", "ints"),
            ("append", "ints", "ints"), ("cdr", "ints"),
            ("list-copy", "ints"),
            (["map", self.lambda_of("int", "int", scope)], "ints"),
            (["map", "+"], "ints", "ints"), ("vector->list", "=#(4 5 6)"),
            (["map", "char->integer"], "=(string->list \"abc\")"),
        ])

    def leaf_ints(self):
        return self.pick(["'(1 2 3)", "'()", "'(-5 100)", "(list 7 8 9)"])

    def make_numeral(self, scope):
        return self.rows(scope, [
            (["number->string"], "int"),
            (["(lambda (n) (number->string n 10))"], "int")])

    def leaf_numeral(self):
        return self.pick(['"12"', '"#xff"', '"-77"', '"#b101"', '"1e2"',
                          '"#e1.25"', '"#i1/4"', '"1/3"', '"abc"', '""',
                          '"-"', '"+5"', '"1."', '".5"', '"#o17"',
                          '"1e10"'])

    def lambda_of(self, kind, result, scope):
        n = self.name()
        return ["lambda", [n], self.pure(result, Scope(
            scope.names + [(n, kind)], min(scope.depth, 2)))]

    def make_bytes(self, scope):
        return self.rows(scope, [
            ("bytevector", "=1", "=200", "=77"),
            ("bytevector-append", "bytes", "bytes"),
            ("string->utf8", "str"), ("bytevector-copy", "bytes"),
            ("make-bytevector", "=3", "=9"),
            (["(lambda (b) (bytevector-copy b 1))"], "bytes"),
            (["(lambda (b n) (let ((c (bytevector-copy b)))"
              " (bytevector-u8-set! c 0 (modulo n 256)) c))"],
             "bytes", "int")])

    def leaf_bytes(self):
        return self.pick(["(bytevector 1 2 3)", "(bytevector)",
                          '(string->utf8 "aλ")'])

    def make_rat(self, scope):
        return self.rows(scope, [
            ("+", "rat", "rat"), ("-", "rat", "rat"), ("*", "rat", "rat"),
            ("/", "rat", "rat"), ("/", "int", "int"), ("/", "int"),
            ("-", "rat"), ("abs", "rat"), ("max", "rat", "rat"),
            ("min", "rat", "int"), ("square", "rat"),
            ("expt", "rat", "=" + str(self.random.randint(0, 9))),
            ("exact", "=" + self.pick(REALS[:14])),
            ("+", "int", "rat"), ("*", "rat", "int"),
            (["rationalize"], "rat", "=1/10")])

    def make_real(self, scope):
        return self.rows(scope, [
            ("+", "real", "real"), ("-", "real", "real"),
            ("*", "real", "real"), ("/", "real", "real"),
            ("+", "int", "real"), ("*", "real", "rat"), ("-", "real"),
            ("inexact", "int"), ("inexact", "rat"), ("abs", "real"),
            ("floor", "real"), ("(lambda (x) (+ 0.0 (round x)))", "real"),
            ("truncate", "real"),
            ("ceiling", "real"), ("max", "real", "int"),
            ("min", "real", "rat"), ("square", "real"),
            ("(lambda (x) (sqrt (abs x)))", "real"),
            ("exact->inexact", "rat"), ("/", "real", "int"),
            ("(lambda (x) (sqrt (abs x)))", "int"),
            ("string->number*", "real"), ("quotient", "=7.0", "=2.0"),
            ("modulo", "=-7.0", "=2.0"),
            ("exact-integer-sqrt*", "=17")])

    def make_bool(self, scope):
        compare = self.pick(["<", ">", "<=", ">=", "="])
        text_compare = self.pick(["string<?", "string=?", "string>?",
                                  "string<=?", "string>=?", "string-ci=?"])
        char_compare = self.pick(["char<?", "char=?", "char>?", "char<=?",
                                  "char-ci=?"])
        kinds = [self.pick(NUMERIC), self.pick(NUMERIC)]
        return self.rows(scope, [
            (compare, *kinds), (compare, *kinds, "int"),
            ("not", "bool"), ("and", "bool", "bool"), ("or", "bool", "bool"),
            (text_compare, "str", "str"), (char_compare, "char", "char"),
            ("zero?", kinds[0]), ("positive?", kinds[0]),
            ("negative?", kinds[1]), ("even?", "int"), ("odd?", "int"),
            ("eqv?", "any", "any"), ("equal?", "any", "any"),
            ("equal?", "list", "list"), ("equal?", "vec", "vec"),
            ("null?", "list"), ("pair?", "any"), ("list?", "any"),
            ("symbol?", "any"), ("string?", "any"), ("vector?", "any"),
            ("number?", "any"), ("integer?", "any"), ("exact?", kinds[0]),
            ("rational?", "any"), ("inexact?", kinds[1]),
            ("exact-integer?", "any"), ("exact-rational?*", "any"),
            ("procedure?", "any"), ("boolean?", "any"), ("char?", "any"),
            ("eq?", "sym", "sym"), ("symbol=?", "sym", "sym"),
            ("boolean=?", "bool", "bool"), ("char-alphabetic?", "char"),
            ("char-numeric?", "char"), ("char-upper-case?", "char"),
            ("char-whitespace?", "char"), ("nan?", "real"),
            ("infinite?", "real"), ("finite?", "real"),
            (["truth", "member"], "any", "list"),
            (["truth", "memv"], "int", "ints"),
            (["truth", "assoc"], "any", "=(quote ((a . 1) (2 . 3)))"),
            (["truth", "memq"], "sym", "list"),
            ("eqv?", kinds[0], kinds[1])])

    def make_char(self, scope):
        return self.rows(scope, [
            ("char-upcase", "char"), ("char-downcase", "char"),
            ("char-foldcase", "char"), ("string-ref", "str", "=0"),
            ("integer->char", "=" + str(self.random.randint(33, 126))),
            ("string-ref", "str", "int")])

    def make_str(self, scope):
        a, b = sorted([self.random.randint(0, 3), self.random.randint(0, 4)])
        return self.rows(scope, [
            ("string-append", "str", "str"), ("string-append", "str"),
            ("number->string", "int"), ("number->string", "rat"),
            ("number->string", "real"), ("symbol->string", "sym"),
            (["radix"], "int", "=" + self.pick(["2", "8", "16"])),
            ("list->string", "=(list #\\a #\\λ)"), ("string", "char", "char"),
            ("substring", "str", "=%d" % a, "=%d" % b),
            ("string-copy", "str", "=%d" % a),
            ("make-string", "=%d" % b, "char"),
            ("string-upcase", "str"), ("string-downcase", "str"),
            (["string-map", "char-upcase"], "str"),
            (["string-map", "(lambda (a b) (if (char<? a b) a b))"],
             "str", "str"),
            (["written"], "any"), (["displayed"], "any"),
            ("vector->string", "=#(#\\x #\\y)"),
            ("string-copy!*", "str", "str", "=%d" % a),
            ("string-fill!*", "str", "char", "=%d" % a),
            ("list->string*", "str"), ("utf8->string*", "str"),
            ("read-line*", "str"), ("string-set!*", "str", "int", "char"),
            ("string-foldcase", "str")])

    def make_sym(self, scope):
        return self.rows(scope, [
            ("string->symbol", "str"), (["if", "#t"], "sym", "sym"),
            ("string->symbol", "str")])

    def quasi(self, scope):
        def part(depth):
            r = self.random.random()
            if r < 0.3:
                return ["unquote", self.pure("any", scope)]
            if r < 0.45:
                return ["unquote-splicing", self.pure("list", scope)]
            if r < 0.6 and depth > 0:
                return [part(depth - 1) for _ in range(2)]
            if r < 0.65 and depth > 0:
                return ["quasiquote", ["x", ["unquote", ["y", [
                    "unquote", self.pure("any", scope)]]]]]
            return self.pick(["a", "1", '"s"', "#\\b", "()"])
        return ["quasiquote", [part(2) for _ in range(
            self.random.randint(1, 4))]]

    def make_list(self, scope):
        if self.random.random() < 0.15:
            return self.quasi(scope)
        k = str(self.random.randint(0, 3))
        return self.rows(scope, [
            ("list", "any", "any"), ("cons", "any", "list"),
            ("append", "list", "list"), ("reverse", "list"),
            ("cdr", "list"), ("list-tail", "list", "=" + k),
            ("list-copy", "list"), ("vector->list", "vec"),
            ("vector->list", "vec", "=" + k), ("string->list", "str"),
            (["map", self.lambda_of("any", "any", scope)], "list"),
            (["map", "cons"], "list", "list"), ("make-list", "=" + k, "any"),
            ("list-set!*", "list", "=" + k, "any"),
            (["mapped", self.lambda_of("int", "any", scope)], "ints"),
            (["apply", "list", "1"], "list"),
            (["read*"], "list"),
            (["(lambda (s) (list (string->number s)))"], "numeral"),
            ("(lambda (x l) `(1 ,@l ,x))", "any", "list"),
            (["collect", "vector-for-each"], "vec"),
            (["collect", "string-for-each"], "str"),
            (["collect", "for-each"], "list"),
            (["exact-integer-sqrt->list"], "int"),
            ("list", "int", "list"),
            (["assq", "'b"], "=(quote ((a 1) (b 2)))")])

    def make_vec(self, scope):
        k = str(self.random.randint(0, 3))
        return self.rows(scope, [
            ("vector", "any", "any"), ("list->vector", "list"),
            ("make-vector", "=" + k, "any"), ("vector-append", "vec", "vec"),
            (["vector-map", self.lambda_of("any", "any", scope)], "vec"),
            ("vector-copy", "vec"), ("vector-copy", "vec", "=" + k),
            ("string->vector", "str"), ("vector-set!*", "vec", "=" + k, "any"),
            ("vector-fill!*", "vec", "any"),
            ("vector-copy!*", "vec", "vec", "=" + k),
            (["vector-map", "cons"], "vec", "vec"),
            (["vector-grow*"], "vec", "any"),
            ("(lambda (x l) (quasiquote #(1 (unquote x)"
             " (unquote-splicing l))))", "any", "list")])

    def make_any(self, scope):
        return self.make(self.pick(KINDS[:-1]), scope)

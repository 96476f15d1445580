# Testudo: expressions of any kind that the control forms make.
# SPDX-License-Identifier: BSD-2-Clause
from expressions import CHARS, KINDS, STRINGS, Expressions, Scope, mentions


class Control(Expressions):
    def control(self, kind, scope):
        ways = [self.c_if, self.c_let, self.c_letstar, self.c_case,
                self.c_cond, self.c_lambda, self.c_values, self.c_set,
                self.c_escape, self.c_guard, self.c_raise, self.c_wind,
                self.c_loop, self.c_do, self.c_delay, self.c_parameter,
                self.c_handler, self.c_when, self.c_record, self.c_macro,
                self.c_apply, self.c_reenter, self.c_letrec, self.c_table,
                self.c_error, self.c_caselambda, self.c_eval, self.c_body,
                self.c_generator]
        return self.pick(ways)(kind, scope)

    def c_if(self, kind, scope):
        return ["if", self.make("bool", scope), self.make(kind, scope),
                self.make(kind, scope)]

    def c_let(self, kind, scope):
        n, k = self.name(), self.pick(KINDS)
        m, j = self.name(), self.pick(KINDS)
        body = self.make(kind, scope.bind((n, k), (m, j)))
        return ["let", [[n, self.pure(k, scope)], [m, self.pure(j, scope)]],
                body]

    def c_letstar(self, kind, scope):
        n, k = self.name(), self.pick(KINDS)
        m, j = self.pick([n, self.name()]), self.pick(KINDS)
        first = self.make(k, scope)
        second = self.make(j, scope.bind((n, k)))
        return ["let*", [[n, first], [m, second]],
                self.make(kind, scope.bind((n, k), (m, j)))]

    def c_letrec(self, kind, scope):
        f, n = self.name("f"), self.name()
        inner = scope.bind((n, "int"))
        step = self.call(self.pick(["+", "-", "*", "max"]), scope,
                         "=" + n, "=1") if self.random.random() < .5 else n
        return ["letrec", [[f, ["lambda", [n, "k"],
                                ["if", ["<=", "k", "0"],
                                 self.pure(kind, inner),
                                 [f, step, ["-", "k", "1"]]]]]],
                [f, self.pure("int", scope), str(self.random.randint(0, 5))]]

    def c_case(self, kind, scope):
        key = self.make(self.pick(["int", "sym", "char"]), scope)
        arrow = self.random.random() < 0.2
        last = ["else", "=>", ["lambda", ["k"], self.make(kind, scope)]] \
            if arrow else ["else", self.make(kind, scope)]
        return ["case", key, [["1", "2", "a", "#\\a"],
                              self.make(kind, scope)],
                [["0", "b", "-1", "()"], self.make(kind, scope)], last]

    def c_cond(self, kind, scope):
        n = self.name()
        return ["cond", [self.make("bool", scope), self.make(kind, scope)],
                [["memv", self.pure("int", scope), "'(1 2 3)"], "=>",
                 ["lambda", [n], self.make(kind, scope.bind((n, "list")))]],
                ["else", self.make(kind, scope)]]

    def c_lambda(self, kind, scope):
        n, m, k = self.name(), self.name(), self.pick(KINDS)
        if self.random.random() < 0.3:
            proc = ["lambda", [n, ".", m],
                    self.make(kind, scope.bind((n, k), (m, "list")))]
        else:
            proc = ["lambda", [n, m],
                    self.make(kind, scope.bind((n, k), (m, k)))]
        return [proc, self.pure(k, scope), self.pure(k, scope)]

    def c_caselambda(self, kind, scope):
        n = self.name()
        args = [self.pure("int", scope)
                for _ in range(self.random.randint(0, 3))]
        return [["case-lambda", [[], self.make(kind, scope)],
                 [[n], self.make(kind, scope.bind((n, "int")))],
                 [[n, ".", "r"], self.make(kind, scope.bind(
                     (n, "int"), ("r", "list")))]]] + args

    def c_values(self, kind, scope):
        n, m = self.name(), self.name()
        a, b = self.pick(KINDS), self.pick(KINDS)
        form = ["values", self.pure(a, scope), self.pure(b, scope)]
        inner = scope.bind((n, a), (m, b))
        body = self.make(kind, inner)
        return self.pick([
            ["let-values", [[[n, m], form]], body],
            ["call-with-values", ["lambda", [], form],
             ["lambda", [n, m], body]],
            ["let*-values", [[[n, ".", "r"], form], [[m], ["car", "r"]]],
             body],
            ["receive*", [n, m], form, body]])

    def c_set(self, kind, scope):
        n, k = self.name(), self.pick(KINDS)
        inner = scope.bind((n, k))
        form = ["let", [[n, self.make(k, scope)]],
                ["set!", n, self.make(k, inner)], self.make(kind, inner)]
        if self.random.random() < 0.4:
            form[2] = [["lambda", [], form[2]]]
        return form

    def c_when(self, kind, scope):
        n, k = self.name(), self.pick(KINDS)
        inner = scope.bind((n, k))
        return ["let", [[n, self.make(k, scope)]],
                [self.pick(["when", "unless"]), self.make("bool", inner),
                 ["set!", n, self.make(k, inner)]],
                ["log!", n], self.make(kind, inner)]

    def c_escape(self, kind, scope):
        k, n = self.name("k"), self.name()
        form = ["call/cc", ["lambda", [k], self.call("list", scope, "any"),
                            ["if", self.make("bool", scope),
                             [k, self.make(kind, scope)],
                             self.make(kind, scope)]]]
        if self.random.random() < 0.3:
            form = ["call-with-current-continuation",
                    ["lambda", [k], ["for-each", ["lambda", [n], [
                        "if", self.make("bool", scope.bind((n, "int"))),
                        [k, self.make(kind, scope.bind((n, "int")))]]],
                        "'(1 2 3)"], self.make(kind, scope)]]
        return form

    def c_reenter(self, kind, scope):
        k, n = self.name("k"), self.name("n")
        return ["let", [[k, "#f"], [n, "0"]],
                ["let", [["x", ["call/cc", ["lambda", ["c"],
                                            ["set!", k, "c"],
                                            self.make(kind, scope)]]]],
                 ["set!", n, ["+", n, "1"]], ["log!", n],
                 ["if", ["<", n, str(self.random.randint(1, 4))],
                  [k, self.pure(kind, scope.bind((n, "int")))], "x"]]]

    def c_generator(self, kind, scope):
        """Elements of a list, handed over by continuations."""
        n = self.name()
        return ["let", [["back", "#f"], ["rest", "#f"]],
                ["define", ["next"],
                 ["call/cc", ["lambda", ["return"], ["set!", "back", "return"],
                              ["if", "rest", ["rest", "#f"],
                               ["begin",
                                ["for-each", ["lambda", ["x"],
                                              ["call/cc", [
                                                  "lambda", ["k"],
                                                  ["set!", "rest", "k"],
                                                  ["back", "x"]]]],
                                 "(list 1 2 3)"],
                                ["set!", "rest", ["lambda", ["i"],
                                                  ["back", "0"]]],
                                ["back", "0"]]]]]],
                ["let*", [[n, "(next)"], [n, ["+", n, "(next)"]],
                          [n, ["*", n, "(next)"]], [n, ["-", n, "(next)"]]],
                 self.make(kind, scope.bind((n, "int")))]]

    def c_guard(self, kind, scope):
        n = self.name("e")
        clauses = [[["symbol?", n], ["log!", n], self.make(kind, scope)],
                   [["and", ["pair?", n], ["car", n]], "=>",
                    ["lambda", ["x"], self.make(kind, scope)]],
                   [["string?", n],
                    self.make(kind, scope.bind((n, "str")))]]
        self.random.shuffle(clauses)
        clauses = clauses[:self.random.randint(1, 3)]
        if self.random.random() < 0.6:
            clauses.append(["else", self.make(kind, scope)])
        return ["guard", [n] + clauses, self.make(kind, scope)]

    def c_error(self, kind, scope):
        """A condition, taken apart."""
        n = self.name("e")
        return ["let", [["x", self.pure("any", scope)],
                        ["y", self.pure("any", scope)]],
                ["guard", [n, [["error-object?", n],
                               ["log!", ["error-object-message", n]],
                               ["log!", ["error-object-irritants", n]],
                               self.make(kind, scope)],
                           ["else", self.make(kind, scope)]],
                 ["error", self.pick(STRINGS), "x", "y"]]]

    def c_raise(self, kind, scope):
        how = self.pick(["raise", "raise", "raise-continuable"])
        return ["if", self.make("bool", scope),
                [how, self.make(self.pick(["sym", "str", "int", "list"]),
                                scope)],
                self.make(kind, scope)]

    def c_handler(self, kind, scope):
        n, m = self.name("e"), self.name()
        if self.random.random() < 0.5:
            k = self.name("k")
            return ["call/cc", ["lambda", [k], [
                "with-exception-handler",
                ["lambda", [n], [k, self.in_handler(kind, scope)]],
                ["lambda", [], self.make(kind, scope)]]]]
        return ["with-exception-handler",
                ["lambda", [n], ["log!", n], self.in_handler(kind, scope)],
                ["lambda", [], ["let", [[m, ["raise-continuable",
                                             self.make("sym", scope)]]],
                                self.make(kind, scope.bind((m, kind)))]]]

    def c_wind(self, kind, scope):
        tag = self.name("w")
        return ["dynamic-wind", ["lambda", [], ["log!", "'in-" + tag]],
                ["lambda", [], self.make(kind, scope)],
                ["lambda", [], ["log!", "'out-" + tag]]]

    def c_loop(self, kind, scope):
        loop, i, acc = self.name("loop"), self.name("i"), self.name("a")
        inner = scope.bind((i, "int"), (acc, kind))
        return ["let", loop, [[i, str(self.random.randint(0, 6))],
                              [acc, self.pure(kind, scope)]],
                ["if", ["=", i, "0"], acc,
                 [loop, ["-", i, "1"], self.make(kind, inner)]]]

    def c_do(self, kind, scope):
        i, acc = self.name("i"), self.name("a")
        inner = scope.bind((i, "int"), (acc, kind))
        return ["do", [[i, "0", ["+", i, "1"]],
                       [acc, self.pure(kind, scope), self.pure(kind, inner)]],
                [["=", i, str(self.random.randint(0, 5))],
                 self.make(kind, inner)],
                ["log!", i]]

    def c_delay(self, kind, scope):
        p = self.name("p")
        return ["let", [[p, ["delay", ["begin", ["log!", "'forced"],
                                       self.make(kind, scope)]]]],
                ["force", p], ["force", p]]

    def c_parameter(self, kind, scope):
        p = self.name("p")
        return ["let", [[p, ["make-parameter", self.pure("int", scope),
                             ["lambda", ["x"], self.pure("int", scope.bind(
                                 ("x", "int")))]]]],
                ["parameterize", [[p, self.pure("int", scope)]],
                 ["let", [["y", [p]]],
                  self.make(kind, scope.bind(("y", "int")))]]]

    def c_record(self, kind, scope):
        n, r = self.name(), self.name("rec")
        k = self.pick(KINDS)
        body = self.make(kind, scope.bind((n, k)))
        access = self.pick(["%s-x" % r, "%s-y" % r])
        return ["let", [],
                ["define-record-type", r, ["make-" + r, "x", "y"], r + "?",
                 ["x", r + "-x", r + "-x!"], ["y", r + "-y"]],
                ["let", [["o", ["make-" + r, self.pure(k, scope),
                                self.pure(k, scope)]]],
                 [r + "-x!", "o", self.pure(k, scope)],
                 ["let", [[n, [access, "o"]]], body]]]

    def c_macro(self, kind, scope):
        m, n, k = self.name("m"), self.name(), self.pick(KINDS)
        inner = scope.bind((n, k))
        macros = [
            ([[["_", "a", "b"], ["let", [["tmp", "a"]],
                                 ["if", "tmp", "b", "b"]]]],
             [m, self.make("bool", inner), self.make(kind, inner)]),
            ([[["_", [["v", "e"], "..."], "body"],
               ["let*", [["v", "e"], "..."], "body"]]],
             [m, [[n, self.make(k, scope)]], self.make(kind, inner)]),
            ([[["_", "x"], "x"], [["_", "x", "y", "..."],
                                  ["begin", ["log!", "'m"],
                                   [m, "y", "..."]]]],
             [m, self.leaf("int", inner), self.leaf("str", inner),
              self.make(kind, inner)]),
            ([[["_", "else", "x", "y"], "y"], [["_", "z", "x", "y"], "x"]],
             [m, self.pick(["else", "5"]), self.make(kind, inner),
              self.make(kind, inner)]),
            ([[["_", ["a", "b", "..."], "..."],
               ["list", ["list", "b", "...", "a"], "..."]]],
             None),
            ([[["_", "a", "...", "z"], ["begin", ["list", "a", "..."], "z"]]],
             [m, self.pure("any", inner), self.make(kind, inner)]),
            ([[["_", "#(a b)", "c"], ["let", [["t", "a"], ["if", "b"]],
                                      "c"]]],
             [m, "#(1 2)", self.make(kind, inner)]),
        ]
        rules, use = self.pick(macros)
        if use is None:
            use = ["let", [["l", [m] + [[str(i)] + [
                self.leaf("any", inner) for _ in range(i)]
                for i in range(self.random.randint(0, 3))]]],
                self.make(kind, inner.bind(("l", "list")))]
        spec = [m, ["syntax-rules", ["else"]] + rules]
        ways = [["letrec-syntax", [spec], use],
                ["let", [], ["define-syntax"] + spec, use]]
        if not mentions(rules, {m}):
            ways.append(["let-syntax", [spec], use])
        return ["let", [[n, self.pure(k, scope)]], self.pick(ways)]

    def c_body(self, kind, scope):
        f, n, m = self.name("f"), self.name(), self.name()
        k = self.pick(KINDS)
        inner = scope.bind((n, k))
        forms = [["define", n, self.make(k, scope)],
                 ["define", [f, m], self.make(kind, scope.bind((m, k)))]]
        if self.random.random() < 0.3:
            forms.append(["define-values", ["q", ".", "z"],
                          ["values", "1", "2", "3"]])
        return ["let", []] + forms + [
            ["let", [["r", [f, n]]],
             self.pick(["r", self.make(kind, inner.bind(("r", kind)))])]]

    def c_apply(self, kind, scope):
        n, m, k = self.name(), self.name(), self.pick(KINDS)
        return ["apply", ["lambda", [n, ".", m],
                          self.make(kind, scope.bind((n, k), (m, "list")))],
                self.pure(k, scope), self.pure("list", scope)]

    def c_eval(self, kind, scope):
        return ["eval", ["quote", self.make(kind, Scope([], 2))],
                "(interaction-environment)"]

    def c_table(self, kind, scope):
        t, n = self.name("h"), self.name()
        kinds = self.pick(["int", "str", "sym", "char", "list", "rat"])
        actions = []
        for _ in range(self.random.randint(1, 5)):
            key = self.pure(kinds, scope)
            actions.append(self.pick([
                ["hash-table-set!", t, key, self.pure("int", scope)],
                ["hash-table-delete!", t, key],
                ["hash-table-update!/default", t, key,
                 ["lambda", ["x"], ["+", "x", "1"]], "0"]]))
        look = self.pick([
            ["hash-table-ref/default", t, self.pure(kinds, scope), "-1"],
            ["hash-table-size", t],
            ["apply", "+", ["hash-table-values", t]],
            ["hash-table-fold", t, ["lambda", ["k", "v", "a"],
                                    ["+", "v", "a"]], "0"],
            ["if", ["hash-table-exists?", t, self.pure(kinds, scope)],
             "1", "2"]])
        return ["let", [[t, "(make-hash-table)"]]] + actions + [
            ["let", [[n, look]], self.make(kind, scope.bind((n, "int")))]]

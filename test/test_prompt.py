"""Testudo: the interpreter's prompt, its options, and bad settings.

Usage: test_prompt.py INTERPRETER

SPDX-License-Identifier: BSD-2-Clause
"""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "scheme"))

import run  # noqa: E402

INTERPRETER = sys.argv[1]
LIMIT = 100  # seconds for one run


def ask(text, *arguments, **environment):
    """Status, output and errors of the interpreter when TEXT is typed.

    If that is nothing, the input is at its end from the start: of a pipe we
    would be the writer, and may close it only after the program has looked.
    """
    settings = {name: value for name, value in os.environ.items()
                if not name.startswith("TESTUDO_")}
    given = {"input": text} if text else {"stdin": subprocess.DEVNULL}
    done = subprocess.run([INTERPRETER, *arguments], **given, text=True,
                          env={**settings, **environment}, timeout=LIMIT,
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def converse(text):
    """Status and all that a terminal shows when TEXT is typed at it.

    A terminal whose last user leaves may lose what it has not shown yet (Linux
    6.18 does, once in some ten thousand times): we stay."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen([INTERPRETER], stdin=theirs, stdout=theirs,
                          stderr=theirs, env=environment,
                          start_new_session=True) as process:
        os.write(ours, text.encode() + b"(exit)\n")

        def mark_end():
            process.wait()
            os.write(theirs, b"\0")

        waiter = threading.Thread(target=mark_end)
        waiter.start()
        shown = b""
        while not shown.endswith(b"\0"):
            if not select.select([ours], [], [], LIMIT)[0]:
                process.kill()
                raise AssertionError(f"silent after {shown!r}")
            shown += os.read(ours, 4096)
        waiter.join()
        status = process.returncode
    os.close(theirs)
    os.close(ours)
    return status, shown[:-1].decode().replace("\r", "")


class Typist:
    """Types at the interpreter's terminal, and waits for what it shows."""
    def __init__(self, *arguments, term="xterm"):
        self.shown = ""
        child, self.fd = pty.fork()
        if child == 0:
            os.environ["TERM"] = term
            os.execv(INTERPRETER, [INTERPRETER, *arguments])
        self.child = child

    def type(self, text):
        self.shown = ""
        os.write(self.fd, text.encode())

    def wait_for(self, pattern):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.shown):
            if not select.select([self.fd], [], [], end - time.monotonic())[0]:
                raise AssertionError(f"{pattern} not in {self.shown!r}")
            try:
                self.shown += os.read(self.fd, 4096).decode()
            except OSError as error:
                raise AssertionError(f"{self.shown!r}") from error

    def wait_for_editor(self, pattern):
        """The prompt is shown a little before the terminal is raw."""
        self.wait_for(pattern)
        end = time.monotonic() + LIMIT
        while termios.tcgetattr(self.fd)[3] & termios.ICANON:
            if time.monotonic() > end:
                raise AssertionError("no editor")
            time.sleep(0.01)

    def status(self):
        """How it ended: by a signal, -SIGNAL."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        os.close(self.fd)
        return status


class Interrupt(unittest.TestCase):
    """Control-C, as it is typed at a terminal."""
    ENDLESS = {
        "a jump": "(let loop () (loop))",
        "calls": "(letrec ((f (lambda () (g) (f))) (g (lambda () 1))) (f))",
        "frames": "(let loop ((n 0)) (if (< n 0) 0 (begin (loop (+ 1 (* 0 n)))"
                  " (loop n))))",
        "garbage": "(let loop ((l '())) (loop (list 1 2 3)))",
        "primitives": "(let loop () (for-each car (list (list 1))) (loop))",
        "a circular list": "(let ((c (list 1))) (set-cdr! c c)"
                           " (list-ref c (expt 10 18)))",
        "reading": "(read-line)",
        "printing": "(let ((c (list 1))) (set-cdr! c c)"
                    " (call-with-output-string"
                    " (lambda (p) (write-simple c p))))",
    }

    def setUp(self):
        self.typist = Typist("-q")
        self.typist.wait_for_editor("> ")

    def tearDown(self):
        self.typist.type("\n(exit 5)\n")
        self.assertEqual(self.typist.status(), 5)

    def begin(self, text):
        self.typist.type(f"(begin (display (+ 320 1)) {text})\n")
        self.typist.wait_for("321")

    def check_alive(self):
        self.typist.type("(* 6 7)\n")
        self.typist.wait_for(r"\n42\r")

    def test_evaluating(self):
        for name, text in self.ENDLESS.items():
            with self.subTest(name):
                self.begin(f"(flush-output-port) {text}")
                self.typist.type("\x03")
                self.typist.wait_for("interrupted")
                self.check_alive()

    def test_caught(self):
        """A program can catch it, but only once."""
        self.begin("(let loop () (guard (e (#t (display"
                   " (condition/report-string e)) (newline)))"
                   " (display (* 2 321)) (flush-output-port)"
                   " (let loop () (loop))) (loop))")
        self.typist.wait_for("642")  # it is guarded from here on
        self.typist.type("\x03")
        self.typist.wait_for("interrupted")
        self.typist.type("\x03")
        self.typist.wait_for("interrupted")
        self.check_alive()

    def test_editing(self):
        """The line is dropped, and what it goes on with."""
        self.typist.type("(display (+ 1 ")
        self.typist.wait_for_editor("1 ")
        for more in ("", "", "(display (+ 1\n", "(car '(1"):
            self.typist.type(more)
            if more:
                self.typist.wait_for_editor(r"\n  $" if "\n" in more else "1$")
            self.typist.type("\x03")
            self.typist.wait_for_editor(r"\^C\r\r?\n> $")
        self.check_alive()


class InterruptedFile(unittest.TestCase):
    def test_dies(self):
        """A program that runs from a file dies of it."""
        typist = Typist("-e", "(begin (display 321) (flush-output-port)"
                              " (let loop () (loop)))")
        typist.wait_for("321")
        typist.type("\x03")
        self.assertEqual(typist.status(), -signal.SIGINT)


class Prompt(unittest.TestCase):
    def test_answers(self):
        status, shown = converse("(* 6 7)\n")
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"(?m)^42$")

    def test_more_lines(self):
        """What a line leaves open is what the next ones go on with."""
        for text in ("(* 6\n7)", "(* 6 #| a\n |# 7)", "#| a\n b |# (* 6 7)",
                     "(car '\n(42))", "'\n42", "#;\n5 42", "`\n,\n42",
                     "(cdr '(1 .\n42))", "(cdr '(1 . 42\n))", "#\\( 42",
                     "(begin (define |a\nb| 42) |a\nb|)",
                     '(begin "a ; (\n" 42)', "42 ; (", "42 ; #|", "#(\n) 42",
                     "#u8(1\n) 42", "#\\| 42 #\\;"):
            status, shown = converse(text + "\n")
            self.assertEqual(status, 0, text)
            self.assertRegex(shown, r"(?m)^42$", text)
            self.assertNotIn("closed", shown)

    def test_goes_on_after_an_error(self):
        for bad, message in (
                ("(car 5)", "car"), ("(no-such-name)", "no-such-name"),
                ("(vector-ref (vector 1) 9)", "vector-ref"),
                ('(error "mine" 1)', "mine"), ("(+ 'a 1)", "a")):
            status, shown = converse(f"{bad}\n(* 6 7)\n")
            self.assertEqual(status, 0, bad)
            self.assertRegex(shown, r"(?m)^42$", bad)
            self.assertGreaterEqual(shown.count(message), 2, shown)

    def test_leaves_what_an_error_was_in(self):
        for text, shown in (
                ("(define p (make-parameter 1)) (parameterize ((p 2)) (car 1))"
                 " (display (p))", "1"),
                ("(with-output-to-string (lambda () (display 1) (car 1)))"
                 " (display 2)", "2"),
                # an error on the way out, which is not what ends the rest
                ("(define (wind n x) (dynamic-wind (lambda () (display n)) x"
                 " (lambda () (display (- n)) (car n))))"
                 "(wind 1 (lambda () (wind 2 (lambda () (error 3)))))"
                 "(display 3)", "12-2-13"),
                # nor does one that is entered there and never left
                ("(define (f) (dynamic-wind (lambda () #f)"
                 " (lambda () (display 1) (car 1)) f)) (f) (display 2)",
                 "112")):
            status, out, err = ask(text)
            self.assertEqual((status, out), (1, shown), err)
        status, out, err = ask(
            "", "-e", "(dynamic-wind (lambda () (display 1)) (lambda ()"
            " (car 1)) (lambda () (display 2)))")
        self.assertEqual((status, out), (1, "12"), err)

    MISTAKES = {  # what is typed, and what the message says
        ")": "unexpected", "(1 . )": "dotted", "#<foo>": "#<foo>",
        "#\\nosuch": "nosuch", '"\\q"': "escape", "#5#": "label",
        "#u8(1 . 2)": "dotted", "(if)": "bad syntax", "(let x)": "bad let",
        "(car 5)": "not a pair", "((lambda (x) x))": "number of arguments",
        "(5 6)": "not a procedure", "nowhere": "unbound variable",
        "(string-ref (string #\\a) 1)": "range", "(/ 1 0)": "division by zero",
        "(let ((c (list 1))) (set-cdr! c c) (length c))": "#0=(1 . #0#)",
        "(let ((c (list 1))) (set-cdr! c c) (memq 2 c))": "not a list",
        "(letrec-syntax ((m (syntax-rules () ((_) (m))))) (m))":
            "does not end",
        "(raise 'mine)": "mine", '(open-input-file "/none")': "/none",
    }

    def test_leaves_the_line_that_an_error_was_in(self):
        """Whatever ends it: a newline, a return, or both."""
        for end in ("\n", "\r", "\r\n"):
            text = end.join(("(display 1)", ") (display 2)", "; (display 3)",
                             "(display 4)", ""))
            self.assertEqual(ask(text)[:2], (1, "14"), repr(end))

    def test_goes_on_after_each_mistake(self):
        """Each has a message with its place, at a terminal and elsewhere."""
        text = "".join(f"{bad}\n(display 'then)\n" for bad in self.MISTAKES)
        status, out, err = ask(text + '(display "never closed')
        self.assertEqual((status, out), (1, "then" * len(self.MISTAKES)))
        self.assertIn("not closed", err)
        for message in self.MISTAKES.values():
            self.assertIn(message, err)
        status, shown = converse(text)
        self.assertEqual(status, 0, shown)
        for message in self.MISTAKES.values():
            self.assertIn(message, shown)

    DEEP = ("(let nest ((n 1000000) (x 1))"
            " (if (= n 0) x (nest (- n 1) (list x))))")

    def test_too_deep(self):
        """What is too deep to be printed is an error, and so is to report
        an error about it."""
        status, out, err = ask("", "-e", self.DEEP)
        self.assertEqual((status, out), (1, ""), err[-200:])
        self.assertIn("too deep", err)
        status, out, err = ask(f"{self.DEEP}\n1\n(error \"x\" {self.DEEP})\n2")
        self.assertEqual((status, out), (1, "1\n2\n"), err[-200:])
        self.assertEqual(err.count("too deep"), 2)

    def test_not_a_terminal(self):
        status, out, err = ask("(display (* 6 7))\n(car 5)\n(display 1)\n")
        self.assertEqual((status, out), (1, "421"))
        self.assertIn("car", err)


    def test_circular(self):
        """In whatever is printed, that is an end of it."""
        circle = "'#0=(1 . #0#)"
        for text, shown in (
                (f"(values {circle} 2)", r"^#0=\(1 \. #0#\) 2\n"),
                ("(with-exception-handler (lambda (e) 5)"
                 f" (lambda () (length {circle})))", r"not a list.*#0=\(1"),
                ("(guard (e (#t (set-cdr!"
                 " (error-object-irritants e) (error-object-irritants e))"
                 ' (raise e))) (error "x" 1))', r"x: \. #0=\(1 \. #0#\)")):
            _, out, err = ask(text)
            self.assertRegex(out + err, shown)

    def test_closed(self):
        """Where nothing can be read any more, that is said, once."""
        status, out, err = ask("(close-port (current-input-port))\n1\n")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err.count("port is closed"), 1)

    def test_left_at_a_terminal(self):
        """What is said while an error is left is seen before the prompt."""
        typist = Typist("-q")
        typist.wait_for_editor("> ")
        typist.type("(dynamic-wind (lambda () #f) (lambda () (car 1))"
                    " (lambda () (display (* 6 7))))\n")
        typist.wait_for("42")
        typist.type("(exit 5)\n")
        self.assertEqual(typist.status(), 5)


class Exhausted(unittest.TestCase):
    """At a commit limit a program catches the error, and goes on; so does the
    prompt. No more than some collections' worth of time goes by first."""
    KINDS = {
        "pairs": "(grow (cons n l) (+ n 1))",
        "vectors": "(grow (cons (make-vector 5000 0) l) (+ n 1))",
        "large": "(grow (cons (make-vector 200000 0) l) (+ n 1))",
        "strings": "(grow (cons (make-string 3000) l) (+ n 1))",
        "bytes": "(grow (cons (make-bytevector 100 1) l) (+ n 1))",
        "numbers": "(grow (cons (expt 3 1000) l) (+ n 1))",
        "closures": "(grow (lambda () l) (+ n 1))",
        "frames": "(+ 1 (grow l (+ n 1)))",
    }

    def test_caught(self):
        for kind, body in self.KINDS.items():
            with self.subTest(kind):
                text = (f"(define (grow l n) {body})"
                        "(define (try) (guard (e (#t (error-object-message e)))"
                        " (grow '() 0)))"
                        "(display (list (try) (try)"
                        " (vector-length (make-vector 10000 0))))")
                status, out, err = ask(text, "--limit=32M")
                self.assertEqual(
                    (status, out),
                    (0, "(out of memory out of memory 10000)"), err)

    def test_dead_guardians(self):
        """What they watched over dies with them."""
        text = ("(define (watch n) (let ((g (make-guardian))) (do ((i 0 (+ i 1)))"
                " ((= i n)) (g (make-vector 100 i)))))"
                "(do ((i 0 (+ i 1))) ((= i 15)) (watch 10000)"
                " (do ((k 0 (+ k 1))) ((= k 20000)) (make-vector 1000 k)))"
                "(display 'done)")
        self.assertEqual(ask(text, "--limit=80M"), (0, "done", ""))

    def test_guardian(self):
        """A handler that takes back what a guardian watches over gets memory,
        also where the one before it lived on what was lent."""
        watch = ("(define g (make-guardian))"
                 "(define t (make-weak-key-hash-table))"
                 "(define (drain) (let ((x (g))) (if x (begin %s (drain)))))"
                 "(define (try) (guard (e (#t (drain) (error-object-message e)))"
                 " (let loop ((n 0) (l '())) (let ((x (make-vector 5 n)))"
                 " (g x) %s (loop (+ n 1) (if (even? n) (cons x l) l))))))"
                 "(display (list (try) (try) (try)))")
        plain = watch % ("", "")
        table = watch % ("(hash-table-ref/default t x #f)",
                         "(hash-table-set! t x n)")
        for text, limit in (plain, 13), (plain, 17), (table, 10), (table, 17):
            with self.subTest(text=text, limit=limit):
                status, out, err = ask(text, f"--limit={limit}M")
                self.assertEqual(
                    (status, out),
                    (0, "(out of memory out of memory out of memory)"), err)

    def test_buffers(self):
        """Text that only grows, outside of the pools, is bounded as well."""
        endless = '(open-input-file "/dev/zero")'
        for text in ("(let ((p (open-output-string))) (let loop ()"
                     " (write-string (make-string 1000 #\\a) p) (loop)))",
                     "(let ((p (open-output-bytevector))) (let loop ()"
                     " (write-bytevector (make-bytevector 1000) p) (loop)))",
                     f"(read-line {endless})",
                     f"(read-string (expt 2 40) {endless})"):
            text = f"(guard (e (#t (error-object-message e))) {text})"
            status, out, err = ask("", "--limit=32M", "-e", text)
            self.assertEqual((status, out), (0, '"out of memory"\n'), err)

    def test_buffer_is_kept(self):
        """Not lost with the error: the leak sanitizer would say so."""
        line = "(open-input-string (make-string 30000000 #\\a))"
        text = f"(guard (e (#t 1)) (read-line {line}))"
        self.assertEqual(ask("", "--limit=40M", "-e", text), (0, "1\n", ""))

    def test_not_caught(self):
        text = ("(define (grow n) (+ 1 (grow n)))\n(grow 0)\n"
                "(display (* 6 7))\n")
        status, out, err = ask(text, "--limit=32M")
        self.assertEqual((status, out), (1, "42"))
        self.assertIn("out of memory", err)


def into(path, *arguments):
    """Status and errors of the interpreter when its output goes to PATH."""
    with open(path, "w", encoding="utf-8") as output:
        done = subprocess.run([INTERPRETER, *arguments], stdout=output,
                              stdin=subprocess.DEVNULL, text=True,
                              stderr=subprocess.PIPE, timeout=LIMIT,
                              check=False)
    return done.returncode, done.stderr


class Files(unittest.TestCase):
    """What the system does not read or write is an error."""

    def test_ready(self):
        """Is there a character? Nothing waits for it, or for its rest."""
        text = ("(let loop () (write-string (if (char-ready?) \"yes\" \"no\"))"
                " (newline) (flush-output-port)"
                " (if (memv (read-char) '(#\\g #\\n)) (loop)))")
        with subprocess.Popen([INTERPRETER, "-e", text], bufsize=0,
                              stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            for typed, said in ((b"", b"no"), (b"g", b"no"), (b"gn", b"yes"),
                                (b"", b"no"), (b"n\xce", b"no")):
                if typed != b"":
                    process.stdin.write(typed)
                self.assertEqual(process.stdout.readline(), said + b"\n")
            process.stdin.close()
            process.wait(LIMIT)
        self.assertEqual(ask("", "-e", "(char-ready?)")[1], "#t\n")
        self.assertEqual(
            ask("x", "-e", "(begin (peek-char) (u8-ready?))")[1], "#t\n")

    def test_nothing_written(self):
        for text, status in (
                ("(display 1)", 1), ("1", 1), ("(write 1) (exit)", 1),
                ("(begin (write 1) (exit 3))", 3),
                ("(display (make-string 99999 #\\a))", 1)):
            ended, err = into("/dev/full", "-e", text)
            self.assertEqual(ended, status, text)
            self.assertEqual(err.count("No space left on device"), 1, err)
            self.assertIn("standard output", err)

    def test_pipe(self):
        """A program may come from a pipe, and define what is in line else."""
        text = "(define (car x) 'mine)\n(display (car '(1)))\n(vector-ref 1 2)"
        done = subprocess.run([INTERPRETER, "/dev/stdin"], input=text,
                              capture_output=True, text=True, timeout=LIMIT,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (1, "mine"))
        self.assertIn("/dev/stdin:3:1: vector-ref", done.stderr)

    def test_nothing_reported(self):
        """Nobody can be told, but the status tells."""
        for text in ("1", "(car 1)", '(error "x" (make-vector 9999 0))'):
            with open("/dev/full", "w", encoding="utf-8") as errors:
                done = subprocess.run(
                    [INTERPRETER, "--statistics", "-e", text], stderr=errors,
                    stdout=subprocess.DEVNULL, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, 1, text)

    def test_write_errors(self):
        """A program can catch them, for a port that it has lost alone not."""
        wrong = ("(call-with-output-file \"/dev/full\""
                 " (lambda (p) (write 1 p)))",
                 "(write (make-vector 9999) (open-output-file \"/dev/full\"))",
                 "(let ((p (open-output-file \"/dev/full\")))"
                 " (write 1 p) (flush-output-port p))")
        for text in wrong:
            text = f"(guard (e ((file-error? e) (display 'caught))) {text})"
            self.assertEqual(ask("", "-e", text), (0, "caught", ""), text)
        text = "(write 1 (open-output-file \"/dev/full\")) (gc) (display 2)"
        status, out, err = ask("", "-e", text)
        self.assertEqual((status, out), (1, "2"))
        self.assertEqual(err.count("No space left on device"), 1, err)

    @unittest.skipIf("address" in os.environ.get("TEST_SANITIZED", ""),
                     "the address sanitizer keeps what is freed")
    def test_what_was_not_written_is_freed(self):
        for what in ("(write (expt 7 300000) port)",
                     "(display (make-string 300000 #\\a) port)",
                     "(write (string->symbol (make-string 300000 #\\a)) port)"):
            text = ("(define (pages) (call-with-input-file"
                    ' "/proc/self/statm" (lambda (p) (read p) (read p))))'
                    '(define port (open-output-file "/dev/full"))'
                    "(define (try n) (if (> n 0) (begin (write 1 port)"
                    " (guard (e ((file-error? e) (try (- n 1)))) "
                    f"{what} (flush-output-port port) (display 'written)))))"
                    "(gc) (try 10) (gc) (define before (pages))"
                    "(try 100) (gc) (display (< (- (pages) before) 1000))")
            self.assertEqual(ask(text), (0, "#t", ""), what)

    def test_many_ports(self):
        """Opening one does not look at all that there are."""
        text = ("(define (open n l) (if (= n 0) l (open (- n 1)"
                ' (cons (open-input-string "") l))))'
                "(define (seconds n) (let ((start (runtime))) (open n '())"
                " (- (runtime) start)))"
                "(define few (max (seconds 10000) 0.02))"
                "(gc) (display (< (seconds 80000) (* 30 few)))")
        self.assertEqual(ask(text), (0, "#t", ""))

    def test_read_errors(self):
        text = ("(guard (e ((file-error? e)"
                " (display (error-object-irritants e))))"
                ' (call-with-input-file "/tmp" read-char))')
        self.assertEqual(ask("", "-e", text),
                         (0, "(/tmp Is a directory)", ""))
        status, _, err = ask("", "-e", '(include "/tmp")')
        self.assertEqual(status, 1)
        self.assertIn("include: cannot read", err)
        status, _, err = ask("", "/tmp")
        self.assertEqual(status, 1)
        self.assertIn("Is a directory", err)
        folder = os.open("/tmp", os.O_RDONLY)
        done = subprocess.run([INTERPRETER], stdin=folder, text=True,
                              capture_output=True, timeout=LIMIT, check=False)
        os.close(folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Is a directory", done.stderr)


class Statuses(unittest.TestCase):
    def test_exit(self):
        """Only what means success ends with 0."""
        for what, status in (
                ("", 0), ("#t", 0), ("#f", 1), ("0", 0), ("0.", 0), ("7", 7),
                ("-1", 255), ("255", 255), ("256", 1), ("257", 1), ("258", 2),
                ("(+ 5 (expt 2 80))", 5), ("(expt 2 80)", 1), ("1.5", 1),
                ("1/2", 1), ("2.", 2), ("-1.", 255),
                ("256.", 1), ("1e300", 1), ("-inf.0", 1), ("'a", 1), ('"abc"', 1), ("'()", 1)):
            for name in ("exit", "emergency-exit"):
                text = f"({name} {what})"
                self.assertEqual(ask("", "-e", text)[0], status, text)


class Options(unittest.TestCase):
    def test_no_such_file(self):
        status, _, err = ask("", "no such file.scm")
        self.assertEqual(status, 1)
        self.assertIn("no such file.scm", err)

    def test_error_in_a_file(self):
        with tempfile.TemporaryDirectory() as room:
            path = pathlib.Path(room) / "bad.scm"
            path.write_text("(display 1)\n(car 5)\n(display 2)\n")
            status, out, err = ask("", str(path))
        self.assertEqual((status, out.strip()), (1, "1"))
        self.assertRegex(err, r"bad\.scm:2")
        self.assertIn("car", err)

    def test_bad_option(self):
        for option in ("--gen=0", "--gen=x:0.5", "--gen=-1:0.5",
                       "--gen=18014398509481984:0.5", "--arena=",
                       "--arena=1e300", "--limit=-1", "--nonsense"):
            status, _, err = ask("", option)
            self.assertNotEqual(status, 0, option)
            self.assertIn(option.split("=")[0], err)
        status, out, err = ask("", "-e")
        self.assertEqual((status, out), (2, ""))
        self.assertTrue(err.startswith(
            "testudo-scheme: -e: the expression is missing\n"), err)

    def test_small_limit(self):
        """It suffices, or that it does not is what is said."""
        for size in ("0", "10K", "50K", "100K", "200K", "500K", "1M"):
            status, out, err = ask("", f"--limit={size}", "-e", "(* 6 7)")
            if status == 0:
                self.assertEqual(out, "42\n")
            else:
                self.assertEqual(status, 1, size)
                self.assertIn("limit is too small", err)


class Statistics(unittest.TestCase):
    def test_share_of_the_time(self):
        """Both times are by the clock: waiting counts, as in a pause."""
        with subprocess.Popen([INTERPRETER, "-q"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write('(display "up\\n")(flush-output-port)\n')
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "up\n")
            time.sleep(0.5)
            out, _ = process.communicate("(display (gc-statistics))", LIMIT)
        entries = {name: float(value) for name, value in
                   re.findall(r"\(([a-z-]+) \. ([0-9.e-]+)\)", out)}
        self.assertGreater(entries["total-seconds"], 0.45)
        self.assertAlmostEqual(
            entries["collector-share"],
            entries["collector-seconds"] / entries["total-seconds"])

    def test_share_of_each_workload(self):
        """--statistics prints (gc-statistics): the collector's share is that
        of the seconds that it took, and no workload does without it."""
        for name, size in run.SMALL.items():
            with self.subTest(name):
                path = os.path.join(run.WORKLOADS, name + ".scm")
                status, _, err = ask("", "--gen=200:0.8", "--statistics",
                                     path, *size)
                self.assertEqual(status, 0, err)
                found = dict(re.findall(r"\(([a-z-]+) \. ([-+.\de]+)\)", err))
                share, busy, total = (float(found[key]) for key in (
                    "collector-share", "collector-seconds", "total-seconds"))
                self.assertGreater(int(found["collections"]), 0)
                self.assertGreater(share, 0)
                self.assertAlmostEqual(share, busy / total, 3)

    def test_at_exit(self):
        """They are printed once, however the program ends."""
        for text in ("1", "(exit)", "(exit 3)", "(emergency-exit 0)",
                     "(dynamic-wind void (lambda () (exit 2)) void)"):
            _, _, err = ask("", "--statistics", "-e", text)
            self.assertEqual(err.count("total-seconds"), 1, text)
        with open("/dev/full", "w", encoding="utf-8") as errors:
            done = subprocess.run(
                [INTERPRETER, "--statistics", "-e", "(exit)"], stderr=errors,
                stdout=subprocess.DEVNULL, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 1)

    def test_called(self):
        text = "(gc) (display (cdr (assq 'full-collections (gc-statistics))))"
        self.assertEqual(ask(text)[:2], (0, "1"))


class Settings(unittest.TestCase):
    def check_default(self, name, value):
        """A bad VALUE is reported once, and the default is used."""
        status, out, err = ask("", "-e", "(* 6 7)", **{name: value})
        self.assertEqual(status, 0)
        self.assertIn("42", out)
        self.assertEqual(err.count(name), 1, err)
        self.assertIn(value, err)

    def test_unknown_mode(self):
        self.check_default("TESTUDO_SHIELD", "nonsense")

    def test_unreadable(self):
        self.check_default("TESTUDO_QUEUE", "many")

    def limited(self, arena):
        """The interpreter in 300,000 KiB of address space."""
        return subprocess.run(
            ["sh", "-c", 'ulimit -v 300000; exec "$0" --arena=$1 -e 42',
             INTERPRETER, arena],
            stdin=subprocess.DEVNULL, text=True, capture_output=True,
            timeout=LIMIT, check=False)

    @unittest.skipIf("address" in os.environ.get("TEST_SANITIZED", ""),
                     "the address sanitizer needs the address space itself")
    @unittest.skipIf("TEST_EMULATED" in os.environ,
                     "the limit would be the emulator's")
    def test_little_address_space(self):
        done = self.limited("32M")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "42"),
                         done.stderr)
        done = self.limited("1G")
        if done.returncode != 0:  # a smaller one, or a clear message
            self.assertEqual(done.returncode, 1)
            self.assertIn("address space", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

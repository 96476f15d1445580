;;; Testudo: a test of the Scheme interpreter. SPDX-License-Identifier: BSD-2-Clause
;;; What the reader takes, and what it refuses with a message, by the
;;; standard's grammar (7.1.1); Guile differs in some of it.
(import (scheme base) (scheme write) (scheme read) (scheme char))

(define (datum s) (read (open-input-string s)))
(define (try s)
  (write s)
  (display " => ")
  (write (guard (c ((read-error? c)
                    (list 'refused (error-object-message c))))
           (datum s)))
  (newline))

;; a dot between bars is a symbol
(for-each try '("(a |.| b)" "(|.|)" "|.|" "(a . b)" "(a |.| . b)" "(a .|| b)"))

;; null characters: in strings, between bars and after #\ only
(for-each try '("\x0;" "a\x0;b" "(1 \x0; 2)" "#\x0;" "#!a\x0;" "\"a\x0;b\"" "|a\x0;b|"
                "#\\\x0;" "#\\\x0;41" "#\\a\x0;" "; \x0;\n 1"))
(for-each (lambda (c) (write c) (newline)) (string->list (symbol->string (datum "|a\x0;b|"))))
(let ((o (open-output-string)))
  (display (datum "|a\x0;b|") o)
  (write (get-output-string o))
  (newline))

;; case is not significant after a #, but in the names of characters
(for-each try '("#T" "#F" "#TRUE" "#False" "#U8(1 2)" "#\\X41" "#\\X" "#\\x" "#\\SPACE" "#\\A" "#XfF" "#!FOLD-CASE ABC"
                "#t1" "#u9(1)" "\"\\X41;\"" "\"\\T\""))
(for-each try '("#!fold-case (#\\SPACE #\\NewLine #\\A #\\X41)" "#!fold-case #!no-fold-case #\\SPACE"))

;; there are no characters from D800 to DFFF
(for-each try '("#\\xD800" "#\\xDFFF" "#\\x110000"
                "\"\\xD800;\"" "\"\\xDFFF;\"" "|\\xD800;|" "\"\\x;\"" "\"\\x-1;\""))
(write (map char->integer (datum "(#\\xD7FF #\\xE000 #\\x10FFFF)")))
(newline)
(write (map char->integer (string->list (datum "\"\\xD7FF;\\xE000;\""))))
(newline)

;; a fraction of integers is a number or a mistake
(for-each try '("1/0" "-12/00" "(+0/0)" "1/" "/0" "1/0a" "1/2" "|1/0|"))

;; a line ends in a newline, a return, or both; in a string it is a newline
(for-each try '("\"a\r\nb\"" "\"a\rb\"" "\"a\n\rb\"" "\"a\\ \r\n  b\"" "\"a\\\r  b\"" "\"a\\\r\r\nb\"" "(1 ; c\r2)" "(1 ; c\r\n2)"
                "\"a\\rb\"" "|a\rb|"))

;; too deep for the reader is an error of the text
(write (guard (c ((read-error? c) (list 'refused (error-object-message c))))
         (datum (make-string 1000000 #\())))
(newline)

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

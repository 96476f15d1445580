;;; Testudo: a test of the Scheme interpreter. SPDX-License-Identifier: BSD-2-Clause
;;; What is asked of the system and refused. Guile says it in other words:
;;; here they are in a file.
(import (scheme base) (scheme write) (scheme file) (scheme load) (scheme process-context))

(define-syntax try
  (syntax-rules ()
    ((_ e ...) (begin (try-one 'e (lambda () e)) ...))))
(define (try-one form thunk)
  (write form)
  (display " => ")
  (write (guard (c ((error-object? c)
                    (list (file-error? c) (error-object-message c) (error-object-irritants c))))
           (thunk)))
  (newline))

;; names that the system would see only the beginning of (and who looks at no
;; more than that, as Guile does, has nothing to delete)
(try (open-input-file "/dev/null\x0;x")
     (open-output-file "/dev/null\x0;x")
     (file-exists? "/dev/null\x0;x")
     (delete-file "/dev/null/\x0;x")
     (load "/dev/null\x0;x")
     (get-environment-variable "PATH\x0;x")
     (string? (get-environment-variable "PATH"))
     (file-exists? "/dev/null")
     (eof-object? (call-with-input-file "/dev/null" read-char)))

;; the reason is among the irritants
(try (open-input-file "/nowhere/at all")
     (open-output-file "/")
     (load "/nowhere/at all")
     (delete-file "/nowhere/at all")
     (call-with-input-file "/" read-char))

;; a file that was lost is closed when there are too many
(define (lose n)
  (if (> n 0) (begin (open-input-file "/dev/null") (lose (- n 1)))))
(try (begin (lose 20000) 'lost))

;;; Testudo: a test of the Scheme interpreter. SPDX-License-Identifier: BSD-2-Clause
;;; Libraries: all names are global, and what import or export calls otherwise
;;; is a second one. Guile would have the names of a library kept apart.
(import (scheme base) (scheme write) (scheme file) (only (scheme base) car cdr) (except (scheme base) list)
        (rename (scheme base) (car head) (if wenn)) (prefix (only (scheme base) cdr vector) v:)
        (prefix (scheme char) ch:))
(define (show x) (write x) (newline))
(call-with-output-file "declarations.sld"
  (lambda (port)
    (write '(export inc (rename secret public) (rename my-or either)) port)
    (write '(import (scheme base)) port)))
(call-with-output-file "body.scm"
  (lambda (port) (write '(define (inc x) (+ x 1)) port)))
(define-library (my lib 1)
  (include-library-declarations "declarations.sld")
  (include "body.scm")
  (cond-expand
   ((library (scheme nosuch)) (export nothing))
   (else (export other (rename other another))))
  (begin
    (define secret 5)
    (define other 'other)
    (define-syntax my-or
      (syntax-rules ()
        ((_) #f)
        ((_ a b ...) (let ((t a)) (if t t (my-or b ...))))))))
(show (list (head '(1 2)) (v:cdr '(1 2)) (v:vector 1) (ch:char-upcase #\a) (wenn #f 1 2)))
(show (list (inc 1) public another (let ((t 5)) (either #f t))))
(import (prefix (rename (my lib 1) (inc plus1)) lib:)
        (rename (only (my lib 1) public) (public open)))
(show (list (lib:plus1 1) lib:public open (let ((t 5)) (lib:either #f t))))
(import (prefix (srfi 1) s:))
(show (s:fold + 0 (s:list 1 2)))
(show (cond-expand ((library (my lib 1)) 'yes) (else 'no)))
(show (cond-expand ((library (my lib 2)) 'yes) (else 'no)))
(show (cond-expand ((library (scheme base)) 'yes) (else 'no)))
(show (cond-expand ((library (scheme nosuch)) 'yes) (else 'no)))
(show (cond-expand ((library (scheme r5rs)) 'yes)
                   ((and r7rs (not (library (scheme complex)))) 'right)
                   (else 'no)))
(show (cond-expand ((or) 1) ((and) 2)))
;; a file that lies beside this one, though it does not run there
(include "beside.inc")
(show beside)

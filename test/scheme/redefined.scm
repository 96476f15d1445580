;;; Testudo: a test of the Scheme interpreter. SPDX-License-Identifier: BSD-2-Clause
;;; What is compiled in line is not where the program defines its own, wherever
;;; it does so. Guile would have the names of a library kept apart.
(import (scheme write))
(define-library (excepted)
  (export go)
  (import (except (scheme base) + car))
  (begin
    (define (go) (+ 1 (car 5)))
    (define (+ a b) `(plus ,a ,b))
    (define (car x) `(car ,x))))
(define-library (renamed)
  (export bounds)
  (import (rename (scheme base) (cdr base-cdr) (cddr base-cddr)))
  (begin
    (define-syntax put
      (syntax-rules () ((_ name value) (define name value))))
    (define (bounds x) `(,(cdr x) ,(cddr x) ,(base-cdr x)))
    (define-values (cdr other) (values (lambda (x) 'mine) 1))
    (put cddr (lambda (x) 'made))))
(define (cells x)
  `(,(vector-ref x 0) ,(cons x 1)))
(define-record-type cell (make-cell x) cell? (x cons vector-ref))
(define (chosen x)
  `(,(null? x) ,(pair? x)))
(cond-expand
 ((not r7rs) (define (pair? x) 'never))
 ((or r7rs else)
  (begin (define (null? x) 'null))
  (set! pair? (lambda (x) 'pair))))
(import (scheme base) (excepted) (renamed))
(define (show x) (write x) (newline))
(show (go))
(show (bounds '(1 . 2)))
(show (guard (e (#t (error-object-message e))) (cells #(1))))
(show (chosen '()))

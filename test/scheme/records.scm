;;; Testudo: records whose fields are called like something else.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; Guile takes a field called like the type for the type, so that what is
;;; right is written down in records.out.

(import (scheme base) (scheme write))

(define-record-type point (make-point point y)
  point? (point point-x) (y point-y set-point-y!))

(let ((p (make-point 1 2)))
  (set-point-y! p 3)
  (write (list (point-x p) (point-y p) (point? p) (point? 1)))
  (newline))

(define (local)
  (define-record-type list (make-list* list) list*? (list list-of))
  (write (list-of (make-list* 4)))
  (newline))
(local)

(define-record-type nothing (make-nothing) nothing? (a a-of set-a-of!))
(let ((n (make-nothing)))
  (set-a-of! n 5)
  (write (a-of n))
  (newline))

;; Each definition makes a type of its own, and its procedures know it whatever
;; becomes of the name.
(define-record-type <p> (make-p a) p? (a p-a))
(define old (make-p 1))
(define-record-type <p> (make-q b) q? (b q-b))
(write (list (p? old) (q? old) (q? (make-p 1)) (p? (make-q 1)) (p-a old)
             (q-b (make-q 2))))
(newline)
(set! <p> 5)
(write (list (p? (make-p 1)) (q-b (make-q 3))))
(newline)
(define (fresh)
  (define-record-type <local> (make) local? (a a-of))
  (cons (make) local?))
(let ((one (fresh)) (two (fresh)))
  (write (list ((cdr one) (car one)) ((cdr one) (car two))))
  (newline))

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

;;; Testudo: many leaf objects. SPDX-License-Identifier: BSD-2-Clause
;;; usage: leaf.scm [rounds]
;;; Deep recursion that is not in tail position; lists; strings. Allocates
;;; in two generations what the report that started this project allocated.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define (triangle n)
  (if (= n 0) 0 (+ n (triangle (- n 1)))))

(define (numbers n)
  (let loop ((i n) (l '()))
    (if (= i 0) l (loop (- i 1) (cons i l)))))

(define (sum l)
  (if (null? l) 0 (+ (car l) (sum (cdr l)))))

(define (strings n)
  (let loop ((i 1) (s ""))
    (if (> i n)
        s
        (loop (+ i 1) (string-append s (make-string i #\x))))))

(define (sums n)
  (let loop ((i 1) (total 0))
    (if (> i n) total (loop (+ i 1) (+ total (sum (numbers i)))))))

;; Every number is boxed in a leaf, and every list of them dies young.
(define (leaves n)
  (let loop ((i 1) (total 0.0))
    (if (> i n)
        total
        (loop (+ i 1)
              (+ total (sum (map (lambda (k) (* k 1.0)) (numbers i))))))))

(define (show name value)
  (display name)
  (display ": ")
  (display value)
  (newline))

(define (round-of-work)
  (let* ((a (triangle 10000))
         (b (length (numbers 10000)))
         (c (string-length (strings 100)))
         (d (sums 800))
         (e (leaves 800)))
    (list a b c d e)))

(define (main rounds)
  (let loop ((i 1) (result (round-of-work)))
    (if (< i rounds)
        (loop (+ i 1) (round-of-work))
        (begin
          (show "triangle" (list-ref result 0))
          (show "list" (list-ref result 1))
          (show "string" (list-ref result 2))
          (show "sums" (list-ref result 3))
          (show "leaves" (list-ref result 4))))))

(main (argument 1 100))

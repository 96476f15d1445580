;;; Testudo: long lists sorted, mapped and reversed.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: lists.scm [length [rounds]]

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define seed 12345)

(define (random-number)
  (set! seed (remainder (+ (* seed 1103515245) 12345) 2147483648))
  seed)

(define (random-list n)
  (let loop ((i 0) (l '()))
    (if (= i n) l (loop (+ i 1) (cons (random-number) l)))))

(define (merge a b)
  (cond ((null? a) b)
        ((null? b) a)
        ((< (car b) (car a)) (cons (car b) (merge a (cdr b))))
        (else (cons (car a) (merge (cdr a) b)))))

(define (split l)
  (let loop ((l l) (a '()) (b '()))
    (if (null? l)
        (cons a b)
        (loop (cdr l) (cons (car l) b) a))))

(define (merge-sort l)
  (if (or (null? l) (null? (cdr l)))
      l
      (let ((halves (split l)))
        (merge (merge-sort (car halves)) (merge-sort (cdr halves))))))

(define (sorted? l)
  (or (null? l) (null? (cdr l))
      (and (<= (car l) (cadr l)) (sorted? (cdr l)))))

(define (checksum l)
  (let loop ((l l) (sum 0))
    (if (null? l)
        sum
        (loop (cdr l) (remainder (+ (* sum 31) (car l)) 1000000007)))))

(define (one-round n)
  (let* ((l (random-list n))
         (s (merge-sort l))
         (m (map (lambda (x y) (remainder (+ x y) 65536)) s (reverse s)))
         (r (append (reverse m) (map (lambda (x) (* x x)) m))))
    (if (not (sorted? s)) (begin (display "not sorted") (newline)))
    (checksum r)))

(define (main n rounds)
  (let loop ((i 0) (total 0))
    (if (< i rounds)
        (loop (+ i 1) (+ total (one-round n)))
        (begin (display "checksum: ")
               (display total)
               (newline)))))

(main (argument 1 100000) (argument 2 20))

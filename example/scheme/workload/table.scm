;;; Testudo: a large hash table, and a weak one whose keys die.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: table.scm [thousands of operations]
;;; Keys are strings, numbers, and pairs that are hashed by address, while
;;; the collector moves them.

(import (scheme base) (scheme write) (scheme process-context))

(cond-expand (guile (import (srfi 69) (only (guile) gc make-weak-key-hash-table
                                       hashq-set! hashq-ref hash-map->list)))
             (else))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define seed 7)

(define (random-below n)
  (set! seed (remainder (+ (* seed 1103515245) 12345) 2147483648))
  (quotient (* seed n) 2147483648))

;; Inserts, updates and deletes; returns the sum of what is left.
(define (mixed operations make-key)
  (let ((table (make-hash-table)))
    (do ((i 0 (+ i 1)))
        ((= i operations))
      (let ((key (make-key (random-below (quotient operations 4)))))
        (if (= 0 (remainder i 3))
            (hash-table-delete! table key)
            (hash-table-update!/default table key
                                        (lambda (n) (+ n 1)) 0))))
    (hash-table-fold table (lambda (key n sum) (+ n sum)) 0)))

(define (by-address n)
  (let ((keys (make-vector n #f)) (table (make-hash-table eq?)))
    (do ((i 0 (+ i 1)))
        ((= i n))
      (vector-set! keys i (list i)))
    (do ((i 0 (+ i 1)))
        ((= i n))
      (hash-table-set! table (vector-ref keys i) (make-vector 3 i)))
    (do ((i 0 (+ i 1)) (wrong 0
                              (if (eqv? i (vector-ref
                                           (hash-table-ref/default
                                            table (vector-ref keys i) '#(#f))
                                           0))
                                  wrong
                                  (+ wrong 1))))
        ((= i n) wrong))))

;; Most keys die; those that are kept must be found.
(define (weak n)
  (let ((table (make-weak-key-hash-table)))
    (let loop ((i 0) (kept '()))
      (if (< i n)
          (let ((key (list i)))
            (hashq-set! table key i)
            (loop (+ i 1)
                  (if (= 0 (remainder i 100)) (cons key kept) kept)))
          (begin
            (gc)
            (list (length kept)
                  (let check ((l kept) (wrong 0))
                    (if (null? l)
                        wrong
                        (check (cdr l)
                               (if (eqv? (hashq-ref table (car l)) (caar l))
                                   wrong
                                   (+ wrong 1)))))))))))

(define (main thousands)
  (let ((n (* 1000 thousands)))
    (display "strings: ")
    (display (mixed n number->string))
    (newline)
    (display "numbers: ")
    (display (mixed n (lambda (k) (* k 7))))
    (newline)
    (display "by address, wrong: ")
    (display (by-address (quotient n 2)))
    (newline)
    (display "weak, kept and wrong: ")
    (display (weak (quotient n 2)))
    (newline)))

(main (argument 1 1000))

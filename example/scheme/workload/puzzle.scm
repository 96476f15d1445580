;;; Testudo: exhaustive search with permutations and closures.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: puzzle.scm [queens]
;;; All ways to place queens that do not attack each other, three times: by
;;; filtering all permutations (small boards), by lists of closures, and by
;;; success continuations.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define (permutations l)
  (if (null? l)
      '(())
      (let each ((before '()) (rest l))
        (if (null? rest)
            '()
            (append (map (lambda (p) (cons (car rest) p))
                         (permutations (append (reverse before) (cdr rest))))
                    (each (cons (car rest) before) (cdr rest)))))))

(define (numbers n)
  (let loop ((n n) (l '()))
    (if (= n 0) l (loop (- n 1) (cons n l)))))

(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= (car placed) (+ row distance)))
           (not (= (car placed) (- row distance)))
           (not (= (car placed) row))
           (safe? row (+ distance 1) (cdr placed)))))

(define (solution? p)
  (or (null? p)
      (and (safe? (car p) 1 (cdr p)) (solution? (cdr p)))))

(define (by-permutations n)
  (let count ((ps (permutations (numbers n))) (found 0))
    (if (null? ps)
        found
        (count (cdr ps) (if (solution? (car ps)) (+ found 1) found)))))

;; Each placement is a closure that says whether a square is attacked.
(define (by-closures n)
  (define (attack row column others)
    (lambda (r c)
      (or (= r row)
          (= (abs (- r row)) (abs (- c column)))
          (others r c))))
  (let place ((column 0) (attacked? (lambda (r c) #f)))
    (if (= column n)
        1
        (let try ((row 0) (found 0))
          (if (= row n)
              found
              (try (+ row 1)
                   (if (attacked? row column)
                       found
                       (+ found
                          (place (+ column 1)
                                 (attack row column attacked?))))))))))

(define (by-success n succeed fail)
  (let place ((column 0) (placed '()) (succeed succeed) (fail fail))
    (if (= column n)
        (succeed placed fail)
        (let try ((row 1) (fail fail))
          (if (> row n)
              (fail)
              (let ((again (lambda () (try (+ row 1) fail))))
                (if (safe? row 1 placed)
                    (place (+ column 1) (cons row placed) succeed again)
                    (again))))))))

(define (count-successes n)
  (let ((found 0))
    (by-success n
                (lambda (placed next) (set! found (+ found 1)) (next))
                (lambda () found))))

(define (main n)
  (display (list 'permutations (by-permutations (min n 8))
                 'closures (by-closures n)
                 'successes (count-successes n)))
  (newline))

(main (argument 1 9))

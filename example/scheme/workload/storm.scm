;;; Testudo: young pairs stored at random places of old vectors.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: storm.scm [MiB [stores [pairs that make old]]]
;;; Vectors of the size that was asked for become old; then freshly made
;;; pairs are stored all over them. At the end, what was stored last must be
;;; in every place.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define slots 1024)

(define (make-rows mib)
  (let* ((n (quotient (* mib 1024 1024) (* 8 slots)))
         (rows (make-vector n #f)))
    (let loop ((i 0))
      (if (< i n)
          (begin (vector-set! rows i (make-vector slots 0))
                 (loop (+ i 1)))))
    rows))

(define seed 42)

(define (random-below n)
  (set! seed (remainder (+ (* seed 1103515245) 12345) 2147483648))
  (quotient (* seed n) 2147483648))

;; Enough that lives for a while to make everything before it old.
(define (grow-old pairs)
  (let loop ((i 0) (keep '()))
    (if (< i pairs)
        (loop (+ i 1)
              (if (= 0 (remainder i 100000)) '() (cons i keep))))))

(define (store rows stores)
  (let ((n (vector-length rows)))
    (let loop ((i 1))
      (if (<= i stores)
          (let* ((row (random-below n)) (slot (random-below slots)))
            (vector-set! (vector-ref rows row) slot
                         (cons i (+ (* row slots) slot)))
            (loop (+ i 1)))))))

;; Repeats the numbers and notes which store came last for each place.
(define (last-stores n stores)
  (let ((last (make-vector (* n slots) 0)))
    (set! seed 42)
    (let loop ((i 1))
      (if (<= i stores)
          (let* ((row (random-below n)) (slot (random-below slots)))
            (vector-set! last (+ (* row slots) slot) i)
            (loop (+ i 1)))))
    last))

(define (right? entry place i)
  (if (= i 0)
      (eqv? entry 0)
      (and (pair? entry) (= (car entry) i) (= (cdr entry) place))))

(define (count-wrong rows last)
  (let loop ((place 0) (wrong 0))
    (if (= place (vector-length last))
        wrong
        (loop (+ place 1)
              (if (right? (vector-ref (vector-ref rows (quotient place slots))
                                      (remainder place slots))
                          place
                          (vector-ref last place))
                  wrong
                  (+ wrong 1))))))

(define (main mib stores pairs)
  (let ((rows (make-rows mib)))
    (grow-old pairs)
    (store rows stores)
    (display "stores: ")
    (display stores)
    (display ", wrong: ")
    (display (count-wrong rows (last-stores (vector-length rows) stores)))
    (newline)))

(main (argument 1 64) (argument 2 2000000) (argument 3 3000000))

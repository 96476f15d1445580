;;; Testudo: flonum matrices updated in place. SPDX-License-Identifier: BSD-2-Clause
;;; usage: matrix.scm [size [rounds]]
;;; Every number stored is a fresh leaf, and the vectors it is stored in are
;;; old.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define (make-matrix n f)
  (let ((m (make-vector n #f)))
    (do ((i 0 (+ i 1)))
        ((= i n) m)
      (let ((row (make-vector n 0.0)))
        (do ((j 0 (+ j 1)))
            ((= j n))
          (vector-set! row j (f i j)))
        (vector-set! m i row)))))

(define (multiply! c a b n)
  (do ((i 0 (+ i 1)))
      ((= i n))
    (let ((ci (vector-ref c i)) (ai (vector-ref a i)))
      (do ((j 0 (+ j 1)))
          ((= j n))
        (do ((k 0 (+ k 1))
             (sum 0.0
                  (+ sum (* (vector-ref ai k)
                            (vector-ref (vector-ref b k) j)))))
            ((= k n) (vector-set! ci j sum)))))))

;; Relaxation: every cell becomes the mean of its neighbours.
(define (relax! m n)
  (do ((i 1 (+ i 1)))
      ((= i (- n 1)))
    (let ((up (vector-ref m (- i 1)))
          (row (vector-ref m i))
          (down (vector-ref m (+ i 1))))
      (do ((j 1 (+ j 1)))
          ((= j (- n 1)))
        (vector-set! row j
                     (* 0.25 (+ (vector-ref up j) (vector-ref down j)
                                (vector-ref row (- j 1))
                                (vector-ref row (+ j 1)))))))))

(define (trace m n)
  (do ((i 0 (+ i 1))
       (sum 0.0 (+ sum (vector-ref (vector-ref m i) i))))
      ((= i n) sum)))

(define (main n rounds)
  (let ((a (make-matrix n (lambda (i j) (/ (+ i j 1.0) n))))
        (b (make-matrix n (lambda (i j) (if (= i j) 1.0 0.5))))
        (c (make-matrix n (lambda (i j) 0.0))))
    (multiply! c a b n)
    (do ((r 0 (+ r 1)))
        ((= r rounds))
      (relax! c n))
    (display "trace: ")
    (display (trace c n))
    (newline)))

(main (argument 1 200) (argument 2 100))

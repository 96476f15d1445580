;;; Testudo: large integers. SPDX-License-Identifier: BSD-2-Clause
;;; usage: bignum.scm [digits]
;;; Digits of pi by a spigot of integers, of e by a sum of fractions, large
;;; factorials and powers.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

;; pi = 16 atan(1/5) - 4 atan(1/239), in fixed point
(define (atan-inverse x unity)
  (let ((square (* x x)))
    (let loop ((power (quotient unity x)) (n 1) (sign 1) (sum 0))
      (if (= power 0)
          sum
          (loop (quotient power square)
                (+ n 2)
                (- sign)
                (+ sum (* sign (quotient power n))))))))

(define (pi-digits n)
  (let ((unity (expt 10 (+ n 10))))
    (quotient (- (* 16 (atan-inverse 5 unity))
                 (* 4 (atan-inverse 239 unity)))
              (expt 10 10))))

;; The same digits one by one, from a stream of linear fractions.
(define (spigot n)
  (let loop ((q 1) (r 0) (t 1) (k 1) (m 3) (x 3) (count 0) (sum 0))
    (if (= count n)
        sum
        (if (< (+ (* 4 q) (- r t)) (* m t))
            (loop (* 10 q)
                  (* 10 (- r (* m t)))
                  t k
                  (- (quotient (* 10 (+ (* 3 q) r)) t) (* 10 m))
                  x
                  (+ count 1)
                  (remainder (+ (* 10 sum) m) 1000000007))
            (loop (* q k)
                  (* (+ (* 2 q) r) x)
                  (* t x)
                  (+ k 1)
                  (quotient (+ (* q (+ (* 7 k) 2)) (* r x)) (* t x))
                  (+ x 2)
                  count sum)))))

(define (factorial n)
  (if (= n 0) 1 (* n (factorial (- n 1)))))

(define (digit-sum n)
  (let ((s (number->string n)))
    (do ((i 0 (+ i 1))
         (sum 0 (+ sum (- (char->integer (string-ref s i)) 48))))
        ((= i (string-length s)) sum))))

(define (fibonacci n)
  (let loop ((a 0) (b 1) (i 0))
    (if (= i n) a (loop b (+ a b) (+ i 1)))))

(define (harmonic n)
  (do ((i 1 (+ i 1)) (sum 0 (+ sum (/ 1 i)))) ((> i n) sum)))

(define (show name value)
  (display name)
  (display ": ")
  (display value)
  (newline))

(define (main digits)
  (show "pi" (digit-sum (pi-digits digits)))
  (show "spigot" (spigot (quotient digits 2)))
  (show "factorial" (digit-sum (factorial (* 2 digits))))
  (show "fibonacci" (digit-sum (fibonacci (* 5 digits))))
  (show "harmonic" (digit-sum (numerator (harmonic (quotient digits 2)))))
  (show "gcd" (digit-sum (gcd (factorial digits) (expt 6 digits)))))

(main (argument 1 2000))

;; expect: type\.scm:3:\d+: car: argument 1 is not a pair: 5
(define (f x)
  (car x))
(+ 1 (f 5))

;; expect: division\.scm:3:\d+: /: division by zero
(define (f)
  (/ 5 0))
(f)

;; expect: else-case\.scm:3:\d+: clause after else
(define (f x)
  (case x (else 2) ((1) 1)))
